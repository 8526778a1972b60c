"""Runs or rescores what was chosen, exports it, and adds it to the history."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

import msgspec
from msgspec.structs import replace

from evalc import extras
from evalc.base.errors import UsageError
from evalc.config.settings import Settings
from evalc.model.json import to_json

if TYPE_CHECKING:
    from evalc.compiler.compiled import Inventory
    from evalc.diagnostics.problem import Problem
    from evalc.model.result import MissingSuite, RunSummary, SuiteResult
    from evalc.model.suite import Selected
    from evalc.runtime.agents import Agent
    from evalc.runtime.run.again_merge import Part
    from evalc.runtime.run.finished import FinishedRun
    from evalc.runtime.run.options import RunOptions
    from evalc.runtime.run.run import Observer
    from evalc.runtime.store.resume import PastRun
    from evalc.setup.compile import ToRun
    from evalc.setup.request import Start
    from evalc.tools.registry import ToolRegistry


@final
class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run.

    Attributes:
        problems: the warnings about the eval files.
        notes: what else the user should know, such as a configured file that is not there.
        strict: whether a case that verified nothing fails the run.
        selected: which of all cases were chosen; None if it was all of them.
        inventory: which eval files were read for it, and which were skipped.
    """

    finished: FinishedRun
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = False
    selected: Selected | None = None
    inventory: Inventory

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
    def missing(self) -> tuple[MissingSuite, ...]:
        """The suites of the baseline that the run should have had."""
        return self.finished.missing

    @property
    def suites(self) -> Iterator[SuiteResult]:
        """The suites with all their cases, each read when it is its turn."""
        return (suite.load() for suite in self.finished.suites)

    @property
    def exit_code(self) -> int:
        """0: all is well; 1: a case or a gate failed, or the run stopped; 3: the agent or a check broke (3 beats 1)."""
        if self.summary.errors:
            return 3
        verified_nothing = self.summary.unverified or not self.summary.total_cases
        return 1 if self.finished.failed or (self.strict and verified_nothing) else 0

    def to_json(self) -> bytes:
        """`{runId, suites: [EvalSuiteResult...], summary}`, one JSON document with a line end."""
        return to_json(self.finished.load()) + b"\n"


async def run(
    what: ToRun,
    settings: Settings,
    start: Start,
    *,
    observer: Observer | None = None,
    agents: Sequence[object] = (),
) -> Run:
    """Run the suites against the agents: specs that the settings describe, or agents and objects of the caller.

    Raises:
        UsageError: what was asked for cannot be done; nothing was run.
    """
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.run.local_models import local_models  # noqa: PLC0415
    from evalc.runtime.run.run import run_suites  # noqa: PLC0415
    from evalc.setup.prepare import asked_of, exporter_of, gates_of, options_of, recorded  # noqa: PLC0415

    if settings.confidence is not None and gates_of(settings) is None:
        raise UsageError(
            "`confidence` is how sure the gates of a run have to be, and this run has none: add one, such as "
            "`--min-pass-rate 0.9`"
        )
    _refuse_without_judge(what)
    _refuse_without_user(what)
    _refuse_without_language(what)
    exporter = exporter_of(settings)
    asked = _agents(agents, settings, what.tools)
    served = asked  # what records one hides what it is
    snapshot = _snapshot_of(start)
    options = await options_of(
        settings if snapshot is None else settings.replace(snapshot=None),
        os.environ,
        what.tools,
    )
    specs = [agent for agent in agents or settings.agent.use if isinstance(agent, str)]
    options = replace(options, asked=asked_of(settings, specs, os.environ, what.tools, options.redactor))
    options = _started(options, start, what, snapshot)
    shard = None if start.selection is None else start.selection.shard
    if shard is not None and settings.stop_when_sure:
        raise UsageError("`--stop-when-sure` looks at the cases of a whole run: it cannot be used with `--shard`")
    if shard is not None:  # what decides a run decides the merged one
        judged = options.rubrics_always or any(suite.tier == "rubric" for suite in what.suites)
        options = replace(options, gates=None, baseline=None, rubrics_always=judged)
    if start.record is not None:
        if settings.engine != "local":
            raise UsageError("`--record` writes files on this machine: it cannot be used with `--engine ray`")
        asked = [recorded(agent, start.record, settings, what.tools, options) for agent in asked]
    players = [] if options.user is None else [options.user]
    if start.record is not None and options.user is not None:
        options = replace(options, user=recorded(options.user, start.record, settings, None, options))
    async with local_models([*served, *players], options.panel, observer):
        finished = await run_suites(what.suites, asked, options, observer=observer)
    made = Run(
        finished=finished,
        problems=what.problems,
        notes=(
            *what.notes,
            *(_of_no_cases(finished) if shard is None else ()),
            *_registered(finished),
            *await _exported(finished, exporter),
        ),
        strict=settings.strict,
        selected=what.selected,
        inventory=what.inventory,
    )
    return _closed(made, options)


async def rescore(what: ToRun, past: PastRun, settings: Settings, observer: Observer | None) -> Run:
    """Check the answers of a past run again, with the checks of the suites."""
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.run.again_rescore import rescore_suites  # noqa: PLC0415
    from evalc.runtime.run.local_models import local_models  # noqa: PLC0415
    from evalc.runtime.store.journal import kept_snapshot  # noqa: PLC0415
    from evalc.runtime.store.runs import new_run_id  # noqa: PLC0415
    from evalc.setup.prepare import options_of  # noqa: PLC0415

    _refuse_without_judge(what)
    _refuse_without_language(what)
    header = past.header
    options = await options_of(settings.replace(snapshot=None), os.environ, what.tools)
    # What is configured is for runs: a rescored one shows what has changed since the run that it is made of.
    baseline = options.baseline if "baseline" in settings.given else None
    options = replace(
        options,
        run_id=new_run_id(settings.results_folder),
        snapshot=None if header is None else kept_snapshot(header),
        baseline=baseline,
    )
    async with local_models((), options.panel, observer):
        finished = await rescore_suites(what.suites, past, options, observer=observer)
    notes = (*_of_no_cases(finished), *_registered(finished))
    made = Run(finished=finished, problems=what.problems, notes=notes, strict=settings.strict, inventory=what.inventory)
    return _closed(made, options)


