"""`evalc diff`: compares two runs, and says how sure each difference is."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from evalc.base.terminal import Screen
from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, Json, OutputDir


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
    output_dir: OutputDir = None,
    json: Json = False,
    config: Config = None,
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
    from evalc.model.json import to_json  # noqa: PLC0415
    from evalc.report.diff import diff_lines  # noqa: PLC0415
    from evalc.runtime.store.past.compare import compare_past  # noqa: PLC0415

    folder = sound_settings_from(config, output_dir=output_dir).results_folder
    earlier, later = (None, before or "latest") if after is None else (before, after)
    comparison = compare_past(earlier, later, folder)
    if json:
        sys.stdout.buffer.write(to_json(comparison) + b"\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in diff_lines(comparison, Screen.of(sys.stdout, os.environ)))
    return ExitCode.FAILED if comparison.regressions or comparison.missing else ExitCode.OK
