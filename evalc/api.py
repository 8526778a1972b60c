"""The public functions: from paths to problems, to compiled suites, to a finished run. Thin: the work is done below."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

import msgspec

from evalc import extras
from evalc.base.errors import AgentError, UsageError
from evalc.compiler.compiled import Compilation
from evalc.config.load import Override, load_settings
from evalc.config.settings import Settings
from evalc.diagnostics.policy import Selection
from evalc.model.case import Gates
from evalc.setup import runner
from evalc.setup.compile import (
    Subject,
    ToRun,
    collector_off,
    compiled,
    files_of,
    judge_warning,
    nothing_found,
    origins_of,
    policy_of,
    problems_of,
    soundly_compiled,
    subjects_among,
    subjects_of,
    to_merge,
    to_rescore,
    to_run,
)
from evalc.setup.flags import RunFlags
from evalc.setup.runner import Run

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Problem
    from evalc.model.reports import Coverage, Plan, Strength
    from evalc.runtime.run.again_merge import Part
    from evalc.runtime.run.run import Observer
    from evalc.runtime.store.resume import PastRun
    from evalc.runtime.store.scope import CaseFilter
    from evalc.setup.request import Start

Running = Callable[[], Coroutine[Any, Any, Run]]
"""Runs the compiled suites."""

_LOOP_STOPPED: Final = "Event loop stopped before Future completed."

__all__ = [
    "Run",
    "ToRun",
    "challenge_paths",
    "check",
    "check_paths",
    "compile",
    "compile_paths",
    "coverage_paths",
    "files_of",
    "merge_runs",
    "nothing_found",
    "paths_to_run",
    "plan_paths",
    "policy_of",
    "problems_of",
    "rescore_paths",
    "run",
    "run_async",
    "run_paths",
    "strength_and_coverage",
]


def compile(  # noqa: A001 - it is to be called evalc.compile
    subject: Subject | Iterable[Subject], *, strict: bool = False, prompts: str | Path | None = None
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
    ['1: expected a value, all, any, none or one of here, found `hello`']
    >>> fixed = evalc.compile(evalc.Source("greeting.eval.yaml", text.replace("contains hello", "equals 'hello'")))
    >>> [(suite.file_name, [case.id for case in suite.cases()]) for suite in fixed.suites]
    [('greeting.labeled.json', ['greeting/hi'])]
    """
    settings = _settings(strict=strict, prompts=prompts)
    return compiled(subjects_among(subject), settings, policy_of(settings), errors_stay=True)


def check(subject: Subject | Iterable[Subject], *, strict: bool = False) -> tuple[Problem, ...]:
    """Every problem of the eval files, in the order of files, lines and columns.

    >>> import evalc
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello}]}"
    >>> for problem in evalc.check(evalc.Source("greeting.eval.yaml", text)):
    ...     print(problem)
    greeting.eval.yaml:1:28: error[EV401]: the case `hi` asserts nothing, so it can never fail
    """
    settings = _settings(strict=strict)
    return compiled(subjects_among(subject), settings, policy_of(settings), errors_stay=False).problems


def run(subject: Subject | Iterable[Subject] | None = None, **flags: Unpack[RunFlags]) -> Run:
    """Run eval files, YAML or JSON, against an agent. What is not given comes from the configuration.

    Args:
        subject: a path (file, folder, glob), `PATH::CASE`, a `Source`, or several of them; None is what the
            configuration says, else the working folder. Of an empty list nothing is run: it is an error.
        flags: those of `evalc run`, by their names in Python, with the same meaning. `agent` may also be a function, a
            class, an agent of a framework or a `ScriptedAgent`; several are each asked everything.

            - what is run: `keywords` (`-k`), `tag`, `tier`, `last_failed`, `changed_since`, `prompt_id`, `repeat`,
              `shard`, `shard_by`
            - against what, and how: `agent`, `concurrency`, `engine`, `rpm`, `timeout`, `all_assertions`, `judge`,
              `user`, `seed_manifest`, `snapshot`, `tools`, `prompts`, `env_file`, `config`
            - when it stops, and what decides it: `maxfail`, `max_cost`, `stop_when_sure`, `min_pass_rate`, `min_score`,
              `max_p95`, `confidence`, `baseline`, `fail_on_regression`, `strict`
            - what is written, and gone on with: `output_dir`, `record`, `otel`, `resume`

    Raises:
        SourceError: the eval files have errors; nothing was run.
        TypeError: a flag is unknown, or has a value that it does not take; nothing was run.
        UsageError: what was asked for cannot be done, or there is nothing to do; nothing was run.

    >>> import evalc, tempfile
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello, validate: [contains 'hello']}]}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     greeter = evalc.ScriptedAgent({"Say hello": "hello, world"})
    ...     run = evalc.run(evalc.Source("greeting.eval.yaml", text), agent=greeter, output_dir=folder)
    ...     [(case.id, case.status) for suite in run.suites for case in suite.cases]
    [('greeting/hi', 'passed')]
    """
    return _to_the_end(lambda: _compiled_for(subject, flags))


