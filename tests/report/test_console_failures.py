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
from evalc.model.result import AssertionResult, SuiteResult, TextFinding
from evalc.model.suite import Place
from evalc.report.console import suite_lines
from evalc.report.reported import ReportedSuite, SourceLines, highlight
from tests.report.results import case, suite
from tests.report.runs import NOWHERE

TIMESTAMP = "2026-01-01T00:00:00.000Z"
BEFORE = datetime(2025, 12, 31, tzinfo=UTC).timestamp()
AFTER = datetime(2026, 1, 2, tzinfo=UTC).timestamp()


def failing(
    message: str, response: str, finding: TextFinding | None = None, *, file: str = "w.eval.yaml", line: int = 2
) -> SuiteResult:
    place = Place(file=file, line=line, column=5)
    at = "/expect/checks/0"
    broken = AssertionResult(at=at, outcome="failed", field="contains", message=message, place=place, finding=finding)
    result = case("a", status="failed", error=f"contains: {message}", assertions=(broken,))
    result = msgspec.structs.replace(result, error_at=at)
    details = msgspec.structs.replace(result.details, response=response)
    return suite(msgspec.structs.replace(result, details=details))


def authored(root: Path, text: str, written: float = BEFORE) -> SourceLines:
    file = root / "w.eval.yaml"
    file.write_text(text, encoding="utf-8")
    os.utime(file, (written, written))
    return SourceLines(root, lambda line: line.replace("secret", "***"))


def shown(result: SuiteResult, sources: SourceLines, screen: Screen | None = None) -> list[str]:
    return list(suite_lines(ReportedSuite.of(result), screen or Screen(), sources))[2:-2]


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


def test_verbose_shows_places_and_the_words_there(tmp_path: Path) -> None:
    result = failing("expected at most 5 chars but got 32", "some text")
    (only,) = result.cases
    passed = AssertionResult(at="/expect/responseContains/0", outcome="passed")
    whole = suite(msgspec.structs.replace(only, assertions=(passed, *only.assertions)))
    for written, words in ((BEFORE, "  length <= 5 chars"), (AFTER, "")):
        sources = authored(tmp_path, "- name: a\n  - length <= 5 chars\n", written)
        lines = list(suite_lines(ReportedSuite.of(whole), Screen(), sources, detail="verbose"))
        assert lines[-4:-2] == ["    ✓ responseContains/0", f"    ✗ w.eval.yaml:2:5{words}"]


def test_verbose_shows_the_whole_answer_of_every_case(tmp_path: Path) -> None:
    answer = "\n".join(["It is mild.", *(f"{number}. And so on, \x1b[31mat length." for number in range(20))])
    passed, failed = (
        msgspec.structs.replace(each, details=msgspec.structs.replace(each.details, response=response))
        for each, response in ((case("a"), answer), (case("b", status="failed", error="no"), "One line."))
    )
    for sources in (authored(tmp_path, ""), NOWHERE):
        lines = list(suite_lines(ReportedSuite.of(suite(passed, failed)), Screen(), sources, detail="verbose"))
        start = lines.index("      response:")
        assert lines[start + 1] == "        It is mild."
        assert lines[start + 21] == "        19. And so on, \\x1b[31mat length."
        assert "      response: One line." in lines


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('- {name: a, validate: [contains "a, b]", matches /x/]}', 1, 24, 'contains "a, b]"'),
        ('- {name: a, validate: [contains "a, b]", matches /x/]}', 1, 42, "matches /x/"),
        ("- {name: a, validate: ['contains \"a\"', matches /x/]}", 1, 24, "'contains \"a\"'"),
        ("- {type: contains, rule: sunny}", 1, 10, "{type: contains, rule: sunny}"),
        ('- {type: length, rule: "min:1"}', 1, 24, '{type: length, rule: "min:1"}'),
        ("- validate: [{type: contains, rule: a}, non-empty]", 1, 21, "{type: contains, rule: a}"),
        ("- type: contains\n  rule: sunny", 1, 9, "type: contains, rule: sunny"),
        ("- type: length\n  rule: min:1", 2, 9, "type: length, rule: min:1"),
        ("- type: non_empty", 1, 9, "type: non_empty"),
        ('- contains "a, b" for tone', 1, 3, 'contains "a, b" for tone'),
    ],
)
def test_verbose_shows_the_check_that_was_authored_and_nothing_beside_it(
    tmp_path: Path, text: str, line: int, column: int, words: str
) -> None:
    place = Place(file="w.eval.yaml", line=line, column=column)
    failed = AssertionResult(at="/expect/checks/0", outcome="failed", message="no", place=place)
    whole = suite(case("a", status="failed", error="no", assertions=(failed,)))
    lines = list(suite_lines(ReportedSuite.of(whole), Screen(), authored(tmp_path, text), detail="verbose"))
    assert f"    ✗ {place}  {words}" in lines


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


def test_verbose_seeks_the_places_of_checks_that_passed(tmp_path: Path) -> None:
    where = Place(file="w.eval.yaml", line=1, column=3)
    checks = {at: Place(file="w.eval.yaml", line=2, column=5) for at in ("/expect/minLength", "/expect/maxLength")}
    checks["/expect/toolParams/0"] = Place(file="w.eval.yaml", line=3, column=5)
    passed = tuple(AssertionResult(at=at, outcome="passed") for at in (*checks, "/expect/toolsCalled"))
    whole = suite(msgspec.structs.replace(case("a", assertions=passed), place=where))
    text = "- name: a\n  - length 1..5\n  - tool x.y exists\n"
    for written, expected in (
        (
            BEFORE,
            [
                "    ✓ w.eval.yaml:2:5  length 1..5",
                "    ✓ w.eval.yaml:3:5  tool x.y exists",
                "    ✓ toolsCalled",
            ],
        ),
        (AFTER, ["    ✓ minLength", "    ✓ maxLength", "    ✓ toolParams/0", "    ✓ toolsCalled"]),
    ):
        authored(tmp_path, text, written)
        sources = SourceLines(tmp_path, places=lambda file, id_: checks if (file, id_) == (where.file, "a") else {})
        lines = list(suite_lines(ReportedSuite.of(whole), Screen(), sources, detail="verbose"))
        assert [line for line in lines if line.startswith("    ✓")] == expected
