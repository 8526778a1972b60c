"""`evalc run`, and the reports of any run: on standard output and in the files of `--output`."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, TypeVar, Unpack, cast, final

import msgspec
import typer
from msgspec.structs import asdict, replace

from evalc import extras
from evalc.base import collector_off
from evalc.base.errors import EngineError, MachineError, NothingToDo, UsageError, not_writable
from evalc.base.files import make_folder, open_regular
from evalc.base.terminal import Screen, counted, shown_path, visible
from evalc.cli.ending import (
    ExitCode,
    inventory_lines,
    lent_streams,
    print_error,
    print_lines,
    print_problems,
    print_warning,
    standard_output_alone,
    supervise,
    termination_as_interrupt,
)
from evalc.cli.importing import From, subjects_of
from evalc.cli.options import NO_VALUE, Json, Quiet, Verbose, show_all_help, with_flags
from evalc.diagnostics.near import did_you_mean, listed
from evalc.model.numbers import whole_in
from evalc.setup.flags import INSTEAD, SHOWN, STOPS, RunFlags

if TYPE_CHECKING:
    from evalc.config import Settings
    from evalc.model.case import Case
    from evalc.model.result import SuiteComparison
    from evalc.model.suite import Suite
    from evalc.report import ReportedRun, ReportedSuite
    from evalc.report.console import Detail
    from evalc.report.outputs import Format
    from evalc.report.progress import Progress
    from evalc.runtime.run.again_load import LoadedSuite
    from evalc.setup.finished import Run
    from evalc.setup.request import Start, ToRun
    from evalc.setup.runner import Running

Step = Callable[[], None]
T = TypeVar("T")
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="[FORMAT:]FILE",
        rich_help_panel=SHOWN,
        help="Write a report to a file: text, json, html, junit, xunit, markdown, csv, parquet, github, sarif or "
        "pr-comment; by default what the file's name says, else json. May be repeated; - is standard output. "
        "`pr-comment` without a file comments on the pull request.",
    ),
]

_FORMAT: Final = re.compile(r"([A-Za-z][A-Za-z0-9_-]+):(.*)", re.DOTALL)
"""A format before its file; one letter is a drive."""


@final
class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a run is printed: of its cases, and of how many the time that they took."""

    detail: Detail = "normal"
    slowest: int = 0


def make_and_report(
    make: Callable[[Progress], Running], outputs: Sequence[Output], *, quiet: bool, untouched: str
) -> int:
    """Make a run of past ones, and report it; its exit code.

    `untouched` says what an interrupt leaves as it was.
    """
    from evalc.setup.runner import to_the_end  # noqa: PLC0415 - for start-up

    try:
        with termination_as_interrupt(), _progress() as progress:
            finished = to_the_end(lambda: make(progress))
    except KeyboardInterrupt:
        print_error(f"interrupted; {untouched}")
        return ExitCode.INTERRUPTED
    print_problems(finished.problems, sys.stderr, quiet=quiet)
    report(reported(finished, outputs), sys.stdout, outputs, Shown(detail="quiet" if quiet else "normal"))
    return finished.exit_code


def _progress() -> Progress:
    """Shows on standard error how far a run is."""
    from evalc.report.progress import Progress, draws  # noqa: PLC0415 - for start-up

    return Progress(sys.stderr, Screen.of(sys.stderr, os.environ), drawn=draws(sys.stderr, os.environ))


def report(run: ReportedRun, stdout: TextIO, outputs: Sequence[Output], shown: Shown) -> None:
    """Write the files, then print the report without a file, or the console summary; one failure stops no other.

    Raises:
        OSError: a report cannot be written; further failures are printed.
    """
    to_files = [output for output in outputs if output.file is not None]
    printed = next((output for output in outputs if output.is_printed), Output(format="text", file=None))
    steps = [partial(write_report, run, output, stdout) for output in to_files]
    match printed.format:
        case "text":
            steps.append(partial(_print_summary, run, stdout, shown))
        case "github":
            steps += [partial(_append_step_summary, run), partial(_append_output, run)]
            steps.append(partial(_print_annotated, run, stdout, shown))
        case _:
            steps.append(partial(write_report, run, printed, stdout))
    if POSTED in outputs:
        steps.append(partial(post_comment, run, is_summarized=printed.format == "github"))
    do_all(steps)


