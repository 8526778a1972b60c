"""`evalc plan`: what a run can show, and what it costs, before it is run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, Json, OutputDir, PathsOrStdin, Prompts, Tools
from evalc.cli.streams import print_problems, standard_input


def plan(
    paths: PathsOrStdin = None,
    confidence: Annotated[
        str | None,
        typer.Option("--confidence", metavar="PERCENT", help="How sure a result has to be. Default: 95%."),
    ] = None,
    prompts: Prompts = None,
    tools: Tools = None,
    output_dir: OutputDir = None,
    json: Json = False,
    config: Config = None,
) -> int:
    """Predict what a run can show and what it costs.

    The plan names the smallest regression that the cases can show, what gates need, and the costs, which are those of
    the latest run. No agent is asked.

    \b
    Example:
      evalc plan evals/
    """
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` plans nothing
    from evalc.model.json import to_json  # noqa: PLC0415 - as above
    from evalc.report.plan import plan_lines  # noqa: PLC0415 - as above

    settings = sound_settings_from(config, confidence=confidence, prompts=prompts, tools=tools, output_dir=output_dir)
    looked_at = settings.looked_at(paths or ())
    what, found = api.plan_paths(looked_at, settings=settings, stdin=standard_input(looked_at))
    print_problems(what.problems, sys.stderr)
    if json:
        sys.stdout.write(to_json(found).decode() + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in plan_lines(found))
    return ExitCode.OK
