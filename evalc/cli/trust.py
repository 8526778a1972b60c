"""The commands that say how far evals can be trusted: challenge, coverage, plan, calibrate."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.terminal import Screen, counted, visible
from evalc.cli.checking import difference, write_unless_changed
from evalc.cli.ending import (
    ExitCode,
    lent_streams,
    print_error,
    print_lines,
    print_problems,
    print_result,
    print_warning,
    supervise,
    with_standard_input,
)
from evalc.cli.options import Json, PathsOrStdin, number, settings_of, with_flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalc.compiler.compiled import Compilation
    from evalc.config import Settings
    from evalc.model.reports import Coverage
    from evalc.runtime.store.resume import PastRun
    from evalc.setup.compile import Subject


@with_flags(
    *("judge", "judge_samples", "no_judge_cache", "max_cost", "prompts", "seed_manifest", "tools"),
    *("output_dir", "config"),
)
def challenge(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...|RUN", help="Eval files and folders; or a run: its id, its folder, or latest."),
    ],
    min_strength: Annotated[
        float | None,
        typer.Option(
            "--min-strength", metavar="X", parser=number, help="Exit with 1 below this strength, from 0 to 1."
        ),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Add the missing checks to the eval files, as far as recorded answers prove them right."
        ),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what --fix would add, without changing files.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show each fault that was missed.")] = False,
    json: Json = False,
    **flags: Any,
) -> int:
    """Plant faults in answers, and report what the checks miss.

    No agent is asked. Eval files are challenged with broken agents: silent, refusing, echoing, calling the wrong
    tools. A run is challenged with its own good answers after small changes to a number, a negation, a sentence or an
    argument.

    \b
    Examples:
      evalc challenge evals/ --min-strength 0.8
      evalc run --agent demo && evalc challenge latest --fix
    """
    _refuse_no_share("--min-strength", min_strength)
    # For start-up: `--help` challenges nothing.
    from evalc.report.others import strength_lines  # noqa: PLC0415
    from evalc.setup.runner import runs_code_of_others  # noqa: PLC0415

    of = _run_among(paths, settings_of(flags))
    settings = settings_of(flags, of)
    if settings.checks or (flags["judge"] and runs_code_of_others(settings)):
        supervise(settings.judge.timeout_ms, lambda: "; no file was changed")
    fixing = fix or diff
    good = _good_answers(settings, needed=fixing) if of is None else None
    finished = challenged(paths, settings, of, good=good)
    print_problems(finished.problems, sys.stderr)
    if diff:
        for insertion in finished.insertions:
            sys.stdout.writelines(difference(insertion.source, insertion.text))
        for warning in finished.strength.warnings:
            print_warning(warning)
    else:
        screen = Screen.of(sys.stdout, os.environ)
        print_result(finished.strength, strength_lines(finished.strength, screen, verbose=verbose), as_json=json)
    if fixing:
        _add(finished.insertions, dry=diff)
    nothing = "nothing was challenged, so there is no strength to reach"
    return _exit_code(finished.strength.strength, min_strength, nothing)


def challenged(
    paths: Sequence[str], settings: Settings, of: PastRun | None, *, good: PastRun | None = None
) -> extras.challenge.Finished:
    """Challenge the suites that the paths name, or the answers of a run.

    Args:
        paths: eval files and folders; not looked at if there is a run.
        settings: how the suites are checked.
        of: the run whose answers are changed; None challenges the suites by themselves.
        good: a run whose answers every line to be inserted has to pass; None is `of`.
    """
    # For start-up: `--help` challenges nothing.
    import asyncio  # noqa: PLC0415

    from evalc.setup.request import to_rescore, to_run  # noqa: PLC0415

    what = to_run(paths, settings) if of is None else to_rescore((), of, settings)
    with lent_streams():
        return asyncio.run(extras.challenge.run_challenge(what, settings, of=of, good=good))


def _run_among(paths: Sequence[str], settings: Settings) -> PastRun | None:
    """The run that is named; None where eval files are."""
    from evalc.runtime.store.resume import find_run  # noqa: PLC0415 - for start-up
    from evalc.runtime.store.runs import LATEST  # noqa: PLC0415 - as above

    if len(paths) != 1:
        return None
    path = Path(paths[0])
    if path.exists() and not (path / "journal.jsonl").is_file():
        return None
    try:
        return find_run(paths[0], settings.results_folder)
    except UsageError:
        if paths[0].startswith(LATEST):
            raise
        return None  # then it is reported as a missing eval file


def _good_answers(settings: Settings, *, needed: bool) -> PastRun | None:
    """The latest run; None where there is none and none is needed."""
    from evalc.runtime.store.resume import find_run  # noqa: PLC0415 - for start-up
    from evalc.runtime.store.runs import LATEST  # noqa: PLC0415 - as above

    try:
        run = find_run(LATEST, settings.results_folder)
    except UsageError:
        if not needed:
            return None
        raise UsageError(
            "`--fix` writes only lines that recorded answers pass, and there is no run: `evalc run` records some"
        ) from None
    return run if needed or run.header is not None else None


def _add(insertions: Sequence[extras.challenge.Insertion], *, dry: bool) -> None:
    """Write the files, unless `dry`, and say what was added to them, or would be."""
    verb, written = "would add" if dry else "added", 0
    for insertion in insertions:
        if not dry and not write_unless_changed(insertion.source, insertion.text):
            continue
        name = visible(insertion.source.name)
        for id_, lines in insertion.lines.items():
            written += len(lines)
            print_lines((f"{name}: {visible(id_)}: {verb} {visible(line)}" for line in lines), sys.stderr)
    print_lines(["nothing to fix" if not written else f"{verb} {counted(written, 'line')}"], sys.stderr)


def _refuse_no_share(flag: str, value: float | None) -> None:
    """Reject a number that is not between 0 and 1."""
    if value is not None and not 0 <= value <= 1:
        raise UsageError(f"`{flag}` is between 0 and 1, and this is {value:g}")


def _exit_code(reached: float | None, least: float | None, nothing: str) -> ExitCode:
    """Whether the least value was reached; `nothing` says why there is none to compare."""
    if least is None:
        return ExitCode.OK
    if reached is None:
        print_error(nothing)
        return ExitCode.FAILED
    return ExitCode.FAILED if reached < least else ExitCode.OK


@with_flags("prompts", "seed_manifest", "tools", "config")
def coverage(
    paths: PathsOrStdin = None,
    min_coverage: Annotated[
        float | None,
        typer.Option(
            "--min-coverage", metavar="X", parser=number, help="Exit with 1 below this coverage, from 0 to 1."
        ),
    ] = None,
    json: Json = False,
    **flags: Any,
) -> int:
    """List the tools, arguments and criteria that no case tests.

    Prompts, seed values and tools that look alike are listed too.

    \b
    Example:
      evalc coverage evals/ --tools tools.json
    """
    _refuse_no_share("--min-coverage", min_coverage)
    # For start-up: `--help` looks at nothing.
    from evalc.report.others import coverage_lines, coverage_total  # noqa: PLC0415

    settings = settings_of(flags)
    what, found = covered(with_standard_input(settings.looked_at(paths or ())), settings)
    print_problems(what.problems, sys.stderr)
    print_result(found, coverage_lines(found, Screen.of(sys.stdout, os.environ)), as_json=json)
    return _exit_code(found.coverage, min_coverage, f"there is no coverage to reach: {coverage_total(found)}")


def covered(
    subjects: Sequence[Subject], settings: Settings, prompt_id: str | None = None
) -> tuple[Compilation, Coverage]:
    """Measure the coverage of the cases of the subjects: tools, seed manifest, criteria, branches of prompts.

    `prompt_id` leaves out the suites of other prompts.
    """
    # For start-up: `--help` looks at nothing.
    from evalc.setup.compile import soundly_compiled  # noqa: PLC0415
    from evalc.setup.runner import seed_of  # noqa: PLC0415

    found = soundly_compiled(subjects, settings, prompt_id)
    judged = bool(settings.judge.use)
    return found, extras.challenge.coverage_of(found.suites, found.tools, seed_of(settings), judged=judged)


@with_flags("confidence", "prompts", "tools", "output_dir", "config")
def plan(paths: PathsOrStdin = None, json: Json = False, **flags: Any) -> int:
    """Predict what a run can show and what it costs.

    The plan names the smallest regression that the cases can show, what gates need, and the costs, which are those of
    the latest run. No agent is asked.

    \b
    Example:
      evalc plan evals/
    """
    # For start-up: `--help` plans nothing.
    from evalc.report.others import plan_lines  # noqa: PLC0415
    from evalc.setup.plan import plan_of  # noqa: PLC0415
    from evalc.setup.request import to_run  # noqa: PLC0415

    settings = settings_of(flags)
    what = to_run(with_standard_input(settings.looked_at(paths or ())), settings)
    found = plan_of(what, settings)
    print_problems(what.problems, sys.stderr)
    print_result(found, plan_lines(found, Screen.of(sys.stdout, os.environ)), as_json=json)
    return ExitCode.OK


@with_flags("judge", "judge_samples", "no_judge_cache", "config")
def calibrate(
    labels: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A CSV file with the columns response and label, and optionally case, message, question, criterion, "
            "reference and maxScore.",
        ),
    ],
    json: Json = False,
    **flags: Any,
) -> int:
    """Measure how well a judge agrees with human labels.

    The judge scores answers that people have labelled.

    \b
    Example:
      evalc calibrate labels.csv --judge openai:MODEL
    """
    from evalc.cli.calibrate import calibrated, lines_of  # noqa: PLC0415 - for start-up: `--help` asks no judge

    found = calibrated(labels, settings_of(flags))
    if found is None:
        return ExitCode.USAGE
    print_result(found, lines_of(found), as_json=json)
    return ExitCode.AGENT if found.unjudged else ExitCode.OK
