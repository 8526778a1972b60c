"""Screens of 60, 80 and 120 columns: no line is wider if it can be broken, and no word is broken."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.terminal import Screen, cells, cut_in_middle, fitted, wrapped
from evalc.compare.suites import compare_runs
from evalc.extras.history import trends_of
from evalc.extras.watch import Board, _Digest
from evalc.model.reports import (
    CaseStrength,
    ChallengerCount,
    CheckStrength,
    Coverage,
    CriterionStrength,
    GatePlan,
    History,
    NoisePlan,
    NotChallenged,
    Option,
    Part,
    Plan,
    Strength,
    SuitePlan,
    SuiteStrength,
    Survivor,
    ToolCoverage,
    TurnStrength,
)
from evalc.model.result import GateResult, RunComparison
from evalc.model.suite import CaseKey, Place, SuiteKey
from evalc.report import ReportedSuite
from evalc.report.console import suite_lines
from evalc.report.others import coverage_lines, history_lines, plan_lines, strength_lines
from evalc.report.side_by_side import diff_lines
from evalc.report.words import Writer
from tests.report.results import case, suite
from tests.report.runs import NOWHERE
from tests.report.test_diff import past
from tests.report.test_history import entry

LONG: Final = "book_a_flight_for_the_whole_family_and_its_dog"


def planned(name: str, cases: int, likely: float | None, gate: GatePlan | None) -> SuitePlan:
    options = tuple(
        Option(cases=cases * times, changed=5, smallest=0.1, likely=likely and likely / times, cost_usd=0.0042)
        for times in (1, 2, 4)
    )
    noise = NoisePlan(source="assumed" if gate else "runs", passes=0.9, flips=0.18, of=100)
    return SuitePlan(
        tool_name=name,
        suite=name,
        tier="golden" if gate else "labeled",
        cases=cases,
        attempts=3 * cases,
        gate=gate,
        noise=noise,
        options=options,
    )


PLAN = Plan(
    confidence=0.95,
    costs_of="01a21978-8524-7630-a752-b312a23d548c",
    suites=(
        planned(LONG, 17, 0.45, GatePlan(limit=0.9, confidence=0.95, holds_from=49, fails_to=40)),
        planned("intents", 2, None, None),
    ),
)
COVERAGE = Coverage(
    coverage=0.3,
    covered=3,
    total=10,
    parts=(
        Part(kind="tools", total=30, covered=1, missing=tuple(f"find_something_number_{n}" for n in range(25))),
        Part(kind="toolPairs", total=1, covered=0, missing=("search_flights and find_flights",)),
        Part(kind="criteria", total=2, covered=2, missing=()),
    ),
    tools=tuple(
        ToolCoverage(name=f"{LONG}_{n}", cases=n, tiers={}, difficulties={}, arguments={f"argument_{n}": n} | {"to": 1})
        for n in range(3)
    ),
)

ENTRIES = tuple(
    entry(
        f"01a21978-{run}",
        suite=suite,
        tier="labeled",
        agent_endpoint=f"python:the_desk_of_the_airline:{agent}",
        passed=run,
        score=0.5,
        partial=run == 1,
        errors=run,
        estimated_cost_usd=0.0238,
        criteria={"tone_of_the_answer": run / 4},
    )
    for run, agent in ((3, "Careful"), (2, "Quick"), (1, "Quick"), (0, "Careful"))
    for suite in (LONG, "intents")
)
HISTORY = History(entries=ENTRIES, trends=trends_of(ENTRIES))


def history(screen: Screen, *, by_suite: bool) -> Iterable[str]:
    return history_lines(HISTORY, screen, names={"01a21978-3": "latest"}, most=20, by_suite=by_suite)


def survivor(line: str | None, **more: bool) -> Survivor:
    difference = "`search_flights(to: 'Rome', people: 1)` → `search_flights(to: 'Rome', people: 1001)`"
    return Survivor(challenger="argument-changed", difference=difference, line=line, turn=2, **more)


def counted_faults(killed: int, **fields: Any) -> Any:
    return {"tool_name": LONG, "suite": LONG, "tier": "labeled", "mutants": 10, "killed": killed, **fields}


STRENGTH = Strength(
    of=None,
    strength=0.5,
    mutants=20,
    killed=10,
    undecided=3,
    challengers=tuple(ChallengerCount(name=f"kind-{n}", mutants=10, killed=n) for n in range(11)),
    suites=tuple(SuiteStrength(cases=2, strength=each / 10, **counted_faults(each)) for each in (3, 7)),
    cases=(
        CaseStrength(
            id=f"{LONG}/asks",
            strength=0.3,
            undecided=0,
            allowed={},
            challengers=(),
            survivors=(
                survivor('- any call of search_flights has to "Rome", people 1', proved=True),
                survivor('- contains "are flights"', proved=True, wording=True),
                survivor("- not json"),
                survivor(None),
            ),
            place=Place(file="evals/book_a_flight.eval.yaml", line=12, column=5),
            turns=(TurnStrength(turn=1, mutants=5, killed=2), TurnStrength(turn=2, mutants=5, killed=1)),
            **counted_faults(3),
        ),
    ),
    checks=(
        CheckStrength(id="a", at="", check='not contains "one or two"', mutants=1, killed=0, place=None),
        CheckStrength(id="a", at="", check="latency <= 5s", mutants=0, killed=0, place=None),
    ),
    criteria=(CriterionStrength(name="tone", **counted_faults(3)),),
    not_challenged=(NotChallenged(id="b", reason="no recorded answer passes its checks"),),
    warnings=("1 case has one recorded answer, and a line that fixes its wording fails a good answer in other words",),
)


def compared() -> RunComparison:
    cases = [f"{LONG}/{number}" for number in range(40)]
    before = [past([True] * 40, tool=LONG), past([True] * 8, tool="intents")]
    error = f"numbers from tools: expected every number in the response of {cases[0]} to be in the result of a tool"
    after = [past([n > 11 for n in range(40)], tool=LONG, error=error), past([n > 1 for n in range(8)], tool="intents")]
    found = compare_runs(before, after, names=("01a21978-8524-7630-a752-b312a23d548c", "latest"))
    agents = tuple(f"python:the_desk_of_the_airline:{name}" for name in ("Careful", "Quick"))
    more = {
        "missing": tuple(cases),
        "only_before": ("one suite", "another"),
        "warnings": ("the runs are of two files",),
    }
    return msgspec.structs.replace(found, before_agents=agents, **more)


def watched(screen: Screen, height: int) -> Iterable[str]:
    reason = "numbers from tools: expected every number in the response to be in the result of a tool but '79' is not"
    digests = {CaseKey(SuiteKey(LONG, "labeled"), f"{LONG}/{number}"): _Digest(str(number)) for number in range(12)}
    board = Board()
    board._digests = digests
    board._results = {
        key: (case(key.id, status="failed", error=reason) if number < 3 else case(key.id), digests[key])
        for number, key in enumerate(digests)
    }
    return board.lines(screen, height)


def ran(screen: Screen) -> Iterable[str]:
    error = "numbers from tools: expected every number in the response to be in the result of a tool but '79' is not"
    gate = GateResult(gate="minPassRate", limit=0.9, value=0.5, passed=False)
    result = suite(case(f"{LONG}/a", status="failed", error=error), case(f"{LONG}/b"), regressions=(f"{LONG}/a",))
    reported = ReportedSuite.of(msgspec.structs.replace(result, gates=(gate,)))
    return suite_lines(reported, screen, NOWHERE)


SCREENS: Mapping[str, Callable[[Screen], Iterable[str]]] = {
    "diff": lambda screen: diff_lines(compared(), screen),
    "diff -v": lambda screen: diff_lines(compared(), screen, verbose=True),
    "history": partial(history, by_suite=False),
    "history SUITE": partial(history, by_suite=True),
    "plan": lambda screen: plan_lines(PLAN, screen),
    "run": ran,
    "watch": partial(watched, height=30),
    "a low watch": partial(watched, height=6),
    "challenge": lambda screen: strength_lines(STRENGTH, screen),
    "challenge -v": lambda screen: strength_lines(STRENGTH, screen, verbose=True),
    "coverage": lambda screen: coverage_lines(COVERAGE, screen),
}


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_screen_and_words_are_whole(name: str, width: int) -> None:
    words = {word.strip(",") for line in SCREENS[name](Screen(width=1000)) for word in line.split()}
    lines = list(SCREENS[name](Screen(width=width)))
    assert [line for line in lines if cells(line) > width and " " in line.strip()] == []
    assert [
        word
        for line in lines
        for word in line.replace("═", "").replace("─", "").split()
        if "…" not in word and word.strip(",") not in words
    ] == []


SUITE: Final = """\
suite: the_desk_of_the_airline
eval:
  criteria:
    - "completeness (0.6): Everything that was asked for is answered"
    - "tone (0.4): Polite"
  test_cases:
    - name: a family that flies to Rome with its dog
      message: What does it cost to fly to Rome with two children and a dog?
      validate:
        - contains "Rome" for completeness
        - contains any of ["the price of the flight", "what the dog costs"] for tone
        - latency <= 5s
