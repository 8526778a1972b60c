"""A real Chromium, the system's, for reports. Without one these tests are skipped, and the reason says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from evalc.model.reports import Coverage, Strength, Trend
from evalc.report import ReportedSuite
from evalc.report.html import render
from tests.report.html.browser import FLAGS, chromium
from tests.report.html.sample import FILE, SOURCE, run_of

Shown = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    executable = chromium()
    if executable is None:
        pytest.skip("no Chromium on this machine: the HTML report was not opened in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with the eval file that the sample's places lead to."""
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(SOURCE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def shown(browser: Browser, root: Path) -> Iterator[Shown]:
    """Opens a report from a file, and holds whatever is done with it to no request, no error, no dialog."""
    opened: list[tuple[Page, list[str], list[str]]] = []

    def show(
        suites: Sequence[ReportedSuite],
        address: str = "",
        trends: Sequence[Trend] = (),
        strength: Strength | None = None,
        coverage: Coverage | None = None,
        exit_code: int | None = None,
        **options: object,
    ) -> Page:
        file = root / "report.html"
        more = {"strength": strength, "coverage": coverage, "exit_code": exit_code}
        run = run_of(*suites, root=root, trends=tuple(trends), **more)
        file.write_bytes(b"".join(render(run)))
        options = {"viewport": {"width": 1280, "height": 800}, **options}
        page = browser.new_page(**options)  # type: ignore[arg-type]
        page.set_default_timeout(10_000)
        requests: list[str] = []
        faults: list[str] = []
        page.on("request", lambda request: requests.append(request.url.partition("#")[0]))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        opened.append((page, requests, faults))
        page.goto(f"{file.as_uri()}{address}")
        page.wait_for_selector("#count:not(:empty)", state="attached")
        return page

    yield show
    for page, requests, faults in opened:
        page.close()
        assert faults == []
        assert set(requests) == {(root / "report.html").as_uri()}
