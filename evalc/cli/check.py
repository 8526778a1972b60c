"""`evalc check`: reports everything that is wrong with eval files."""

from __future__ import annotations

from typing import Annotated

import typer

from evalc.cli.checking import Format, check_files
from evalc.cli.options import Config, PathsOrStdin, Prompts, Strict, Tools


def check(  # noqa: PLR0913, PLR0917 - one parameter a flag
    paths: PathsOrStdin = None,
    output_format: Annotated[
        Format, typer.Option("--format", help="How to print the problems. Default: text.")
    ] = Format.TEXT,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", metavar="CODES", help="Report only these codes: EV203, or EV5 for all codes that begin with it."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="CODES",
            help="Do not report these codes. Of --select and --ignore, the longer match wins.",
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Apply safe fixes, such as missing quotes and brackets.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what --fix would change, without changing it.")] = False,
    unsafe_fixes: Annotated[
        bool,
        typer.Option("--unsafe-fixes", help="With --fix or --diff: also apply fixes to review, such as near names."),
    ] = False,
    prompts: Prompts = None,
    tools: Tools = None,
    strict: Strict = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even if there are errors.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Also list the files that were skipped.")] = False,
    config: Config = None,
) -> int:
    """Report every mistake in eval files.

    Without PATH, check the paths of the configuration, else the working folder. Errors that keep a file from being
    read are always reported; errors that are ignored here still keep a file from being compiled or run.

    \b
    Examples:
      evalc check evals/ --strict
      evalc check --select EV5 --format github
      evalc check evals/ --fix
      evalc check evals/ --unsafe-fixes --diff
    """
    return check_files(
        paths or (),
        output_format=output_format,
        select=select or (),
        ignore=ignore or (),
        fix=fix,
        diff=diff,
        unsafe_fixes=unsafe_fixes,
        prompts=prompts,
        tools=tools,
        strict=strict,
        exit_zero=exit_zero,
        verbose=verbose,
        config=config,
    )