async def merge(what: ToRun, parts: Sequence[Part], settings: Settings, observer: Observer | None) -> Run:
    """Put the runs of all shards together: one run, judged, compared and put into the history as a whole."""
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.run.again_merge import merge_suites  # noqa: PLC0415
    from evalc.runtime.store.runs import new_run_id  # noqa: PLC0415
    from evalc.setup.prepare import options_of  # noqa: PLC0415

    asked = settings.replace(
        snapshot=None, judge=settings.judge.replace(use=())
    )  # nothing is asked and nothing checked
    options = await options_of(asked, os.environ, what.tools)
    options = replace(options, run_id=new_run_id(settings.results_folder))
    finished = await merge_suites(what.suites, parts, options, observer=observer)
    made = Run(
        finished=finished,
        problems=what.problems,
        notes=(*_of_no_cases(finished), *_registered(finished)),
        strict=settings.strict,
        selected=what.selected,
        inventory=what.inventory,
    )
    return _closed(made, options)


def _refuse_without_judge(what: ToRun) -> None:
    """Before the agent is paid for answers that nobody could judge."""
    if what.needs_judge is not None:
        raise UsageError(
            f"the case `{what.needs_judge}` needs a judge: name one with `--judge`, such as `--judge openai:MODEL`, or "
            "with `judge` in the configuration"
        )


def _refuse_without_language(what: ToRun) -> None:
    if what.asks_language:
        extras.refuse_missing("language")


def _refuse_without_user(what: ToRun) -> None:
    if what.needs_user is not None:
        raise UsageError(
            f"the case `{what.needs_user}` has a simulated user: name who plays it with `--user`, such as `--user "
            "openai:MODEL`, or with `user` in the configuration"
        )


def _of_no_cases(finished: FinishedRun) -> tuple[str, ...]:
    """Warn that nothing was verified, since no case ran: a failure under `--strict`, and wherever there is a gate."""
    from evalc.report.words import nothing_ran  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

    message = nothing_ran(finished.summary)
    return () if message is None else (message,)


def _registered(finished: FinishedRun) -> tuple[str, ...]:
    """Put the run into the history; what is to be said where that could not be done."""
    warning = extras.history.register(finished)
    return () if warning is None else (warning,)


def _closed(run: Run, options: RunOptions) -> Run:
    """The run, once what it says beside its suites is kept for whoever asks later."""
    from evalc.runtime.store.runs import Closing, write_closing  # noqa: PLC0415 - for start-up: of runs alone

    finished = run.finished
    closing = Closing(
        exit_code=run.exit_code,
        gates=finished.gates,
        below=finished.below_threshold,
        selected=run.selected,
        missing=finished.missing,
        warnings=(*run.notes, *finished.warnings),
    )
    warning = write_closing(finished.folder, closing, options.redactor)
    return run if warning is None else msgspec.structs.replace(run, notes=(*run.notes, warning))


async def _exported(finished: FinishedRun, exporter: extras.otel.Exporter | None) -> tuple[str, ...]:
    """Export the run if that is asked for; what is to be said where it could not be done."""
    if exporter is None:
        return ()
    # For start-up: only where it is asked for.
    from evalc.base.guard import DaemonThread  # noqa: PLC0415
    from evalc.report.reported import ReportedSuite  # noqa: PLC0415

    suites = tuple(ReportedSuite(result=suite.result, cases=suite.cases()) for suite in finished.suites)
    run = extras.otel.ExportedRun(finished.run_id, finished.summary, suites, exporter.content)
    # In a thread, for Ctrl-C and for callers whose event loop has other work.
    thread = DaemonThread()
    try:
        warning = await thread.call(lambda: exporter.export(run))
    finally:
        thread.abandon()
    return () if warning is None else (str(warning),)


def _snapshot_of(start: Start) -> object:
    """The snapshot of the run that is resumed; None if it is to be captured."""
    from evalc.runtime.store.journal import kept_snapshot  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

    return None if start.past is None or start.past.header is None else kept_snapshot(start.past.header)


def _started(options: RunOptions, start: Start, what: ToRun, snapshot: object) -> RunOptions:
    """The options of a run that begins, or continues, like this."""
    limits = replace(options.limits, max_fail=start.max_fail)
    flags = start.flags
    if what.selection is not None and what.selection.none_failed:
        flags = {**flags, "wanted": msgspec.to_builtins(what.selection)}
    options = replace(options, run_id=start.run_id, flags=flags, limits=limits)
    if start.past is None:
        return options
    folder = start.past.folder
    return replace(
        options,
        output_dir=folder.parent,
        resumed=folder,
        snapshot=options.snapshot if snapshot is None else snapshot,
    )


def _agents(given: Sequence[object], settings: Settings, tools: ToolRegistry | None) -> Sequence[Agent]:
    """The agents that a caller gives, of whose specs the settings know; if none are given, those of the settings."""
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.agents.python import agent_of  # noqa: PLC0415
    from evalc.setup.prepare import agents_of  # noqa: PLC0415

    if not given:
        return agents_of(settings, os.environ, tools)
    named = iter(agents_of(settings, os.environ, tools) if any(isinstance(agent, str) for agent in given) else ())
    return [next(named) if isinstance(agent, str) else agent_of(agent) for agent in given]
