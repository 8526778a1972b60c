"""From subjects and settings to a finished run: compiled, chosen, asked or checked again, put into the history."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import msgspec

from evalc.config import Settings
from evalc.errors import SourceError, UsageError
from evalc.model.codec import to_json
from evalc.setup.compile import Subject, compiled, files_of, policy_of
from evalc.source import Source

if TYPE_CHECKING:
    from evalc.compiler.compiled import Compilation
    from evalc.diagnostics.problem import Problem
    from evalc.model.result import RunSummary, SuiteResult
    from evalc.model.suite import Selected, Suite
    from evalc.report.otel.exporter import Exporter
    from evalc.runtime.agents.base import Agent
    from evalc.runtime.finished import FinishedRun
    from evalc.runtime.past.resume import PastRun
    from evalc.runtime.run_options import RunOptions
    from evalc.runtime.run_suite import Observer
    from evalc.runtime.select import Wanted
    from evalc.setup.given import Start
    from evalc.tools.registry import ToolRegistry


@final
class Run(msgspec.Struct, frozen=True, kw_only=True):
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
class ToRun(msgspec.Struct, frozen=True, kw_only=True):
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
    what: ToRun,
    settings: Settings,
    start: Start,
    *,
    observer: Observer | None = None,
    agents: Sequence[str | Agent] = (),
) -> Run:
    """Run the suites against the agents: specs, of which the settings know, or agents of the caller's.

    Raises:
        UsageError: what was asked for cannot be done; nothing was run.
    """
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.local_model.served import local_models  # noqa: PLC0415
    from evalc.runtime.run_suite import run_suites  # noqa: PLC0415
    from evalc.setup.run import exporter_of, options_of, recorded  # noqa: PLC0415

    exporter = exporter_of(settings)
    asked = _agents(agents, settings, what.tools)
    served = asked  # what records one hides what it is
    snapshot = _snapshot_of(start)
    options, notes = await options_of(
        settings if snapshot is None else msgspec.structs.replace(settings, snapshot_source=None),
        os.environ,
        what.tools,
    )
    options = _started(options, start, snapshot)
    if start.record is not None:
        asked = [recorded(agent, start.record, settings, what.tools, options) for agent in asked]
    async with local_models(served, options.panel, observer):
        finished = await run_suites(what.suites, asked, options, observer=observer)
    made = Run(
        finished=finished,
        problems=what.problems,
        notes=(*notes, *_registered(finished), *await _exported(finished, exporter)),
        strict=settings.strict,
        selected=what.selected,
    )
    return _closed(made, options)


def to_run(
    subjects: Sequence[Subject],
    settings: Settings,
    prompt_id: str | None,
    wanted: Wanted | None = None,
    outputs: Sequence[Path] = (),
) -> ToRun:
    """Compile, and choose the cases that are wanted.

    It takes as long as the files are large, and knows no event loop, in which neither Ctrl-C nor a request to terminate
    would be heard until it is done.

    Raises:
        SourceError: the eval files have errors.
        NothingToDo: what failed in a run or changed since a commit is wanted, and nothing did.
        UsageError: nothing would be run, or one of the `outputs` would be written over what is read.
    """
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.select import Wanted, select_cases, selected_of  # noqa: PLC0415
    from evalc.setup.choice import known_of  # noqa: PLC0415
    from evalc.setup.run import redactor_of  # noqa: PLC0415

    compilation = _soundly_compiled(subjects, settings, prompt_id)
    _refuse_to_write_over(_read_files(compilation, settings), outputs)
    all_suites = [suite.to_suite() for suite in compilation.suites]
    wanted = wanted or Wanted()
    known = known_of(wanted, compilation.suites, settings, lambda path: _names_of(path, settings))
    try:
        suites = select_cases(all_suites, wanted, known)
    except UsageError as error:  # it quotes what chooses, which may hold a secret
        raise type(error)(redactor_of(settings, os.environ).redact(str(error))) from None
    return ToRun(
        suites=suites,
        problems=compilation.problems,
        tools=compilation.tools,
        selected=selected_of(suites, all_suites, wanted),
    )


def _soundly_compiled(subjects: Sequence[Subject], settings: Settings, prompt_id: str | None) -> Compilation:
    """The suites, at least one.

    Raises:
        SourceError: the eval files have errors.
        UsageError: there are none.
    """
    compilation = compiled(subjects, settings, policy_of(settings), errors_stay=True, prompt_id=prompt_id)
    if compilation.has_errors:
        raise SourceError(compilation.problems)
    if not compilation.suites:
        raise UsageError(_nothing_to_run(subjects, prompt_id))
    return compilation


def _read_files(compilation: Compilation, settings: Settings) -> Iterator[Path]:
    """The files that a run reads, as far as they are known before it begins."""
    for suite in compilation.suites:
        yield from map(Path, (suite.ir.source.name, *suite.ir.files))
    named = (settings.file, settings.seed_manifest, settings.tool_registry_path)
    yield from (file for file in named if file is not None)
    if settings.snapshot_source is not None:
        yield Path(settings.snapshot_source)


def _refuse_to_write_over(read: Iterable[Path], outputs: Sequence[Path]) -> None:
    by_place = {os.path.realpath(file): file for file in outputs}
    over = next((by_place[place] for file in read if (place := os.path.realpath(file)) in by_place), None)
    if over is not None:
        raise UsageError(f"`--output` would write over `{over}`, which the run reads")


def _names_of(path: str, settings: Settings) -> frozenset[str]:
    """The names that the files of a path have as sources."""
    return frozenset({"<stdin>"}) if path == "-" else files_of([path], settings=settings)


def to_rescore(paths: Sequence[str], past: PastRun, settings: Settings) -> ToRun:
    """Compile the checks of the paths, else those of the past run's own files.

    Raises:
        SourceError: the eval files have errors.
        UsageError: there are none, or the run has no answers.
    """
    if past.header is None:
        raise UsageError(f"the run `{past.run_id}` has no answers: it ended before its journal began")
    subjects = paths or tuple(dict.fromkeys(suite.origin for suite in past.header.suites))
    return to_run(subjects, settings, past.header.flags.get("prompt_id"))


async def rescore(what: ToRun, past: PastRun, settings: Settings, observer: Observer | None) -> Run:
    """Check the answers of a past run again, with the checks of the suites."""
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.local_model.served import local_models  # noqa: PLC0415
    from evalc.runtime.past.rescore import rescore_suites  # noqa: PLC0415
    from evalc.runtime.past.resume import kept_snapshot  # noqa: PLC0415
    from evalc.setup.run import options_of  # noqa: PLC0415

    header = past.header
    options, notes = await options_of(msgspec.structs.replace(settings, snapshot_source=None), os.environ, what.tools)
    # What is configured is for runs: a rescored one shows what has changed since the run that it is made of.
    baseline = options.baseline if "baseline_run_id" in settings.given else None
    options = replace(options, snapshot=None if header is None else kept_snapshot(header), baseline=baseline)
    async with local_models((), options.panel, observer):
        finished = await rescore_suites(what.suites, past, options, observer=observer)
    notes = (*notes, *_registered(finished))
    made = Run(finished=finished, problems=what.problems, notes=notes, strict=settings.strict)
    return _closed(made, options)


def _registered(finished: FinishedRun) -> tuple[str, ...]:
    """Put the run into the history; what is to be said where that could not be done."""
    from evalc.history.index import register  # noqa: PLC0415 - for start-up: SQLite is nothing to `check` and `compile`

    warning = register(finished)
    return () if warning is None else (warning,)


def _closed(run: Run, options: RunOptions) -> Run:
    """The run, once what it says beside its suites is kept for whoever asks later."""
    from evalc.runtime.closing import Closing, write_closing  # noqa: PLC0415 - for start-up: of runs alone

    finished = run.finished
    closing = Closing(
        gates=finished.gates,
        below=finished.below_threshold,
        selected=run.selected,
        warnings=(*run.notes, *finished.warnings),
    )
    warning = write_closing(finished.folder, closing, options.redactor)
    return run if warning is None else msgspec.structs.replace(run, notes=(*run.notes, warning))


async def _exported(finished: FinishedRun, exporter: Exporter | None) -> tuple[str, ...]:
    """Export the run where that is asked for; what is to be said where it could not be done."""
    if exporter is None:
        return ()
    # For start-up: only where it is asked for.
    import asyncio  # noqa: PLC0415

    from evalc.report.otel.spans import Exported  # noqa: PLC0415
    from evalc.report.reported import ReportedSuite  # noqa: PLC0415

    suites = tuple(ReportedSuite(result=suite.result, cases=suite.cases()) for suite in finished.suites)
    run = Exported(finished.run_id, finished.summary, suites, exporter.content)
    # In a thread, for callers whose event loop has other work.
    warning = await asyncio.to_thread(exporter.export, run)
    return () if warning is None else (warning,)


def _snapshot_of(start: Start) -> object:
    """The snapshot of the run that is resumed; None where it is to be captured."""
    from evalc.runtime.past.resume import kept_snapshot  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

    return None if start.past is None or start.past.header is None else kept_snapshot(start.past.header)


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
    from evalc.setup.run import agents_of  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

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
