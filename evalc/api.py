"""The public functions: from paths to problems, to compiled suites, to a finished run. Thin: the work is done below."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from evalc.compiler.compiled import Compilation
from evalc.compiler.discover import Finder
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import compile_sources
from evalc.config import Override, Settings, load_settings
from evalc.diagnostics.ignores import silenced
from evalc.diagnostics.policy import Policy, Selection
from evalc.dsl.texts import texts_of
from evalc.errors import AgentError, SourceError, UsageError
from evalc.model.codec import to_json
from evalc.source import Source

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Problem
    from evalc.model.result import RunSummary, SuiteResult
    from evalc.runtime.agents.base import Agent
    from evalc.runtime.finished import FinishedRun
    from evalc.runtime.run_suite import Observer

Subject = str | Path | Source
"""What can be compiled: a path of a file or folder, a glob, or a text with a name."""


def compile(  # noqa: A001 - it is to be called evalc.compile
    subject: Subject | Sequence[Subject], *, strict: bool = False, prompts: str | Path | None = None
) -> Compilation:
    """Compile eval files to the JSON case format.

    Args:
        subject: a path (file, folder, glob), a `Source`, or several of them.
        strict: checks that cannot fail are errors.
        prompts: the folder in which prompts are looked up by id.

    Returns:
        The compiled suites and every problem. A mistake in a file is a value here, never an exception: with any
        error there are no suites.

    >>> import evalc
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello, validate: [contains hello]}]}"
    >>> broken = evalc.compile(evalc.Source("greeting.eval.yaml", text))
    >>> [str(problem.start.line) + ": " + problem.finding.message() for problem in broken.problems]
    ['1: expected a text in quotes or `any` here, found `hello`']
    >>> fixed = evalc.compile(evalc.Source("greeting.eval.yaml", text.replace("contains hello", "equals 'hello'")))
    >>> [(suite.file_name, [case.id for case in suite.cases()]) for suite in fixed.suites]
    [('greeting.labeled.json', ['greeting/hi'])]
    """
    settings = _settings(strict=strict, prompts=prompts)
    return _compiled(_subjects(subject), settings, policy_of(settings), errors_stay=True)


def check(subject: Subject | Sequence[Subject], *, strict: bool = False) -> tuple[Problem, ...]:
    """Every problem of the eval files, in the order of files, lines and columns.

    >>> import evalc
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello}]}"
    >>> for problem in evalc.check(evalc.Source("greeting.eval.yaml", text)):
    ...     print(problem)
    greeting.eval.yaml:1:28: error[EV401]: the case `hi` asserts nothing, so it can never fail
    """
    settings = _settings(strict=strict)
    return _compiled(_subjects(subject), settings, policy_of(settings), errors_stay=False).problems


def run(
    subject: Subject | Sequence[Subject],
    *,
    agent: str | Agent | None = None,
    output_dir: str | Path | None = None,
    concurrency: int | None = None,
    timeout_ms: float | None = None,
    baseline: str | None = None,
    seed_manifest: str | Path | None = None,
    snapshot: str | None = None,
    strict: bool = False,
) -> Run:
    """Run eval files, YAML or JSON, against an agent. What is not given comes from the configuration.

    Args:
        subject: a path (file, folder, glob), a `Source`, or several of them.
        agent: a spec as `--agent` takes it, or an agent such as a `ScriptedAgent`.
        output_dir: where the run's folder with its result files is made.
        concurrency: how many cases run at a time.
        timeout_ms: how long the agent may take for a case, in milliseconds.
        baseline: a run to compare with: a run id, `latest`, or a path.
        seed_manifest: the JSON file that `{{seed:path}}` tokens name values of.
        snapshot: the JSON file or URL that `{{snapshot:path}}` tokens name values of.
        strict: checks that cannot fail are errors, and so are cases that verified nothing.

    Raises:
        SourceError: the eval files have errors; nothing was run.
        UsageError: what was asked for cannot be done; nothing was run.

    >>> import evalc, tempfile
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello, validate: [contains 'hello']}]}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     greeter = evalc.ScriptedAgent({"Say hello": "hello, world"})
    ...     run = evalc.run(evalc.Source("greeting.eval.yaml", text), agent=greeter, output_dir=folder)
    ...     [(case.id, case.status) for suite in run.suites for case in suite.cases]
    [('greeting/hi', 'passed')]
    """
    return _to_the_end(
        lambda: run_async(
            subject,
            agent=agent,
            output_dir=output_dir,
            concurrency=concurrency,
            timeout_ms=timeout_ms,
            baseline=baseline,
            seed_manifest=seed_manifest,
            snapshot=snapshot,
            strict=strict,
        )
    )


async def run_async(
    subject: Subject | Sequence[Subject],
    *,
    agent: str | Agent | None = None,
    output_dir: str | Path | None = None,
    concurrency: int | None = None,
    timeout_ms: float | None = None,
    baseline: str | None = None,
    seed_manifest: str | Path | None = None,
    snapshot: str | None = None,
    strict: bool = False,
) -> Run:
    """`run`, for callers that have an event loop."""
    settings = _settings(
        agentEndpoint=agent if isinstance(agent, str) else None,
        outputDir=output_dir,
        concurrency=concurrency,
        timeoutMs=timeout_ms,
        baselineRunId=baseline,
        seedManifestPath=seed_manifest,
        snapshotSource=snapshot,
        strict=strict,
    )
    given = None if isinstance(agent, str) else agent
    return await _run(_subjects(subject), settings, prompt_id=None, observer=None, agent=given)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run.

    Attributes:
        problems: the warnings about the eval files.
        notes: what else the user should know, such as a configured file that is not there.
        strict: whether a case that verified nothing fails the run.
    """

    finished: FinishedRun
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = False

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
        """0: all is well; 1: a case or a gate failed; 3: the agent or a check broke (3 beats 1)."""
        summary = self.summary
        if summary.errors:
            return 3
        unverified = self.strict and summary.unverified
        return 1 if summary.failed or self.finished.gates or unverified else 0

    def to_json(self) -> bytes:
        """`{runId, suites: [EvalSuiteResult...], summary}`, one JSON document with a line end."""
        return to_json(self.finished.load()) + b"\n"


