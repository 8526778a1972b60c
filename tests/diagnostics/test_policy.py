"""The problems that are reported, and their severities."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.source import Source, Span
from evalc.diagnostics import Finding, Problem
from evalc.diagnostics.policy import BadSelector, Level, Policy, Selection, codes, selector, silencer

SYNTAX = Finding("EV101")
MISSING = Finding("EV202", key="name", what="a test case")
VACUOUS = Finding("EV501", check="`length >= 0`", why="nothing is shorter")
HOPELESS = Finding("EV502", check="`length 2..1`", why="2 is above 1")


def reported(policy: Policy, *findings: Finding, name: str = "a.yaml", errors_stay: bool = False) -> list[str]:
    source = Source(name, "eval:\n")
    problems = [
        Problem(source=source, span=Span(0, 4), finding=each, severity=each.entry.severity) for each in findings
    ]
    return [f"{each.severity} {each.code}" for each in policy.reported(problems, errors_stay=errors_stay)]


def selecting(*select: str, ignore: tuple[str, ...] = ()) -> Policy:
    return Policy(selections=(Selection(select, ignore),))


def test_a_policy_without_a_word_reports_everything_as_it_is() -> None:
    assert reported(Policy(), MISSING, VACUOUS) == ["error EV202", "warning EV501"]


def test_select_and_ignore() -> None:
    assert reported(selecting("EV5"), MISSING, VACUOUS, HOPELESS) == ["warning EV501", "error EV502"]
    assert reported(selecting(ignore=("EV5",)), MISSING, VACUOUS) == ["error EV202"]
    assert reported(selecting("EV5", ignore=("EV501",)), VACUOUS, HOPELESS) == ["error EV502"]
    assert reported(selecting("EV501", ignore=("EV5",)), VACUOUS, HOPELESS) == ["warning EV501"]
    assert reported(selecting("EV501", ignore=("EV501",)), VACUOUS) == []


def test_each_selection_has_to_take_a_code() -> None:
    policy = Policy(selections=(Selection(("EV5",)), Selection(ignore=("EV502",))))
    assert reported(policy, MISSING, VACUOUS, HOPELESS) == ["warning EV501"]


def test_a_problem_that_kept_a_file_from_being_read_is_an_error() -> None:
    everything_off = Policy(severities=(("EV", "off"),), selections=(Selection(("EV5",), ("EV1",)),))
    assert reported(everything_off, SYNTAX, Finding("EV600", path="a"), MISSING, HOPELESS) == [
        "error EV101",
        "error EV600",
    ]


def test_errors_that_block_stay_where_something_is_to_be_made_of_the_files() -> None:
    off = Policy(severities=(("EV", "off"),))
    assert reported(off, MISSING, VACUOUS, HOPELESS, errors_stay=True) == ["error EV202"]
    assert reported(off, MISSING, VACUOUS, HOPELESS) == []


def test_strict_makes_errors_of_vacuous_checks() -> None:
    assert reported(Policy(strict=True), VACUOUS, errors_stay=True) == ["error EV501"]


def test_strict_makes_errors_of_what_a_schema_says_in_vain() -> None:
    findings = [Finding("EV158", keyword="lenght", meant="length"), Finding("EV159", name="x", checked=())]
    assert reported(Policy(strict=True), *findings) == ["error EV158", "error EV159"]
    assert reported(Policy(), *findings) == ["warning EV158", "warning EV159"]


@pytest.mark.parametrize("level", ["error", "warning"])
def test_the_longest_selector_sets_the_severity_even_under_strict(level: Level) -> None:
    policy = Policy(strict=True, severities=(("EV501", level), ("EV5", "off"), ("EV", "error")))
    assert reported(policy, VACUOUS, HOPELESS, MISSING) == [f"{level} EV501", "error EV202"]


def test_codes_ignored_in_some_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evals").mkdir()
    monkeypatch.chdir(tmp_path / "evals")
    policy = Policy(per_file=(("evals/legacy/**", ("EV5",)), ("b.yaml", ("EV2",))), root=tmp_path)
    assert reported(policy, MISSING, VACUOUS, name="legacy/a.yaml") == ["error EV202"]
    assert reported(policy, MISSING, VACUOUS, name=str(tmp_path / "evals/legacy/deep/a.yaml")) == ["error EV202"]
    assert reported(policy, MISSING, VACUOUS, name="legacy/b.yaml") == []
    assert reported(policy, MISSING, VACUOUS, name="a.yaml") == ["error EV202", "warning EV501"]
    assert reported(policy, MISSING, name="../../b.yaml") == ["error EV202"]


def test_selectors_are_codes_or_their_beginnings() -> None:
    assert [selector(text) for text in ("ev203", " EV5 ", "EV")] == ["EV203", "EV5", "EV"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EV5O1", "`EV5O1` is not a code: did you mean `EV501`?"),
        ("ev2l3", "`ev2l3` is not a code: did you mean `EV213`?"),
        ("EV40I", "`EV40I` is not a code: did you mean `EV401`?"),
        ("E", "`E` is not a code; `evalc explain` lists them all"),
        ("", "`` is not a code; `evalc explain` lists them all"),
        ("lint", "`lint` is not a code; `evalc explain` lists them all"),
    ],
)
def test_a_selector_without_effect_is_reported(text: str, message: str) -> None:
    with pytest.raises(BadSelector) as caught:
        selector(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["EV1", "EV103", "EV60", "EV621"])
def test_some_errors_cannot_be_ignored(text: str) -> None:
    assert selector(text) == text
    with pytest.raises(BadSelector, match="cannot be ignored"):
        silencer(text)


@given(select=st.sets(st.sampled_from(codes())), ignore=st.sets(st.sampled_from(codes())))
def test_whole_codes_are_taken_as_sets(select: set[str], ignore: set[str]) -> None:
    selection = Selection(tuple(select), tuple(ignore))
    assert {code for code in codes() if selection.takes(code)} == (select or set(codes())) - ignore
