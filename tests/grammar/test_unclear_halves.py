"""Halves of `and` and `or` that ask the response, and read as if they asked the place before them."""

from __future__ import annotations

import pytest

from evalc.grammar.read_check import read_check, unclear_halves
from evalc.translate.trees import written

UNCLEAR = {
    "at x is not null or empty": ("empty", "at x"),
    "at a is not missing or empty": ("empty", "at a"),
    "at x > 5 || < 3": ("< 3", "at x"),
    "$.x > 5 or not < 3": ("not < 3", "$.x"),
    'at x contains "a" or contains "b"': ('contains "b"', "at x"),
    "at x is a text and non-empty": ("non-empty", "at x"),
    "at x length > 5 or length < 3": ("length < 3", "at x"),
    "not at x > 5 or (json and < 3)": ("< 3", "at x"),
    "not (at x is null or empty)": ("empty", "at x"),
    "every item of tags is a text and non-empty": ("non-empty", "every item of tags"),
    "any call of b has n > 5 or < 3": ("< 3", "any call of b"),
    "any call of b returns > 5 or > 6": ("> 6", "any call of b returns"),
    'turn 2 contains "a" and contains "b"': ('contains "b"', "turn 2"),
    "turn 2 at x > 5 and < 9": ("< 9", "turn 2 at x"),
    'at x starts with "a" and ends with "b"': ('ends with "b"', "at x"),
    "at x is a text and matches /a/": ("matches /a/", "at x"),
    "words >= 5 and <= 9": ("<= 9", "words"),
    "at least 5 words and at most 9": ("at most 9", "words"),
    "at least 5 and at most 9 words": ("at least 5", "words"),
    "length is over 5 or not below 3": ("not below 3", "length"),
    "cost > 0.01 and < 0.05": ("< 0.05", "cost"),
    "tool count >= 1 and <= 3": ("<= 3", "tool count"),
    "tool book called once or more than 3": ("more than 3", "tool book called"),
}
DENIED = {
    'must not start with "a" or end with "b"': 'end with "b"',
    'does not contain "a" and contain "b"': 'contain "b"',
    'should not be empty or match "b"': 'match "b"',
    'not (do not contain "a" or be empty)': "be empty",
    'not mention "a" or be empty or is null': "be empty",
}


@pytest.mark.parametrize("text", UNCLEAR)
def test_a_half_without_a_subject_is_unclear(text: str) -> None:
    assert not read_check(text).faults
    found = [(text[fault.start : fault.end], fault.finding) for fault in unclear_halves(text)]
    assert [(half, finding.code, finding.fields["subject"]) for half, finding in found] == [
        (UNCLEAR[text][0], "EV437", UNCLEAR[text][1])
    ]


@pytest.mark.parametrize("text", DENIED)
def test_a_half_that_reads_as_denied_with_the_one_before_it_is_unclear(text: str) -> None:
    assert not read_check(text).faults
    found = [(text[fault.start : fault.end], fault.finding) for fault in unclear_halves(text)]
    assert [(half, finding.code, finding.fields) for half, finding in found] == [
        (DENIED[text], "EV437", {"subject": ""})
    ]


@pytest.mark.parametrize(
    "text",
    [
        'at x > 5 or contains "y"',
        'must not start with "a" or must end with "b"',
        'does not start with "a" and does end with "b"',
        'not contains "a" or contains "b"',
        'is not empty or at b match "c"',
        "words >= 5 and response <= 9",
        "words >= 5 and at x <= 9",
        "tool book called and > 3",
        "at x is a text and response non-empty",
        "at x > 5 and at y < 3",
        "at x exists and json",
        "at x exists and length <= 50 words",
        "at x > 5 or response json or is empty",
        'contains "a" or is empty',
        "contains 'and' and non-empty",
        "latency < 2s and non-empty",
        "no call of book fails and non-empty",
        "tool book called and non-empty",
        "at x equals 'a or b'",
    ],
)
def test_a_clear_half_is_not_reported(text: str) -> None:
    assert not read_check(text).faults
    assert not [*unclear_halves(text)]


@pytest.mark.parametrize("text", [text for text in UNCLEAR if not text.startswith(("$", "at a"))])
def test_a_written_line_names_the_response(text: str) -> None:
    check = read_check(text).node.check  # type: ignore[union-attr]
    line = written(check)
    assert "response" in line
    assert not [*unclear_halves(line)]
    assert read_check(line).node.check == check  # type: ignore[union-attr]