def report_nothing(start: Start, why: str, stdout: TextIO, outputs: Sequence[Output]) -> None:
    """Write the reports of a run that had nothing to do, for the programs that read them; print no summary.

    Raises:
        OSError: a report cannot be written; further failures are printed.
    """
    from evalc.report import ReportedRun  # noqa: PLC0415 - for start-up
    from evalc.runtime.run.finish import summarize_run  # noqa: PLC0415 - as above

    nothing = summarize_run(())
    run = ReportedRun(
        run_id=start.run_id, folder="", suites=(), summary=nothing, root=Path.cwd(), warnings=(visible(why),)
    )
    do_all([partial(write_report, run, output, stdout) for output in outputs if output != POSTED])
    if POSTED in outputs:
        post_comment(run, start.flags)


def post_comment(run: ReportedRun, flags: Mapping[str, Any] | None = None, *, is_summarized: bool = False) -> None:
    """Write the comment of the pull request, and say so; without `flags`, those that the run's journal has.

    If the host refuses it, the summary of the job's step has the same, unless it is there already: the run ends as it
    would have ended without a comment.

    Raises:
        OSError: the summary cannot be written.
    """
    from evalc.runtime.store.runs import header_beside  # noqa: PLC0415 - for start-up

    header = header_beside(Path(run.folder)) if flags is None else None
    posted = extras.comment.post(run, flags or ({} if header is None else header.flags), os.environ)
    if not posted.refused:
        print_lines([visible(posted.words)], sys.stderr)
        return
    print_warning(posted.words)
    if not is_summarized:
        _append_step_summary(run)


def write_report(run: ReportedRun, output: Output, stdout: TextIO) -> None:
    """Write one report: to its file, whole or not at all, or to standard output.

    Raises:
        OSError: it cannot be written, or what the run has made would be overwritten.
    """
    from evalc.report.outputs import render, write  # noqa: PLC0415 - as above

    if output == POSTED:
        post_comment(run)
    elif output.file is None:
        _print_pieces(render(output.format, run), stdout)
    else:
        write(output.format, run, output.file)


def do_all(steps: Iterable[Step]) -> None:
    """Take every step, whether or not others before it fail; the first failure is raised, the rest are reported."""
    failures: list[Exception] = []
    for step in steps:
        try:
            step()
        except Exception as error:  # of one report, which is to keep no other from being written
            failures.append(error)
    for failure in failures[1:]:
        match failure:
            case OSError(filename=str(name), strerror=str(why)):
                message = f"`{name}`: {why}"
            case _:  # not its message, which may quote anything
                message = type(failure).__name__
        print_error(f"another report could not be written: {message}")
    if failures:
        raise failures[0]


def reported(run: Run, outputs: Sequence[Output]) -> ReportedRun:
    """The run as reports show it, beside earlier runs."""
    return beside_past(run.reported(), outputs, run.folder.parent)


def beside_past(run: ReportedRun, outputs: Sequence[Output], folder: Path, baseline: str | None = None) -> ReportedRun:
    """The run with what these outputs show of earlier ones: those that it was compared with, or another baseline."""
    formats = {output.format for output in outputs}
    if baseline is not None:
        run = _against(run, baseline, folder)
    results = [suite.result for suite in run.suites]
    names = dict.fromkeys(suite.baseline_run_id for suite in results)
    # For start-up: most runs write no report.
    from evalc.runtime.store.runs import has_results  # noqa: PLC0415

    # A name that leads elsewhere is not ours: a result file may come from anyone.
    there = [name for name in names if name and Path(name).name == name and has_results(folder / name)]
    if formats & _IN_MARKDOWN:
        comparisons = tuple(_comparisons(run, [folder / name for name in there]))
        run = replace(run, comparisons=comparisons, address=extras.comment.address_of(os.environ))
    if "html" in formats:
        from evalc.report import beside  # noqa: PLC0415 - as above

        before = [suite for name in (there if baseline is None else [baseline]) for suite in _suites_of(name, folder)]
        run = replace(run, suites=beside(run.suites, before), trends=extras.history.trends_beside(results, folder))
    return run