"""


COMMANDS: Final = """\
check
run desk.eval.yaml --min-pass-rate 0.9 --agent demo
run desk.eval.yaml -v --agent demo --repeat 2
run mistakes.eval.yaml --agent demo
run nothing
accept
diff
show
history
plan
challenge desk.eval.yaml
coverage desk.eval.yaml
init
explain gates
explain EV503
lock
"""


@pytest.mark.parametrize("width", [60, 80])
def test_all_that_commands_print_on_a_terminal_fits_it(width: int, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "desk.eval.yaml").write_text(SUITE)
    (tmp_path / "mistakes.eval.yaml").write_text(SUITE.replace('contains "Rome"', 'contain "Rome"'))
    printed = "".join(on_a_terminal(command, tmp_path, width) for command in COMMANDS.splitlines())
    assert [line for line in printed.splitlines() if cells(line) > width and " " in line.strip()] == []
    for words in ("`evalc run --last-failed`", "`evalc report`", "completeness"):
        assert words in printed


def on_a_terminal(command: str, folder: Path, width: int) -> str:
    """The lines that a command writes on both streams, which are a terminal."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "CI": "1", "COLUMNS": str(width), "TERM": "xterm", "NO_COLOR": "1"}
    ran = [sys.executable, "-m", "evalc", *command.split()]
    with subprocess.Popen(ran, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs):
        os.close(theirs)
        printed = b""
        with suppress(OSError):  # the end of a terminal
            while read := os.read(ours, 65_536):
                printed += read
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("height", [7, 10, 20])
@pytest.mark.parametrize("width", [60, 120])
def test_a_board_is_no_longer_than_the_screen(height: int, width: int) -> None:
    lines = list(watched(Screen(width=width), height))
    assert len(lines) <= height
    assert lines[-1] == "✗ 9 passed, 3 did not pass"
    assert [line[:3] for line in lines if line.strip().startswith("✗")] == ["  ✗"] * 3 + ["✗ 9"]


