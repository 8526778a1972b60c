"""`evalc schema`: prints a JSON Schema, for editors and other tools."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from evalc.base.errors import UsageError
from evalc.base.files import make_folder, read_beginning, write_atomic
from evalc.cli.ending import ExitCode
from evalc.cli.streams import shown_path

_BEGINNING: Final = 200
"""Within how many bytes a schema says that it is one of evalc's."""


class SchemaName(StrEnum):
    """What there is a schema of."""

    LANGUAGE = "language"
    CASE = "case"
    CONFIG = "config"
    RESULT = "result"


def schema(
    name: Annotated[
        SchemaName | None,
        typer.Argument(
            metavar="[NAME]",
            help="language, case, config or result. Default, with -o: all of them.",
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Write NAME.json into this folder.")
    ] = None,
) -> int:
    """Print a JSON Schema, for editors and other tools.

    There are schemas of eval files in YAML, compiled files, the configuration, and results.

    \b
    Examples:
      evalc schema language
      evalc schema -o schemas/
    """
    names = [name] if name is not None else list(SchemaName)
    if output is None and name is None:
        raise UsageError(f"name one of {', '.join(f'`{each}`' for each in names)}, or a folder for all with `-o`")
    from evalc.schema.published import schema_text  # noqa: PLC0415 - for start-up: `--help` needs no tables

    if output is None:
        sys.stdout.buffer.write(schema_text(names[0]))
    else:
        _write(names, Path.cwd() / output)
    return ExitCode.OK


def _write(names: list[SchemaName], folder: Path) -> None:
    from evalc.schema.published import file_name, schema_text  # noqa: PLC0415 - as above

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{shown_path(folder)}` is not a folder")
    for file in (folder / file_name(name) for name in names):
        if file.exists() and not _is_schema(file):
            raise UsageError(f"nothing was written: `{shown_path(file)}` exists and is not a schema of evalc")
    make_folder(folder)
    for name in names:
        file = folder / file_name(name)
        write_atomic(file, schema_text(name))
        sys.stdout.write(f"wrote {shown_path(file)}\n")


def _is_schema(file: Path) -> bool:
    beginning = read_beginning(file, _BEGINNING)
    return not beginning or b'"title": "evalc: ' in beginning
