"""One suite, run by `evalc run` and by pytest: a failed case has one reason and one line wherever it is shown."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from junitparser import JUnitXml
from playwright.sync_api import sync_playwright

from tests.cli.conftest import Invoke, invoke, project
from tests.report.html.browser import FLAGS, chromium

__all__ = ["invoke", "project"]

SUITE = """\
suite: weather
eval:
  test_cases:
    - name: missing
      message: What is the weather in Paris?
      validate:
        - contains "Paris"
        - contains "Lima & <Quito>"
        - contains "Quito"
    - name: composed
      message: What is the weather in Oslo?
      validate:
        - >-
          contains "Oslo" and
          (contains "snow: 'deep'" or matches /^never$/)
    - name: better
      message: What is the weather in Oslo?
      expected_failure: it does not know Oslo
      validate:
        - contains "Oslo"
"""
PLACES = {
    "weather/missing": "evals/weather.eval.yaml:8:11",
    "weather/composed": "evals/weather.eval.yaml:13:11",
    "weather/better": "evals/weather.eval.yaml:16:13",
}

Reasons = Mapping[str, tuple[str, str]]
"""By the id of a case its reason, and its place."""


def _of_lines(text: str) -> Iterator[tuple[str, str]]:
    for check, message, place in re.findall(r"^ +→ (.*)\n((?: +(?!at |→).*\n)*?) +at (\S+)$", text, re.MULTILINE):
        yield f"{check}: {' '.join(message.split())}" if message else check, place


def _of_console(text: str) -> Reasons:
    blocks = re.split(r"^  [✓✗✘] (\S+) .*$", text, flags=re.MULTILINE)[1:]
    return {name: next(_of_lines(block)) for name, block in zip(blocks[::2], blocks[1::2], strict=True)}


def _of_pytest(project: Path) -> Reasons:
    command = (sys.executable, "-m", "pytest", "evals", "--evalc-agent", "demo", "-p", "no:cacheprovider", "--tb=short")
    ended = subprocess.run(command, cwd=project, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ended.returncode == 1, ended.stdout
    blocks = re.split(r"^_+ (weather/\w+) _+$", ended.stdout, flags=re.MULTILINE)[1:]
    return {name: next(_of_lines(block)) for name, block in zip(blocks[::2], blocks[1::2], strict=True)}


def _of_junit(file: Path) -> Reasons:
    reasons = {}
    for suite in JUnitXml.fromstring(file.read_bytes()):
        for case in suite:
            [verdict] = case.result
            place = re.search(r"^  at (.*)$", verdict.text, re.MULTILINE)
            assert place is not None
            assert place[1].startswith(f"{case._elem.get('file')}:{case._elem.get('line')}:")
            reasons[case.name] = (verdict.message, place[1])
    return reasons


def _of_markdown(file: Path) -> Reasons:
    found = re.findall(
        r"^\*\*\S+\*\* `(\S+)` in .*\n\n```text\n(.*)\n  at (.*)\n", file.read_text(encoding="utf-8"), re.M
    )
    return {name: (reason, place) for name, reason, place in found}


def _of_page(file: Path) -> tuple[Reasons, str]:
    """The page as a reader sees it in Chromium, and its text; without one, the data that the page shows."""
    executable = chromium()
    if executable is None:
        return dict(_of_data(file.read_text(encoding="utf-8"))), ""
    reasons, text = {}, ""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page()
        page.goto(file.as_uri())
        for name in PLACES:
            page.evaluate("name => { location.hash = encodeURIComponent(`weather.labeled/${name}`); }", name)
            page.wait_for_function("name => document.getElementById('details-title')?.textContent === name", arg=name)
            failing = page.locator("#details .assertions.failing li").first
            if failing.count():
                check, message = failing.locator(".at").inner_text(), failing.locator("p").first.inner_text()
                reasons[name] = (f"{check}: {message}", failing.locator("figcaption").inner_text())
            else:
                said, place = (page.locator(f"#details {part}").inner_text() for part in (".reason", ".place"))
                reasons[name] = (said, place)
            text += page.locator("body").inner_text()
        browser.close()
    return reasons, text


def _of_data(page: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for block in re.findall(r'data-holds="cases">(.*?)</script>', page, re.DOTALL):
        for case in json.loads(block):
            broken = (check for check in case["assertions"] if check["outcome"] != "passed")
            place = next(broken, case)["place"]
            said = ": ".join(case["reason"][key] for key in ("check", "message") if key in case["reason"])
            yield case["id"], (said, f"{place['file']}:{place['line']}:{place['column']}")


def test_a_failed_case_names_the_same_line_and_the_same_reason_wherever_it_is_shown(
    invoke: Invoke, project: Path
) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    outputs = ("-o", "page.html", "-o", "junit.xml", "-o", "summary.md")
    run = invoke("run", "evals", "--agent", "demo", *outputs)
    assert run.code == 1
    console = _of_console(run.out)
    assert {name: place for name, (_, place) in console.items()} == PLACES
    reasons, page = _of_page(project / "page.html")
    assert reasons == console
    assert _of_junit(project / "junit.xml") == console
    assert _of_markdown(project / "summary.md") == console
    assert _of_pytest(project) == console
    # A check is named by its line, also those that passed, and those after the verdict are shown, too.
    verbose = invoke("show", "-v").out
    for text in (run.out, verbose, page, *((project / name).read_text() for name in ("junit.xml", "summary.md"))):
        assert not re.search("response(Not)?Contains|checks(/| \u203a)|expect/", text)
        assert not text or text.count("Quito") >= 2
    assert '✓ evals/weather.eval.yaml:7:11  contains "Paris"' in verbose
    assert '✗ evals/weather.eval.yaml:9:11  contains "Quito"' in verbose
    assert not page or 'contains "Paris"' in page