_IN_MARKDOWN: Final[Set[Format]] = {"markdown", "github", "pr-comment"}


def _against(run: ReportedRun, baseline: str, folder: Path) -> ReportedRun:
    """The run as if it had been compared with the baseline; suites that this does not have are compared with none."""
    # For start-up, as above.
    from evalc.model.suite import key_of  # noqa: PLC0415
    from evalc.runtime.run.again_load import compare_past  # noqa: PLC0415

    def compared(suite: ReportedSuite) -> ReportedSuite:
        agents = {msgspec.UNSET, suite.result.agent_endpoint}
        found = (each for each in comparisons if key_of(each) == key_of(suite.result) and each.agent_endpoint in agents)
        its = next(found, None)
        since, run_id = (msgspec.UNSET, None) if its is None else (its.significance, its.before_run_id)
        result = msgspec.structs.replace(suite.result, significance=since, baseline_run_id=run_id)
        return msgspec.structs.replace(suite, result=result)

    comparisons: tuple[SuiteComparison, ...] = ()
    with suppress(UsageError):  # the runs have no suite in common
        comparisons = compare_past(baseline, run.folder, folder).suites
    return replace(run, suites=tuple(map(compared, run.suites)))


def _comparisons(run: ReportedRun, baselines: Iterable[Path]) -> Iterator[SuiteComparison]:
    """The suites beside those of the runs that they were compared with."""
    # For start-up, as above.
    from evalc.model.suite import key_of  # noqa: PLC0415
    from evalc.runtime.run.again_load import compare_past  # noqa: PLC0415

    since = {(key_of(result), result.baseline_run_id) for result in run.results}
    for baseline in baselines:
        with suppress(UsageError):  # a run that cannot be read: then there are only the verdicts
            suites = compare_past(str(baseline), run.folder, baseline.parent).suites
            yield from (each for each in suites if (key_of(each), baseline.name) in since)


def past_run(name: str, settings: Settings) -> ReportedRun:
    """The run as it was reported when it ended; its suites are not compared."""
    # For start-up: `--help` shows no run.
    from evalc.report import ReportedRun  # noqa: PLC0415
    from evalc.runtime.run.again_load import load_run  # noqa: PLC0415
    from evalc.runtime.store.redact import Redactor  # noqa: PLC0415
    from evalc.runtime.store.runs import Closing, find_results, read_closing  # noqa: PLC0415
    from evalc.setup.compile import checks_in  # noqa: PLC0415

    results = find_results(name, settings.results_folder)
    past, warnings = load_run(results)
    closing, unread = (Closing(), ()) if results.is_part else read_closing(results.folder)
    return ReportedRun(
        run_id=past.run_id,
        folder=shown_path(results.folder.resolve()),
        suites=tuple(map(_as_reported, past.suites)),
        summary=past.summary,
        root=Path.cwd(),
        **asdict(replace(closing, warnings=(*closing.warnings, *warnings, *unread))),
        redact=Redactor(settings.secret_values(os.environ)).redact,  # of eval files, whose lines are quoted
        checks=checks_in(settings),
    )


def _suites_of(name: str, output_dir: Path) -> tuple[ReportedSuite, ...]:
    # For start-up: `--help` shows no run.
    from evalc.runtime.run.again_load import load_run  # noqa: PLC0415
    from evalc.runtime.store.runs import find_results  # noqa: PLC0415

    return tuple(map(_as_reported, load_run(find_results(name, output_dir))[0].suites))


def _as_reported(suite: LoadedSuite) -> ReportedSuite:
    from evalc.report import ReportedSuite  # noqa: PLC0415 - for start-up

    return ReportedSuite(result=suite.result, cases=suite.cases, skipped=suite.skipped)


