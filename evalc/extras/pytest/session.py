"""The cases of a test session: collected from eval files, run against an agent, reported, and written as a run."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, assert_never, final

import msgspec
import pytest
from msgspec import UNSET

from evalc.base.errors import EvalcError, MachineError, SourceError, UsageError
from evalc.base.files import JSON_LIMIT, read_limited
from evalc.base.guard import exits_reported, watched
from evalc.base.terminal import Screen, shortened, visible
from evalc.compiler.discover import SUFFIXES, shown
from evalc.config import Settings
from evalc.config.load import Override, load_settings
from evalc.diagnostics import Problem
from evalc.diagnostics.render import render_text, summary_line
from evalc.model.case import Case
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase, Selected, Suite
from evalc.report import SourceLines, transcript
from evalc.report.console import asked_lines, reason_lines
from evalc.report.words import Writer, main_reason, why_skipped
from evalc.runtime.agents import Agent
from evalc.runtime.agents.pace import Pace
from evalc.runtime.agents.python import agent_of
from evalc.runtime.run.attempts import as_expected, run_attempts, skipped_case
from evalc.runtime.run.engine import RunOptions, Worker, local_models
from evalc.runtime.run.finish import Ending, finish_run
from evalc.runtime.run.run import begin_run
from evalc.runtime.store.journal import CaseRun
from evalc.runtime.store.redact import encoded, redacted
from evalc.runtime.store.runs import Closing, write_closing
from evalc.setup.compile import compiled, options_for, policy_of
from evalc.setup.request import has_a_user, may_be_judged
from evalc.setup.runner import agents_of, options_of, redactor_of, with_their_own
from evalc.tools import ToolRegistry

_Ran = tuple[LocatedCase, CaseRun]


@final
class Results:
    """Collects results while tests run, and writes them when no more are to come."""

    def __init__(self) -> None:
        self._ran: dict[tuple[int, str], dict[int, _Ran]] = defaultdict(dict)

    def add(self, endpoint: str, number: tuple[int, int], located: LocatedCase, run: CaseRun) -> None:
        """Keep a result, of a case that is run again the last; `number` is that of its suite, and its own there."""
        suite, case = number
        self._ran[suite, endpoint][case] = (located, run)

    def write(self, suites: Sequence[Suite], options: RunOptions, warnings: tuple[str, ...] = ()) -> Iterator[str]:
        """Write what was run of the suites, with the session's warnings, and say where; or why not."""
        keys = sorted(self._ran)
        endpoints = tuple(dict.fromkeys(endpoint for _, endpoint in keys))
        ran = [[cases[number] for number in sorted(cases)] for cases in map(self._ran.__getitem__, keys)]
        written = [
            _of(suites[number], cases, endpoint if len(endpoints) > 1 else None)
            for (number, endpoint), cases in zip(keys, ran, strict=True)
        ]
        names = [(suite.key, suite.agent) for suite in written]
        if len(set(names)) < len(names):
            yield "no results are written: two suites have the same name and tier, so their files would collide"
            return
        try:
            journal = begin_run(written, endpoints, options)
        except (UsageError, MachineError) as error:
            yield f"no results are written: {error}"
            return
        try:
            for suite, cases in enumerate(ran):
                for index, (_, run) in enumerate(cases):
                    journal.append(suite, index, run)
            finished = finish_run(written, journal, Ending(registry=options.registry, redactor=options.redactor))
        except OSError as error:
            yield f"no results are written: {error}"
            return
        finally:
            journal.close()
        closing = Closing(below=finished.below_threshold, warnings=warnings)
        failure = write_closing(finished.folder, closing, options.redactor)
        yield f"results in {finished.folder}"
        if failure is not None:
            yield failure