async def run_async(subject: Subject | Iterable[Subject] | None = None, **flags: Unpack[RunFlags]) -> Run:
    """`run`, for callers that have an event loop."""
    return await _compiled_for(subject, flags)()


def _compiled_for(subject: Subject | Iterable[Subject] | None, flags: RunFlags) -> Running:
    """Compile what a call is about; what is returned runs it."""
    from evalc.setup.request import given_by  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

    given = given_by(subject, flags)
    settings = given.settings()
    start = given.start(settings, max_fail=flags.get("maxfail"))
    what = to_run(given.looked_at(settings), settings, given.prompt_id, start.selection)
    return lambda: runner.run(what, settings, start, agents=given.agents)


# --- for the command line, which brings its settings -----------------------------------------------------------------


def check_paths(
    paths: Sequence[str],
    *,
    settings: Settings,
    stdin: str | None = None,
    selection: Selection | None = None,
    kept_alive: list[object] | None = None,
) -> Compilation:
    """Check the files that the paths name; `-` is the text `stdin`.

    `selection` narrows down what the settings report; a selection of codes replaces theirs. `kept_alive`
    is the compiler's option.
    """
    policy = policy_of(settings, selection)
    compilation = compiled(subjects_of(paths, stdin), settings, policy, errors_stay=False, kept_alive=kept_alive)
    warning = None if settings.judge.use else judge_warning(compilation.suites)
    message = () if warning is None else policy.reported((warning,), errors_stay=False)
    return msgspec.structs.replace(compilation, problems=(*compilation.problems, *message))


def compile_paths(
    paths: Sequence[str],
    *,
    settings: Settings,
    prompt_id: str | None = None,
    stdin: str | None = None,
    output_folder: Path | None = None,
) -> Compilation:
    """Compile the files that the paths name, to be written to a folder if one is given; `-` is the text `stdin`."""
    subjects = subjects_of(paths, stdin)
    policy = policy_of(settings)
    return compiled(subjects, settings, policy, errors_stay=True, prompt_id=prompt_id, output_folder=output_folder)


def paths_to_run(
    paths: Sequence[Subject],
    *,
    settings: Settings,
    prompt_id: str | None = None,
    stdin: str | None = None,
    selection: CaseFilter | None = None,
) -> ToRun:
    """List the cases that `run_paths` would run.

    Raises:
        SourceError: the eval files have errors.
        UsageError: nothing would be run.
    """
    return to_run(subjects_of(paths, stdin), settings, prompt_id, selection)


def plan_paths(paths: Sequence[Subject], *, settings: Settings, stdin: str | None = None) -> tuple[ToRun, Plan]:
    """Plan a run of the files that the paths name: its cases, and what they can show.

    Raises:
        SourceError: the eval files have errors.
        UsageError: nothing would be run.
    """
    from evalc.setup.plan import plan_of  # noqa: PLC0415 - for start-up: `check` and `compile` plan nothing

    what = to_run(subjects_of(paths, stdin), settings, None)
    rate = settings.min_pass_rate
    gates = None if rate is None else Gates(min_pass_rate=rate, confidence=settings.confidence)
    return what, plan_of(what, settings.results_folder, confidence=settings.confidence, gates=gates)


def coverage_paths(
    paths: Sequence[Subject], *, settings: Settings, stdin: str | None = None, prompt_id: str | None = None
) -> tuple[Compilation, Coverage]:
    """Measure the coverage of the cases that the paths name: tools, seed manifest, criteria, branches of prompts.

    `prompt_id` leaves out the suites of other prompts.

    Raises:
        SourceError: the eval files have errors.
        UsageError: there are none, or the seed manifest cannot be read.
    """
    from evalc.runtime.run.tokens import load_object  # noqa: PLC0415 - for start-up: `check` needs none of it

    found = soundly_compiled(subjects_of(paths, stdin), settings, prompt_id)
    seed = None if settings.seed_file is None else load_object(settings.seed_file, "seed manifest")
    return found, extras.challenge.coverage_of(found.suites, found.tools, seed, judged=bool(settings.judge.use))


