"""Draws `docs/report-light.png` and `docs/report-dark.png`, the report's pictures: `make picture`.

Needs the system's Chromium; without one the pictures stay as they are.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, sync_playwright

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from evalc.report.html import render  # noqa: E402 - scripts have no packages
from tests.report.html.browser import FLAGS, chromium  # noqa: E402 - likewise
from tests.report.html.sample import FILE, SOURCE, reported, run_of, trends  # noqa: E402 - likewise

CASES: Final = 48
WIDTH: Final = 1280
HEIGHT: Final = {"light": 1000, "dark": 800}
FAILED: Final = "#get_weather.labeled%2Fweather%2Fcairo"


def main() -> None:
    """Take both pictures: the whole in light, a failed case in dark."""
    executable = chromium()
    if executable is None:
        print("there is no Chromium on this machine: the pictures of the report stay as they are", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = _written(Path(folder))
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        _take(browser, report.as_uri(), "light")
        _take(browser, report.as_uri() + FAILED, "dark")
        browser.close()


def _written(folder: Path) -> Path:
    source = folder / FILE
    source.parent.mkdir()
    source.write_text(SOURCE, encoding="utf-8")
    os.utime(source, (0, 0))
    report = folder / "report.html"
    suites = reported(CASES)
    run = run_of(*suites, root=folder, trends=trends(now=suites[0]), exit_code=1)
    report.write_bytes(b"".join(render(run)))
    return report


def _take(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT[scheme]}, color_scheme=scheme)
    page.goto(address)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=ROOT / "docs" / f"report-{scheme}.png")
    page.close()


if __name__ == "__main__":
    main()
