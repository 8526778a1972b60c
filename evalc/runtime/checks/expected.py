"""Scores a response against `expected`, for a case that has nothing else to go by."""

from __future__ import annotations

import re
from typing import Final

from evalc.ecma.text import trim
from evalc.runtime.checks.verdict import PASSED, Verdict
from evalc.runtime.checks.wording import listed, quoted

PASSING_SHARE: Final = 0.6
"""The share of the key terms that must occur."""

_LETTERS: Final = re.compile(r"[^\W\d_]{4,}")

_STOP_WORDS: Final = """
    about above after again against also although always among another because been before being below between both
    cannot could does doing down during each either else even ever every from further given have having here hers
    herself himself however include includes including into itself just less like likely made make makes many maybe
    mention mentions mentioned might more most much must myself need needs neither never none only other others ought
    ours ourselves over perhaps provide provides rather response same shall should since some something such than that
    their theirs them themselves then there therefore these they thing things this those though through thus together
    toward towards under unless until upon very want wants well were what whatever when where whether which while whom
    whose will with within without would your yours yourself yourselves
"""

STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words that say nothing about a subject. Fixed: a change would change scores."""


def expected_text(expected: str, response: str) -> Verdict:
    """Contained, ignoring case, scores 1; else the share of the key terms that occur, passing at 0.6."""
    stripped, text = trim(expected).casefold(), response.casefold()
    if stripped in text:
        return PASSED
    terms = key_terms(stripped)
    if not terms:
        return Verdict(outcome="failed", message=f"expected {quoted(expected)} in response but not found")
    missing = [term for term in terms if term not in text]
    share = (len(terms) - len(missing)) / len(terms)
    if share >= PASSING_SHARE:
        return Verdict(outcome="passed", score=share)
    found = f"found {len(terms) - len(missing)} of {len(terms)} key terms"
    return Verdict(
        outcome="failed",
        message=f"{found} in response, expected at least {PASSING_SHARE:.0%}; missing: {listed(missing)}",
        score=share,
    )


def key_terms(text: str) -> tuple[str, ...]:
    """The distinct words of four letters and more, case-folded, in their order, without stop words."""
    return tuple(word for word in dict.fromkeys(_LETTERS.findall(text.casefold())) if word not in STOP_WORDS)
