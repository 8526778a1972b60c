"""`evalc run`: runs eval files against an agent, and reports the results."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack, cast

import typer

from evalc.base.errors import EngineError, NothingToDo
from evalc.base.terminal import Screen
from evalc.cli.ending import (
    ExitCode,
    inventory_lines,
    lent_streams,
    print_error,
    print_problems,
    shown_path,
    standard_input,
    standard_output_alone,
    termination_as_interrupt,
)
from evalc.cli.options import NO_VALUE, Json, Quiet, Verbose, show_all_help, with_flags
from evalc.cli.reporting import Outputs, Shown, outputs_of, report, report_nothing, reported
from evalc.cli.supervision import supervise
from evalc.setup.flags import INSTEAD, SHOWN, STOPS, RunFlags

if TYPE_CHECKING:
    from evalc.report.console import Detail
    from evalc.setup.request import RunRequest


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
    from evalc import api  # noqa: PLC0415
    from evalc.report.progress import Progress, draws  # noqa: PLC0415
    from evalc.setup.prepare import redactor_of, runs_code_of_others  # noqa: PLC0415
    from evalc.setup.request import given_by  # noqa: PLC0415

    given = given_by(paths or None, _given(flags))
    settings = given.settings()
    if show_settings:
        from evalc.cli.preview import print_settings  # noqa: PLC0415 - seldom asked for

        return print_settings(settings)
    start = given.start(settings, max_fail=1 if fail_fast else flags.get("maxfail"))
    looked_at = given.looked_at(settings)
    stdin = standard_input(looked_at)
    detail: Detail = "quiet" if quiet else "verbose" if verbose else "normal"
    if dry_run:
        from evalc.cli.preview import list_cases  # noqa: PLC0415 - as above

        what = api.paths_to_run(
            looked_at, settings=settings, prompt_id=given.prompt_id, stdin=stdin, selection=start.selection
        )
        print_problems(what.problems, sys.stderr)
        return list_cases(what, settings, detail=detail)
    outputs = outputs_of(output or (), as_json=json)
    folder = settings.results_folder / start.run_id if given.past is None else given.past.folder
    if runs_code_of_others(settings):
        supervise(settings.timeout_ms, lambda: _advice(given, folder))
    with standard_output_alone() as stdout:
        screen, drawn = Screen.of(sys.stderr, os.environ), draws(sys.stderr, os.environ)
        progress = Progress(sys.stderr, screen, drawn=drawn)
        try:
            with termination_as_interrupt(), progress, lent_streams():
                finished = api.run_paths(
                    looked_at,
                    settings=settings,
                    prompt_id=given.prompt_id,
                    stdin=stdin,
                    observer=progress,
                    start=start,
                    reports=[asked.file for asked in outputs if asked.file is not None],
                )
        except KeyboardInterrupt:
            _say_interrupted(given, folder, progress.so_far())
            return ExitCode.INTERRUPTED
        except EngineError as error:
            raise EngineError(f"{error}{_advice(given, folder)}") from None
        except NothingToDo as nothing:
            report_nothing(start.run_id, str(nothing), stdout, outputs)
            raise
        print_problems(finished.problems, sys.stderr)
        shown = Shown(detail=detail, slowest=durations or 0, settings=settings)
        redact = redactor_of(settings, os.environ).redact
        report(reported(finished, outputs, redact), stdout, outputs, shown)
        if not quiet:
            stdout.flush()
            sys.stderr.writelines(inventory_lines(finished.inventory, verbose=verbose))
    return finished.exit_code


def _given(flags: RunFlags) -> RunFlags:
    """The flags that are given, as a call from Python gives them."""
    said: dict[str, Any] = {
        name: value for name, value in flags.items() if value is not None and value is not False and value != []
    }
    if said.get("concurrency", "").isdecimal():
        said["concurrency"] = int(said["concurrency"])
    if said.get("last_failed") == NO_VALUE:
        said["last_failed"] = True
    return cast(RunFlags, said)


def _say_interrupted(given: RunRequest, folder: Path, so_far: str) -> None:
    if folder.exists():
        sys.stderr.write(f"{so_far}\n")
    print_error(f"interrupted{_advice(given, folder) or '; nothing was run'}")


def _advice(given: RunRequest, folder: Path) -> str:
    """Advice on the cases of a run that did not end, if it had begun."""
    if not folder.exists():
        return ""
    return f"; what was finished is kept, and `{_how_to_resume(given, folder)}` runs the rest"


def _how_to_resume(given: RunRequest, folder: Path) -> str:
    """The command that continues an interrupted run, by its id."""
    where = (("--config", given.config), ("--output-dir", given.flags.get("output_dir")))
    said = (word for flag, value in where if value for word in (flag, shown_path(Path(value))))
    return shlex.join(["evalc", "run", "--resume", folder.name, *said])
