"""`evalc fmt`: formats eval files in the canonical style."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalc.base.terminal import counted, visible
from evalc.cli.ending import ExitCode
from evalc.cli.fix import difference
from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config
from evalc.cli.streams import print_problems, standard_input

if TYPE_CHECKING:
    from evalc.config.settings import Settings
    from evalc.diagnostics.problem import Diagnostics
    from evalc.dsl.format.eval_file import FormattedFile

_STDIN = "<stdin>"


def fmt(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...", help="Eval files, folders or globs; - reads standard input and prints the result."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; list the files that would change, and exit with 1 if there are any."
        ),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print the changes.")] = False,
    config: Config = None,
) -> int:
    """Format eval files in one style.

    evalc changes indentation, blank lines, spaces and quotes. Comments, the order of keys and the meaning stay as they
    are. JSON and files with syntax errors are left alone. Without PATH, format the paths of the configuration, else
    the working folder.

    \b
    Examples:
      evalc fmt evals/
      evalc fmt --check --diff
      evalc fmt - < reviews.eval.yaml
    """
    from evalc.diagnostics.problem import Diagnostics  # noqa: PLC0415 - for start-up: `--help` formats nothing

    settings = sound_settings_from(config)
    looked_at = settings.looked_at(paths or ())
    problems = Diagnostics()
    writes = not (check or diff)
    changed = unchanged = 0
    for file in _formatted(looked_at, settings, problems):
        changed, unchanged = changed + file.changed, unchanged + (not file.changed)
        if file.changed and diff:
            sys.stdout.writelines(difference(file.source, file.text))
        if file.changed and check:
            sys.stdout.write(f"would format {visible(file.source.name)}\n")
        if writes:
            _write(file)
    print_problems(tuple(problems), sys.stderr)
    if list(looked_at) != ["-"]:
        sys.stderr.write(_summary(changed, unchanged, writes=writes))
    if problems.has_errors:
        return ExitCode.USAGE
    return ExitCode.FAILED if check and changed else ExitCode.OK


def _formatted(paths: Sequence[str], settings: Settings, problems: Diagnostics) -> Iterator[FormattedFile]:
    """The eval files of the paths, formatted; what keeps others from being formatted is reported."""
    # For start-up, as above.
    from evalc.base.source import Source  # noqa: PLC0415
    from evalc.compiler.discover import Finder  # noqa: PLC0415
    from evalc.dsl.format.eval_file import FormattedFile, format_file, format_source  # noqa: PLC0415

    typed = standard_input(paths)
    if typed is not None:
        source = Source(_STDIN, typed)
        text = format_source(source, problems, named=True)
        if text is not None:
            yield FormattedFile(source=source, text=text)
    finder = Finder(exclude=settings.exclude, outputs=settings.written_paths)
    for path, named, _ in finder.expand((path for path in paths if path != "-"), problems.add):
        file = None if path.suffix.lower() in (".json", ".jsonl") else format_file(path, problems, named=named)
        if file is not None:
            yield file


def _write(file: FormattedFile) -> None:
    from evalc.base.files import write_atomic  # noqa: PLC0415 - for start-up, as above

    if file.source.name == _STDIN:
        sys.stdout.buffer.write(file.text.encode())
    elif file.changed:
        write_atomic(Path(file.source.name), file.text.encode())
        sys.stdout.write(f"formatted {visible(file.source.name)}\n")


def _summary(changed: int, unchanged: int, *, writes: bool) -> str:
    """`2 files formatted, 1 file left unchanged`."""
    done, left = ("formatted", "left unchanged") if writes else ("would be formatted", "would be left unchanged")
    parts = [f"{counted(number, 'file')} {said}" for number, said in ((changed, done), (unchanged, left)) if number]
    return f"{', '.join(parts) or 'there is nothing to format'}\n"
