"""`evalc show`: prints the summary of a past run again."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from evalc.base.terminal import Screen
from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, OutputDir, Quiet, Verbose
from evalc.cli.past_run import PastRun, past_run, warn_of_unfinished


def show(
    run: PastRun = "latest",
    quiet: Quiet = False,
    verbose: Verbose = False,
    output_dir: OutputDir = None,
    config: Config = None,
) -> int:
    """Print the summary of a past run.

    \b
    Examples:
      evalc show
      evalc show latest~1
      evalc show 01a200e6 -v
    """
    from evalc.report.console import summary_lines  # noqa: PLC0415 - for start-up: `--help` shows no run
    from evalc.setup.places import AuthoredPlaces  # noqa: PLC0415 - as above

    settings = sound_settings_from(config, output_dir=output_dir)
    past = replace(past_run(run, settings), places=AuthoredPlaces(settings).of)
    screen = Screen.of(sys.stdout, os.environ)
    lines = summary_lines(past, screen, detail="quiet" if quiet else "verbose" if verbose else "normal")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if run == "latest":
        warn_of_unfinished(settings, Path(past.folder))
    return ExitCode.OK
