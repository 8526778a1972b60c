"""The options of a run: where its results go, how fast it goes, what its cases are checked with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import msgspec

from evalc.checks import ProjectChecks
from evalc.model.case import Gates
from evalc.runtime import CONCURRENCY, TIMEOUT_MS
from evalc.runtime.agents import Agent
from evalc.runtime.agents.pace import Concurrency
from evalc.runtime.checks.verdict import Embeddings
from evalc.runtime.judges.panel import Panel
from evalc.runtime.run.case import CaseOptions
from evalc.runtime.run.engine import Engine, LocalEngine
from evalc.runtime.run.gates import Limits
from evalc.runtime.store.journal import Asked
from evalc.runtime.store.redact import Redactor
from evalc.runtime.store.runs import new_run_id
from evalc.tools.registry import ToolRegistry


@final
class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to run."""

    output_dir: Path  # where the run's folder is made; its name is `run_id`
    run_id: str = msgspec.field(default_factory=new_run_id)
    engine: Engine = msgspec.field(default_factory=LocalEngine)  # where the cases are attempted
    # how many cases run at a time; `auto` finds out how many the agent keeps up with
    concurrency: Concurrency = CONCURRENCY
    rpm: int | None = None  # how many requests go to the agent a minute at most; None means no limit
    timeout_ms: float = TIMEOUT_MS  # how long the agent may take for an attempt at a case
    # seed, snapshot: the data that tokens name; None if there is none
    seed: object = None
    snapshot: object = None
    registry: ToolRegistry | None = None  # the tools as they are now; None leaves staleness unchecked
    # a run to compare with: a run id, `latest`, or a path; None for none but what gates of suites need
    baseline: str | None = None
    # the file of the baseline that the project has accepted, if it has; `latest` is that then
    accepted: Path | None = None
    all_assertions: bool = False  # evaluate what follows a failed assertion, too
    gates: Gates | None = None  # what the run as a whole has to reach
    limits: Limits = msgspec.field(default_factory=Limits)  # when it stops before its end
    panel: Panel | None = None  # who judges what only a judge can decide; None if nobody does
    # how agents, judges and the player are asked, for resuming the run; None if that is not known
    asked: Asked | None = None
    user: Agent | None = None  # who plays simulated users; None if nobody does
    # whether the run ends where its gates are decided, and the repeats of a case if that is
    stop_when_sure: bool = False
    rubrics_always: bool = False  # whether the rubric tier is run also where others did not pass
    embeddings: Embeddings | None = None  # compare texts by their meaning; None where edit distance does
    checks: ProjectChecks = ProjectChecks()  # the checks of the project's own files
    redactor: Redactor | None = None  # strikes secrets out of all that is written
    root: Path | None = None  # the project's folder, from which journals name files; None where that is not known
    flags: Mapping[str, Any] = {}  # those of the command line, kept for resuming the run
    resumed: Path | None = None  # the folder of the run that is gone on with; None begins a new one

    @property
    def of_cases(self) -> CaseOptions:
        """The options that each case needs."""
        return CaseOptions(
            timeout_ms=self.timeout_ms,
            all_assertions=self.all_assertions,
            seed=self.seed,
            snapshot=self.snapshot,
            embeddings=self.embeddings,
            checks=self.checks,
            user=self.user,
        )