def _print_summary(run: ReportedRun, stdout: TextIO, shown: Shown, *, fenced: bool = False) -> None:
    """The console summary; cases are read from disk one at a time. GitHub's runner is to obey nothing in it."""
    from evalc.report.console import summary_lines  # noqa: PLC0415 - for start-up

    screen = Screen.of(stdout, os.environ)
    lines = summary_lines(run, screen, detail=shown.detail, slowest=shown.slowest)
    token = secrets.token_hex(16) if fenced or os.environ.get("GITHUB_ACTIONS") else ""
    stdout.write(f"::stop-commands::{token}\n" if token else "")
    print_lines(lines, stdout)
    stdout.write(f"::{token}::\n" if token else "")


def _print_pieces(pieces: Iterable[bytes], stdout: TextIO) -> None:
    stdout.flush()
    stdout.buffer.writelines(pieces)


def _print_annotated(run: ReportedRun, stdout: TextIO, shown: Shown) -> None:
    """The console summary, then the annotations, which GitHub's runner is to obey."""
    from evalc.report.formats import github  # noqa: PLC0415 - for start-up

    _print_summary(run, stdout, shown, fenced=True)
    _print_pieces(github(run), stdout)


def _append_step_summary(run: ReportedRun) -> None:
    """Add the Markdown to the summary of the job's step, where GitHub Actions asks for one."""
    from evalc.report.markdown import MOST_BYTES, markdown  # noqa: PLC0415 - for start-up

    _append("GITHUB_STEP_SUMMARY", lambda there: markdown(run, most_bytes=MOST_BYTES - there))


def _append_output(run: ReportedRun) -> None:
    """Name the folder of the results among the outputs of the job's step, where GitHub Actions asks for them."""
    _append("GITHUB_OUTPUT", lambda _: [f"results={run.folder}\n".encode()])


def _append(variable: str, pieces: Callable[[int], Iterable[bytes]]) -> None:
    """Add to the file of a variable, if it is set, what is made of its size."""
    name = os.environ.get(variable)
    if not name:
        return
    file = Path(name)
    there = 0
    if file.exists():
        with open_regular(file) as before:  # a pipe would wait for a reader
            there = os.fstat(before.fileno()).st_size
    with file.open("ab") as appended:
        appended.writelines(pieces(there))


# --- what `--output` asks for ----------------------------------------------------------------------------------------


@final
class Output(msgspec.Struct, frozen=True, kw_only=True):
    """A report to write; without a file it is printed, or posted to where it belongs."""

    format: Format
    file: Path | None
    posted: bool = False

    @property
    def is_printed(self) -> bool:
        """Whether it goes to standard output."""
        return self.file is None and not self.posted


POSTED: Final = Output(format="pr-comment", file=None, posted=True)
"""The comment on a pull request."""


def outputs_of(asked: Sequence[str], *, as_json: bool = False) -> tuple[Output, ...]:
    """The outputs that the values of `-o` ask for; `as_json` is `--json`, the same as `-o json:-`. Folders are made."""
    if not (asked or as_json):
        return ()
    from evalc.report.outputs import may_be_written  # noqa: PLC0415 - for start-up: most runs write no report

    outputs = tuple(map(_output, (*asked, *(["json:-"] if as_json else []))))
    if POSTED in outputs:
        extras.comment.refuse_elsewhere(os.environ)
    if sum(output.is_printed for output in outputs) > 1:
        raise UsageError("only one output goes to standard output")
    taken: set[str] = set()
    for output in outputs:
        extras.refuse_missing(output.format)
        if output.file is None:
            continue
        path = os.path.normcase(os.path.realpath(output.file))
        if path in taken:
            raise UsageError(f"`--output` names the file `{output.file}` twice")
        taken.add(path)
        _make_ready(output.file)
        if not may_be_written(output.format, output.file):
            raise UsageError(
                f"`--output` would overwrite `{output.file}`, which is not a report in the format `{output.format}`"
            )
    return outputs


