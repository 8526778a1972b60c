"""Writes `benchmarks/results/report.md`: the size and speed of a report of ten thousand cases.

    python -m benchmarks.report

Times are the page's own, in the system's Chromium without a graphics processor: from a letter in the search field, a
click or a turn of the wheel to the next frame. A screen shows one every 16.7 ms.
"""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from evalc.report.html import render
from tests.report.html.browser import FLAGS, chromium
from tests.report.html.sample import reported, run_of

RESULTS: Final = Path(__file__).parent / "results" / "report.md"
CASES: Final = 10_000
ROUNDS: Final = 15

ANSWERED: Final = """act => new Promise(done => {
  const start = performance.now();
  eval(act);
  const worked = performance.now() - start;
  requestAnimationFrame(() => requestAnimationFrame(() => done([worked, performance.now() - start])));
})"""
TYPE: Final = "query.value = '{}'; query.dispatchEvent(new Event('input'))"
ACTS: Final = {
    "search, first letter of all (builds the index)": ("t",),
    "search, a word that few cases have": ("tunis-415", "osaka-3", "lima-77"),
    "search, a word that all cases have": ("sky", "weather", "evening"),
}


def main() -> None:
    """Measure, and write the results down."""
    executable = chromium()
    if executable is None:
        raise SystemExit("there is no Chromium on this machine")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        started = time.perf_counter()
        with file.open("wb") as stream:
            stream.writelines(render(run_of(*reported(CASES), root=Path(folder))))
        written = time.perf_counter() - started
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, bypass_csp=True)
        loads = [_load(page, file) for _ in range(3)]
        rows = [_row(name, [_answer(page, TYPE.format(word)) for word in words]) for name, words in ACTS.items()]
        failed = "document.querySelector('#statuses button').click()"
        rows.append(_row("a click on a status", [_answer(page, failed) for _ in range(ROUNDS)]))
        order = "document.querySelector('#columns .duration button').click()"
        rows.append(_row("a click on a column", [_answer(page, order) for _ in range(ROUNDS)]))
        wheel = "scrollTo(0, Math.random() * document.body.scrollHeight)"
        rows.append(_row("scrolling anywhere", [_answer(page, wheel) for _ in range(ROUNDS)]))
        size = file.stat().st_size
        version = browser.version
        browser.close()
    head = [
        f"# The HTML report with {CASES:,} cases",
        "",
        f"Written by `python -m benchmarks.report` on {datetime.now(UTC):%Y-%m-%d}.",
        f"Chromium {version}, Python {platform.python_version()}.",
        f"{os.cpu_count()} processors, which others use too: load {os.getloadavg()[0]:.1f}.",
        "",
        f"- {size / 1e6:.1f} MB, written in {written:.2f} s",
        f"- open to the first rows in {statistics.median(loads):.0f} ms (median of {len(loads)})",
        "",
        "| what is done | script, median | script, slowest | to the second frame, median |",
        "|---|---|---|---|",
    ]
    RESULTS.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _load(page: Page, file: Path) -> float:
    page.goto(file.as_uri())
    page.wait_for_selector("#count:not(:empty)", state="attached")
    return float(page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"))


def _answer(page: Page, act: str) -> tuple[float, float]:
    worked, shown = page.evaluate(ANSWERED, act)
    return float(worked), float(shown)


def _row(name: str, times: list[tuple[float, float]]) -> str:
    worked, shown = zip(*times, strict=True)
    return f"| {name} | {statistics.median(worked):.1f} ms | {max(worked):.1f} ms | {statistics.median(shown):.1f} ms |"


if __name__ == "__main__":
    main()
