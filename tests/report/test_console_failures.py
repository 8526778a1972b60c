"""A failed case on the console: the line as authored, and the part of the response that it is about."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.terminal import Screen, cells, visible
from evalc.model.result import AssertionResult, SuiteResult, TextFinding, TurnDetails
from evalc.model.suite import Place
from evalc.report import AuthoredCheck, ReportedSuite, SourceLines, highlight
from evalc.report.console import Detail, suite_lines
from tests.report.results import case, suite
from tests.report.runs import NOWHERE

TIMESTAMP = "2026-01-01T00:00:00.000Z"
BEFORE = datetime(2025, 12, 31, tzinfo=UTC).timestamp()
AFTER = datetime(2026, 1, 2, tzinfo=UTC).timestamp()


def failing(
    message: str, response: str, finding: TextFinding | None = None, *, file: str = "w.eval.yaml", line: int = 2
) -> SuiteResult:
    place = Place(file=file, line=line, column=5)
    broken = AssertionResult(
        at="/expect/checks/0", outcome="failed", field="contains", message=message, place=place, finding=finding
    )
    result = case("a", status="failed", error=f"contains: {message}", assertions=(broken,))
    details = msgspec.structs.replace(result.details, response=response)
    return suite(msgspec.structs.replace(result, details=details))


def authored(root: Path, text: str, written: float = BEFORE) -> SourceLines:
    file = root / "w.eval.yaml"
    file.write_text(text, encoding="utf-8")
    os.utime(file, (written, written))
    return SourceLines(root, lambda line: line.replace("secret", "***"))


def shown(result: SuiteResult, sources: SourceLines, screen: Screen | None = None) -> list[str]:
    """The lines about the failure: below that of the case, and above the summary of the suite."""
    lines = list(suite_lines(ReportedSuite.of(result), screen or Screen(), sources))
    return lines[2 : next(number for number, line in enumerate(lines) if set(line) in ({"─"}, {"-"}))]


def test_the_authored_line_and_what_is_nearest_to_a_missing_text(tmp_path: Path) -> None:
    sources = authored(tmp_path, "- name: a\n    - contains 'sunny in Paris' # secret\n")
    missing = TextFinding(kind="missing", text="sunny in Paris")
    result = failing("expected 'sunny in Paris' in response but not found", "Today it is suny in Paris.", missing)
    assert shown(result, sources) == [
        "    → contains: expected 'sunny in Paris' in response but not found",
        "      at w.eval.yaml:2:5",
        "      2 | - contains 'sunny in Paris' # ***",
        "      response: Today it is suny in Paris.",
        "                           ^^^^^^^^^^^^^^ nearest",
    ]


def test_a_forbidden_text_is_marked_in_the_midst_of_a_long_response(tmp_path: Path) -> None:
    response = "a" * 500 + "\x1b[31mapi_key" + "b" * 500
    result = failing('found "api_key" in response', response, TextFinding(kind="forbidden", text="api_key"))
    *_, text, carets = shown(result, authored(tmp_path, "a\n"), Screen(width=60, unicode=False))
    start = carets.index("^")
    assert carets.strip() == "^^^^^^^ found here"
    assert text[start : start + 7] == "api_key"
    assert text[start - 8 : start] == "\\x1b[31m"
    assert text.startswith("      response: ...a")
    assert text.endswith("b...")
    assert max(len(text), len(carets)) <= 60


def test_where_two_texts_begin_to_differ(tmp_path: Path) -> None:
    message = "expected response to equal '天気 is fine' but got '天気 is bad'"
    result = failing(message, "天気 is bad", TextFinding(kind="differs", text="天気 is fine"))
    assert shown(result, authored(tmp_path, ""), Screen(color=True))[-2:] == [
        "      response: 天気 is \x1b[1;31mb\x1b[0mad",
        "                        \x1b[1;31m^ differs from here\x1b[0m",
    ]


@pytest.mark.parametrize(
    ("file", "line", "written"),
    [
        ("w.eval.yaml", 2, AFTER),
        ("w.eval.yaml", 3, BEFORE),
        ("absent.eval.yaml", 2, BEFORE),
        ("../w.eval.yaml", 2, BEFORE),
        ("/etc/passwd", 1, BEFORE),
        ("w\x00.yaml", 1, BEFORE),
    ],
)
def test_a_changed_or_missing_line_is_only_a_place(tmp_path: Path, file: str, line: int, written: float) -> None:
    sources = authored(tmp_path, "a\nb", written)
    result = failing("expected at most 5 chars but got 32", "", file=file, line=line)
    assert shown(result, sources)[1:] == [f"      at {visible(file)}:{line}:5", "      response: (empty)"]


@pytest.mark.parametrize(
    ("finding", "response"),
    [
        (TextFinding(kind="missing", text="sunny"), "quite another thing"),
        (TextFinding(kind="missing", text="x"), ""),
        (None, "some text"),
        (TextFinding(kind="forbidden", text=""), "some text"),
    ],
)
def test_where_there_is_nothing_to_show_nothing_is_shown(finding: TextFinding | None, response: str) -> None:
    assert highlight(finding, response) is None


def test_a_response_without_a_part_that_is_meant_begins(tmp_path: Path) -> None:
    result = failing("expected at most 5 chars but got 32", "天気 is fine.\n" * 40)
    *_, first, second, third = shown(result, authored(tmp_path, ""), Screen(width=40))
    assert first == "      response: 天気 is fine.\\n天気 is f"
    assert second == "                ine.\\n天気 is fine.\\n天"
    assert third == "                気 is fine.\\n天気 is fi…"
    assert cells(third) == 40


@pytest.mark.parametrize("response", ["no\n", "sunny"])
def test_a_response_that_a_message_quotes_whole_is_not_shown_twice(tmp_path: Path, response: str) -> None:
    result = failing(f"expected response to match /x/ but got '{visible(response)}'", response)
    assert shown(result, authored(tmp_path, ""))[1:] == ["      at w.eval.yaml:2:5"]


def test_no_answer_is_not_an_empty_one(tmp_path: Path) -> None:
    result = suite(case("a", status="failed", error="timeout: no complete answer within 60000ms"))
    assert shown(result, authored(tmp_path, "")) == ["    → timeout: no complete answer within 60000ms"]


@pytest.mark.parametrize(
    ("path", "response", "marked"),
    [
        ("a.b", '{"z": "foo baz", "a": {"b": "foo cat"}}', "foo ca"),
        ("a.b", '{"z": "foo baz", "a": {"b": "nope"}}', None),
        ("a.b", '{"z": "foo cat", "a": {"b": "foo cat"}}', None),
        ("a.b", '{"a": {"b": 12}}', None),
        ("a.b", "no JSON", None),
        ("[1]", '["x", "say \\"foo bat\\""]', '"foo ba'),
    ],
)
def test_only_the_place_that_was_looked_at_is_marked(path: str, response: str, marked: str | None) -> None:
    found = highlight(TextFinding(kind="missing", text="foo bar", path=path), response)
    if marked is None:
        assert found is None
    else:
        assert found is not None
        assert found.text[found.start : found.end].startswith(marked)


def test_verbose_shows_every_check_by_its_line(tmp_path: Path) -> None:
    result = failing("expected at most 5 chars but got 32", "some text")
    (only,) = result.cases
    passed = AssertionResult(at="/expect/responseContains/0", outcome="passed")
    (failed,) = only.assertions
    failed = msgspec.structs.replace(failed, line="length <= 5 chars")
    whole = suite(msgspec.structs.replace(only, assertions=(passed, failed)))
    sources = authored(tmp_path, "- name: a\n  - length <= 5 chars\n")
    lines = list(suite_lines(ReportedSuite.of(whole), Screen(), sources, detail="verbose"))
    assert lines[-4:-2] == ["    ✓ responseContains/0", "    ✗ w.eval.yaml:2:5  length <= 5 chars"]


def test_verbose_shows_the_message_and_the_whole_answer_of_every_case(tmp_path: Path) -> None:
    answer = "\n".join(["It is mild.", *(f"{number}. And so on, \x1b[31mat length." for number in range(20))])
    passed, failed = (
        msgspec.structs.replace(each, details=msgspec.structs.replace(each.details, message="hi", response=response))
        for each, response in ((case("a"), answer), (case("b", status="failed", error="no"), "One line."))
    )
    for sources in (authored(tmp_path, ""), NOWHERE):
        lines = list(suite_lines(ReportedSuite.of(suite(passed, failed)), Screen(), sources, detail="verbose"))
        start = lines.index("      response:")
        assert lines[start + 1] == "        It is mild."
        assert lines[start + 21] == "        19. And so on, \\x1b[31mat length."
        assert "      response: One line." in lines
        assert lines.index("      message: hi") < start


@given(
    st.text(min_size=1), st.text(), st.integers(40, 130), st.booleans(), st.sampled_from(["missing", "found", "other"])
)
def test_whatever_an_agent_says_the_lines_fit_and_obey_nothing(
    part: str, around: str, width: int, unicode: bool, how: str
) -> None:
    messages = {
        "found": f'found "{part}" in response',
        "missing": f"expected '{part}' in response but not found",
        "other": "expected at most 5 chars but got 32",
    }
    message = messages[how]
    result = failing(message, around + part + around)
    screen = Screen(width=width, unicode=unicode)
    for line in shown(result, SourceLines(Path(os.devnull)), screen)[2:]:
        assert cells(line) <= width
        assert visible(line) == line


def test_verbose_seeks_the_checks_that_passed_in_their_file(tmp_path: Path) -> None:
    where = Place(file="w.eval.yaml", line=1, column=3)
    length = AuthoredCheck("length 1..5 chars", Place(file="w.eval.yaml", line=2, column=5))
    checks = dict.fromkeys(("/expect/minLength", "/expect/maxLength"), length)
    checks["/expect/toolParams/0"] = AuthoredCheck('tool x.y equals "secret"', None)
    passed = tuple(AssertionResult(at=at, outcome="passed") for at in (*checks, "/expect/toolsCalled"))
    whole = suite(msgspec.structs.replace(case("a", assertions=passed), place=where))
    known = ["    ✓ w.eval.yaml:2:5  length 1..5 chars", '    ✓ tool x.y equals "***"', "    ✓ toolsCalled"]
    unknown = ["    ✓ minLength", "    ✓ maxLength", "    ✓ toolParams/0", "    ✓ toolsCalled"]
    for written, expected in ((BEFORE, known), (AFTER, unknown)):
        authored(tmp_path, "- name: a\n  - length 1..5 chars\n", written)
        sources = SourceLines(
            tmp_path,
            lambda line: line.replace("secret", "***"),
            checks=lambda file, id_: checks if (file, id_) == (where.file, "a") else {},
        )
        lines = list(suite_lines(ReportedSuite.of(whole), Screen(), sources, detail="verbose"))
        assert [line for line in lines if line.startswith("    ✓")] == expected


def test_of_a_long_conversation_the_turn_that_failed_and_those_before_it_are_shown(tmp_path: Path) -> None:
    failed = AssertionResult(at="/expect/checks/0", outcome="failed", field="turn 6", line="turn 6 empty", turn=6)
    broken = case("a", status="failed", error="turn 6: no", assertions=(failed,))
    turns = [TurnDetails(message=f"say {n}", response="\x1b" * 200, calls=n % 2, duration_ms=1) for n in range(1, 9)]
    details = msgspec.structs.replace(
        broken.details, turns=tuple(turns), response="all of it", tool_calls=({"name": "a"},) * 4
    )
    result = suite(msgspec.structs.replace(broken, details=details, error_at=failed.at))
    lines = shown(result, authored(tmp_path, ""), Screen(width=40))
    assert lines[0] == "      2 earlier turns; -v shows all"
    assert [line for line in lines if " user: " in line] == [f"      turn {n} user: say {n}" for n in (3, 4, 5, 6)]
    assert lines.count("            calls: a") == 2
    assert [line for line in lines if "agent: " in line] == ["            agent: " + "\\x1b" * 5 + "…"] * 4
    assert not any("all of it" in line for line in lines)


def test_of_very_many_failures_the_first_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    result = suite(*(case(f"c{n}", status="failed", error="contains: no") for n in range(150)), case("good"))
    sources = authored(tmp_path, "")
    details: tuple[Detail, ...] = ("normal", "quiet")
    for detail in details:
        lines = list(suite_lines(ReportedSuite.of(result), Screen(), sources, detail=detail))
        assert sum(line.startswith("  ✗ c") for line in lines) == 100
        assert "  ✗ 50 more cases did not pass; `evalc show -v` lists them" in lines
    lines = list(suite_lines(ReportedSuite.of(result), Screen(), sources, detail="verbose"))
    assert sum(line.startswith("  ✗ c") for line in lines) == 150
