"""`evalc explain`."""

from __future__ import annotations

import pytest

from evalc.check.predicates import PREDICATES
from evalc.diagnostics.catalogue import entries
from evalc.grammar.read_check import read_check
from tests.cli.conftest import Invoke


def test_a_code_is_understood_however_it_is_spelt(invoke: Invoke) -> None:
    for code in ("EV203", "ev203", "203", "EV2O3", "2o3"):
        outcome = invoke("explain", code)
        assert (outcome.code, outcome.out) == (0, entries()["EV203"].explanation())


def test_without_a_code_all_are_listed(invoke: Invoke) -> None:
    outcome = invoke("explain")
    assert outcome.code == 0
    assert [line[:5] for line in outcome.out.splitlines()] == list(entries())
    assert "EV203  A check that does not exist.\n" in outcome.out


def test_an_unknown_code(invoke: Invoke) -> None:
    outcome = invoke("explain", "EV000")
    no_topic = "error: `EV000` is no code, check, key or setting; `evalc explain` lists all codes\n"
    assert (outcome.code, outcome.err) == (2, no_topic)


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["contains"], ["contains (check)", "contains any of (check)", '  - contains "refund" ignoring case']),
        (["starts", "with"], ["starts with (check)", '  - starts with "Dear"']),
        (["latency"], ["latency (subject of a check)"]),
        (["Gates"], ["gates (key of a suite)", "  min_score           The least score of the suite, from 0 to 1."]),
        (["for_each"], ["for_each (key of a case)", '  for_each: "cities.csv"']),
        (["timeout"], ["timeout (setting, --timeout)"]),
    ],
)
def test_checks_keys_and_settings_are_explained(invoke: Invoke, words: list[str], lines: list[str]) -> None:
    outcome = invoke("explain", *words)
    assert outcome.code == 0
    printed = outcome.out.splitlines()
    assert all(line in printed for line in lines)
    assert printed[0] == lines[0]


def test_a_near_word_is_offered(invoke: Invoke) -> None:
    outcome = invoke("explain", "conatins")
    expected = "error: `conatins` is no code, check, key or setting; did you mean `contains`?\n"
    assert (outcome.code, outcome.err) == (2, expected)


def test_every_example_of_a_check_is_one(invoke: Invoke) -> None:
    for predicate in PREDICATES.values():
        [*_, line] = [words for words in predicate.line.split() if words.isalpha()] or ["equals"]
        for written in invoke("explain", line).out.splitlines():
            if written.startswith("  - ") and not written.startswith(("  - >", "  - <")):
                assert read_check(written.removeprefix("  - ")).node is not None, written


@pytest.mark.parametrize(
    ("line", "headings"),
    [
        ("quotes from tools", ["quotes from (check)"]),
        ("tools in order", ["in order (check)", "tools (subject of a check)"]),
        ("tools in order [a, b]", ["in order (check)", "tools (subject of a check)"]),
        ("tool search called once", ["between (check)", "tool NAME called (subject of a check)"]),
        ("tool book.seats equals 1", ["equals (check)", "tool NAME.PARAM (subject of a check)"]),
        ('not contains "a" for tone', ["contains (check)"]),
    ],
)
def test_a_line_of_a_check_is_explained(invoke: Invoke, line: str, headings: list[str]) -> None:
    outcome = invoke("explain", line)
    assert outcome.code == 0
    assert [each for each in outcome.out.splitlines() if each.endswith(("of a check)", "(check)"))] == headings
