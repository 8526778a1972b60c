"""From subjects and settings to a finished run: compiled, chosen, asked or checked again, put into the history."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from evalc.config import Settings
from evalc.errors import SourceError, UsageError
from evalc.model.codec import to_json
from evalc.setup_compile import Subject, compiled, files_of, policy_of
from evalc.source import Source

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Problem
    from evalc.model.result import RunSummary, SuiteResult
    from evalc.model.suite import Selected, Suite
    from evalc.report.otel.exporter import Exporter
    from evalc.runtime.agents.base import Agent
    from evalc.runtime.finished import FinishedRun
    from evalc.runtime.resume import PastRun
    from evalc.runtime.run_options import RunOptions
    from evalc.runtime.run_suite import Observer
    from evalc.runtime.select import Wanted
    from evalc.tools.registry import ToolRegistry


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run.

    Attributes:
        problems: the warnings about the eval files.
        notes: what else the user should know, such as a configured file that is not there.
        strict: whether a case that verified nothing fails the run.
        selected: which of all cases were chosen; None where it was all of them.
    """

    finished: FinishedRun
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = False
    selected: Selected | None = None

    @property
    def run_id(self) -> str:
        """The run's id, a UUID that its suites share."""
        return self.finished.run_id

    @property
    def folder(self) -> Path:
        """The folder of the run's result files."""
        return self.finished.folder

    @property
    def summary(self) -> RunSummary:
        """The totals of all suites."""
        return self.finished.summary

    @property
    def suites(self) -> Iterator[SuiteResult]:
        """The suites with all their cases, each read when it is its turn."""
        return (suite.load() for suite in self.finished.suites)

    @property
    def exit_code(self) -> int:
        """0: all is well; 1: a case or a gate failed, or the run stopped; 3: the agent or a check broke (3 beats 1)."""
        if self.summary.errors:
            return 3
        unverified = self.strict and self.summary.unverified
        return 1 if self.finished.failed or unverified else 0

    def to_json(self) -> bytes:
        """`{runId, suites: [EvalSuiteResult...], summary}`, one JSON document with a line end."""
        return to_json(self.finished.load()) + b"\n"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a run begins.

    Attributes:
        run_id: the run's id.
        flags: those of the command line that a resumed run needs again.
        past: the run that is resumed; None for a new one.
        record: where what is sent and answered is recorded.
        wanted: which cases are run; None for all.
        max_fail: after so many cases that did not pass the run stops; None for never.
    """

    run_id: str
    flags: Mapping[str, Any] = field(default_factory=dict)
    past: PastRun | None = None
    record: Path | None = None
    wanted: Wanted | None = None
    max_fail: int | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToRun:
    """What a run would run.

    Attributes:
        suites: the suites, with the cases that were chosen.
        problems: the warnings about the eval files.
        tools: the tool registry, where one is named and can be read.
        selected: which of all cases were chosen; None where it is all of them.
    """

    suites: tuple[Suite, ...]
    problems: tuple[Problem, ...]
    tools: ToolRegistry | None
    selected: Selected | None


async def run(
    subjects: Sequence[Subject],
    settings: Settings,
    *,
    prompt_id: str | None = None,
    observer: Observer | None = None,
    agents: Sequence[str | Agent] = (),
    start: Start | None = None,
) -> Run:
    """Run the suites of the subjects against the agents: specs, of which the settings know, or agents of the caller's.

    Raises:
        SourceError: the eval files have errors; nothing was run.
        UsageError: what was asked for cannot be done; nothing was run.
    """
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.local_model.served import local_models  # noqa: PLC0415
    from evalc.runtime.run_suite import run_suites  # noqa: PLC0415
    from evalc.setup_run import exporter_of, options_of, recorded  # noqa: PLC0415

    exporter = exporter_of(settings)
    wanted = start.wanted if start is not None else None
    what = to_run(subjects, settings, prompt_id, wanted)
    asked = _agents(agents, settings, what.tools)
    served = asked  # what records one hides what it is
    snapshot = _snapshot_of(start)
    options, notes = await options_of(
        settings if snapshot is None else replace(settings, snapshot_source=None), os.environ, what.tools
    )
    if start is not None:
        options = _started(options, start, snapshot)
        if start.record is not None:
            asked = [recorded(agent, start.record, settings, what.tools, options) for agent in asked]
    async with local_models(served, options.panel, observer):
        finished = await run_suites(what.suites, asked, options, observer=observer)
    return Run(
        finished=finished,
        problems=what.problems,
        notes=(*notes, *_registered(finished), *await _exported(finished, exporter)),
        strict=settings.strict,
        selected=what.selected,
    )


def to_run(
    subjects: Sequence[Subject], settings: Settings, prompt_id: str | None, wanted: Wanted | None = None
) -> ToRun:
    """Compile, and choose the cases that are wanted.

    Raises:
        SourceError: the eval files have errors.
        UsageError: nothing would be run.
    """
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.select import Wanted, select_cases, selected_of  # noqa: PLC0415
    from evalc.setup_choice import known_of  # noqa: PLC0415

    compilation = compiled(subjects, settings, policy_of(settings), errors_stay=True, prompt_id=prompt_id)
    if compilation.has_errors:
        raise SourceError(compilation.problems)
    if not compilation.suites:
        raise UsageError(_nothing_to_run(subjects, prompt_id))
    all_suites = [suite.to_suite() for suite in compilation.suites]
    wanted = wanted or Wanted()
    known = known_of(wanted, compilation.suites, settings, lambda path: _names_of(path, settings))
    suites = select_cases(all_suites, wanted, known)
    return ToRun(
        suites=suites,
        problems=compilation.problems,
        tools=compilation.tools,
        selected=selected_of(suites, all_suites, wanted),
    )


def _names_of(path: str, settings: Settings) -> frozenset[str]:
    """The names that the files of a path have as sources."""
    return frozenset({"<stdin>"}) if path == "-" else files_of([path], settings=settings)


async def rescore(paths: Sequence[str], past: PastRun, settings: Settings, observer: Observer | None) -> Run:
    """Check the answers of a past run again, with the checks of the paths, else of its own files."""
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.local_model.served import local_models  # noqa: PLC0415
    from evalc.runtime.rescore import rescore_suites  # noqa: PLC0415
    from evalc.runtime.resume import kept_snapshot  # noqa: PLC0415
    from evalc.setup_run import options_of  # noqa: PLC0415

    if past.header is None:
        raise UsageError(f"the run `{past.run_id}` has no answers: it ended before its journal began")
    subjects = paths or tuple(dict.fromkeys(suite.origin for suite in past.header.suites))
    compilation = compiled(
        subjects, settings, policy_of(settings), errors_stay=True, prompt_id=past.header.flags.get("prompt_id")
    )
    if compilation.has_errors:
        raise SourceError(compilation.problems)
    if not compilation.suites:
        raise UsageError(_nothing_to_run(subjects, None))
    options, notes = await options_of(replace(settings, snapshot_source=None), os.environ, compilation.tools)
    # What is configured is for runs: a rescored one shows what has changed since the run that it is made of.
    baseline = options.baseline if "baseline_run_id" in settings.given else None
    options = replace(options, snapshot=kept_snapshot(past.header), baseline=baseline)
    suites = [suite.to_suite() for suite in compilation.suites]
    async with local_models((), options.panel, observer):
        finished = await rescore_suites(suites, past, options, observer=observer)
    notes = (*notes, *_registered(finished))
    return Run(finished=finished, problems=compilation.problems, notes=notes, strict=settings.strict)


def _registered(finished: FinishedRun) -> tuple[str, ...]:
    """Put the run into the history; what is to be said where that could not be done."""
    from evalc.history.index import register  # noqa: PLC0415 - for start-up: SQLite is nothing to `check` and `compile`

    warning = register(finished)
    return () if warning is None else (warning,)


async def _exported(finished: FinishedRun, exporter: Exporter | None) -> tuple[str, ...]:
    """Export the run where that is asked for; what is to be said where it could not be done."""
    if exporter is None:
        return ()
    # For start-up: only where it is asked for.
    import asyncio  # noqa: PLC0415

    from evalc.report.html import ReportedSuite  # noqa: PLC0415
    from evalc.report.otel.spans import Exported  # noqa: PLC0415

    suites = tuple(ReportedSuite(result=suite.result, cases=suite.cases()) for suite in finished.suites)
    run = Exported(finished.run_id, finished.summary, suites, exporter.content)
    # In a thread, for callers whose event loop has other work.
    warning = await asyncio.to_thread(exporter.export, run)
    return () if warning is None else (warning,)


def _snapshot_of(start: Start | None) -> object:
    """The snapshot of the run that is resumed; None where it is to be captured."""
    from evalc.runtime.resume import kept_snapshot  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

    past = start.past if start is not None else None
    return None if past is None or past.header is None else kept_snapshot(past.header)


def _started(options: RunOptions, start: Start, snapshot: object) -> RunOptions:
    """The options of a run that begins, or goes on, like this."""
    limits = replace(options.limits, max_fail=start.max_fail)
    options = replace(options, run_id=start.run_id, flags=start.flags, limits=limits)
    if start.past is None:
        return options
    folder = start.past.folder
    return replace(
        options,
        output_dir=folder.parent,
        resumed=folder,
        snapshot=options.snapshot if snapshot is None else snapshot,
    )


def _agents(given: Sequence[str | Agent], settings: Settings, tools: ToolRegistry | None) -> Sequence[Agent]:
    """The agents that a caller gives, of whose specs the settings know; where none are given, those of the settings."""
    from evalc.setup_run import agents_of  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

    if not given:
        return agents_of(settings, os.environ, tools)
    named = iter(agents_of(settings, os.environ, tools) if any(isinstance(agent, str) for agent in given) else ())
    return [next(named) if isinstance(agent, str) else _known_agent(agent) for agent in given]


def _known_agent(agent: Agent) -> Agent:
    """The agent, which a caller without types may have mistaken for a function."""
    if not hasattr(agent, "endpoint") or not hasattr(agent, "session"):
        raise UsageError(
            f"a `{type(agent).__name__}` is no agent: it has no `endpoint` and `session`; "
            "a function can be named, as in `python:module:name`"
        )
    return agent


def _nothing_to_run(subjects: Sequence[Subject], prompt_id: str | None) -> str:
    named = ", ".join(f"`{subject.name if isinstance(subject, Source) else subject}`" for subject in subjects)
    if prompt_id is not None:
        return f"there is no suite of the prompt `{prompt_id}` in {named}"
    return f"there are no eval files in {named}"
