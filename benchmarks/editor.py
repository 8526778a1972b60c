"""Writes the section of `benchmarks/results/check.md` on the language server: what a keystroke in a large file costs.

    python -m benchmarks.editor

A client types a check, letter by letter, into cases of a suite. A keystroke is answered when the diagnostics of the new
text have arrived; then the client asks for completions, as an editor does. The times are the client's, over standard
input and output, with nothing else done by either process.
"""

from __future__ import annotations

import asyncio
import os
import platform
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from lsprotocol import types as lsp
from pytest_lsp import LanguageClient, make_test_lsp_client

from benchmarks.suites import write_suite

RESULTS: Final = Path(__file__).parent / "results" / "check.md"
TITLE: Final = "## While you type"
SIZES: Final = (1_000, 10_000)
TYPED: Final = '        - not contains "sorry, I cannot" ignoring case for c'
PLACES: Final = (0.1, 0.5, 0.9)


class Times(NamedTuple):
    """Milliseconds: of every keystroke until its diagnostics are there, and of the completions asked for then."""

    cases: int
    opened: float
    keystrokes: list[float]
    completions: list[float]


def section() -> str:
    """Measure, and write the section."""
    rows = [asyncio.run(_typed(cases)) for cases in SIZES]
    day = datetime.now(UTC)
    lines = [
        TITLE,
        "",
        f"{day.day} {day:%B %Y}, Python {platform.python_version()}, {os.cpu_count()} cores: `make bench-editor`.",
        "",
        f"A client types a check of {len(TYPED)} letters into three cases of an open file. In milliseconds: from a",
        "keystroke until its diagnostics have arrived, and for the completions that are asked for next. The goal is",
        "100 for a file of 1,000 cases.",
        "",
        "| cases | opened | keystroke, median | 95 % | slowest | completions, median | slowest |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        *map(_row, rows),
        "",
    ]
    return "\n".join(lines)


def _row(times: Times) -> str:
    keystrokes, completions = sorted(times.keystrokes), sorted(times.completions)
    at_95 = keystrokes[int(len(keystrokes) * 0.95)]
    shown = (
        times.opened,
        statistics.median(keystrokes),
        at_95,
        keystrokes[-1],
        statistics.median(completions),
        completions[-1],
    )
    return f"| {times.cases:,} | {' | '.join(f'{value:.0f}' for value in shown)} |"


async def _typed(cases: int) -> Times:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "large.eval.yaml"
        write_suite(file, cases, "one-line")
        text = file.read_text(encoding="utf-8")
        client = make_test_lsp_client()
        await client.start_io(sys.executable, "-m", "evalc", "lsp")
        params = lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=Path(name).as_uri())
        await client.initialize_session(params)
        started = time.perf_counter()
        item = lsp.TextDocumentItem(file.as_uri(), "yaml", 0, text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        opened = _since(started)
        keystrokes: list[float] = []
        completions: list[float] = []
        lines = text.split("\n")
        checks = [number for number, line in enumerate(lines) if line.startswith("        - ")]
        for typed_before, place in enumerate(PLACES):
            line = checks[int(len(checks) * place)] + typed_before
            await asyncio.sleep(3)  # the whole file is checked once it is quiet
            for column in range(len(TYPED) + 1):
                at = lsp.Position(line, column)
                change = lsp.TextDocumentContentChangePartial(lsp.Range(at, at), TYPED[column : column + 1] or "\n")
                keystrokes.append(await _keystroke(client, file, change, len(keystrokes) + 1))
                asked = time.perf_counter()
                where = lsp.Position(line, column + 1) if column < len(TYPED) else lsp.Position(line + 1, 0)
                identifier = lsp.TextDocumentIdentifier(file.as_uri())
                await client.text_document_completion_async(lsp.CompletionParams(identifier, where))
                completions.append(_since(asked))
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
    return Times(cases, opened, keystrokes, completions)


async def _keystroke(
    client: LanguageClient, file: Path, change: lsp.TextDocumentContentChangePartial, version: int
) -> float:
    identifier = lsp.VersionedTextDocumentIdentifier(version, file.as_uri())
    started = time.perf_counter()
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [change]))
    while True:
        found = await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        if found.version == version:
            return _since(started)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def main() -> None:
    """Measure, and put the section in the place of the last one."""
    before = RESULTS.read_text(encoding="utf-8").partition(TITLE)[0].rstrip()
    RESULTS.write_text(f"{before}\n\n{section()}", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8").partition(TITLE)[2])


if __name__ == "__main__":
    main()