@pytest.mark.parametrize("name", SCREENS)
def test_colours_take_no_room(name: str) -> None:
    plain, coloured = ("\n".join(SCREENS[name](Screen(width=60, color=color))) for color in (False, True))
    for code in ("1", "2", "1;31", "32", "1;33", "1;34", "36", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == plain


@given(st.text(st.sampled_from("a é漢")), st.integers(1, 20))
def test_wrapping_keeps_every_word(text: str, width: int) -> None:
    lines = list(wrapped(text, width, "- "))
    assert " ".join(lines).split() == ["-", *text.split()]
    assert all(cells(line) <= width or len(line[2:].split()) <= 1 for line in lines)


@given(st.text(st.sampled_from("a é漢")), st.integers(1, 20), st.sampled_from(("", "\x1b[1;31m")))
def test_a_line_that_fits_is_left_alone(text: str, width: int, paint: str) -> None:
    lines = list(fitted(f"{paint}{text}", width))
    assert " ".join(lines).split() == f"{paint}{text}".split()
    if cells(text.rstrip()) <= width:
        assert "".join(lines).rstrip() == f"{paint}{text}".rstrip()


def test_a_command_in_backticks_is_not_broken() -> None:
    line = "in full: `evalc show -v`; as a page: `evalc report`, or not"
    assert list(fitted(line, 30)) == ["in full: `evalc show -v`; as a", "  page: `evalc report`, or not"]
    assert list(fitted(line, 24)) == ["in full:", "  `evalc show -v`; as a", "  page: `evalc report`,", "  or not"]


@given(st.text(st.sampled_from("aé漢")), st.integers(1, 20))
def test_a_name_is_cut_in_its_middle(text: str, width: int) -> None:
    cut = cut_in_middle(text, width)
    assert cells(cut) <= width
    begin, sign, end = cut.partition("…")
    assert (text.startswith(begin) and text.endswith(end)) if sign else cut == text


def test_words_of_a_table_are_wrapped_beside_their_rows_or_below_them() -> None:
    rows = [("name", "cases", "words"), ("one", "2", "so many words that they are wrapped"), ("two", "10", "")]
    wide, narrow = (list(Writer(Screen(width=width)).table(rows, right=(1,))) for width in (40, 30))
    assert wide == [
        "  name  cases  words",
        "  one       2  so many words that they",
        "               are wrapped",
        "  two      10",
    ]
    assert narrow == [
        "  name  cases",
        "      words",
        "  one       2",
        "      so many words that they",
        "      are wrapped",
        "  two      10",
    ]
