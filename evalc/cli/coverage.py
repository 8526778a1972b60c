"""`evalc coverage`: lists what no case tests."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalc.cli.ending import ExitCode
from evalc.cli.flags import refuse_no_share, sound_settings_from
from evalc.cli.options import Config, Json, PathsOrStdin, Prompts, SeedManifest, Tools
from evalc.cli.streams import print_error, print_problems, standard_input


def coverage(
    paths: PathsOrStdin = None,
    min_coverage: Annotated[
        float | None,
        typer.Option("--min-coverage", metavar="X", help="Exit with 1 below this coverage, from 0 to 1."),
    ] = None,
    prompts: Prompts = None,
    seed_manifest: SeedManifest = None,
    tools: Tools = None,
    json: Json = False,
    config: Config = None,
) -> int:
    """List the tools, arguments and criteria that no case tests.

    Prompts, seed values and tools that look alike are listed too.

    \b
    Example:
      evalc coverage evals/ --tools tools.json
    """
    refuse_no_share("--min-coverage", min_coverage)
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` looks at nothing
    from evalc.model.json import to_json  # noqa: PLC0415 - as above
    from evalc.report.coverage import coverage_lines  # noqa: PLC0415 - as above

    settings = sound_settings_from(config, prompts=prompts, seed_manifest=seed_manifest, tools=tools)
    looked_at = settings.looked_at(paths or ())
    what, found = api.coverage_paths(looked_at, settings=settings, stdin=standard_input(looked_at))
    print_problems(what.problems, sys.stderr)
    if json:
        sys.stdout.write(to_json(found).decode() + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in coverage_lines(found))
    if min_coverage is None:
        return ExitCode.OK
    if found.coverage is None:
        print_error("there is nothing to cover, so there is no coverage to reach")
        return ExitCode.FAILED
    return ExitCode.FAILED if found.coverage < min_coverage else ExitCode.OK
