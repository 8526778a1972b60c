"""Sentences that say what a check says, and those that say something else, or more, which stay sentences."""

from __future__ import annotations

import pytest

from evalc.dsl.quoting import is_check
from evalc.translate.sentences import check_in

CHECKS = {
    "The response is between 110 and 210 words.": "words between 110 and 210",
    "Between 110 and 210 words": "words between 110 and 210",
    "The output must be 50-100 words long": "words between 50 and 100",
    "At most 5 words": "words <= 5",
    "The answer should be under 1,200 characters.": "chars < 1200",
    "It has no more than 3 sentences": "sentences <= 3",
    "exactly 3 lines": "lines == 3",
    "Contains none of these words: synergy and best-in-class": r"not matches /\b(?:synergy|best-in-class)\b/i",
    "Contains none of the banned jargon words (leverage, delve)": r"not matches /\b(?:leverage|delve)\b/i",
    "Uses none of these phrases: 'my two cents', 'circle back'": r"not matches /\b(?:my two cents|circle back)\b/i",
    "The answer mentions 'refund'.": 'contains "refund" ignoring case',
    "Does not exceed 60 chars": "chars <= 60",
    "It is no longer than 2 lines": "lines <= 2",
    "Mentions Paris": r"matches /\bParis\b/i",
    "Mentions Node.js": r"matches /\bNode\.js\b/i",
    "Does not mention AI": r"not matches /\bAI\b/",
    "The response should not mention OpenAI Codex": r"not matches /\bOpenAI Codex\b/i",
    "Mentions 'EUR'": r"matches /\bEUR\b/",
    "Does not say 'No'": r"not matches /\bNo\b/i",
    "Says 'yes' or 'no'": r"matches /\byes\b/i or matches /\bno\b/i",
    'Contains "AI" and "machine learning"': r"matches /\bAI\b/ and matches /\bmachine learning\b/i",
    'Contains the word "cat"': r"matches /\bcat\b/i",
    'Does not contain the words "sorry" or "sad"': r"not matches /\bsorry\b/i and not matches /\bsad\b/i",
    'Includes the phrase "cat food"': 'contains "cat food" ignoring case',
    'Includes the text "cat"': 'contains "cat" ignoring case',
    "Mentions Go": r"matches /\bGo\b/",
    'Starts with "Yes"': r"matches /^\bYes\b/i",
    'Ends with the word "regards"': r"matches /\bregards\b$/i",
    'Ends with "?"': 'ends with "?" ignoring case',
    "Contains none of these words: synergy, delve, or leverage": r"not matches /\b(?:synergy|delve|leverage)\b/i",
    "Mentions the word `SITE_ID`": 'contains "SITE_ID"',
    "It mentions `SITE_ID` or `sites`.": 'contains any of ["SITE_ID", "sites"]',
    "Includes `a`, `b`, and `c`": 'contains all of ["a", "b", "c"]',
    'The reply must not contain "sorry" or "apologize"': 'contains none of ["sorry", "apologize"] ignoring case',
    'Does not mention "sorry"': 'not contains "sorry" ignoring case',
    'Starts with the phrase "Dear"': 'starts with "Dear" ignoring case',
    "The message ends with `Regards,`": 'ends with "Regards,"',
    "The response is valid JSON.": "json",
}
SENTENCES = [
    "Mentions the price",
    "Mentions I",
    "Mentions Café",
    "Mentions C++",
    'Contains the word "naïveté"',
    "Uses none of these phrases: rock and roll, delve",
    "Includes error states",
    "Mentions WebAuthn explicitly",
    "Mentions a Docker image",
    "Names Paris",
    "Is concise (under 500 words)",
    "Body is in the conversational register (roughly 110-210 words)",
    "The output contains the heading `# Report`",  # which may be in a file
    "The table contains `a`",
    "Contains no em dashes",
    "Contains none of the original's errors",
    "Contains none of the reply-killing phrases ('I never heard back', 'just checking in' as a whole email)",
    "Mentions 'refund' in the first sentence",
    "Mentions `a` and `b` or `c`",
    'Does not mention "a" and "b"',
    "Mentions `a` and 'b'",
    "Between 2 and 4 options are offered",
    "At most one question",
    "The response does not use 'x'",
    "Mentions `{{name}}`",
    "",
    "x" * 10_000,
]


@pytest.mark.parametrize(("sentence", "line"), CHECKS.items())
def test_a_sentence_that_says_exactly_a_check_is_one(sentence: str, line: str) -> None:
    assert check_in(sentence) == line
    assert is_check(line)
    assert check_in(f"  {sentence.removesuffix('.').replace(' ', '  ')}. ") == line


@pytest.mark.parametrize("sentence", SENTENCES)
def test_nothing_is_guessed(sentence: str) -> None:
    assert check_in(sentence) is None
