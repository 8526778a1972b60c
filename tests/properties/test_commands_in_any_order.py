"""Run, resume, rescore, accept, diff and lock in any order keep their promises: a model says how each command ends."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from typer.testing import CliRunner

from tests.support.command_line import app
from tests.support.laws import examples

NAMES = ("a", "b", "c", "d")
AGENT = """\
import json
from pathlib import Path

def answer(message):
    broken = json.loads(Path("broken.json").read_text())
    return "no" if message.split()[0] in broken else "yes"
"""
HEAD = "suite: s\neval:\n  test_cases:\n"
CASE = (
    "    - {{name: {name}, id: r-{name}, tier: regression, created_at: 2026-05-03, bug_ref: '#1', "
    "message: '{name} {words}', validate: [contains \"yes\"]}}\n"
)


class Commands(RuleBasedStateMachine):
    """The cases, which of them the agent gets wrong, and what is known of past runs."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.chdir(self.folder)
        (self.folder / "evalc.toml").touch()
        (self.folder / "agent_of_commands.py").write_text(AGENT)
        self.cases: dict[str, str] = {}
        self.broken: set[str] = set()
        self.ran: dict[str, str] = {}
        self.runs: list[dict[str, bool]] = []
        self.codes: list[int] = []
        self.is_rescored = False
        self.greens: list[dict[str, bool]] = []
        self.accepted: dict[str, bool] | None = None
        self.locked: dict[str, str] = {}

    def teardown(self) -> None:
        self.patch.undo()
        shutil.rmtree(self.folder)

    @initialize(names=st.sets(st.sampled_from(NAMES), min_size=1))
    def begin(self, names: set[str]) -> None:
        self.cases = dict.fromkeys(sorted(names), "first")
        self.write()

    # --- the project ---

    @rule(name=st.sampled_from(NAMES), words=st.sampled_from(["first", "second"]))
    def add_or_change_a_case(self, name: str, words: str) -> None:
        self.cases[name] = words
        self.write()

    @precondition(lambda self: len(self.cases) > 1)
    @rule(data=st.data())
    def remove_a_case(self, data: st.DataObject) -> None:
        del self.cases[data.draw(st.sampled_from(sorted(self.cases)))]
        self.write()

    @rule(broken=st.sets(st.sampled_from(NAMES), max_size=2))
    def change_the_agent(self, broken: set[str]) -> None:
        self.broken = broken
        self.write()

    # --- the commands ---

    @rule()
    def run(self) -> None:
        if self.is_locked_otherwise():
            assert self.call("run", "--agent", "python:agent_of_commands:answer").exit_code == 2
            return
        ended = self.call("run", "--agent", "python:agent_of_commands:answer")
        self.remember(met=all(self.expected().values()))
        assert ended.exit_code == (0 if all(self.expected().values()) else 1), ended.output
        assert self.results(self.latest()) == self.expected()

    @rule()
    def run_with_the_gate(self) -> None:
        if self.is_locked_otherwise():
            return
        baseline = self.accepted or (self.greens[-1] if self.greens else None)
        now = self.expected()
        met = all(now.values())
        if baseline is not None:
            met = not any(not passed and baseline.get(name, True) for name, passed in now.items())
        ended = self.call("run", "--agent", "python:agent_of_commands:answer", "--fail-on-regression")
        self.remember(met=met)
        assert ended.exit_code == (0 if met else 1), (baseline, now, ended.output)

    @precondition(lambda self: bool(self.runs) and (self.ran, self.runs[-1]) == (self.cases, self.expected()))
    @rule(kept=st.integers(0, 4))
    def interrupt_and_resume(self, kept: int) -> None:
        if self.is_locked_otherwise() or self.is_rescored:
            return
        folder = self.latest()
        lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "journal.jsonl").write_bytes(b"".join(lines[: 1 + kept]) + b'{"suite":0,"ca')
        for file in (*folder.glob("*.json"), *folder.glob("closing*")):
            file.unlink()
        ended = self.call("run", "--resume", folder.name)
        assert (ended.exit_code, self.results(folder)) == (self.codes[-1], self.runs[-1]), ended.output

    @precondition(lambda self: bool(self.runs) and self.ran == self.cases)
    @rule()
    def rescore(self) -> None:
        if self.is_locked_otherwise():
            return
        ended = self.call("rescore", "latest")
        again = self.runs[-1]  # whatever the agent would answer now
        met = all(again.values())
        assert (ended.exit_code, self.results(self.latest())) == (0 if met else 1, again), ended.output
        self.runs.append(again)
        self.codes.append(ended.exit_code)
        self.is_rescored = True
        if met:
            self.greens.append(again)

    @precondition(lambda self: bool(self.runs))
    @rule()
    def accept(self) -> None:
        ended = self.call("accept")
        assert ended.exit_code == 0, ended.output
        self.accepted = dict(self.runs[-1])

    @precondition(lambda self: len(self.runs) > 1)
    @rule()
    def diff(self) -> None:
        ended = self.call("diff", "latest~1", "latest")
        assert ended.exit_code in {0, 1}, ended.output
        before, now = self.runs[-2:]
        for name in before.keys() & now.keys():
            if before[name] and not now[name]:
                assert f"r-{name}" in ended.output

    @precondition(lambda self: bool(self.runs))
    @rule()
    def show(self) -> None:
        ended = self.call("show")
        assert ended.exit_code == 0
        assert f"{sum(self.runs[-1].values())}/{len(self.runs[-1])} passed" in ended.output

    @rule()
    def lock(self) -> None:
        ended = self.call("lock")
        assert ended.exit_code == (2 if self.is_locked_otherwise() else 0), ended.output
        if ended.exit_code == 0:
            self.locked |= self.cases

    @rule()
    def check_the_lock(self) -> None:
        ended = self.call("lock", "--check")
        if self.is_locked_otherwise():
            assert ended.exit_code == 2
        else:
            assert ended.exit_code == (0 if self.cases.keys() <= self.locked.keys() else 1), ended.output

    # --- the model ---

    def expected(self) -> dict[str, bool]:
        return {name: name not in self.broken for name in self.cases}

    def is_locked_otherwise(self) -> bool:
        return any(self.cases.get(name) != words for name, words in self.locked.items())

    def remember(self, *, met: bool) -> None:
        self.ran, self.is_rescored = dict(self.cases), False
        self.runs.append(self.expected())
        self.codes.append(0 if met else 1)
        if met:
            self.greens.append(self.expected())

    def write(self) -> None:
        cases = "".join(CASE.format(name=name, words=words) for name, words in self.cases.items())
        (self.folder / "s.eval.yaml").write_text(HEAD + cases)
        (self.folder / "broken.json").write_text(json.dumps(sorted(self.broken)))

    def latest(self) -> Path:
        return max(path for path in (self.folder / "evals" / "results").iterdir() if path.is_dir())

    def results(self, folder: Path) -> dict[str, bool]:
        (file,) = folder.glob("*.json")
        return {case["id"].removeprefix("r-"): case["passed"] for case in json.loads(file.read_bytes())["cases"]}

    def call(self, *arguments: str) -> Any:
        result = CliRunner().invoke(app, arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "evalc broke" not in result.output
        return result


Commands.TestCase.settings = settings(
    max_examples=examples(20), stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
test_commands = Commands.TestCase
