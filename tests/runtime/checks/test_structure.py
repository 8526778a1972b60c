"""Fields of JSON and headings of Markdown."""

from __future__ import annotations

import pytest

from evalc.check.forms import check_of
from evalc.check.texts import fenced_blocks
from evalc.check.tree import Not
from tests.runtime.checks.conftest import Ask

DOCUMENT = '{"meta": {"title": "T", "n": 2}, "items": [{"id": 1}, {"id": 2.5}], "empty": [], "a.b": null}'


@pytest.mark.parametrize(
    ("path", "kind", "outcome"),
    [
        ("meta", None, "passed"),
        ("meta.title", "string", "passed"),
        ("meta.n", "integer", "passed"),
        ("meta.n", "number", "passed"),
        ("meta.title", "number", "failed"),
        ("meta.gone", None, "failed"),
        ("items[].id", None, "passed"),
        ("items[].id", "number", "passed"),
        ("items[].id", "integer", "failed"),
        ("items[1].id", "number", "passed"),
        ("items[2].id", None, "failed"),
        ("items[].name", None, "failed"),
        ("empty[].id", None, "passed"),
        ("gone[].id", None, "failed"),
        ("meta[].id", None, "failed"),
        ('["a.b"]', "null", "passed"),
        ("a.b", None, "failed"),
        ('["meta.title"]', None, "failed"),
        ('["meta"].title', "string", "passed"),
        ("items", "array", "passed"),
        ("meta", "object", "passed"),
    ],
)
def test_fields(ask: Ask, path: str, kind: str | None, outcome: str) -> None:
    assert ask(check_of({"type": "structure", "fields": ({"path": path, "type": kind},)}), DOCUMENT).outcome == outcome


def test_fields_say_what_is_wrong(ask: Ask) -> None:
    check = check_of({"type": "structure", "fields": ({"path": "a"}, {"path": "b", "type": "string"})})
    assert ask(check, '{"b": 1}').message == "expected field 'a' but it is not there"
    message = ask(check, '{"a": 1, "b": true}').message
    assert message == "expected field 'b' to be of type string but got boolean"
    assert (ask(check, "no").message or "").startswith("expected JSON but got 'no'")


def test_headings_compare_trimmed_and_ignoring_case(ask: Ask) -> None:
    assert (
        ask(check_of({"type": "structure", "headings": (" SUMMARY ", "risks")}), "# **Summary**\n\nRisks\n===").outcome
        == "passed"
    )
    verdict = ask(check_of({"type": "structure", "headings": ("Summary", "Cost")}), "# Summary")
    assert verdict.message == "expected headings 'Cost' but found 'Summary'"
    assert (
        ask(check_of({"type": "structure", "headings": ("A",)}), "text").message
        == "expected headings 'A' but found none"
    )


def test_fences_close_with_their_own_kind() -> None:
    assert fenced_blocks("````\n```\na\n````\n~~~\nb") == ["```\na", "b"]
    assert fenced_blocks("```a`b\nno fence") == []


def test_hostile_fences_are_read_in_one_pass() -> None:
    assert len(fenced_blocks("```a\n```b\n" * 100_000)) == 1


def test_a_response_that_is_too_deep_is_an_error(ask: Ask) -> None:
    check = check_of({"type": "structure", "fields": ({"path": "a"},)})
    verdict = ask(check, "[" * 100_000)
    assert (verdict.outcome, verdict.message) == ("error", "the response is nested too deeply to be read as JSON")


@pytest.mark.parametrize("text", ["five", "", "{"])
def test_fields_cannot_be_asked_of_what_is_no_json(text: str, ask: Ask) -> None:
    has_fields = check_of({"type": "structure", "fields": [{"path": "total"}]})
    assert not (asked := ask(has_fields, text)).asked
    assert asked.outcome == ask(Not(has_fields), text).outcome == "failed"
