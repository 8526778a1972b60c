"""The commands that read past runs, or make a run of them: show, report, diff, history, accept, rescore, merge."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec.structs import replace

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.terminal import Screen, counted, first_of, shown_path, visible
from evalc.cli.ending import ExitCode, print_lines, print_result, print_warning, supervise
from evalc.cli.options import (
    Json,
    Quiet,
    Verbose,
    settings_of,
    whole,
    with_flags,
)
from evalc.cli.run import (
    Output,
    Outputs,
    Shown,
    beside_past,
    do_all,
    make_and_report,
    outputs_of,
    past_run,
    report,
    write_report,
)
from evalc.cli.trust import challenged, covered
from evalc.diagnostics.near import did_you_mean
from evalc.setup.flags import modern

if TYPE_CHECKING:
    from evalc.config import Settings
    from evalc.model.reports import HistoryEntry
    from evalc.report import ReportedRun
    from evalc.report.progress import Progress
    from evalc.runtime.run.again_merge import Part


_MOST_NAMED: Final = 10
_MOST_UNFINISHED: Final = 3

RunName = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]",
        help="The run: its id or the beginning of it, latest, latest~1, its folder or a result file; RUN/AGENT is one "
        "agent's part of it. Default: latest.",
    ),
]


def warn_of_unfinished(settings: Settings, newest: Path | None = None) -> None:
    """Warn of runs that have not finished; if `newest` is given, only of those that began after it."""
    from evalc.runtime.store.runs import unfinished_since  # noqa: PLC0415 - for start-up: `--help` shows no run

    unfinished = unfinished_since(settings.results_folder, newest)
    for folder in unfinished[:_MOST_UNFINISHED]:
        print_warning(f"the run {folder.name} has not finished: `evalc run --resume {folder.name}` runs the rest")
    if len(unfinished) > _MOST_UNFINISHED:
        print_warning(f"{len(unfinished) - _MOST_UNFINISHED} older runs have not finished either")


@with_flags("output_dir", "config")
def show(
    run: RunName = "latest",
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
    output: Outputs = None,
    **flags: Any,
) -> int:
    """Print the summary of a past run.

    --json and -o write reports of it, as they do for evalc run.

    \b
    Examples:
      evalc show
      evalc show latest~1
      evalc show 01a200e6 -v
      evalc show --json
    """
    settings = settings_of(flags)
    past, outputs = past_run(run, settings), outputs_of(output or (), as_json=json)
    shown = Shown(detail="quiet" if quiet else "verbose" if verbose else "normal")
    report(beside_past(past, outputs, settings.results_folder), sys.stdout, outputs, shown)
    if run == "latest":
        warn_of_unfinished(settings, Path(past.folder))
    return ExitCode.OK


@with_flags("output_dir", "config")
def report_run(
    run: RunName = "latest",
    output: Outputs = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="RUN", help="Compare the run with this one. Default: the run it was compared with."
        ),
    ] = None,
    challenge: Annotated[
        bool,
        typer.Option("--challenge", help="Add to HTML which faulty answers the checks miss, and what no case covers."),
    ] = False,
    **flags: Any,
) -> int:
    """Write a report of a run: report.html, or other formats.

    \b
    Examples:
      evalc report
      evalc report latest~1 -o out/report.html -o junit:out/report.xml
      evalc report --baseline 01a200e6
      evalc report --challenge
    """
    from evalc.runtime.store.resume import find_run  # noqa: PLC0415 - for start-up: `--help` writes no report

    settings = settings_of(flags)
    outputs = outputs_of(output or ["html:report.html"])
    reported = beside_past(past_run(run, settings), outputs, settings.results_folder, baseline)
    if challenge:
        from evalc.setup.request import origins_of  # noqa: PLC0415 - for start-up: a report needs no compiler

        of = find_run(run, settings.results_folder)
        settings = settings_of(flags, of)
        strength = challenged((), settings, of).strength
        assert of.header is not None  # noqa: S101 - for the type checker: a run without one has no answers
        _, coverage = covered(origins_of(of.header), settings, of.header.flags.get("prompt_id"))
        reported = replace(reported, strength=strength, coverage=coverage)
    do_all([partial(_write_and_report, reported, output) for output in outputs])
    return ExitCode.OK


def _write_and_report(run: ReportedRun, output: Output) -> None:
    write_report(run, output, sys.stdout)
    if output.file is not None:
        print_lines([f"wrote {shown_path(output.file)}"], sys.stderr)


@with_flags("output_dir", "config")
def diff(
    before: Annotated[
        str | None,
        typer.Argument(
            metavar="[A]",
            help="The earlier run: its id or the beginning of it, latest~1, its folder or a result file. Without a B, "
            "A is the later run, latest by default, and the earlier run is the one before it of the same suites.",
        ),
    ] = None,
    after: Annotated[str | None, typer.Argument(metavar="[B]", help="The later run, named in the same way.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show all that was measured, and the ids of the runs.")
    ] = False,
    json: Json = False,
    **flags: Any,
) -> int:
    """Compare two runs, and flag differences that may be noise.

    The exit code is 1 if a case fails that passed in A, or if B lacks a case or suite of A that it should have.

    \b
    Examples:
      evalc diff
      evalc diff 01a200e6
      evalc diff 01a200e6 latest
    """
    # For start-up: `--help` compares nothing.
    from evalc.report.side_by_side import diff_lines  # noqa: PLC0415
    from evalc.runtime.run.again_load import compare_past  # noqa: PLC0415
    from evalc.runtime.store.runs import names_of  # noqa: PLC0415

    earlier, later = (None, before or "latest") if after is None else (before, after)
    comparison = compare_past(earlier, later, settings_of(flags).results_folder)
    screen = Screen.of(sys.stdout, os.environ)
    called = names_of(settings_of(flags).results_folder)
    print_result(comparison, diff_lines(comparison, screen, called=called, verbose=verbose), as_json=json)
    return ExitCode.FAILED if comparison.regressions or comparison.missing else ExitCode.OK


@with_flags("output_dir", "config")
def history(
    suite: Annotated[
        str | None, typer.Argument(metavar="[SUITE]", help="Only this suite: its name or its tool, or NAME.TIER.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option("--limit", metavar="N", parser=whole(1), help="How many lines, or results, to list. Default: 20."),
    ] = 20,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the ids of runs, and each suite by its criteria.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild the index from the result files.")] = False,
    json: Json = False,
    **flags: Any,
) -> int:
    """List past runs, newest first, and each suite's trend.

    A suite is listed by itself, with the trend of each of its criteria.

    \b
    Examples:
      evalc history
      evalc history code-review --limit 50
    """
    # For start-up: `--help` reads no history.
    from evalc.model.reports import History  # noqa: PLC0415
    from evalc.report.others import history_lines, short_names  # noqa: PLC0415
    from evalc.runtime.store.runs import names_of  # noqa: PLC0415

    settings = settings_of(flags)
    folder = settings.results_folder
    with extras.history.Index.followed(folder, rebuild=rebuild) as index:
        if index.warning is not None:
            print_warning(index.warning)
        if (strangers := index.strangers()) > 0:
            files = counted(strangers, "JSON file")
            print_warning(f"no results of suites: {files} in the folders of runs in `{folder}`")
        all_entries = tuple(index.entries(suite))
        every = tuple(index.entries())
        names = short_names([entry.run for entry in every]) if verbose else names_of(folder)
    if suite is not None and not all_entries:
        raise UsageError(f"no run in `{folder}` has results of the suite `{suite}`{_there_is(suite, every)}")
    found = History(entries=all_entries, trends=extras.history.trends_of(all_entries))
    by_suite = verbose or suite is not None
    lines = history_lines(found, Screen.of(sys.stdout, os.environ), names=names, most=limit, by_suite=by_suite)
    print_result(
        replace(found, entries=all_entries[:limit]),
        lines if all_entries else [f"there are no runs with results in {folder}"],
        as_json=json,
    )
    warn_of_unfinished(settings)
    return ExitCode.OK


def _there_is(asked: str, entries: Sequence[HistoryEntry]) -> str:
    """Names that could have been meant: the nearest, else the suites of the newest runs."""
    from evalc.model.suite import key_of  # noqa: PLC0415 - for start-up: only for a mistake

    suites = tuple(dict.fromkeys(str(key_of(entry)) for entry in entries))
    if not suites:
        return ""
    near = did_you_mean(asked, (name for entry in entries for name in (entry.suite, entry.tool_name)))
    return f"; {near}" if near else f"; there are {first_of(suites, _MOST_NAMED, '`{}`'.format)}"


@with_flags("output_dir", "config")
def accept_run(run: RunName = "latest", **flags: Any) -> int:
    """Make a run the baseline of the project.

    evalc writes evals/baseline.json, which you commit. --fail-on-regression and --baseline latest compare with that
    file from then on, on every machine. A run in which cases fail is accepted too: these cases may go on failing.
    Cases that flags or paths left out stay in the file. Cases that are gone from the eval files are removed from it.

    \b
    Examples:
      evalc accept
      evalc accept 01a200e6
    """
    # For start-up: `--help` reads no run.
    from evalc.runtime.store.accepted import accept  # noqa: PLC0415
    from evalc.runtime.store.runs import find_results  # noqa: PLC0415

    settings = settings_of(flags)
    results = find_results(run, settings.results_folder)
    accepted = accept(results, settings.accepted_baseline)
    cases = [case for suite in accepted.suites for case in suite.cases.values()]
    failing = sum(not case.passed for case in cases)
    message = f"{counted(len(cases) - accepted.kept, 'case')} of the run {results.name}"
    message += f" and {accepted.kept} from before" if accepted.kept else ""
    message += f", {failing} of which may keep failing" if failing else ""
    said = [f"wrote {shown_path(settings.accepted_baseline)}: {message}"]
    if accepted.removed:
        said.append(f"no longer in it: {first_of(accepted.removed, _MOST_NAMED, visible)}")
    print_lines(said, sys.stdout)
    if accepted.only_part:
        print_warning("this run left out some of the cases, which will be new to a comparison with this baseline")
    return ExitCode.OK


@with_flags(
    *("prompts", "seed_manifest", "tools", "all_assertions", "judge", "judge_samples", "no_judge_cache"),
    *("strict", "output_dir", "config"),
)
def rescore(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run: its id, its folder, or latest.")],
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="The eval files. Default: those of the run.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="RUN", help="Compare with this run: its id, a path, or latest. Default: RUN."
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
    output: Outputs = None,
    **flags: Any,
) -> int:
    """Check the recorded answers of a run with the current checks.

    No agent is asked. The result is a new run, compared with the run that the answers are from.

    \b
    Examples:
      evalc rescore latest
      evalc rescore 01a200e6-7046-7eeb-9a38-ddbabec8cf21 evals/
    """
    # For start-up: `--help` runs nothing.
    from evalc.runtime.store.resume import find_run  # noqa: PLC0415
    from evalc.setup import runner  # noqa: PLC0415
    from evalc.setup.request import to_rescore  # noqa: PLC0415

    outputs = outputs_of(output or (), as_json=json)
    past = find_run(run, settings_of(flags).results_folder)
    settings = settings_of({**flags, "baseline": baseline}, past)
    untouched = "the run that was rescored is as it was"
    if runner.runs_code_of_others(settings):
        supervise(settings.timeout_ms, lambda: f"; {untouched}")

    def compiled(progress: Progress) -> runner.Running:
        what = to_rescore(paths or (), past, settings)
        return lambda: runner.rescore(what, past, settings, progress)

    return make_and_report(compiled, outputs, quiet=quiet, untouched=untouched)


_TAKEN_OVER: Final = (
    *("baseline", "confidence", "fail_on_regression", "max_p95", "min_pass_rate", "min_score"),
    *("prompts", "strict", "tools"),
)
"""The flags of the shards that decide the run as a whole, or say what it is compiled from."""


@with_flags("output_dir", "config")
def merge_runs(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN_DIR...", help="The runs of all shards: their folders, or ids.")
    ],
    quiet: Quiet = False,
    json: Json = False,
    output: Outputs = None,
    **flags: Any,
) -> int:
    """Merge the runs of all shards into one run.

    The eval files must be as they were. Gates, baseline and history apply to the whole run, with the flags that the
    shards were run with.

    \b
    Example:
      evalc run --shard 1/2 --output-dir parts
      evalc run --shard 2/2 --output-dir parts
      evalc merge parts/*/
    """
    # For start-up: `--help` runs nothing.
    from evalc.runtime.run.again_merge import read_parts  # noqa: PLC0415
    from evalc.runtime.store.resume import find_run  # noqa: PLC0415
    from evalc.setup import runner  # noqa: PLC0415
    from evalc.setup.request import to_merge  # noqa: PLC0415

    where = settings_of(flags).results_folder
    parts = read_parts([find_run(name, where) for name in runs])
    settings = settings_of(flags | _flags_of(parts))
    outputs = outputs_of(output or (), as_json=json)

    def compiled(progress: Progress) -> runner.Running:
        what = to_merge(parts, settings)
        return lambda: runner.merge(what, parts, settings, progress)

    return make_and_report(compiled, outputs, quiet=quiet, untouched="the parts are as they were")


def _flags_of(parts: Sequence[Part]) -> dict[str, Any]:
    """The flags of the shards that decide the run as a whole."""
    first, *others = ({name: modern(part.header.flags).get(name) for name in _TAKEN_OVER} for part in parts)
    for part, flags in zip(parts[1:], others, strict=True):
        if flags != first:
            raise UsageError(f"{part.name} was run with other gates, baseline or tools than {parts[0].name}")
    return first
