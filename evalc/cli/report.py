"""`evalc report`: writes a run as a page for a browser, or in another format."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from evalc import extras
from evalc.cli.ending import ExitCode
from evalc.cli.flags import settings_of_run, sound_settings_from
from evalc.cli.options import Config, OutputDir
from evalc.cli.past_run import PastRun, past_run, suites_of
from evalc.cli.reporting import Output, Outputs, do_all, outputs_of, suites_before, write_report
from evalc.cli.streams import shown_path

if TYPE_CHECKING:
    from evalc.config.settings import Settings
    from evalc.report.reported import ReportedRun
    from evalc.runtime.store.past.resume import PastRun as Past


def report_run(
    run: PastRun = "latest",
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
    output_dir: OutputDir = None,
    config: Config = None,
) -> int:
    """Write a report of a run: report.html, or other formats.

    \b
    Examples:
      evalc report
      evalc report latest~1 -o out/report.html -o junit:out/report.xml
      evalc report --baseline 01a200e6
      evalc report --challenge
    """
    # For start-up: `--help` writes no report.
    from evalc.report.reported import beside  # noqa: PLC0415
    from evalc.runtime.store.past.resume import find_run  # noqa: PLC0415

    settings = sound_settings_from(config, output_dir=output_dir)
    folder = settings.results_folder
    outputs = outputs_of(output or ["html:report.html"])
    past = past_run(run, settings)
    suites = [suite.result for suite in past.suites]
    before = suites_before(suites, folder) if baseline is None else suites_of(baseline, folder)
    reported = replace(past, suites=beside(past.suites, before), trends=extras.history.trends_beside(suites, folder))
    if challenge:
        answered = find_run(run, folder)
        reported = _challenged(reported, answered, settings_of_run(answered, config, output_dir=output_dir))
    do_all([partial(_write, reported, output) for output in outputs])
    return ExitCode.OK


def _challenged(reported: ReportedRun, past: Past, settings: Settings) -> ReportedRun:
    """The run with its strength and its coverage."""
    from evalc import api  # noqa: PLC0415 - for start-up: a report needs no compiler

    found, coverage = api.strength_and_coverage(past, settings=settings)
    return replace(reported, strength=found, coverage=coverage)


def _write(run: ReportedRun, output: Output) -> None:
    write_report(run, output, sys.stdout)
    if output.file is not None:
        typer.echo(f"wrote {shown_path(output.file)}", err=True)