def run_paths(
    paths: Sequence[Subject],
    *,
    settings: Settings,
    prompt_id: str | None = None,
    stdin: str | None = None,
    observer: Observer | None = None,
    start: Start | None = None,
    reports: Sequence[Path] = (),
) -> Run:
    """Run the files that the paths name against the configured agent; `reports` are files that will be written.

    Raises:
        SourceError: the eval files have errors; nothing was run.
        UsageError: what was asked for cannot be done; nothing was run.
    """
    from evalc.runtime.store.runs import new_run_id  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing
    from evalc.setup.request import Start  # noqa: PLC0415 - as above

    begun = start or Start(run_id=new_run_id(settings.results_folder))

    def compiled_run() -> Running:
        what = to_run(subjects_of(paths, stdin), settings, prompt_id, begun.selection, reports)
        return lambda: runner.run(what, settings, begun, observer=observer)

    return _to_the_end(compiled_run)


def rescore_paths(paths: Sequence[str], past: PastRun, *, settings: Settings, observer: Observer | None = None) -> Run:
    """Check the answers of a past run again, with the checks of the files that the paths name, else of its own files.

    Raises:
        SourceError: the eval files have errors; nothing was checked.
        UsageError: what was asked for cannot be done; nothing was checked.
    """

    def compiled_rescoring() -> Running:
        what = to_rescore(paths, past, settings)
        return lambda: runner.rescore(what, past, settings, observer)

    return _to_the_end(compiled_rescoring)


def challenge_paths(
    paths: Sequence[str], *, settings: Settings, of: PastRun | None, good: PastRun | None = None, fixing: bool = False
) -> extras.challenge.Finished:
    """Challenge the suites that the paths name, or the answers of a run.

    Args:
        paths: eval files and folders; not looked at if there is a run.
        settings: how the suites are checked.
        of: the run whose answers are changed; None challenges the suites by themselves.
        good: a run whose answers every line to be inserted has to pass; None is `of`.
        fixing: find lines to insert.

    Raises:
        SourceError: the eval files have errors; nothing was challenged.
        UsageError: what was asked for cannot be done; nothing was challenged.
    """
    import asyncio  # noqa: PLC0415 - for start-up: `check` and `compile` need no event loop

    what = to_run(paths, settings, None) if of is None else to_rescore((), of, settings)
    return asyncio.run(extras.challenge.run_challenge(what, settings, of=of, good=good, fixing=fixing))


def strength_and_coverage(of: PastRun, *, settings: Settings) -> tuple[Strength, Coverage]:
    """Measure which faulty answers the checks of a run notice, and its coverage. No agent and no judge is asked.

    Raises:
        SourceError: the eval files have errors.
        UsageError: the run has no answers, or the eval files have changed.
    """
    import asyncio  # noqa: PLC0415 - for start-up: `check` and `compile` need no event loop

    what = to_rescore((), of, settings)
    finished = asyncio.run(extras.challenge.run_challenge(what, settings, of=of, good=None, fixing=False))
    assert of.header is not None  # noqa: S101 - for the type checker: a run without one has no answers
    prompt_id = of.header.flags.get("prompt_id")
    _, coverage = coverage_paths(origins_of(of.header), settings=settings, prompt_id=prompt_id)
    return finished.strength, coverage


def merge_runs(parts: Sequence[Part], *, settings: Settings, observer: Observer | None = None) -> Run:
    """Put the runs of all shards of a run together.

    Raises:
        SourceError: the eval files have errors; nothing was written.
        UsageError: the parts are not those of one run, or not all of them; nothing was written.
    """

    def compiled_merging() -> Running:
        what = to_merge(parts, settings)
        return lambda: runner.merge(what, parts, settings, observer)

    return _to_the_end(compiled_merging)


def _settings(**given: object) -> Settings:
    """The settings of the working folder, with what a caller gives in front of them.

    Raises:
        SourceError: the configuration has errors.
    """
    overrides = [Override(key, value, key) for key, value in given.items() if value is not None and value is not False]
    return load_settings(Path.cwd(), None, overrides).sound()


def _to_the_end(compiled: Callable[[], Running]) -> Run:
    """Compile, and then run in an event loop of its own.

    Not in one step: within a loop Ctrl-C and a request to terminate are heard only where something is awaited, and
    compiling awaits nothing.
    """
    import asyncio  # noqa: PLC0415 - for start-up: `check` and `compile` need no event loop

    if asyncio._get_running_loop() is not None:
        raise UsageError("`evalc.run` cannot run where an event loop does, as in a notebook: await `evalc.run_async`")
    with collector_off():
        running = compiled()
    try:
        return asyncio.run(running())
    except asyncio.CancelledError:  # by Ctrl-C it would be a KeyboardInterrupt
        raise AgentError("the run was cancelled by the agent; what was finished is in its journal") from None
    except RuntimeError as error:
        if str(error) != _LOOP_STOPPED:
            raise
        raise AgentError("the agent stopped the event loop; what was finished is in its journal") from None
