"""`evalc show`: from the result files of a past run to its console summary, once more."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, OutputDir
from evalc.cli.printing import shown_path
from evalc.terminal import Screen, visible


def show(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]",
            help="The run: its id or the beginning of it, latest, latest~1, its folder or a result file.",
        ),
    ] = "latest",
    output_dir: OutputDir = None,
    config: Config = None,
) -> int:
    """Print the summary of a past run again.

    \b
    Examples:
      evalc show
      evalc show latest~1
      evalc show 01a200e6
    """
    # For start-up: `--help` shows no run.
    from evalc.report.html import beside  # noqa: PLC0415
    from evalc.report.reported import ReportedRun  # noqa: PLC0415
    from evalc.report.text import summary_lines  # noqa: PLC0415
    from evalc.runtime.load_run import load_run  # noqa: PLC0415
    from evalc.runtime.past_results import find_results  # noqa: PLC0415
    from evalc.runtime.redact import Redactor  # noqa: PLC0415

    settings = sound_settings_from(config, output_dir=output_dir)
    results = find_results(run, settings.results_folder)
    past, warnings = load_run(results)
    reported = ReportedRun(
        run_id=visible(past.run_id),
        folder=shown_path(results.folder.resolve()),
        suites=beside(past.suites),
        summary=past.summary,
        root=Path.cwd(),
        warnings=warnings,
        redact=Redactor(settings.secret_values(os.environ)).redact,  # of eval files, whose lines are quoted
    )
    lines = summary_lines(reported, Screen.of(sys.stdout, os.environ))
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return ExitCode.OK
