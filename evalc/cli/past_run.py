"""Finds the RUN that a command names, and loads it for reports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from evalc.cli.streams import print_warning, shown_path

if TYPE_CHECKING:
    from evalc.config.settings import Settings
    from evalc.report.reported import ReportedRun, ReportedSuite
    from evalc.runtime.store.past.streamed import LoadedSuite

_MOST_UNFINISHED: Final = 3

PastRun = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]",
        help="The run: its id or the beginning of it, latest, latest~1, its folder or a result file. Default: latest.",
    ),
]


def warn_of_unfinished(settings: Settings, newest: Path | None = None) -> None:
    """Say which runs have not finished, and how they do; of those, only what began after `newest`, if given."""
    from evalc.runtime.store.past.runs import unfinished_since  # noqa: PLC0415 - for start-up: `--help` shows no run

    unfinished = unfinished_since(settings.results_folder, newest)
    for folder in unfinished[:_MOST_UNFINISHED]:
        print_warning(f"the run {folder.name} has not finished: `evalc run --resume {folder.name}` runs the rest")
    if len(unfinished) > _MOST_UNFINISHED:
        print_warning(f"{len(unfinished) - _MOST_UNFINISHED} older runs have not finished either")


def past_run(name: str, settings: Settings) -> ReportedRun:
    """The run as it was reported when it ended; its suites are not compared.

    Raises:
        UsageError: there is no such run, or its results cannot be read.
    """
    # For start-up: `--help` shows no run.
    from evalc.report.reported import ReportedRun  # noqa: PLC0415
    from evalc.runtime.run.finished import Closing, read_closing  # noqa: PLC0415
    from evalc.runtime.store.past.load import load_run  # noqa: PLC0415
    from evalc.runtime.store.past.results import find_results  # noqa: PLC0415
    from evalc.runtime.store.written import Redactor  # noqa: PLC0415

    results = find_results(name, settings.results_folder)
    past, warnings = load_run(results)
    closing, unread = (Closing(), ()) if results.is_part else read_closing(results.folder)
    return ReportedRun(
        run_id=past.run_id,
        folder=shown_path(results.folder.resolve()),
        suites=tuple(map(_as_reported, past.suites)),
        summary=past.summary,
        root=Path.cwd(),
        gates=closing.gates,
        below=closing.below,
        selected=closing.selected,
        missing=closing.missing,
        warnings=(*closing.warnings, *warnings, *unread),
        redact=Redactor(settings.secret_values(os.environ)).redact,  # of eval files, whose lines are quoted
    )


def suites_of(name: str, output_dir: Path) -> tuple[ReportedSuite, ...]:
    """The suites of a past run.

    Raises:
        UsageError: there is no such run, or its results cannot be read.
    """
    # For start-up: `--help` shows no run.
    from evalc.runtime.store.past.load import load_run  # noqa: PLC0415
    from evalc.runtime.store.past.results import find_results  # noqa: PLC0415

    return tuple(map(_as_reported, load_run(find_results(name, output_dir))[0].suites))


def _as_reported(suite: LoadedSuite) -> ReportedSuite:
    from evalc.report.reported import ReportedSuite  # noqa: PLC0415 - for start-up

    return ReportedSuite(result=suite.result, cases=suite.cases, skipped=suite.skipped)