# --- for the command line, which brings its settings ---------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is wrong with some files, and how many eval files there were."""

    problems: tuple[Problem, ...]
    files: int


def check_paths(
    paths: Sequence[str], *, settings: Settings, stdin: str | None = None, selection: Selection | None = None
) -> Checked:
    """Every problem of the files that the paths name; `-` is the text `stdin`.

    `selection` narrows down what the settings report; one that selects codes takes the place of theirs.
    """
    subjects = [Source("<stdin>", stdin or "") if path == "-" else path for path in paths]
    compilation = _compiled(subjects, settings, policy_of(settings, selection), errors_stay=False)
    return Checked(problems=compilation.problems, files=compilation.files)


def problems_of(source: Source, *, settings: Settings) -> Sequence[Problem]:
    """Every problem of one text as it is found, whatever of it would be reported."""
    return compile_sources([source], _options(settings)).problems


def files_of(paths: Sequence[str], *, settings: Settings) -> frozenset[str]:
    """The files that the paths name or that are found in them, by the names that they have in problems."""
    finder = _options(settings).finder
    return frozenset(str(found.path) for found in finder.expand(path for path in paths if path != "-"))


def policy_of(settings: Settings, selection: Selection | None = None) -> Policy:
    """What of the problems is reported."""
    configured = Selection(settings.select, settings.ignore)
    narrowing = () if selection is None else (selection,)
    return Policy(
        strict=settings.strict,
        selections=narrowing if selection is not None and selection.select else (configured, *narrowing),
        severities=settings.severity,
        per_file=settings.per_file_ignores,
        root=settings.root,
    )


def compile_paths(
    paths: Sequence[str], *, settings: Settings, prompt_id: str | None = None, stdin: str | None = None
) -> Compilation:
    """Compile the files that the paths name; `-` is the text `stdin`."""
    subjects = [Source("<stdin>", stdin or "") if path == "-" else path for path in paths]
    return _compiled(subjects, settings, policy_of(settings), errors_stay=True, prompt_id=prompt_id)


