"""`evalc compile`: compiles eval files to JSON that any runner of the contract reads."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from evalc.base.errors import UsageError
from evalc.base.files import make_folder, read_beginning, write_atomic
from evalc.cli.ending import ExitCode
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config, PathsOrStdin, Prompts, Strict, Tools
from evalc.cli.streams import print_problems, shown_path, standard_input
from evalc.setup.collector import collector_off

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalc.compiler.compiled import CompiledSuite


_METADATA: Final = 1_000_000
"""How many bytes of a compiled file may come before its cases."""


def compile_files(
    files: PathsOrStdin = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where to write; - prints. Default: evals/build."),
    ] = None,
    source_map: Annotated[
        bool,
        typer.Option("--source-map", help="Also write NAME.json.map, which maps each part to its place in the source."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not list the files that are written.")] = False,
    prompts: Prompts = None,
    tools: Tools = None,
    strict: Strict = False,
    config: Config = None,
) -> int:
    """Compile eval files to JSON, one file per suite and tier.

    Without PATH, compile the paths of the configuration, else the working folder. If a file has errors, nothing is
    written.

    \b
    Examples:
      evalc compile evals/reviews.eval.yaml
      evalc compile evals/reviews.eval.yaml -o -
    """
    if output == "-" and source_map:
        raise UsageError("`--source-map` writes files: name a folder with `-o`")
    from evalc import api  # noqa: PLC0415 - for start-up: `--help` compiles nothing

    settings = sound_settings_from(config, prompts=prompts, strict=strict, tools=tools)
    looked_at = settings.looked_at(files or ())
    stdin = standard_input(looked_at)
    folder = None if output == "-" else settings.build_folder if output is None else Path.cwd() / output
    with collector_off():
        compilation = api.compile_paths(looked_at, settings=settings, stdin=stdin, output_folder=folder)
    unportable = tuple(problem for suite in compilation.suites if (problem := suite.portability()) is not None)
    warnings = api.policy_of(settings).reported(unportable, errors_stay=True)
    print_problems((*compilation.problems, *warnings), sys.stderr)
    if compilation.has_errors:
        return ExitCode.USAGE
    if not compilation.suites:
        raise UsageError(api.nothing_found(looked_at, compilation.inventory))
    if folder is None:
        _print(compilation.suites)
    else:
        _write(compilation.suites, folder, with_maps=source_map, quiet=quiet)
    return ExitCode.OK


def _print(suites: Sequence[CompiledSuite]) -> None:
    """One suite as it would be in its file; several a line each, so that a reader can tell them apart."""
    out = sys.stdout.buffer
    out.writelines(suites[0].encode() if len(suites) == 1 else (suite.encode_line() for suite in suites))


def _write(suites: Sequence[CompiledSuite], folder: Path, *, with_maps: bool, quiet: bool) -> None:
    names = sorted((suite.file_name for suite in suites), key=str.casefold)
    for one, other in pairwise(names):
        if one.casefold() == other.casefold():
            raise UsageError(f"nothing was written: `{one}` and `{other}` are one file on some systems: rename a suite")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{shown_path(folder)}` is not a folder")
    for file in (folder / suite.file_name for suite in suites):
        if file.exists() and not _is_compiled(file):
            raise UsageError(f"nothing was written: `{shown_path(file)}` is there, and evalc has not compiled it")
    make_folder(folder)
    for suite in suites:
        file = folder / suite.file_name
        write_atomic(file, suite.encode())
        if not quiet:
            sys.stdout.write(f"wrote {shown_path(file)}\n")
        if with_maps:
            write_atomic(folder / f"{suite.file_name}.map", suite.source_map())


def _is_compiled(file: Path) -> bool:
    """Whether it is what evalc wrote, or empty: its metadata precede the cases."""
    beginning = read_beginning(file, _METADATA)
    return not beginning or b'"generatedBy": "evalc ' in beginning.partition(b'"cases"')[0]