def _output(asked: str) -> Output:
    from evalc.report.outputs import FORMATS  # noqa: PLC0415 - for start-up

    by_name = {name: name for name in FORMATS}
    if asked == "github":
        return Output(format="github", file=None)
    if asked == "pr-comment":
        return POSTED
    if asked in by_name:
        raise UsageError(f"`-o {asked}` names no file; write `-o {asked}:FILE`, or `-o {asked}:-` for standard output")
    name, sign, file = asked.partition("=")
    if sign and name in by_name:
        raise UsageError(f"`-o {asked}`: a format is followed by a colon, as in `-o {name}:{file}`")
    found = _FORMAT.fullmatch(asked)
    if found is None:
        return Output(format=_by_suffix(asked), file=_file(asked))
    name, file = found.groups()
    if name not in by_name:
        meant = did_you_mean(name, FORMATS) or f"there are {listed(FORMATS)}"
        raise UsageError(f"`{name}` is not a report format; {meant}")
    return Output(format=by_name[name], file=_file(file))


def _by_suffix(name: str) -> Format:
    from evalc.report.outputs import SUFFIXES, format_of  # noqa: PLC0415 - for start-up

    known = format_of(name)
    if known is None and (suffix := Path(name).suffix) and not _is_of_evals(Path(name).name):
        formats = ", ".join(f"`{format_}`" for format_ in sorted(set(SUFFIXES.values())))
        raise UsageError(
            f"`--output {name}`: no report has the ending `{suffix}`; name the format in front, as in `json:{name}` "
            f"(the formats are {formats})"
        )
    return known or "json"


def _file(name: str) -> Path | None:
    if not name:
        raise UsageError("`--output` names no file")
    return None if name == "-" else Path(name)


def _is_of_evals(name: str) -> bool:
    """Whether a file of this name is likely to hold evals: `x.eval.yaml`, or eval JSON such as `x.golden.json`."""
    from evalc.dsl.document_kind import names_an_eval  # noqa: PLC0415 - for start-up

    return names_an_eval(name)


def _make_ready(file: Path) -> None:
    """Look at the file before the run, which would be for nothing otherwise."""
    if _is_of_evals(file.name.lower()):
        raise UsageError(f"`--output` would overwrite evals: `{file}` has the name of an eval file")
    if file.is_dir():
        raise UsageError(f"`--output` is to name a file, and `{file}` is a folder")
    if file.exists() and not file.is_file():
        raise UsageError(f"`--output` must name a file, and `{file}` is not a file")
    try:
        make_folder(file.parent)
    except OSError as error:
        raise not_writable(f"the folder of `--output` cannot be made: `{file.parent}`", error) from None
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"the folder of `--output` cannot be written to: `{file.parent}`")


# --- the command -----------------------------------------------------------------------------------------------------


