"""`evalc import`: writes eval files from the evals of other tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.terminal import counted
from evalc.cli.ending import ExitCode
from evalc.cli.streams import print_problems, shown_path, standard_input

if TYPE_CHECKING:
    from evalc.base.source import Source
    from evalc.diagnostics.problem import Diagnostics
    from evalc.extras.importers import Imported


class From(StrEnum):
    """Whose evals a file holds."""

    AUTO = "auto"
    TOOL_FORGE = "tool-forge"
    PROMPTFOO = "promptfoo"
    PROMPTOS = "promptos"


def import_files(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="The files to import; - is standard input.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="A file, or a folder for several; - prints. Default: -."),
    ] = None,
    origin: Annotated[
        From,
        typer.Option(
            "--from",
            metavar="TOOL",
            help="The tool: tool-forge, promptfoo, promptos, or auto to detect it. Default: auto.",
        ),
    ] = From.AUTO,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> int:
    """Convert the evals of other tools to eval files.

    evalc reads eval JSON of tool-forge, configurations of promptfoo, and PromptOS prompt files with examples.

    Parts without a counterpart are named in a warning, and in a comment `# not imported: ...` at their place. If a
    file has errors, nothing is written.

    \b
    Examples:
      evalc import evals/get-weather.golden.json
      evalc import promptfooconfig.yaml -o evals/
      evalc import prompts/summary.yaml -o evals/
    """
    from evalc.diagnostics.problem import Diagnostics  # noqa: PLC0415 - for start-up: `--help` imports nothing

    target = None if output in {None, "-"} else Path(str(output))
    is_folder = target is not None and (target.is_dir() or str(output).endswith("/") or len(files) > 1)
    if target is None and len(files) > 1:
        raise UsageError("several files are imported into a folder: name it with `-o`")
    if is_folder and target is not None and target.exists() and not target.is_dir():
        raise UsageError(f"`{output}` is not a folder: several files are imported into one")
    folder = Path() if target is None else target if is_folder else target.parent
    problems = Diagnostics()
    imported = list(_imported(files, origin, folder, problems))
    print_problems(tuple(problems), sys.stderr)
    if problems.has_errors:
        return ExitCode.USAGE
    if target is None:
        _print(imported)
        if output is None and imported:
            sys.stderr.write(f"nothing is written: `-o {imported[0].file_name}` writes it to a file\n")
        return ExitCode.OK
    texts = {folder / suite.file_name if is_folder else target: suite for suite in imported}
    if len(texts) < len(imported):
        raise UsageError("two of the files would be imported into one: import them one by one, with `-o FILE`")
    _write(texts, force=force)
    return ExitCode.OK


def _imported(files: Sequence[str], origin: From, folder: Path, problems: Diagnostics) -> Iterator[Imported]:
    tool = None if origin is From.AUTO else extras.importers.ImportFormat(origin.value)
    for source in _sources(files, problems):
        imported = extras.importers.import_source(source, tool, folder, problems)
        if imported is not None:
            yield imported


def _sources(files: Sequence[str], problems: Diagnostics) -> Iterator[Source]:
    # For start-up, as above.
    from evalc.base.source import Source  # noqa: PLC0415
    from evalc.dsl.sources import JSON_LIMIT, YAML_LIMIT, read_source  # noqa: PLC0415

    for file in dict.fromkeys(files):
        if file == "-":
            yield Source("<stdin>", standard_input(("-",)) or "")
            continue
        path = Path(file)
        source = read_source(path, problems.add, limit=JSON_LIMIT if path.suffix.lower() == ".json" else YAML_LIMIT)
        if source is not None:
            yield source


def _print(imported: Sequence[Imported]) -> None:
    for suite in imported:
        if suite.side_files:
            raise UsageError("the suite needs files next to it (JSON Schemas): name a file or folder with `-o`")
        sys.stdout.buffer.write(suite.text.encode())


def _write(texts: dict[Path, Imported], *, force: bool) -> None:
    from evalc.base.files import make_folder, write_atomic  # noqa: PLC0415 - for start-up, as above

    written: dict[Path, str] = {}
    for path, suite in texts.items():
        written |= {path.parent / side.path: side.text for side in suite.side_files}
        written[path] = suite.text
    existing = [shown_path(path) for path in written if path.exists()]
    if existing and not force:
        raise UsageError(f"`{existing[0]}` exists; overwrite it with `--force`")
    for path, text in written.items():
        make_folder(path.parent)
        write_atomic(path, text.encode())
        said = f" ({counted(texts[path].cases, 'case')})" if path in texts else ""
        sys.stdout.write(f"wrote {shown_path(path)}{said}\n")
