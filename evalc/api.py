"""The public functions: from paths to problems, to compiled suites, to a finished run. Thin: the work is done below."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

from evalc import whole_run
from evalc.compiler.compiled import Compilation
from evalc.config import Override, Settings, load_settings
from evalc.diagnostics.policy import Selection
from evalc.errors import AgentError, SourceError, UsageError
from evalc.setup_compile import Subject, compiled, files_of, policy_of, problems_of, subjects_of
from evalc.source import Source
from evalc.whole_run import Run, Start, ToRun

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Problem
    from evalc.runtime.agents.base import Agent
    from evalc.runtime.resume import PastRun
    from evalc.runtime.run_suite import Observer
    from evalc.runtime.select import Wanted

__all__ = [
    "Checked",
    "Run",
    "Start",
    "ToRun",
    "check",
    "check_paths",
    "compile",
    "compile_paths",
    "files_of",
    "paths_to_run",
    "policy_of",
    "problems_of",
    "rescore_paths",
    "run",
    "run_async",
    "run_paths",
]


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
    return compiled(_subjects(subject), settings, policy_of(settings), errors_stay=True)


def check(subject: Subject | Sequence[Subject], *, strict: bool = False) -> tuple[Problem, ...]:
    """Every problem of the eval files, in the order of files, lines and columns.

    >>> import evalc
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello}]}"
    >>> for problem in evalc.check(evalc.Source("greeting.eval.yaml", text)):
    ...     print(problem)
    greeting.eval.yaml:1:28: error[EV401]: the case `hi` asserts nothing, so it can never fail
    """
    settings = _settings(strict=strict)
    return compiled(_subjects(subject), settings, policy_of(settings), errors_stay=False).problems


def run(  # noqa: PLR0913 - one parameter an option
    subject: Subject | Sequence[Subject],
    *,
    agent: str | Agent | Sequence[str | Agent] | None = None,
    output_dir: str | Path | None = None,
    concurrency: int | Literal["auto"] | None = None,
    rpm: int | None = None,
    timeout_ms: float | None = None,
    baseline: str | None = None,
    seed_manifest: str | Path | None = None,
    snapshot: str | None = None,
    judge: str | Sequence[str] | None = None,
    strict: bool = False,
) -> Run:
    """Run eval files, YAML or JSON, against an agent. What is not given comes from the configuration.

    Args:
        subject: a path (file, folder, glob), a `Source`, or several of them.
        agent: a spec as `--agent` takes it, or an agent such as a `ScriptedAgent`; several are each asked everything.
        output_dir: where the run's folder with its result files is made.
        concurrency: how many cases run at a time; `auto` finds out how many the agent keeps up with.
        rpm: how many requests go to the agent a minute at most.
        timeout_ms: how long the agent may take for a case, in milliseconds.
        baseline: a run to compare with: a run id, `latest`, or a path.
        seed_manifest: the JSON file that `{{seed:path}}` tokens name values of.
        snapshot: the file, URL, `python:module:name` or `command:...` that `{{snapshot:path}}` tokens take values from.
        judge: who scores criteria and rubrics, as `--judge` names them; several are a panel.
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
            rpm=rpm,
            timeout_ms=timeout_ms,
            baseline=baseline,
            seed_manifest=seed_manifest,
            snapshot=snapshot,
            judge=judge,
            strict=strict,
        )
    )


async def run_async(  # noqa: PLR0913 - likewise
    subject: Subject | Sequence[Subject],
    *,
    agent: str | Agent | Sequence[str | Agent] | None = None,
    output_dir: str | Path | None = None,
    concurrency: int | Literal["auto"] | None = None,
    rpm: int | None = None,
    timeout_ms: float | None = None,
    baseline: str | None = None,
    seed_manifest: str | Path | None = None,
    snapshot: str | None = None,
    judge: str | Sequence[str] | None = None,
    strict: bool = False,
) -> Run:
    """`run`, for callers that have an event loop."""
    agents = () if agent is None else agent if isinstance(agent, Sequence) and not isinstance(agent, str) else (agent,)
    settings = _settings(
        agentEndpoint=[agent for agent in agents if isinstance(agent, str)] or None,
        outputDir=output_dir,
        concurrency=concurrency,
        rpm=rpm,
        timeoutMs=timeout_ms,
        baselineRunId=baseline,
        seedManifestPath=seed_manifest,
        snapshotSource=snapshot,
        judges=judge,
        strict=strict,
    )
    return await whole_run.run(_subjects(subject), settings, agents=agents)


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
    subjects = subjects_of(paths, stdin)
    compilation = compiled(subjects, settings, policy_of(settings, selection), errors_stay=False)
    return Checked(problems=compilation.problems, files=compilation.files)


def compile_paths(
    paths: Sequence[str], *, settings: Settings, prompt_id: str | None = None, stdin: str | None = None
) -> Compilation:
    """Compile the files that the paths name; `-` is the text `stdin`."""
    subjects = subjects_of(paths, stdin)
    return compiled(subjects, settings, policy_of(settings), errors_stay=True, prompt_id=prompt_id)


def paths_to_run(
    paths: Sequence[str],
    *,
    settings: Settings,
    prompt_id: str | None = None,
    stdin: str | None = None,
    wanted: Wanted | None = None,
) -> ToRun:
    """What `run_paths` would run.

    Raises:
        SourceError: the eval files have errors.
        UsageError: nothing would be run.
    """
    return whole_run.to_run(subjects_of(paths, stdin), settings, prompt_id, wanted)


def run_paths(
    paths: Sequence[str],
    *,
    settings: Settings,
    prompt_id: str | None = None,
    stdin: str | None = None,
    observer: Observer | None = None,
    start: Start | None = None,
) -> Run:
    """Run the files that the paths name against the configured agent.

    Raises:
        SourceError: the eval files have errors; nothing was run.
        UsageError: what was asked for cannot be done; nothing was run.
    """
    subjects = subjects_of(paths, stdin)
    return _to_the_end(lambda: whole_run.run(subjects, settings, prompt_id=prompt_id, observer=observer, start=start))


def rescore_paths(paths: Sequence[str], past: PastRun, *, settings: Settings, observer: Observer | None = None) -> Run:
    """Check the answers of a past run again, with the checks of the files that the paths name, else of its own files.

    Raises:
        SourceError: the eval files have errors; nothing was checked.
        UsageError: what was asked for cannot be done; nothing was checked.
    """
    return _to_the_end(lambda: whole_run.rescore(paths, past, settings, observer))


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


def _to_the_end(start: Callable[[], Coroutine[Any, Any, Run]]) -> Run:
    """Run in an event loop of its own."""
    import asyncio  # noqa: PLC0415 - for start-up: `check` and `compile` need no event loop

    if asyncio._get_running_loop() is not None:
        raise UsageError("`evalc.run` cannot run where an event loop does, as in a notebook: await `evalc.run_async`")
    try:
        return asyncio.run(start())
    except asyncio.CancelledError:  # by Ctrl-C it would be a KeyboardInterrupt
        raise AgentError("the run was cancelled by the agent; what was finished is in its journal") from None