@with_flags()
def run_evals(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH[::CASE]]...",
            help="Eval files, folders or globs; their cases by id, name or glob; ids of cases. - is standard input.",
        ),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("-x", rich_help_panel=STOPS, help="Stop after the first case that fails.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    durations: Annotated[
        int | None,
        typer.Option("--durations", metavar="N", min=1, rich_help_panel=SHOWN, help="Show the N slowest cases."),
    ] = None,
    json: Json = False,
    output: Outputs = None,
    origin: Annotated[From | None, typer.Option("--from", hidden=True)] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            rich_help_panel=INSTEAD,
            help="List the cases, and what running them may cost; with -q only their ids.",
        ),
    ] = False,
    show_settings: Annotated[bool, typer.Option("--show-settings", hidden=True)] = False,
    _all_help: Annotated[
        bool,
        typer.Option(
            "--help-all",
            is_eager=True,
            callback=show_all_help,
            help="Show this message with the flags for shards, Ray and OpenTelemetry.",
        ),
    ] = False,
    **flags: Unpack[RunFlags],
) -> int:
    """Run evals against an agent.

    Without PATH, run the paths of the configuration, else the working folder. A flag wins over the configuration.

    \b
    Examples:
      evalc run evals/ --agent demo
      evalc run evals/weather.golden.json --agent http://localhost:3000/chat
      evalc run evals/weather.eval.yaml::paris
      evalc run -k "paris and not slow" --min-pass-rate 0.9
      evalc run --resume latest
    """
    # For start-up: `--help` runs nothing.
    with collector_off():
        from evalc.dsl.sources import unsaved  # noqa: PLC0415
        from evalc.setup.request import compiled_run, given_by, to_run  # noqa: PLC0415
        from evalc.setup.runner import longest_ms, runs_code_of_others, to_the_end  # noqa: PLC0415

    given = given_by(paths or None, _given(flags | {"maxfail": 1} if fail_fast else flags))
    settings = given.settings()
    if show_settings:
        from evalc.cli.plumbing import print_settings  # noqa: PLC0415 - for start-up

        return print_settings(settings)
    start = given.start(settings)
    subjects, beside, settings, _folder = subjects_of(start.subjects, origin, start.settings)
    command = _resuming(start, origin)
    start = msgspec.structs.replace(start, subjects=subjects, settings=settings, command=command)
    detail: Detail = "quiet" if quiet else "verbose" if verbose else "normal"
    if dry_run:
        with unsaved(beside):
            what = to_run(start.subjects, settings, start.request.prompt_id, start.selection)
        print_problems(what.problems, sys.stderr)
        return _list_cases(what, settings, detail=detail)
    outputs = outputs_of(output or (), as_json=json)
    files = [asked.file for asked in outputs if asked.file is not None]
    advice = partial(_advice, start)
    if runs_code_of_others(settings):
        supervise(longest_ms(settings), advice)
    with standard_output_alone() as stdout, unsaved(beside):
        progress = _progress()
        try:
            with termination_as_interrupt(), progress, lent_streams():
                finished = to_the_end(lambda: compiled_run(start, progress, files))
        except KeyboardInterrupt:
            if start.has_begun:
                print_lines([progress.so_far()], sys.stderr)
            print_error(f"interrupted{advice() or '; nothing was run'}")
            return ExitCode.INTERRUPTED
        except (EngineError, MachineError) as error:
            raise type(error)(f"{error}{advice()}") from None
        except OSError as error:
            error.strerror = f"{error.strerror}{advice()}" if error.strerror else error.strerror
            raise
        except NothingToDo as nothing:
            report_nothing(start, str(nothing), stdout, outputs)
            raise
        print_problems(finished.problems, sys.stderr, quiet=quiet)
        shown = Shown(detail=detail, slowest=durations or 0)
        report(reported(finished, outputs), stdout, outputs, shown)
        if not quiet:
            stdout.flush()
            print_lines(inventory_lines(finished.inventory, verbose=verbose), sys.stderr)
            if finished.exit_code and finished.summary.failed and origin is None:
                print_lines([_NEXT_STEPS], sys.stderr)
    return finished.exit_code


_NEXT_STEPS: Final = "again: `evalc run --last-failed`; in full: `evalc show -v`; as a page: `evalc report`"


def _given(flags: RunFlags) -> RunFlags:
    """The flags that are given, as a call from Python gives them."""
    said: dict[str, Any] = {
        name: value for name, value in flags.items() if value is not None and value is not False and value != []
    }
    if (concurrency := whole_in(said.get("concurrency", ""))) is not None:
        said["concurrency"] = concurrency
    if said.get("last_failed") == NO_VALUE:
        said["last_failed"] = True
    return cast(RunFlags, said)


def _resuming(start: Start, origin: From | None) -> str:
    """The command that resumes a run; it names files of another tool, since the eval files made of them are nowhere."""
    if origin is None:
        return start.command
    read = shlex.join(["evalc", "run", *map(str, start.subjects), "--from", origin])
    return start.command.replace("evalc run", read, 1)


def _advice(start: Start) -> str:
    """Advice on the cases of a run that did not end, if it had begun: the command that continues it."""
    if not start.command or not start.has_begun:
        return ""
    command = f"{start.command} --retry-errors" if start.request.retry_errors else start.command
    return f"; what was finished is kept, and `{command}` runs the rest"


