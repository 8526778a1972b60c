"""The public functions: from paths to problems, to compiled suites, to a finished run. Thin: the work is done below."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from evalc.compiler.compiled import Compilation
from evalc.config.load import settings_with
from evalc.setup.compile import Subject, compiled, policy_of, subjects_among
from evalc.setup.flags import RunFlags, documented

if TYPE_CHECKING:
    from evalc.diagnostics import Problem
    from evalc.setup.finished import Run
    from evalc.setup.runner import Running


@documented
def compile(  # noqa: A001 - it is to be called evalc.compile
    subject: Subject | Iterable[Subject], *, strict: bool = False, prompts: str | Path | None = None
) -> Compilation:
    """Compile eval files to the JSON case format.

    Args:
        subject: A path (file, folder, glob), a `Source`, an `evalc.Suite`, or several of them.

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
    settings = settings_with(None, {"strict": strict, "prompts": prompts}).sound()
    return compiled(subjects_among(subject), settings, policy_of(settings), errors_stay=True)


@documented
def check(subject: Subject | Iterable[Subject], *, strict: bool = False) -> tuple[Problem, ...]:
    """Every problem of the eval files, in the order of files, lines and columns.

    Args:
        subject: As for `evalc.compile`.

    >>> import evalc
    >>> text = "eval: {test_cases: [{name: hi, message: Say hello}]}"
    >>> for problem in evalc.check(evalc.Source("greeting.eval.yaml", text)):
    ...     print(problem)
    greeting.eval.yaml:1:28: error[EV401]: the case `hi` asserts nothing, so it can never fail
    """
    settings = settings_with(None, {"strict": strict}).sound()
    return compiled(subjects_among(subject), settings, policy_of(settings), errors_stay=False).problems


@documented
def run(subject: Subject | Iterable[Subject] | None = None, **flags: Unpack[RunFlags]) -> Run:
    """Run eval files, YAML or JSON, against an agent. What is not given comes from the configuration.

    The keywords are the flags of `evalc run`, by their names in Python, and `save`. None and False are not given,
    except for `save=False`. Where a flag may be repeated, one value or several are taken. `agent` may also be a
    function, a class, an object of a framework or a `ScriptedAgent`; `judge`, `user` and `snapshot` may be functions.
    `last_failed` is True for the newest run, or names a run.

    Args:
        subject: A path (file, folder, glob), `PATH::CASE`, a `Source`, an `evalc.Suite`, or several of them; None is
            what the configuration says, else the working folder. Of an empty list nothing is run: it is an error.

    Raises:
        SourceError: the eval files have errors; nothing was run.
        TypeError: a flag is unknown, or has a value that it does not take; nothing was run.
        UsageError: what was asked for cannot be done, or there is nothing to do; nothing was run.
        EvalcError: the run was broken off, such as for lack of threads; what was finished is kept.
        OSError: a file cannot be written, as on a full disk; what was finished is kept.

    >>> import evalc
    >>> suite = evalc.Suite("greeting", cases=[evalc.Case("hi", "Say hello", checks=['contains "hello"'])])
    >>> run = evalc.run(suite, agent=lambda message: "hello, world")
    >>> [(case.id, case.status) for case in run.cases]
    [('greeting/hi', 'passed')]
    """
    from evalc.setup.runner import to_the_end  # noqa: PLC0415 - for start-up: `check` and `compile` run nothing

    return to_the_end(lambda: _compiled_run(subject, flags))


@documented
async def run_async(subject: Subject | Iterable[Subject] | None = None, **flags: Unpack[RunFlags]) -> Run:
    """`evalc.run`, for callers that have an event loop, whose agent is called in it.

    Args:
        subject: As for `evalc.run`.
    """
    return await _compiled_run(subject, flags)()


def _compiled_run(subject: Subject | Iterable[Subject] | None, flags: RunFlags) -> Running:
    from evalc.setup.request import compiled_run, given_by  # noqa: PLC0415 - for start-up: as above

    given = given_by(subject, flags)
    return compiled_run(given.start(given.settings()))
