"""The table of report formats, and what writes each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, get_args

from evalc import extras
from evalc.report.reported import ReportedRun

Format = Literal["text", "json", "html", "junit", "xunit", "markdown", "csv", "parquet", "github", "sarif"]
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
    "csv": re.compile(rb'"suite","tier","agent","case",'),
    "parquet": re.compile(rb"PAR1"),
    "github": re.compile(rb"::(error|notice|warning) "),
    "sarif": re.compile(rb'\s*\{\s*("version"\s*:\s*"2\.1\.0"\s*,\s*)?"\$schema"\s*:\s*"[^"]*sarif'),
}
"""How a report of each format begins."""


def may_be(chosen: Format, beginning: bytes) -> bool:
    """Whether a file that begins so may be a report of that format; an empty file may become any."""
    return not beginning or _BEGINNINGS[chosen].match(beginning) is not None


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
        case "parquet":
            return extras.parquet.render(run)
        case _:
            from evalc.report.formats import WRITERS  # noqa: PLC0415

            return WRITERS[chosen](run)