def run_paths(
    paths: Sequence[str],
    *,
    settings: Settings,
    prompt_id: str | None = None,
    stdin: str | None = None,
    observer: Observer | None = None,
) -> Run:
    """Run the files that the paths name against the configured agent.

    Raises:
        SourceError: the eval files have errors; nothing was run.
        UsageError: what was asked for cannot be done; nothing was run.
    """
    subjects = [Source("<stdin>", stdin or "") if path == "-" else path for path in paths]
    return _to_the_end(lambda: _run(subjects, settings, prompt_id=prompt_id, observer=observer, agent=None))


# --- how -----------------------------------------------------------------------------------------------------------


def _settings(**given: object) -> Settings:
    """The settings of the working folder, with what a caller gives in front of them.

    Raises:
        SourceError: the configuration has errors.
    """
    overrides = [Override(key, value, key) for key, value in given.items() if value is not None and value is not False]
    settings, problems = load_settings(Path.cwd(), None, overrides)
    if problems:
        raise SourceError(problems)
    return settings


def _subjects(subject: Subject | Sequence[Subject]) -> Sequence[Subject]:
    return [subject] if isinstance(subject, str | Path | Source) else subject


def _compiled(
    subjects: Iterable[Subject], settings: Settings, policy: Policy, *, errors_stay: bool, prompt_id: str | None = None
) -> Compilation:
    """Compile under a policy; `errors_stay` where something is to be made of the suites."""
    compilation = compile_sources(subjects, _options(settings, prompt_id))
    complete = (suite.ir.source for suite in compilation.suites)
    problems = policy.reported(silenced(compilation.problems, complete, texts_of), errors_stay=errors_stay)
    failed = any(problem.severity == "error" for problem in problems)
    return replace(compilation, suites=() if failed else compilation.suites, problems=problems)


def _options(settings: Settings, prompt_id: str | None = None) -> CompileOptions:
    """How the settings want to be compiled; how strict to be is up to the policy, which knows what is ignored."""
    return CompileOptions(
        prompts=settings.prompts,
        prompt_id=prompt_id,
        lock_folder=settings.root,
        finder=Finder(
            exclude=settings.exclude,
            output_folders=settings.written_folders,
        ),
    )


def _to_the_end(start: Callable[[], Coroutine[Any, Any, Run]]) -> Run:
    """Run in an event loop of its own."""
    import asyncio  # noqa: PLC0415 - for start-up: `check` and `compile` need no event loop

    if asyncio._get_running_loop() is not None:
        raise UsageError("`evalc.run` cannot run where an event loop does, as in a notebook: await `evalc.run_async`")
    try:
        return asyncio.run(start())
    except asyncio.CancelledError:  # by Ctrl-C it would be a KeyboardInterrupt
        raise AgentError("the run was cancelled by the agent; what was finished is in its journal") from None


async def _run(
    subjects: Sequence[Subject],
    settings: Settings,
    *,
    prompt_id: str | None,
    observer: Observer | None,
    agent: Agent | None,
) -> Run:
    # For start-up: `check` and `compile` run nothing.
    from evalc.runtime.run_suite import run_suites  # noqa: PLC0415
    from evalc.setup_run import agent_of, options_of  # noqa: PLC0415

    compilation = _compiled(subjects, settings, policy_of(settings), errors_stay=True, prompt_id=prompt_id)
    if compilation.has_errors:
        raise SourceError(compilation.problems)
    if not compilation.suites:
        raise UsageError(_nothing_to_run(subjects, prompt_id))
    chosen = agent_of(settings, os.environ) if agent is None else _known_agent(agent)
    options, notes = await options_of(settings, os.environ)
    suites = [suite.to_suite() for suite in compilation.suites]
    finished = await run_suites(suites, chosen, options, observer=observer)
    return Run(finished=finished, problems=compilation.problems, notes=notes, strict=settings.strict)


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
