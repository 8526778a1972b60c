"""A project whose suite is challenged, by itself or by the answers of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Protocol

import pytest

import evalc
from evalc.cli import trust
from evalc.config.load import load_settings
from evalc.extras.challenge import Finished
from evalc.runtime.store.resume import find_run

TOOLS = """\
[
  {"name": "find", "description": "Finds trains", "inputSchema": {"type": "object",
    "properties": {"to": {"type": "string"}}, "required": ["to"]}},
  {"name": "book", "description": "Books a train", "inputSchema": {"type": "object",
    "properties": {"id": {"type": "string"}}, "required": ["id"]}},
  {"name": "cancel", "description": "Cancels a booking", "inputSchema": {"type": "object", "properties": {}}}
]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


class Challenging(Protocol):
    """Challenges a suite; with answers, those of a run that an agent gave."""

    def __call__(
        self, suite: str, answers: Sequence[evalc.AgentResponse | str] = (), *, tools: str = ""
    ) -> Finished: ...


@pytest.fixture
def challenged(project: Path) -> Challenging:
    """Challenge the suite that a text is."""

    def challenge(suite: str, answers: Sequence[evalc.AgentResponse | str] = (), *, tools: str = "") -> Finished:
        path = project / "it.eval.yaml"
        path.write_text(dedent(suite), encoding="utf-8")
        if tools:
            (project / "tools.json").write_text(tools)
            (project / "evalc.toml").write_text('tools = "tools.json"\n')
        settings = load_settings(Path.cwd(), None, []).sound()
        of = None
        if answers:
            replies = iter(answers)
            evalc.run("it.eval.yaml", agent=evalc.ScriptedAgent(default=lambda _message: next(replies)))
            of = find_run("latest", settings.results_folder)
        return trust.challenged(["it.eval.yaml"], settings, of)

    return challenge


Survivors = Callable[[Finished], dict[str, str | None]]


@pytest.fixture
def survivors() -> Survivors:
    """The survivors of the only case, each with the line that would notice it."""

    def found(finished: Finished) -> dict[str, str | None]:
        (case,) = finished.strength.cases
        return {survivor.challenger: survivor.line for survivor in case.survivors}

    return found
