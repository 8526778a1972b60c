"""`evalc check`: from eval files to everything that is wrong with them."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from evalc.cli.ending import ExitCode
from evalc.cli.flags import Config, Strict, paths_to_look_at, settings_from, standard_input
from evalc.cli.printing import print_problems


class Format(StrEnum):
    """How problems are printed."""

    TEXT = "text"
    JSON = "json"


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Files, folders or globs; - is standard input.", show_default=False),
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="How to print the problems.")] = Format.TEXT,
    strict: Strict = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even when there are errors.")] = False,
    config: Config = None,
) -> int:
    """Find everything that is wrong in eval files.

    Without PATH, check the paths of the configuration, else the working folder.

    \b
    Example:
      evalc check evals/ --strict
    """
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` compiles nothing

    settings, of_config = settings_from(config, strict=strict)
    looked_at = paths_to_look_at(paths or (), settings)
    checked = api.check_paths(looked_at, settings=settings, stdin=standard_input(looked_at))
    problems = (*of_config, *checked.problems)
    if output_format is Format.JSON:
        from evalc.diagnostics.render_json import render_json  # noqa: PLC0415 - for start-up: seldom asked for

        sys.stdout.write(render_json(problems))
    elif problems:
        print_problems(problems, sys.stdout)
    else:
        from evalc.diagnostics.render_text import all_good_line  # noqa: PLC0415 - for start-up, as in `printing`

        sys.stdout.write(f"{all_good_line(checked.files)}\n")
    failed = any(problem.severity == "error" for problem in problems)
    return ExitCode.USAGE if failed and not exit_zero else ExitCode.OK
