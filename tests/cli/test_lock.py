"""`evalc lock`: regression cases stay as they are."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
import pytest

from evalc.base.source import Source
from evalc.compiler.compiled import Compilation
from evalc.compiler.lock import (
    Lock,
    LockedSuite,
    check_lock,
    lock_text,
    locked_anew,
    read_lock,
    write_lock,
)
from evalc.compiler.lower import lower
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.diagnostics import Diagnostics
from tests.cli.conftest import Invoke

SUITE = """\
suite: get-weather
tier: regression
prompt: "What is the weather in {{city}}?"
inputs: [city]
eval:
  test_cases:
    - name: minus
      id: rg-get-weather-001
      created_at: 2026-03-02
      bug_ref: "#17"
      inputs: {city: Oslo}
      validate: [contains "-2"]
    - name: two_words
      id: rg-get-weather-002
      created_at: 2026-03-09
      bug_ref: "#18"
      inputs: {city: New York}
      validate: [contains "New York"]
"""
COMMANDS = (("check",), ("lock", "--check"), ("run", "--agent", "demo"))
HEAD = SUITE[: SUITE.index("    - name: minus")]
FIRST = SUITE[: SUITE.index("    - name: two_words")]
SECOND = HEAD + SUITE.removeprefix(FIRST)
OTHER_TIER = SUITE.replace("tier: regression\n", "").replace("id: rg", "tier: regression\n      id: rg")


@pytest.fixture
def file(project: Path) -> Path:
    (project / "evals" / "weather.eval.yaml").unlink()
    suite = project / "evals" / "regression.eval.yaml"
    suite.write_text(SUITE)
    return suite


# --- the command -----------------------------------------------------------------------------------------------------


def test_cases_are_locked_once(invoke: Invoke, file: Path, project: Path) -> None:
    assert invoke("lock", "--check").code == 1
    assert not (project / "evalc.lock").exists()
    outcome = invoke("lock")
    assert (outcome.code, outcome.out, outcome.err) == (0, "wrote evalc.lock: 2 locked cases\n", "")
    text = (project / "evalc.lock").read_text()
    assert text.count('\n"rg-get-weather-00') == 2
    assert invoke("lock", "--check").out == "evalc.lock is up to date\n"
    assert invoke("lock").out == "evalc.lock is up to date\n"
    assert (project / "evalc.lock").read_text() == text


def test_a_new_case_is_added(invoke: Invoke, file: Path) -> None:
    file.write_text(FIRST)
    assert invoke("lock").code == 0
    file.write_text(SUITE)
    outcome = invoke("lock", "--check")
    assert (outcome.code, outcome.out) == (1, "evalc.lock is not up to date: run `evalc lock`\n")
    assert invoke("lock").out == "wrote evalc.lock: 2 locked cases\n"


def test_a_changed_case_is_not_locked_anew(invoke: Invoke, file: Path, project: Path) -> None:
    invoke("lock")
    before = (project / "evalc.lock").read_text()
    file.write_text(SUITE.replace('contains "-2"', 'contains "2"'))
    for arguments in (("lock",), ("lock", "--check")):
        outcome = invoke(*arguments)
        assert outcome.code == 2
        assert "error[EV450]: the regression case `rg-get-weather-001` has changed since it was locked" in outcome.err
        assert " --> evals/regression.eval.yaml:8:11\n" in outcome.err
    assert (project / "evalc.lock").read_text() == before
    without = re.sub(r'"rg-get-weather-001" = .*\n', "", before)
    (project / "evalc.lock").write_text(without)
    assert invoke("lock").code == 0, "whoever deletes the line means it"


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ('"-2"', '"-3"', '`expect.responseContains` was "-2", and is "-3"'),
        ('[contains "-2"]', '[contains "-2", json]', "`expect.jsonValid` is new: true"),
        ("{city: Oslo}", "{city: Rome}", '`input.inputs.city` was "Oslo", and is "Rome"'),
        ("{city: Oslo}", "{city: " + "x" * 200 + "}", '`input.inputs.city` was "Oslo", and is another long text'),
    ],
)
def test_changes_of_a_locked_case_are_named(invoke: Invoke, file: Path, old: str, new: str, changed: str) -> None:
    assert invoke("lock").code == 0
    file.write_text(SUITE.replace(old, new, 1))
    outcome = invoke("check")
    assert outcome.code == 2
    assert changed in outcome.out


def test_a_lock_of_hashes_still_holds(invoke: Invoke, file: Path, project: Path) -> None:
    head = '["get-weather.regression"]\nfile = "evals/regression.eval.yaml"\n["get-weather.regression".cases]\n'
    digest = hashlib.sha256(msgspec.json.encode(compiled_fields(), order="sorted")).hexdigest()
    (project / "evalc.lock").write_text(f'{head}"rg-get-weather-001" = "{digest}"\n')
    assert invoke("check").code == 0
    file.write_text(SUITE.replace('"-2"', '"-3"'))
    outcome = invoke("check")
    assert (outcome.code, "has changed since it was locked\n" in outcome.out) == (2, True)


GATES = "gates: {min_pass_rate: 0.9, max_p95: 2s}\nthreshold: 0.5\n"
SCORE = "gates: {min_score: 0.5}\n"
BEGIN = "eval:\n"
SCORED = SUITE.replace(BEGIN, f"{BEGIN}  criteria: ['grounded (1): Says it']\n").replace('"]\n', '" for grounded]\n')


@pytest.mark.parametrize(
    ("was", "now", "changed"),
    [
        ("", "gates: {min_pass_rate: 1}\n", '`gates` is new: {"minPassRate":1}'),
        (GATES, GATES.replace("0.9", "0.8"), "`gates.minPassRate` was 0.9, and is 0.8"),
        (GATES, GATES.replace("2s", "3s"), "`gates.maxP95Ms` was 2000, and is 3000"),
        (GATES, GATES.replace(", max_p95: 2s", ""), "`gates.maxP95Ms` is gone, which was 2000"),
        (SCORE, SCORE.replace("}", ", confidence: 95%}"), "`gates.confidence` is new: 0.95"),
        (GATES, GATES.replace("0.5", "0.4"), "`threshold` was 0.5, and is 0.4"),
        (GATES, "", "`threshold` is gone, which was 0.5"),
    ],
)
def test_weaker_gates_of_locked_cases_are_errors(
    invoke: Invoke, file: Path, project: Path, was: str, now: str, changed: str
) -> None:
    file.write_text(SCORED.replace(BEGIN, was + BEGIN))
    assert invoke("lock").code == 0
    before = (project / "evalc.lock").read_text()
    file.write_text(SCORED.replace(BEGIN, now + BEGIN))
    for command in COMMANDS:
        outcome = invoke(*command)
        assert outcome.code == 2, command
        assert "error[EV453]: what decides `get-weather.regression` is weaker" in outcome.out + outcome.err
        assert changed in outcome.out + outcome.err
    assert (project / "evalc.lock").read_text() == before
    (project / "evalc.lock").write_text(re.sub("(?m)^gates = .*\n", "", before))
    assert invoke("lock").code == 0, "whoever deletes the line means it"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("", "threshold: 0.5\n"),
        (GATES, GATES.replace("0.9", "0.95").replace("2s", "1s").replace("0.5", "0.6")),
        (GATES, GATES.replace("2s", "2s, min_score: 0.7")),
        ("gates: {min_pass_rate: 0.9}\n", ""),
        ("gates: {min_pass_rate: 0.1, confidence: 80%}\n", ""),
    ],
)
def test_gates_that_ask_for_more_are_locked_anew(invoke: Invoke, file: Path, project: Path, was: str, now: str) -> None:
    file.write_text(SCORED.replace(BEGIN, was + BEGIN))
    assert invoke("lock").code == 0
    file.write_text(SCORED.replace(BEGIN, now + BEGIN))
    assert invoke("check").code == 0
    assert invoke("lock", "--check").out == "evalc.lock is not up to date: run `evalc lock`\n"
    assert invoke("lock").code == 0
    file.write_text(SCORED.replace(BEGIN, was + BEGIN))
    assert invoke("check").code == 2


def test_a_lock_without_gates_says_that_it_lacks_them(invoke: Invoke, file: Path, project: Path) -> None:
    file.write_text(SCORED)
    invoke("lock")
    path = project / "evalc.lock"
    path.write_text(re.sub("(?m)^gates = .*\n", "", path.read_text()))
    file.write_text(SCORED.replace(BEGIN, GATES + BEGIN))
    assert invoke("check").code == 0
    outcome = invoke("lock", "--check")
    lacks = "evalc.lock does not have the gates of `get-weather.regression` yet: run `evalc lock`\n"
    assert (outcome.code, outcome.out) == (1, lacks)
    assert invoke("lock").code == 0
    assert invoke("lock", "--check").out == "evalc.lock is up to date\n"


def compiled_fields() -> dict[str, object]:
    compilation = compile_sources([Source("a.eval.yaml", SUITE)], CompileOptions())
    suite = compilation.suites[0]
    fields: dict[str, object] = msgspec.to_builtins(lower(next(iter(suite.ir.cases)), suite.ir.criteria))
    return fields


def test_a_missing_case_is_reported(invoke: Invoke, file: Path) -> None:
    invoke("lock")
    file.write_text(FIRST)
    outcome = invoke("lock")
    assert outcome.code == 2
    assert "error[EV451]: the locked regression case `rg-get-weather-002` of `get-weather.regression` is gone" in (
        outcome.err
    )


def test_a_broken_lock_is_reported_and_kept(invoke: Invoke, file: Path, project: Path) -> None:
    (project / "evalc.lock").write_text("<<<<<<< ours\n")
    outcome = invoke("lock")
    assert outcome.code == 2
    assert "error[EV452]" in outcome.err
    assert " --> evalc.lock:1:1\n" in outcome.err
    assert (project / "evalc.lock").read_text() == "<<<<<<< ours\n"


def test_a_case_without_its_bug_is_shown_what_to_add(invoke: Invoke, file: Path) -> None:
    file.write_text(re.sub(r" +(created_at|bug_ref): .*\n", "", SUITE))
    shown = invoke("check").out
    assert "  = help: add it to the case, as in `created_at: 2026-03-02` (evalc explain EV416)\n" in shown
    assert """  = help: add it to the case, as in `bug_ref: "#17"` (evalc explain EV416)\n""" in shown


def test_only_the_regression_tier_is_locked(invoke: Invoke, file: Path, project: Path) -> None:
    file.write_text(re.sub(r" +(created_at|bug_ref): .*\n", "", SUITE).replace("tier: regression", "tier: labeled"))
    assert invoke("lock").out == "there is no case to lock: only cases of `tier: regression` are\n"
    assert not (project / "evalc.lock").exists()


def test_the_lock_is_the_projects_wherever_one_stands(
    invoke: Invoke, file: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("lock")
    monkeypatch.chdir(project / "evals")
    assert invoke("lock", "--check").code == 0
    file.write_text(FIRST)
    assert "error[EV451]" in invoke("lock", "regression.eval.yaml").err


# --- the pass --------------------------------------------------------------------------------------------------------


def compiled(text: str, name: str = "a.eval.yaml") -> Compilation:
    compilation = compile_sources([Source(name, text)], CompileOptions())
    assert not compilation.has_errors, [str(problem) for problem in compilation.problems]
    return compilation


def codes(text: str, lock: Lock, name: str = "a.eval.yaml") -> list[str]:
    problems = Diagnostics()
    check_lock(compiled(text, name).suites, lock, problems)
    return [problem.code for problem in problems]


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lock:
    monkeypatch.chdir(tmp_path)
    return locked_anew(compiled(SUITE).suites, Lock(folder=tmp_path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("suite: get-weather\n", "# a comment\n\nsuite: get-weather\n"),
        ('validate: [contains "-2"]', 'validate: [{type: contains, rule: "-2"}]'),
        (
            "id: rg-get-weather-001\n      created_at: 2026-03-02",
            "created_at: 2026-03-02\n      id: rg-get-weather-001",
        ),
    ],
)
def test_a_case_that_compiles_alike_is_unchanged(lock: Lock, old: str, new: str) -> None:
    assert old in SUITE
    assert codes(SUITE.replace(old, new), lock) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('contains "-2"', 'contains "2"', ["EV450"]),
        ("city: Oslo", "city: Bergen", ["EV450"]),
        ('bug_ref: "#17"', 'bug_ref: "#16"', ["EV450"]),
        ("What is the weather", "How is the weather", ["EV450", "EV450"]),
        ("id: rg-get-weather-001", "id: rg-get-weather-003", ["EV451"]),
    ],
)
def test_a_case_that_compiles_otherwise_is_changed(lock: Lock, old: str, new: str, expected: list[str]) -> None:
    assert old in SUITE
    assert codes(SUITE.replace(old, new), lock) == expected


def test_a_case_that_changes_its_tier_is_missing(lock: Lock) -> None:
    assert codes(OTHER_TIER, lock) == []
    lifted = OTHER_TIER.replace("tier: regression", "tier: labeled", 1)
    lifted = lifted.replace("created_at: 2026-03-02\n      ", "").replace('bug_ref: "#17"\n      ', "")
    assert codes(lifted, lock) == ["EV451"]


def test_a_case_of_a_suite_that_was_renamed_is_missing(lock: Lock) -> None:
    assert codes(SUITE.replace("suite: get-weather", "suite: weather"), lock) == ["EV451", "EV451"]


def test_a_suite_that_is_not_looked_at_is_not_missed(lock: Lock) -> None:
    other = SUITE.replace("get-weather", "get-forecast")
    assert codes(other, lock, "b.eval.yaml") == []


def test_a_suite_that_moved_to_another_file_is_still_locked(lock: Lock) -> None:
    assert codes(SUITE, lock, "b.eval.yaml") == []
    assert codes(FIRST, lock, "b.eval.yaml") == ["EV451"]


def test_nothing_follows_from_what_is_partial(lock: Lock) -> None:
    (suite,) = compiled(FIRST).suites
    partial = type(suite)(msgspec.structs.replace(suite.ir, partial=True), suite.tier)
    problems = Diagnostics()
    check_lock([partial], lock, problems)
    assert list(problems) == []


def test_an_archived_case_may_change_and_then_go(lock: Lock) -> None:
    archived = SUITE.replace('contains "-2"]', 'contains "2"]\n      archived: the tool is gone')
    assert codes(archived, lock) == []
    (suite,) = compiled(archived).suites
    assert [case.archived is not None for case in suite.ir.cases] == [True, False]
    anew = locked_anew([suite], lock)
    assert [*anew.suites["get-weather.regression"].cases] == ["rg-get-weather-002"]
    assert codes(SECOND, anew) == []
    assert codes(SECOND, lock) == ["EV451"]


# --- the file --------------------------------------------------------------------------------------------------------

HASH = "0123456789abcdef" * 4


def test_a_written_lock_is_read_back(tmp_path: Path) -> None:
    odd = 'a "quoted" \\ id\n\x7fü'
    lock = Lock(folder=tmp_path, suites={"a.b.regression": LockedSuite("evals/a b.yaml", {odd: HASH, "x": HASH})})
    write_lock(lock)
    problems = Diagnostics()
    assert read_lock(tmp_path, problems) == lock
    assert list(problems) == []


def test_the_text_is_sorted() -> None:
    suites = {"b.regression": LockedSuite("b.yaml", {"2": HASH, "1": HASH}), "a.regression": LockedSuite("a.yaml", {})}
    text = lock_text(Lock(folder=Path(), suites=suites))
    marks = ['["a.regression"]', '["b.regression"]', '["b.regression".cases]', '"1" =', '"2" =']
    assert [text.index(mark) for mark in marks] == sorted(text.index(mark) for mark in marks)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n", 1),
        ('[a]\nfile = "a"\n', 1),
        (f'\n[a]\nfile = "a"\nother = 1\n[a.cases]\nb = "{HASH}"\n', 2),
        ('[a]\nfile = "a"\n[a.cases]\nb = "nonsense"\n', 4),
        ('[a]\nfile = "a"\ngates = 1\n[a.cases]\n', 3),
        ('[a]\nfile = "a"\ngates = "nonsense"\n[a.cases]\n', 3),
        ("[a]\nfile = 'a'\ngates = '{\"threshold\":\"x\"}'\n[a.cases]\n", 3),
        (f'[a]\nfile = "a"\n[a.cases]\nb = "{HASH}"\nb = "{HASH}"\n', 5),
        ("[a\n", 1),
    ],
)
def test_a_lock_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalc.lock").write_text(text)
    problems = Diagnostics()
    assert read_lock(tmp_path, problems) == Lock(folder=tmp_path)
    assert [(problem.code, problem.source.name, problem.start.line) for problem in problems] == [
        ("EV452", "evalc.lock", line)
    ]


def test_without_a_lock_nothing_is_locked(tmp_path: Path) -> None:
    problems = Diagnostics()
    assert read_lock(tmp_path, problems) == Lock(folder=tmp_path)
    assert not len(problems)


def test_a_folder_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "evalc.lock").mkdir()
    problems = Diagnostics()
    assert read_lock(tmp_path, problems) == Lock(folder=tmp_path)
    assert problems.has_errors


@pytest.mark.parametrize("way", ["deleted", "renamed", "ignored by git", "excluded"])
def test_a_missing_locked_suite_is_reported(invoke: Invoke, project: Path, file: Path, way: str) -> None:
    (project / "evals" / "other.eval.yaml").write_text(OTHER)
    assert invoke("lock").code == 0
    match way:
        case "deleted":
            file.unlink()
        case "renamed":
            file.rename(file.with_name("regression.eval.yaml.old"))
        case "ignored by git":
            (project / ".gitignore").write_text("regression.*\n")
        case _:
            (project / "evalc.toml").write_text('exclude = ["regression.*"]\n')
    for command in COMMANDS:
        outcome = invoke(*command)
        assert outcome.code == 2, command
        output = outcome.out + outcome.err
        assert output.count("error[EV451]") == 2
        assert "which was in `evals/regression.eval.yaml`" in output
        assert "--> evalc.lock:" in output
    assert invoke("check", "evals/other.eval.yaml").code == 0  # where nobody looked for it


def test_a_locked_suite_that_has_moved_is_no_problem(invoke: Invoke, project: Path, file: Path) -> None:
    assert invoke("lock").code == 0
    file.rename(file.with_name("moved.eval.yaml"))
    assert invoke("check").code == 0


OTHER = "suite: other\neval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n"