# --- in place of a run -----------------------------------------------------------------------------------------------


def _list_cases(to_run: ToRun, settings: Settings, *, detail: Detail) -> int:
    """Print the cases as `PATH::ID`, then how much would be sent, and what that costs; `quiet` leaves the ids alone."""
    if detail == "quiet":
        sys.stdout.writelines(f"{visible(located.case.id)}\n" for suite in to_run.suites for located in suite.cases)
        _print_notes(to_run)
        return ExitCode.OK
    # For start-up: a run looks at no prices.
    from evalc.report.words import selected_line  # noqa: PLC0415
    from evalc.runtime.agents.http import shown_url  # noqa: PLC0415
    from evalc.setup.runner import price_of, redactor_of  # noqa: PLC0415

    redactor = redactor_of(settings, os.environ)
    prices = {redactor.redact(shown_url(agent)): price_of(agent, settings, os.environ) for agent in settings.agent.use}
    lines = _plan_lines(to_run.suites, prices=prices, verbose=detail == "verbose")
    total = sum(suite.size for suite in to_run.suites)
    print_lines((*lines, selected_line(to_run.selected, total)), sys.stdout)
    _print_notes(to_run)
    if to_run.needs_user is not None:
        print_warning(f"the case `{to_run.needs_user}` has a simulated user, and nobody plays it: add `--user`")
    if to_run.needs_judge is not None:
        print_warning(f"the case `{to_run.needs_judge}` needs a judge, and none is named: add `--judge`")
    return ExitCode.OK


def _print_notes(to_run: ToRun) -> None:
    for note in to_run.notes:
        print_warning(note)


def _plan_lines(
    suites: Iterable[Suite], *, prices: Mapping[str, Callable[[int], float | None]], verbose: bool
) -> Iterator[str]:
    """The cases, `verbose` with the requests that each takes; under them the sums for each agent.

    The prices are functions of tokens of input, to US dollars, or to None where no price is known.
    """
    from evalc.runtime.run.attempts import skipped_case  # noqa: PLC0415 - for start-up

    requests = tokens = 0
    for suite in suites:
        for located in suite.cases:
            times = 0 if skipped_case(located.case) is not None else located.case.repeat or 1
            each = list(_tokens(located.case))
            requests, tokens = requests + times * len(each), tokens + times * sum(each)
            more = f"  {_sent(located.case, times, each)}" if verbose else ""
            yield f"{visible(suite.origin)}::{visible(located.case.id)}{more}"
    sent = f"{counted(requests, 'request')}, about {counted(tokens, 'token')} of input"
    for agent, price in prices.items():
        cost = price(tokens)
        shown = "n/a" if cost is None else f"about ${cost:.6g}"
        yield f"to {visible(agent)}: {sent}, cost {shown}"
    if not prices:
        yield f"to each agent: {sent}; none is named, so that no price is known"
    yield "answers, tools and further turns come on top; nothing was sent"


def _tokens(case: Case) -> Iterator[int]:
    """The tokens of each request that the case takes at least; a model with stubs is asked further times.

    Each turn of a conversation has what was said before it, as far as that is known: the answers are not.
    """
    from evalc.runtime.checks.subjects import count_tokens  # noqa: PLC0415 - for start-up

    sent = case.input
    texts = [message.content for message in sent.messages] if sent.messages else [sent.message]
    tokens = sum(map(count_tokens, (*texts, sent.system or "")))
    yield tokens
    for text in sent.follow_ups or ():
        tokens += count_tokens(text)
        yield tokens


def _sent(case: Case, times: int, tokens: Sequence[int]) -> str:
    if not times:
        return "skipped"
    requests, user = counted(times * len(tokens), "request"), case.input.user
    more = "" if user is None else f", up to {user.max_turns} turns with a simulated user"
    if len(tokens) == 1:
        return f"{requests}, about {counted(tokens[0], 'token')} each{more}"
    return f"{requests} in {len(tokens)} turns, about {counted(times * sum(tokens), 'token')}{more}"
