"""`evalc import`, and the evals of other tools that `check` and `run` read as if they were imported."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.files import (
    JSON_LIMIT,
    NAMES,
    TemporaryFolder,
    find_project,
    make_folder,
    project_root,
    read_limited,
    write_atomic,
)
from evalc.base.source import Source
from evalc.base.terminal import counted, shown_path
from evalc.cli.ending import ExitCode, print_lines, print_problems, standard_input, with_standard_input
from evalc.diagnostics import Diagnostics

if TYPE_CHECKING:
    from evalc.config import Settings
    from evalc.extras.importers import Imported

T = TypeVar("T")

_CHECKS = "checks = "
_ONE_BY_ONE = "two of the files would be imported into one: import them one by one, with `-o FILE`"


class From(StrEnum):
    """Whose evals a file holds."""

    AUTO = "auto"
    TOOL_FORGE = "tool-forge"
    PROMPTFOO = "promptfoo"
    PROMPTOS = "promptos"
    PYDANTIC_EVALS = "pydantic-evals"
    ADK = "adk"


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
            help="The tool: tool-forge, promptfoo, promptos, pydantic-evals, adk, or auto to detect it. Default: auto.",
        ),
    ] = From.AUTO,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if anything is left out or weaker.")] = False,
) -> int:
    """Convert the evals of other tools to eval files.

    evalc reads eval JSON of tool-forge, configurations of promptfoo, PromptOS prompt files with examples, datasets of
    pydantic-evals, and eval sets of Google ADK.

    Parts without a counterpart are named in a warning, and in a comment `# not imported: ...` at their place. Nothing
    is written of a file with errors; the others are, and the exit code is 2.

    \b
    Examples:
      evalc import evals/get-weather.golden.json
      evalc import promptfooconfig.yaml -o evals/
      evalc import prompts/summary.yaml -o evals/
    """
    target = None if output in {None, "-"} else Path(str(output))
    is_folder = target is not None and (target.is_dir() or str(output).endswith("/") or len(files) > 1)
    if target is None and len(files) > 1:
        raise UsageError("several files are imported into a folder: name it with `-o`")
    if is_folder and target is not None and target.exists() and not target.is_dir():
        raise UsageError(f"`{output}` is not a folder: several files are imported into one")
    folder = Path() if target is None else target if is_folder else target.parent
    problems = Diagnostics()
    imported = [each for _, each in imported_suites(files, origin, folder, problems)]
    print_problems(tuple(problems), sys.stderr)
    _sum_up(imported)
    code = ExitCode.OK
    if problems.has_errors:
        code = ExitCode.USAGE
    elif strict and len(problems):
        code = ExitCode.FAILED
    if not imported:
        return code
    if target is None:
        _print_imported(imported)
        if output is None:
            print_lines([f"nothing is written: `-o {imported[0].file_name}` writes it to a file"], sys.stderr)
        return code
    needed = _needed(imported, folder)
    texts = {folder / suite.file_name if is_folder else target: suite.without(needed.said) for suite in imported}
    if len(texts) < len(imported):
        raise UsageError(_ONE_BY_ONE)
    _write_imported(texts, force=force)
    if needed.lines and needed.is_new:
        write_atomic(needed.file, "".join(f"{line}\n" for line in needed.lines).encode())
        print_lines([f"wrote {shown_path(needed.file)}"], sys.stdout)
    elif needed.lines:
        said = ", and ".join(needed.lines)
        print_lines([f"before a run, {shown_path(needed.file)} has to say: {said}"], sys.stderr)
    return code


class _Needed(NamedTuple):
    """Lines that a configuration needs, which is written if it is new, and those that it has, or how these begin."""

    file: Path
    lines: Sequence[str]
    said: Sequence[str]
    is_new: bool


def _needed(imported: Sequence[Imported], folder: Path) -> _Needed:
    """The lines that the suites need of the configuration: in a new one if the project has none, else to be added.

    A new one names the models that they were asked of, too.
    """
    from evalc.config.load import load_settings  # noqa: PLC0415 - for start-up: few imports need any of it

    project, root, settings = find_project(folder.resolve()), project_root(folder), load_settings(folder).settings
    files = [(folder / check).resolve() for suite in imported for check in suite.checks]
    named = dict.fromkeys(Path(os.path.relpath(file, root)).as_posix() for file in files)
    lines: list[str] = []
    if not {os.path.realpath(root / file) for file in named} <= {*map(os.path.realpath, settings.checks)}:
        lines.append(f"{_CHECKS}{json.dumps([*named], ensure_ascii=False)}")
    if any(suite.compares_meanings for suite in imported) and settings.similarity != "embeddings":
        lines.append('similarity = "embeddings"')
    is_new = project.file is None and not any(file.endswith(".py") or file.startswith("..") for file in named)
    models = {suite.models for suite in imported if suite.models}
    if is_new and len(models) == 1:
        lines += models.pop()
    said = [*lines] if is_new else []
    if project.file is not None:
        said = [*filter(None, read_limited(project.file, JSON_LIMIT).decode("utf-8", "replace").splitlines())]
    if is_new or not any(line.startswith(_CHECKS) for line in lines):
        said.append(_CHECKS)
    return _Needed(project.file or root / NAMES[0], lines, said, is_new)


def _sum_up(imported: Sequence[Imported]) -> None:
    """Say how many tests came over, unless all did."""
    cases, weaker, lost = (sum(getattr(each, name) for each in imported) for name in ("cases", "weaker", "lost"))
    if weaker or lost:
        said = f"{cases - weaker} of {cases + lost} tests came over whole, {weaker} weaker, {lost} lost"
        print_lines([said], sys.stderr)


def imported_suites(
    files: Sequence[str], origin: From, folder: Path | None, problems: Diagnostics
) -> Iterator[tuple[str, Imported]]:
    """The files with the suites made of them, for a folder, or each for its own; those with errors are left out."""
    from evalc.dsl.sources import YAML_LIMIT, read_source  # noqa: PLC0415 - for start-up: `--help` imports nothing

    for file in dict.fromkeys(files):
        limit = JSON_LIMIT if file.lower().endswith(".json") else YAML_LIMIT
        own = Diagnostics()
        source = standard_input() if file == "-" else read_source(Path(file), own.add, limit=limit)
        beside = folder if folder is not None else Path(file).parent
        imported = None if source is None else extras.importers.import_source(source, origin, beside, own)
        problems.extend(own)
        if imported is not None and not own.has_errors:
            yield file, imported


class Read(NamedTuple):
    """Suites that are read in place of another tool's files, texts in place of files by their real paths, and settings.

    `temporary` is where the code of the checks is.
    """

    subjects: Sequence[Any]
    beside: Mapping[str, str]
    settings: Settings
    temporary: TemporaryFolder | None = None


def subjects_of(paths: Sequence[T], origin: From | None, settings: Settings) -> Read:
    """The subjects that the paths are: the files themselves, or with an `origin` the suites that an import would write.

    The settings allow the JavaScript of these suites, which can do no more than answer, and name the models that they
    were asked of where nobody names an agent.

    Raises:
        UsageError: a file cannot be imported, or has checks in Python.
    """
    if origin is None:
        return Read(with_standard_input(paths), {}, settings)
    problems = Diagnostics()
    made = [(Path(file).parent, each) for file, each in imported_suites([*map(str, paths)], origin, None, problems)]
    print_problems(tuple(problems), sys.stderr)
    _sum_up([each for _, each in made])
    if problems.has_errors:
        raise UsageError("not every file can be imported, so none is read")
    suites = [Source(str(folder / each.file_name), each.text) for folder, each in made]
    beside = {os.path.realpath(folder / side.path): side.text for folder, each in made for side in each.side_files}
    temporary = TemporaryFolder()
    checks: dict[Path, None] = {}
    for number, (folder, each) in enumerate(made):
        for check in each.checks:
            if check.endswith(".py"):
                why = "which runs only where the configuration names it: write the suite with `evalc import`"
                raise UsageError(f"`{each.file_name}` has checks in Python, {why}")
            file = folder / check
            if (text := beside.get(os.path.realpath(file))) is not None:
                file = temporary.path / f"{number}-{file.name}"
                write_atomic(file, text.encode())
            checks.setdefault(file)
    # An earlier import may have named the same code in the configuration.
    brought = {Path(check).name for _, each in made for check in each.checks}
    configured = [file for file in settings.checks if Path(file).name not in brought]
    settings = _with_models([each for _, each in made], settings, temporary.path / NAMES[0])
    return Read(suites, beside, settings.replace(checks=(*configured, *checks)), temporary)


def _with_models(imported: Sequence[Imported], settings: Settings, file: Path) -> Settings:
    """The settings with the agents and the judge of the suites, unless some are named or the suites differ in them.

    The `file` is where they may be written.
    """
    from evalc.config.load import load_settings  # noqa: PLC0415 - as above

    models = {suite.models for suite in imported}
    if settings.agent.use or len(models) != 1 or models == {()}:
        return settings
    write_atomic(file, "".join(f"{line}\n" for line in models.pop()).encode())
    theirs = load_settings(file.parent, explicit=file).sound()
    print_lines([f"running against {', '.join(theirs.agent.use)}, as the configuration says"], sys.stderr)
    judge = settings.judge if settings.judge.use else theirs.judge
    return settings.replace(
        agent=settings.agent.replace(use=theirs.agent.use), agents=(*settings.agents, *theirs.agents), judge=judge
    )


def _print_imported(imported: Sequence[Imported]) -> None:
    for suite in imported:
        if suite.side_files:
            beside = suite.side_files[0].path
            raise UsageError(f"the suite needs files next to it, such as `{beside}`: name a file or folder with `-o`")
        sys.stdout.buffer.write(suite.text.encode())


def _write_imported(texts: dict[Path, Imported], *, force: bool) -> None:
    files = [
        (path.parent / name, text)
        for path, suite in texts.items()
        for name, text in (*((side.path, side.text) for side in suite.side_files), (path.name, suite.text))
    ]
    written = dict(files)
    if any(written[path] != text for path, text in files):
        raise UsageError(_ONE_BY_ONE)
    existing = [shown_path(path) for path in written if path.exists()]
    if existing and not force:
        raise UsageError(f"`{existing[0]}` exists; overwrite it with `--force`")
    for path, text in written.items():
        make_folder(path.parent)
        write_atomic(path, text.encode())
        said = f" ({counted(texts[path].cases, 'case')})" if path in texts else ""
        print_lines([f"wrote {shown_path(path)}{said}"], sys.stdout)
