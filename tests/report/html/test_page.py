"""The HTML report as bytes: one file, one script, data that cannot end their element, lines that may be quoted."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.model.result import AssertionResult, CaseResult
from evalc.model.suite import Place
from evalc.report import ReportedSuite, beside
from evalc.report.groups import failure_groups
from evalc.report.html import LONGEST_TEXT, MOST_CALLS, in_html, render
from tests.report.html.sample import FILE, SOURCE, answered, reported, run_of, suite

BLOCK = re.compile(rb'<script type="application/json" data-holds="(\w+)">(.*?)</script>', re.DOTALL)


def rendered(*suites: ReportedSuite, root: Path = Path(), **options: Any) -> bytes:
    return b"".join(render(run_of(*suites, root=root, **options)))


def data(page: bytes, holds: str) -> Any:
    return [json.loads(found[2]) for found in BLOCK.finditer(page) if found[1].decode() == holds]


def placed(file: str, line: int = 1) -> ReportedSuite:
    assertion = AssertionResult(at="/x", outcome="failed", place=Place(file=file, line=line, column=1))
    return suite([msgspec.structs.replace(answered("a", "b"), assertions=(assertion,))])


def test_the_policy_allows_the_style_and_the_script_that_are_there_and_nothing_else() -> None:
    page = rendered(*reported()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    texts = (
        re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL),
        re.search(r"<style>(.*?)</style>", page, re.DOTALL),
    )
    script, style = (
        base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode() for found in texts if found is not None
    )
    assert policy[1].split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{script}'",
        f"style-src 'sha256-{style}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_the_page_names_no_address_but_those_of_namespaces() -> None:
    page = re.sub(rb"<noscript>.*</noscript>", b"", BLOCK.sub(b"", rendered(*reported())), flags=re.DOTALL)
    assert set(re.findall(rb"https?://[^\s\"']+", page)) == {b"http://www.w3.org/2000/svg"}


@given(st.text(st.characters() | st.sampled_from("<>/!-scriptSCRIPT\u2028\u2029")))
def test_whatever_a_text_holds_it_cannot_end_its_element_and_comes_back(text: str) -> None:
    written = in_html({"text": text})
    assert b"<" not in written
    assert "\u2028".encode() not in written
    assert json.loads(written) == {"text": text}


def test_half_a_surrogate_pair_is_kept() -> None:
    assert json.loads(in_html(["\ud800<"])) == ["\ud800<"]


def test_cases_are_in_source_order_and_then_those_that_were_skipped() -> None:
    labeled, golden = reported(450)
    blocks = data(rendered(labeled, golden), "cases")
    cases = [case for block in blocks for case in block]
    assert [len(block) for block in blocks] == [200, 200, 51, 5]
    assert [case["id"] for case in cases] == [
        *(case.id for case in labeled.cases),
        "weather/antarctica",
        *(case.id for case in golden.cases),
    ]
    assert cases[450]["status"] == "skipped"


def test_a_case_in_which_nothing_was_checked_says_why() -> None:
    details = msgspec.structs.replace(answered("a", "b").details, skipped_tokens=("{{seed:x}}",))
    case = msgspec.structs.replace(answered("a", "b"), status="unverified", details=details)
    (cases,) = data(rendered(suite([case, answered("c", "d")])), "cases")
    assert cases[0]["reason"] == {"message": "nothing was checked, no value for {{seed:x}}"}
    assert "reason" not in cases[1]


def test_the_groups_of_failures_are_those_of_the_console() -> None:
    def failing(n: int) -> CaseResult:
        message = f"expected '{n}' in response"
        check = AssertionResult(at="/x", outcome="failed", field="contains", line=f'contains "{n}"', message=message)
        error = {"status": "failed", "passed": False, "error": f"contains: {message}", "error_at": "/x"}
        return msgspec.structs.replace(answered(f"a{n}", "no"), assertions=(check,), **error)

    made = suite([*map(failing, range(6)), answered("fine", "yes")])
    page = rendered(made)
    assert data(page, "groups") == [[{"check": "contains …", "message": "expected … in response"}]]
    assert [case["reason"].get("group") for case in data(page, "cases")[0] if "reason" in case] == [*[0] * 6, None]
    assert [group[:2] for group in failure_groups(run_of(made, root=Path()))] == [
        ("contains …", "expected … in response")
    ]
    assert data(rendered(suite([failing(1), answered("fine", "yes")])), "groups") == [[]]


def test_long_texts_and_many_calls_are_cut_and_counted() -> None:
    case = answered("a", "x" * 1_000_000)
    calls = ({"name": "t", "params": {"n": 2**70}},) * 150
    case = msgspec.structs.replace(case, details=msgspec.structs.replace(case.details, tool_calls=calls))
    [[shown, *_]] = data(rendered(suite([case])), "cases")
    assert shown["response"] == {"text": "x" * LONGEST_TEXT, "length": 1_000_000}
    assert (len(shown["toolCalls"]), shown["moreCalls"]) == (MOST_CALLS, 50)
    assert str(2**70) in shown["toolCalls"][0]["params"]


@pytest.mark.parametrize("call", [{}, {"name": None, "success": "yes", "durationMs": "long"}, {"params": [[]] * 3}])
def test_calls_of_any_shape_are_shown(call: dict[str, Any]) -> None:
    case = answered("a", "b")
    case = msgspec.structs.replace(case, details=msgspec.structs.replace(case.details, tool_calls=(call,)))
    [[shown, *_]] = data(rendered(suite([case])), "cases")
    assert len(shown["toolCalls"]) == 1


def test_the_baseline_stands_beside_its_case() -> None:
    [[case, *_], *_] = data(rendered(*reported()), "cases")
    assert case["baseline"]["status"] == "passed"
    assert case["baseline"]["response"] != case["response"]


def test_a_failed_check_is_quoted_with_the_lines_around_it(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / FILE).write_text(SOURCE, encoding="utf-8")
    os.utime(tmp_path / FILE, (1e9, 1e9))
    [sources] = data(rendered(placed(FILE, 16), root=tmp_path), "sources")
    assert list(sources[FILE]["lines"]) == ["15", "16", "17"]
    assert sources[FILE]["changed"] is False
    os.utime(tmp_path / FILE, (4e9, 4e9))
    [sources] = data(rendered(placed(FILE, 1), root=tmp_path), "sources")
    assert sources[FILE] == {"changed": True, "lines": {"1": "suite: weather", "2": "tool: get_weather"}}


@pytest.mark.parametrize(
    "name", ["../out.yaml", "/etc/passwd", "notes.txt", "link.yaml", "gone.yaml", "a\x00b", "folder.yaml", "bytes.yaml"]
)
def test_only_eval_files_of_the_project_are_quoted(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    (project / "folder.yaml").mkdir(parents=True)
    (tmp_path / "out.yaml").write_text("private")
    (project / "notes.txt").write_text("private")
    (project / "bytes.yaml").write_bytes(b"\xff\xfe")
    (project / "link.yaml").symlink_to(tmp_path / "out.yaml")
    assert data(rendered(placed(name), root=project), "sources") == [{}]


def test_secrets_are_struck_out_of_quoted_lines(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("key: hunter2hunter2\n")
    page = rendered(placed("a.yaml"), root=tmp_path, redact=lambda text: text.replace("hunter2hunter2", "***"))
    assert b"hunter2" not in page
    assert data(page, "sources")[0]["a.yaml"]["lines"]["1"] == "key: ***"


def test_unmet_gates_are_shown_in_the_words_of_the_console() -> None:
    [run] = data(rendered(*reported(), below=("x (golden): below",), warnings=("w",)), "run")
    assert run["gates"][0].startswith("get_weather (labeled): score 0.95")
    assert run["gates"][1:] == ["x (golden): below"]
    assert run["warnings"] == ["w"]


def test_cases_are_read_while_the_page_is_written() -> None:
    read: list[str] = []

    def cases() -> Iterator[CaseResult]:
        for number in range(1_000):
            read.append(str(number))
            yield answered(str(number), "a")

    pieces = render(run_of(ReportedSuite(result=suite([]).result, cases=cases()), root=Path()))
    assert b"<!doctype html>" in next(pieces)
    assert b'data-holds="run"' in next(pieces)
    assert read == []
    assert b'data-holds="cases"' in next(pieces)
    assert len(read) == 200


def test_the_baseline_is_that_of_the_same_agent_if_it_can_be() -> None:
    def result(agent: str, response: str) -> ReportedSuite:
        made = msgspec.structs.replace(suite([], agent=agent).result, cases=(answered("a", response),))
        return ReportedSuite.of(made)

    past = [result("x", "of x"), result("y", "of y")]
    [same, other] = beside([result("y", "now"), result("z", "now")], past)
    assert same.baseline["a"].details.response == "of y"
    assert other.baseline["a"].details.response == "of x"
    assert beside([result("y", "now")])[0].baseline == {}


def many(*, baseline: bool = False, agent: str = "demo") -> ReportedSuite:
    """Six cases that passed, and one behind them that failed."""
    bad = msgspec.structs.replace(answered("m/bad", "no"), status="failed", passed=False, error="x")
    cases = [*(answered(f"m/{number}", "ok") for number in range(6)), bad]
    return suite(cases, agent=agent, baseline={case.id: case for case in cases} if baseline else None)


def listed(page: bytes) -> list[str]:
    return [case["id"] for block in data(page, "cases") for case in block if case["status"] != "skipped"]


def test_of_many_cases_that_passed_some_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.report.html.MOST_PASSED", 4)
    page = rendered(many())
    assert listed(page) == ["m/0", "m/1", "m/2", "m/3", "m/bad"]
    assert data(page, "counted") == [[{"suite": 0, "durations": [100.0, 100.0]}]]


@pytest.mark.parametrize("suites", [[many(baseline=True)], [many(), many(agent="another")]])
def test_where_cases_are_compared_all_are_listed(monkeypatch: pytest.MonkeyPatch, suites: list[ReportedSuite]) -> None:
    monkeypatch.setattr("evalc.report.html.MOST_PASSED", 4)
    page = rendered(*suites)
    assert len(listed(page)) == 7 * len(suites)
    assert data(page, "counted") == [[]]


def test_no_eval_file_is_compiled_for_the_checks_of_a_long_suite(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def checks(_file: str, id_: str) -> dict[str, Any]:
        asked.append(id_)
        return {}

    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(SOURCE)
    os.utime(tmp_path / FILE, (0, 0))
    passing = AssertionResult(at="/expect/responseContains/0", outcome="passed")
    place = Place(file=FILE, line=11, column=1)
    cases = [
        msgspec.structs.replace(answered(f"m/{number}", "ok"), assertions=(passing,), place=place)
        for number in range(3)
    ]
    rendered(suite(cases), root=tmp_path, checks=checks)
    assert [*dict.fromkeys(asked)] == ["m/0", "m/1", "m/2"]
    asked.clear()
    monkeypatch.setattr("evalc.report.html.MOST_PASSED", 2)
    rendered(suite(cases), root=tmp_path, checks=checks)
    assert asked == []
