"""The table of report formats, and what writes each; JSON, which needs no more than the records."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, get_args

import msgspec
from msgspec import UNSET

from evalc import extras
from evalc.base.files import read_beginning, write_atomic
from evalc.model.json import to_json
from evalc.model.result import RunResult
from evalc.report import ReportedRun, ReportedSuite

Format = Literal[
    "text", "json", "html", "junit", "xunit", "markdown", "csv", "parquet", "github", "sarif", "pr-comment"
]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

SUFFIXES: Final[dict[str, Format]] = {
    ".csv": "csv",
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".parquet": "parquet",
    ".sarif": "sarif",
    ".sarif.json": "sarif",
    ".txt": "text",
    ".xml": "junit",
}
"""Formats by the end of a file's name."""


def format_of(name: str) -> Format | None:
    """The format that the end of a file's name says; None if it says none."""
    longest_first = sorted(SUFFIXES, key=len, reverse=True)
    return next((SUFFIXES[suffix] for suffix in longest_first if name.lower().endswith(suffix)), None)


BEGINNING: Final = 1_000
"""Bytes of a file by which its format is known."""

_BEGINNINGS: Final[Mapping[Format, re.Pattern[bytes]]] = {
    "text": re.compile("(═══|===) |agent [^\n]+\n(═══|===) |run [0-9a-f]{8}-".encode()),
    "json": re.compile(rb'\s*\{\s*"runId"\s*:\s*"[^"]*"\s*,\s*"suites"\s*:'),
    "html": re.compile(
        rb'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Sec'
    ),
    "junit": re.compile(rb"\s*(<\?xml[^>]*>)?\s*<testsuites?[\s>]"),
    "xunit": re.compile(rb"\s*(<\?xml[^>]*>)?\s*<testsuites?[\s>]"),
    "markdown": re.compile("## (✅|❌) evalc: ".encode()),
    "pr-comment": re.compile(rb"<!-- evalc: pr-comment"),
    "csv": re.compile(rb'"suite","tier","agent","case",'),
    "parquet": re.compile(rb"PAR1"),
    "github": re.compile(rb"::(error|notice|warning) "),
    "sarif": re.compile(rb'\s*\{\s*("version"\s*:\s*"2\.1\.0"\s*,\s*)?"\$schema"\s*:\s*"[^"]*sarif'),
}
"""How a report of each format begins."""


def may_be(chosen: Format, beginning: bytes) -> bool:
    """Whether a file that begins so may be a report of that format; an empty file may become any."""
    return not beginning or _BEGINNINGS[chosen].match(beginning) is not None


def may_be_written(chosen: Format, file: Path) -> bool:
    """Whether nothing is lost by it: the file is not there, is empty, or looks like an earlier report of the format.

    What a run reads and writes besides, the configuration, variables, code, the journal, do not count.

    Raises:
        OSError: it cannot be looked at.
    """
    if not file.exists():
        return True
    return may_be(chosen, read_beginning(file, BEGINNING))


def write(chosen: Format, run: ReportedRun, file: Path) -> None:
    """Write a report to a file, whole or not at all.

    Raises:
        OSError: it cannot be written, or the file is there and is no report of the format.
    """
    pieces = render(chosen, run)
    if not may_be_written(chosen, file):
        raise FileExistsError(errno.EEXIST, "not overwritten, since it is not a report", str(file))
    write_atomic(file, pieces)


def render(chosen: Format, run: ReportedRun) -> Iterator[bytes]:
    """The run in that format, in pieces; the cases are read while they are asked for."""
    # Each is imported where it is asked for, for start-up.
    match chosen:
        case "text":
            from evalc.report import console  # noqa: PLC0415

            return console.render(run)
        case "html":
            from evalc.report import html  # noqa: PLC0415

            return html.render(run)
        case "junit" | "xunit":
            from evalc.report import junit  # noqa: PLC0415

            return junit.render(run, strict=chosen == "xunit")
        case "markdown" | "pr-comment":
            from evalc.report import markdown  # noqa: PLC0415

            return markdown.markdown(run) if chosen == "markdown" else markdown.comment(run)
        case "parquet":
            return extras.parquet.render(run)
        case "json":
            return whole_json(run)
        case _:
            from evalc.report.formats import WRITERS  # noqa: PLC0415

            return WRITERS[chosen](run)


# --- JSON ------------------------------------------------------------------------------------------------------------

_NO_SUITES: Final = b'"suites":['
_NO_CASES: Final = b'"cases":['
_NONE_SKIPPED: Final = b'"skipped":['
"""The lists that are filled on the way. Quotes within texts are escaped, so that no text contains one of these."""


def whole_json(run: ReportedRun) -> Iterator[bytes]:
    """`{runId, suites, summary}` on one line with a line end: the bytes that encoding the RunResult at once gives."""
    frame = RunResult(
        run_id=run.run_id, suites=(), summary=run.summary, gates=run.gates or UNSET, missing=run.missing or UNSET
    )
    head, key, rest = to_json(frame).partition(_NO_SUITES)
    yield head + key
    for index, suite in enumerate(run.suites):
        yield b"," if index else b""
        yield from _suite_json(suite)
    yield rest + b"\n"


def _suite_json(suite: ReportedSuite) -> Iterator[bytes]:
    frame = to_json(msgspec.structs.replace(suite.result, cases=(), skipped=()))
    head, cases_key, rest = frame.partition(_NO_CASES)
    middle, skipped_key, tail = rest.partition(_NONE_SKIPPED)
    yield head + cases_key
    yield from _items(suite.cases)
    yield middle + skipped_key
    yield from _items(suite.skipped)
    yield tail


def _items(records: Iterable[msgspec.Struct]) -> Iterator[bytes]:
    for index, record in enumerate(records):
        yield (b"," if index else b"") + to_json(record)
