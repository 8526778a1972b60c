"""What the cases of a test session share: settings, agent, options, and their results."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, final

import msgspec

from evalc.base.errors import EvalcError, SourceError, UsageError
from evalc.base.files import exclusion, read_limited
from evalc.base.guard import exits_reported, watched
from evalc.config.load import Override, load_settings
from evalc.config.settings import Settings
from evalc.diagnostics.problem import Problem
from evalc.dsl.sources import JSON_LIMIT
from evalc.model.result import CaseResult
from evalc.model.suite import LocatedCase, Suite
from evalc.pytest_plugin.results import Results
from evalc.report.case_lines import SourceContext
from evalc.report.source_lines import SourceLines
from evalc.runtime.agents.base import Agent
from evalc.runtime.agents.pace import Pace
from evalc.runtime.agents.python import PythonAgent
from evalc.runtime.run.attempts import as_expected, run_attempts
from evalc.runtime.run.engine import Worker
from evalc.runtime.run.local_models import local_models
from evalc.runtime.run.options import RunOptions
from evalc.runtime.store.journal import CaseRun
from evalc.runtime.store.redact import encoded, redacted
from evalc.setup.compile import compiled, policy_of
from evalc.setup.prepare import agents_of, options_of, redactor_of
from evalc.tools.registry import ToolRegistry

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
        self._release_output = release_output
        self._runner = runner
        self._agent = agent
        self._options = options
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
        options = self._options
        players = () if options.user is None else (options.user,)
        async with local_models((self._agent, *players), options.panel, None):
            worker = Worker(self._agent, options.of_cases, Pace.of(1, options.rpm), options.panel)
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


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What options and ini settings say; None if they say nothing.

    Attributes:
        agent: the agent's spec.
        config: evalc's configuration.
        strict: whether unverified cases fail.
        output_dir: where results are written.
        release_output: gives back the standard error that pytest has captured.
    """

    agent: str | None = None
    config: Path | None = None
    strict: bool = False
    output_dir: Path | None = None
    release_output: Callable[[], object] = lambda: None


class Asked(NamedTuple):
    """An agent that cases are sent to, and the loop that sends them."""

    agent: Agent
    loop: CaseLoop
    options: RunOptions


class _Json(msgspec.Struct, rename="camel"):
    """The parts of a file of JSON that tell who wrote it."""

    run_id: str | None = None
    metadata: dict[str, object] = {}


@final
class EvalSession:
    """The evals of a session of pytest; with xdist each worker has its own. Nothing is read before it is needed.

    Attributes:
        strict: whether unverified cases fail.
        notes: what is to be said at the end.
    """

    def __init__(self, wishes: Wishes) -> None:
        self.strict = wishes.strict
        self.notes: list[str] = []
        self._wishes = wishes
        self._began = datetime.now(UTC).isoformat()
        self._suites: list[Suite] = []
        self._tools: ToolRegistry | None = None
        # Agents by identity: a fixture may give what cannot be hashed. They are kept, so that no number is used again.
        self._asked: dict[int, tuple[object, Asked]] = {}
        self._runner: asyncio.Runner | None = None
        self._results = Results()

    @cached_property
    def settings(self) -> Settings:
        """The settings of the working folder.

        Raises:
            SourceError: the configuration has errors.
        """
        wishes = self._wishes
        given = {"agentEndpoint": wishes.agent, "strict": wishes.strict or None, "outputDir": wishes.output_dir}
        overrides = [Override(key, value, key) for key, value in given.items() if value is not None]
        return load_settings(Path.cwd(), wishes.config, overrides).sound()

    @cached_property
    def told(self) -> SourceContext:
        """What failures are told with."""
        return SourceContext(SourceLines(Path.cwd(), redactor_of(self.settings, os.environ).redact), self._began)

    def compiled(self, name: str) -> tuple[Sequence[tuple[int, Suite]], Sequence[Problem]]:
        """The suites of an eval file, each with its number in the session, and the warnings about it.

        Raises:
            SourceError: the file, or the configuration, has errors.
        """
        settings = self.settings
        compilation = compiled([name], settings, policy_of(settings), errors_stay=True)
        if compilation.has_errors:
            raise SourceError(compilation.problems)
        self._tools = compilation.tools
        first = len(self._suites)
        self._suites += [suite.to_suite() for suite in compilation.suites]
        return list(enumerate(self._suites))[first:], compilation.problems

    def leaves_out(self, path: Path) -> bool:
        """Whether a search for evals passes by a file: it is excluded, or evalc wrote it.

        Raises:
            SourceError: the configuration has errors.
        """
        settings = self.settings
        if any(path.is_relative_to(folder) for folder in settings.written_paths):
            return True
        if path.is_relative_to(settings.root) and exclusion(settings.exclude).match_file(
            path.relative_to(settings.root).as_posix()
        ):
            return True
        return path.suffix.lower() == ".json" and _is_written(path)

    def run(self, number: tuple[int, int], located: LocatedCase, agent: object) -> CaseResult:
        """Run a case against the agent that the fixture gives; its result has no secrets in it.

        Raises:
            UsageError: the agent is unknown, or something that a run needs is missing.
        """
        asked = self._asked_of(agent)
        run = asked.loop.run(located)
        run = run._replace(result=as_expected(located.case, run.result))
        if self._wishes.output_dir is not None:
            self._results.add(asked.agent.endpoint, number, located, run)
        result, _ = redacted(run.result, encoded(run.result), asked.options.redactor)
        return result

    def finish(self) -> None:
        """Close the agents, and write the results; may be called again, and then does nothing."""
        if self._runner is None:
            return
        asked = [entry for _, entry in self._asked.values()]
        failures = [entry.loop.close() for entry in asked]
        self.notes += [redactor_of(self.settings, os.environ).redact(failure) for failure in failures if failure]
        self._runner.close()
        self._runner = None
        if asked and self._wishes.output_dir is not None:
            self.notes += self._results.write(self._suites, asked[0].options, tuple(self.notes))

    def _asked_of(self, given: object) -> Asked:
        if id(given) not in self._asked:
            self._asked[id(given)] = (given, self._opened(given))
        return self._asked[id(given)][1]

    def _opened(self, given: object) -> Asked:
        settings = (
            msgspec.structs.replace(self.settings, agent_endpoints=(given,))
            if isinstance(given, str)
            else self.settings
        )
        agent = _agent_of(given, settings, self._tools)
        self._runner = self._runner or asyncio.Runner(loop_factory=asyncio.new_event_loop)
        options = self._runner.run(options_of(settings, os.environ, self._tools))
        return Asked(agent, CaseLoop(self._runner, agent, options, self._wishes.release_output), options)


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
    if hasattr(given, "endpoint") and hasattr(given, "session"):
        return given
    kind = given if hasattr(given, "__qualname__") else type(given)
    return PythonAgent.around(given, f"{kind.__module__}:{kind.__qualname__}")
