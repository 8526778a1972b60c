"""The public functions: from paths to problems, to compiled suites, to a finished run. Thin: the work is done below."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from evalc.compiler.compiled import Compilation
from evalc.compiler.discover import Finder
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import compile_sources
from evalc.config import Override, Settings, load_settings
from evalc.errors import SourceError, UsageError
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
    ['1: expected a text in quotes here, found `hello`']
    >>> fixed = evalc.compile(evalc.Source("greeting.eval.yaml", text.replace("contains hello", "equals 'hello'")))
    >>> [(suite.file_name, [case.id for case in suite.cases()]) for suite in fixed.suites]
    [('greeting.labeled.json', ['greeting/hi'])]
    """
    settings = _settings(strict=strict, prompts=prompts)
    return compile_sources(_subjects(subject), _options(settings))


def check(subject: Subject | Sequence[Subject], *, strict: bool = False) -> tuple[Problem, ...]:
    """Every problem of the eval files, in the order of files, lines and columns.

    >>> import evalc
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello}]}"
    >>> for problem in evalc.check(evalc.Source("greeting.eval.yaml", text)):
    ...     print(problem)
    greeting.eval.yaml:1:28: error[EV401]: the case `hi` asserts nothing, so it can never fail
    """
    return compile(subject, strict=strict).problems


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
    import asyncio  # noqa: PLC0415 - for start-up: `check` and `compile` need no event loop

    return asyncio.run(
        run_async(
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


def check_paths(paths: Sequence[str], *, settings: Settings, stdin: str | None = None) -> Checked:
    """Every problem of the files that the paths name; `-` is the text `stdin`."""
    compilation = compile_paths(paths, settings=settings, stdin=stdin)
    return Checked(problems=compilation.problems, files=compilation.files)


def compile_paths(
    paths: Sequence[str], *, settings: Settings, prompt_id: str | None = None, stdin: str | None = None
) -> Compilation:
    """Compile the files that the paths name; `-` is the text `stdin`."""
    subjects = [Source("<stdin>", stdin or "") if path == "-" else path for path in paths]
    return compile_sources(subjects, _options(settings, prompt_id))


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
    import asyncio  # noqa: PLC0415 - for start-up, as in `run`

    return asyncio.run(_run(subjects, settings, prompt_id=prompt_id, observer=observer, agent=None))


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


def _options(settings: Settings, prompt_id: str | None = None) -> CompileOptions:
    return CompileOptions(
        strict=settings.strict,
        prompts=settings.prompts,
        prompt_id=prompt_id,
        finder=Finder(
            exclude=settings.exclude,
            output_folders=(settings.results_folder, settings.build_folder),
        ),
    )


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

    compilation = compile_sources(subjects, _options(settings, prompt_id))
    if compilation.has_errors:
        raise SourceError(compilation.problems)
    if not compilation.suites:
        raise UsageError(_nothing_to_run(subjects, prompt_id))
    chosen = agent if agent is not None else agent_of(settings, os.environ)
    options, notes = await options_of(settings, os.environ)
    suites = [suite.to_suite() for suite in compilation.suites]
    finished = await run_suites(suites, chosen, options, observer=observer)
    return Run(finished=finished, problems=compilation.problems, notes=notes, strict=settings.strict)


def _nothing_to_run(subjects: Sequence[Subject], prompt_id: str | None) -> str:
    named = ", ".join(f"`{subject.name if isinstance(subject, Source) else subject}`" for subject in subjects)
    if prompt_id is not None:
        return f"there is no suite of the prompt `{prompt_id}` in {named}"
    return f"there are no eval files in {named}"
