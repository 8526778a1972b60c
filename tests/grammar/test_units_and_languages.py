"""Names of units and of languages in checks: all that are known, and what is said of others."""

from __future__ import annotations

import pytest

from evalc.check.languages import LANGUAGES
from evalc.check.tree import Check, Test
from evalc.grammar.read_check import read_check
from evalc.grammar.write_check import describe


def check(line: str) -> Check:
    node = read_check(line).node
    assert node is not None, (line, read_check(line).faults)
    return node.check


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ("500ms", ("500 ms", "500 milliseconds", "0.5 seconds")),
        ("1s", ("1 s", "1 second", "1 seconds", "1000ms")),
        ("2m", ("2 m", "2 minutes", "2 minute", "120 seconds")),
    ],
)
@pytest.mark.parametrize(
    "limit", ["latency <= {}", "latency < {}", "latency is under {}", "latency between 1ms and {}"]
)
def test_a_time_may_be_in_words(short: str, words: tuple[str, ...], limit: str) -> None:
    assert {repr(check(limit.format(time))) for time in words} == {repr(check(limit.format(short)))}


@pytest.mark.parametrize(("code", "name"), LANGUAGES.items())
def test_a_language_is_known_by_its_name_and_its_code(code: str, name: str) -> None:
    of_name = check(f"is in {name}")
    assert of_name == Test("language", name)
    assert of_name == check(f"is in {code}") == check(f'is in "{name.lower()}"') == check(describe(of_name))


@pytest.mark.parametrize(("written", "label"), [("Englisch", "did you mean `English`?"), ("Klingon", "")])
def test_an_unknown_language_is_refused(written: str, label: str) -> None:
    line = f"at summary is not in {written} and json"
    (fault,) = read_check(line).faults
    assert line[fault.start : fault.end] == written
    assert (fault.finding.code, fault.finding.label()) == ("EV161", label)


@pytest.mark.parametrize(
    "line", ["is in English for tone", "is in English and json", "(is in Scottish  Gaelic) or json"]
)
def test_words_behind_a_language_are_no_part_of_it(line: str) -> None:
    assert not read_check(line).faults


@pytest.mark.parametrize("subject", ["at a", "tool t.p", "any call of t has a", "every item of a has b", "$.a"])
def test_present_is_the_opposite_of_missing(subject: str) -> None:
    assert check(f"{subject} is present") == check(f"{subject} exists")
    assert check(f"{subject} is not present") == check(f"{subject} is missing") == check(f"{subject} not exists")