def _of(suite: Suite, ran: Sequence[_Ran], agent: str | None) -> Suite:
    """The suite, with the cases that were run."""
    chosen = Selected(cases=len(ran), of=suite.size, by=("pytest",))
    return msgspec.structs.replace(
        suite,
        cases=tuple(located for located, _ in ran),
        size=len(ran),
        agent=agent,
        selected=None if chosen.cases == chosen.of else chosen,
    )


_Job = tuple[LocatedCase, "asyncio.Future[CaseRun]"]


@final
class CaseLoop:
    """Runs cases of one agent. It is opened and closed in one task, as agents may ask of whoever opens them.

    Args:
        runner: the event loop, which turns only while a case is run, not between tests.
        agent: what the cases are sent to.
        options: what they are checked with.
        release_output: gives back the standard error that pytest has captured.
    """

    def __init__(
        self, runner: asyncio.Runner, agent: Agent, options: RunOptions, release_output: Callable[[], object]
    ) -> None:
        self.agent = agent
        self.options = options
        self._release_output = release_output
        self._runner = runner
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._serving: asyncio.Task[str | None] | None = None
        self._blocked: list[str] = []

    def run(self, located: LocatedCase) -> CaseRun:
        """Run a case as often as it says, to the end.

        Raises:
            UsageError: a local model cannot be loaded.
            KeyboardInterrupt: the session is to end.
        """
        return self._runner.run(self._run(located))

    def close(self) -> str | None:
        """Close the agent; what went wrong, here or before, is a text."""
        failure = self._runner.run(self._close())
        return "; ".join(dict.fromkeys((*self._blocked, *filter(None, (failure,))))) or None

    async def _run(self, located: LocatedCase) -> CaseRun:
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        done: asyncio.Future[CaseRun] = asyncio.get_running_loop().create_future()
        self._jobs.put_nowait((located, done))
        try:
            with exits_reported(self._release_output), watched(self._blocked):
                await asyncio.wait((done, self._serving), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._serving.cancel()
            raise
        if not done.done():
            self._serving.result()
            raise EvalcError("the agent's session ended before the case did")
        return done.result()

    async def _serve(self) -> str | None:
        options = self.options
        players = () if options.user is None else (options.user,)
        async with local_models((self.agent, *players), options.panel):
            worker = Worker(self.agent, options.of_cases, Pace.of(1, options.rpm), options.panel)
            try:
                while (job := await self._jobs.get()) is not None:
                    located, done = job
                    done.set_result(await run_attempts(located, worker.attempt))
            finally:
                failure = await worker.close()
        return failure

    async def _close(self) -> str | None:
        if self._serving is None:
            return None
        self._jobs.put_nowait(None)
        await asyncio.wait((self._serving,))
        return None if self._serving.cancelled() or self._serving.exception() else self._serving.result()


class _Json(msgspec.Struct, rename="camel"):
    """The parts of a file of JSON that show who wrote it."""

    run_id: str | None = None
    metadata: dict[str, object] = {}


@final
class EvalSession:
    """The evals of a session of pytest; with xdist each worker has its own. Nothing is read before it is needed.

    Args:
        agent: the agent's spec; None is that of the configuration.
        config: evalc's configuration; None is the nearest one upwards.
        strict: whether unverified cases fail.
        output_dir: where results are written; None writes none.
        release_output: gives back the standard error that pytest has captured.
    """

    def __init__(
        self,
        *,
        agent: str | None,
        config: Path | None,
        strict: bool,
        output_dir: Path | None,
        release_output: Callable[[], object],
    ) -> None:
        self.strict = strict
        self.notes: list[str] = []  # what is to be said at the end
        self._agent = agent
        self._config = config
        self._output_dir = output_dir
        self._release_output = release_output
        self._began = datetime.now(UTC).isoformat()
        self._found: dict[Path, frozenset[Path]] = {}
        self._suites: list[Suite] = []
        self._tools: ToolRegistry | None = None
        # Loops by the identity of what the fixture gave, which may not be hashable. It is kept, so that no number is
        # used again.
        self._loops: dict[int, tuple[object, CaseLoop]] = {}
        self._runner: asyncio.Runner | None = None
        self._results = Results()

    @cached_property
    def settings(self) -> Settings:
        """The settings of the working folder.

        Raises:
            SourceError: the configuration has errors.
        """
        given = {"agent.use": self._agent, "strict": self.strict or None, "output_dir": self._output_dir}
        overrides = [Override(key, value, key) for key, value in given.items() if value is not None]
        return load_settings(Path.cwd(), self._config, overrides).sound()

    @cached_property
    def sources(self) -> SourceLines:
        """The lines that failures are reported with."""
        return SourceLines(Path.cwd(), redactor_of(self.settings, os.environ).redact).of_run(self._began)

    def compiled(self, name: str, *, is_named: bool) -> tuple[Sequence[tuple[int, Suite]], Sequence[Problem]]:
        """The suites of an eval file, each with its number in the session, and the warnings about it.

        Raises:
            SourceError: the file, or the configuration, has errors.
        """
        settings = self.settings
        compilation = compiled([name], settings, policy_of(settings), errors_stay=True, named=is_named)
        if compilation.has_errors:
            raise SourceError(compilation.problems)
        self._tools = compilation.tools
        first = len(self._suites)
        self._suites += [suite.to_suite() for suite in compilation.suites]
        return list(enumerate(self._suites))[first:], compilation.problems

    def leaves_out(self, path: Path, root: Path) -> bool:
        """Whether a search for evals passes by a file: it is excluded, git ignores it, or evalc wrote it.

        Raises:
            SourceError: the configuration has errors.
        """
        found = self._found_in(root if path.is_relative_to(root) else path.parent)
        return path.resolve() not in found or (path.suffix.lower() == ".json" and _is_written(path))

    def _found_in(self, folder: Path) -> frozenset[Path]:
        """The files below a folder that `evalc run` reads."""
        if folder not in self._found:
            search = options_for(self.settings).finder.search(folder, SUFFIXES)
            self._found[folder] = frozenset(path.resolve() for path in search)
        return self._found[folder]

    def run(self, number: tuple[int, int], located: LocatedCase, agent: object, chosen: Iterable[Case]) -> CaseResult:
        """Run a case, of all that are chosen, against the agent that the fixture gives; its result has no secrets.

        Raises:
            UsageError: the agent is unknown, or something that a run needs is missing.
        """
        if id(agent) not in self._loops:
            self._loops[id(agent)] = (agent, self._opened(agent, chosen))
        _, loop = self._loops[id(agent)]
        run = loop.run(located)
        run = msgspec.structs.replace(run, result=as_expected(located.case, run.result))
        if self._output_dir is not None:
            self._results.add(loop.agent.endpoint, number, located, run)
        result, _ = redacted(run.result, encoded(run.result), loop.options.redactor)
        return result

    def finish(self) -> None:
        """Close the agents, and write the results; may be called again, and then does nothing."""
        if self._runner is None:
            return
        loops = [loop for _, loop in self._loops.values()]
        failures = [loop.close() for loop in loops]
        self.notes += [redactor_of(self.settings, os.environ).redact(failure) for failure in failures if failure]
        self._runner.close()
        self._runner = None
        if loops and self._output_dir is not None:
            self.notes += self._results.write(self._suites, loops[0].options, tuple(self.notes))

    def _opened(self, given: object, chosen: Iterable[Case]) -> CaseLoop:
        settings, cases = self.settings, [case for case in chosen if case.running]
        if isinstance(given, str):
            settings = settings.replace(agent=settings.agent.replace(use=(given,)))
        agent = _agent_of(given, settings, self._tools)
        self._runner = self._runner or asyncio.Runner(loop_factory=asyncio.new_event_loop)
        judged, played = any(map(may_be_judged, cases)), any(map(has_a_user, cases))
        making = options_of(settings, os.environ, self._tools, is_judged=judged, is_played=played)
        named = settings.agent.use if given is None else (given,)
        options = with_their_own(self._runner.run(making), settings, named, (agent,)).for_agent(agent)
        return CaseLoop(self._runner, agent, options, self._release_output)


def _is_written(path: Path) -> bool:
    """Whether evalc wrote the JSON file: as the result of a run, or compiled from an eval file beside it."""
    try:
        json = msgspec.json.decode(read_limited(path, JSON_LIMIT), type=_Json)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    if json.run_id is not None:
        return True
    compiled_by_evalc = str(json.metadata.get("generatedBy", "")).startswith("evalc ")
    return compiled_by_evalc and any(next(path.parent.glob(f"*.eval.{kind}"), None) for kind in ("yaml", "yml"))


def _agent_of(given: object, settings: Settings, tools: ToolRegistry | None) -> Agent:
    """The agent that the fixture means.

    Raises:
        UsageError: it means none, or several.
    """
    if given is None or isinstance(given, str):
        agents = agents_of(settings, os.environ, tools)
        if len(agents) > 1:
            raise UsageError(f"{len(agents)} agents are configured, and tests run against one: name it")
        return agents[0]
    return agent_of(given)


_LONGEST_RESPONSE: Final = 500
_MOST_TOOLS: Final = 20


@final
class NotPassed(Exception):
    """A case failed, or broke. `result` says how."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(result.id)
        self.result = result


class _Writer(Protocol):
    """The part of pytest's terminal writer that is used."""

    hasmarkup: bool
    fullwidth: int

    def line(self, s: str = "") -> None: ...


@final
class Crash(msgspec.Struct, frozen=True, kw_only=True):
    """A failure in one line of pytest's summary, and its place."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


@final
class CaseFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A failure as pytest prints it: on a terminal in its colours and width, elsewhere as plain text."""

    result: CaseResult
    sources: SourceLines

    @property
    def reprcrash(self) -> Crash:
        """The failure in one line, and its place."""
        reason = main_reason(self.result)
        place = None if reason is None else reason.place
        message = "" if reason is None else reason.in_short()
        return Crash(
            path="" if place is None else os.fspath(place.file),
            lineno=0 if place is None else place.line,
            message=f"error: {message}" if self.result.status == "error" else message,
        )

    def toterminal(self, tw: _Writer) -> None:
        """Write the lines."""
        for line in self.lines(Screen(color=tw.hasmarkup, width=max(tw.fullwidth, 40))):
            tw.line(line)

    def __str__(self) -> str:
        # Where only the text is passed on, as by xdist, pytest's short summary shows its beginning.
        return "\n".join(self.lines(Screen())).lstrip()

    def lines(self, screen: Screen) -> Iterator[str]:
        """The reasons with their authored lines, then what was asked, the response and the tools that were called."""
        if self.result.status == "error":
            yield "    error: the agent or a check broke, so the case neither passed nor failed"
        writer = Writer(screen)
        yield from reason_lines(self.result, writer, self.sources)
        yield from asked_lines(self.result, writer, self.sources, answers=False)
        details = self.result.details
        if details.turns is not UNSET:
            for line in (transcript(self.result) or "").splitlines():
                yield f"    {shortened(visible(line), _LONGEST_RESPONSE)}"
        elif details.response is not None:
            yield f"    the response ({details.response_length} characters):"
            yield f"      {shortened(visible(details.response[: _LONGEST_RESPONSE + 1]), _LONGEST_RESPONSE)}"
        if details.tools_called:
            names = ", ".join(map(visible, details.tools_called[:_MOST_TOOLS]))
            yield f"    tools called: {names}"


_PYTESTS_OWN: Final = frozenset({"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"})
"""Marks that would do more than name a case: a tag of that name makes no mark."""


class EvalcWarning(pytest.PytestWarning):
    """Warnings of evalc: doubtful eval files, and cases that verified nothing."""


@final
class EvalFile(pytest.File):
    """An eval file: its cases are its items."""

    def __init__(self, *, evals: EvalSession, is_named: bool, **given: Any) -> None:
        super().__init__(**given)
        self.evals = evals
        self._is_named = is_named

    def collect(self) -> Iterable[EvalCase]:
        """The cases of all its suites; none if a search found the file and it is no eval file.

        Raises:
            CollectError: the file or the configuration has errors.
        """
        try:
            if not self._is_named and self.evals.leaves_out(self.path, self.config.rootpath):
                return
            suites, problems = self.evals.compiled(shown(self.path), is_named=self._is_named)
        except SourceError as error:
            raise self.CollectError(f"{render_text(error.problems)}\n{summary_line(error.problems)}") from None
        except EvalcError as error:
            raise self.CollectError(visible(str(error))) from None
        self._warn(problems)
        for number, suite in suites:
            for index, located in enumerate(suite.cases):
                yield EvalCase.of(self, (number, index), located)

    def _warn(self, problems: Iterable[Problem]) -> None:
        try:
            for problem in problems:
                self.warn(EvalcWarning(str(problem)))
        except EvalcWarning as error:  # where pytest makes errors of warnings
            raise self.CollectError(visible(str(error))) from None


def _case(evalc_agent: object) -> None:
    """The function of a case for pytest, which reads from it the fixture that the case needs."""


@final
class EvalCase(pytest.Function):
    """A case: sent to the agent, checked, and reported without a traceback."""

    evals: EvalSession
    number: tuple[int, int]
    located: LocatedCase

    @classmethod
    def of(cls, file: EvalFile, number: tuple[int, int], located: LocatedCase) -> EvalCase:
        """The item of a case; `number` is that of its suite in the session, and its own in the suite."""
        case = located.case
        item: EvalCase = cls.from_parent(file, name=visible(case.id), callobj=_case)
        item.evals, item.number, item.located = file.evals, number, located
        item.add_marker("evalc")
        for tag in case.tags or ():
            if tag not in _PYTESTS_OWN and not tag.startswith("_"):
                file.config.addinivalue_line("markers", f"{tag}: a tag of cases.")
                item.add_marker(tag)
        skipped = skipped_case(case)
        if skipped is not None:
            item.add_marker(pytest.mark.skip(reason=visible(why_skipped(skipped))))
        return item

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, the line of the case from 0 if the file itself says it, and the case's id."""
        place = self.located.places.get("")
        return self.path, None if place is None else place.line - 1, self.name

    def runtest(self) -> None:
        """Run the case.

        Raises:
            NotPassed: it failed, or the agent or a check broke.
            UsageError: the agent is unknown, or something that a run needs is missing.
        """
        chosen = (item.located.case for item in self.session.items if isinstance(item, EvalCase))
        result = self.evals.run(self.number, self.located, self.funcargs["evalc_agent"], chosen)
        match result.status:
            case "passed":
                return
            case "unverified" if not self.evals.strict:
                reason = main_reason(result)
                why = "nothing was checked" if reason is None else reason.in_short()
                self.warn(EvalcWarning(f"{self.name}: {why}"))
            case "expected-failure":
                pytest.xfail(visible(str(result.expected_failure)))
            case "failed" | "error" | "unverified" | "unexpected-pass":
                raise NotPassed(result)
            case status:
                assert_never(status)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: object, **__: object) -> Any:
        """The failure for the report: the authored line and the reason; a traceback only if no case is at fault."""
        match excinfo.value:
            case NotPassed() as error:
                return CaseFailure(result=error.result, sources=self.evals.sources)
            case SourceError() as error:
                return f"{render_text(error.problems)}\n{summary_line(error.problems)}"
            case EvalcError() | EvalcWarning() as error:  # a warning, where pytest makes errors of them
                return f"error: {visible(str(error))}"
            case _:
                return super().repr_failure(excinfo)
