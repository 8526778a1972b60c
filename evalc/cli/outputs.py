"""Reads `-o [FORMAT:]FILE`, and checks every format and file before anything is run."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, final

import typer

from evalc.errors import UsageError
from evalc.regular import read_beginning
from evalc.setup.run_flags import SHOWN

if TYPE_CHECKING:
    from evalc.report.outputs import Format

Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="[FORMAT:]FILE",
        rich_help_panel=SHOWN,
        help="Write a report to a file: text, json, html, junit, xunit, markdown, csv, parquet, github or sarif; by "
        "default what the file's name says, else json. May be repeated; - is standard output.",
    ),
]

_FORMAT: Final = re.compile(r"([A-Za-z][A-Za-z0-9_-]+):(.*)", re.DOTALL)
"""A format before its file; one letter is a drive."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A report to write; without a file it goes to standard output."""

    format: Format
    file: Path | None


def outputs_of(asked: Sequence[str], *, as_json: bool = False) -> tuple[Output, ...]:
    """What the values of `-o` ask for; `as_json` is `--json`, the same as `-o json:-`. Folders are made.

    Raises:
        UsageError: a format is not known, a file cannot be written, or is asked for twice.
    """
    outputs = tuple(map(_output, (*asked, *(["json:-"] if as_json else []))))
    if sum(output.file is None for output in outputs) > 1:
        raise UsageError("only one output goes to standard output")
    taken: set[str] = set()
    for output in outputs:
        _refuse_what_is_missing(output.format)
        if output.file is None:
            continue
        path = os.path.normcase(os.path.realpath(output.file))
        if path in taken:
            raise UsageError(f"`--output` names the file `{output.file}` twice")
        taken.add(path)
        _make_ready(output.file)
        if not may_be_written(output.format, output.file):
            raise UsageError(f"`--output` would write over `{output.file}`, which is no report as `{output.format}`")
    return outputs


def _refuse_what_is_missing(chosen: Format) -> None:
    from evalc.report.outputs import is_missing  # noqa: PLC0415 - for start-up

    extra = is_missing(chosen)
    if extra is not None:
        raise UsageError(f"`-o {chosen}:` needs packages that are not installed: pip install 'evalc[{extra}]'")


def may_be_written(chosen: Format, file: Path) -> bool:
    """Whether nothing is lost by it: the file is not there, is empty, or looks like an earlier report of the format.

    What a run reads and writes besides, the configuration, variables, code, the journal, are none of these.

    Raises:
        OSError: it cannot be looked at.
    """
    from evalc.report.outputs import BEGINNING, may_be  # noqa: PLC0415 - for start-up

    if not file.exists():
        return True
    return may_be(chosen, read_beginning(file, BEGINNING))


def _output(asked: str) -> Output:
    from evalc.report.outputs import FORMATS  # noqa: PLC0415 - for start-up

    by_name = {name: name for name in FORMATS}
    if asked == "github":
        return Output(format="github", file=None)
    if asked in by_name:
        raise UsageError(f"`-o {asked}` names no file; write `-o {asked}:FILE`, or `-o {asked}:-` for standard output")
    found = _FORMAT.fullmatch(asked)
    if found is None:
        return Output(format=_by_suffix(asked), file=_file(asked))
    name, file = found.groups()
    if name not in by_name:
        raise UsageError(_unknown(name, FORMATS))
    return Output(format=by_name[name], file=_file(file))


def _unknown(name: str, known: Sequence[str]) -> str:
    from evalc.diagnostics.near import did_you_mean, listed  # noqa: PLC0415 - for start-up: only for a mistake

    return f"`{name}` is no format of reports; {did_you_mean(name, known) or f'there are {listed(known)}'}"


def _by_suffix(name: str) -> Format:
    from evalc.report.outputs import SUFFIXES  # noqa: PLC0415 - for start-up

    longest_first = sorted(SUFFIXES, key=len, reverse=True)
    known = next((SUFFIXES[suffix] for suffix in longest_first if name.lower().endswith(suffix)), None)
    if known is None and (suffix := Path(name).suffix) and not _is_of_evals(Path(name).name):
        formats = ", ".join(f"`{format_}`" for format_ in sorted(set(SUFFIXES.values())))
        raise UsageError(
            f"`--output {name}`: no report has the ending `{suffix}`; name the format in front, as in `json:{name}` "
            f"(the formats are {formats})"
        )
    return known or "json"


def _file(name: str) -> Path | None:
    if not name:
        raise UsageError("`--output` names no file")
    return None if name == "-" else Path(name)


def _is_of_evals(name: str) -> bool:
    """Whether a file of this name is likely to hold evals: `x.eval.yaml`, or eval JSON such as `x.golden.json`."""
    from evalc.dsl.document_kind import names_an_eval  # noqa: PLC0415 - for start-up

    return names_an_eval(name)


def _make_ready(file: Path) -> None:
    """Look at the file before the run, which would be for nothing otherwise."""
    if _is_of_evals(file.name.lower()):
        raise UsageError(f"`--output` would write over evals: `{file}` has the name of an eval file")
    if file.is_dir():
        raise UsageError(f"`--output` is to name a file, and `{file}` is a folder")
    if file.exists() and not file.is_file():
        raise UsageError(f"`--output` is to name a file, and `{file}` is none")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder of `--output` cannot be made: `{file.parent}`: {error.strerror}") from None
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"the folder of `--output` cannot be written to: `{file.parent}`")
