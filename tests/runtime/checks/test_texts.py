"""Checks of the response's text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import check_of, record_of
from evalc.check.tree import Check
from evalc.ecma import length_of
from tests.runtime.checks.conftest import Ask

SEED = {"a": "AAPL", "n": 150.0, "none": None}


def test_contains_is_case_sensitive_and_says_it_in_the_contract_s_words(ask: Ask) -> None:
    assert ask(check_of({"type": "contains", "value": "Tokyo"}), "In Tokyo").outcome == "passed"
    verdict = ask(check_of({"type": "contains", "value": "Tokyo"}), "in tokyo")
    assert (verdict.outcome, verdict.message) == ("failed", "expected 'Tokyo' in response but not found")


def test_not_contains_says_it_in_the_contract_s_words(ask: Ask) -> None:
    verdict = ask(check_of({"type": "not_contains", "value": "fetchedAt"}), '{"fetchedAt": 1}')
    assert (verdict.outcome, verdict.message) == ("failed", 'found "fetchedAt" in response')
    assert ask(check_of({"type": "not_contains", "value": "fetchedAt"}), "fine").outcome == "passed"


@pytest.mark.parametrize(
    "check",
    [
        check_of({"type": "contains", "value": "{{seed:a}} x{{seed:n}}"}),
        check_of({"type": "icontains", "value": "aapl X{{seed:n}}"}),
        check_of({"type": "contains_any", "values": ("no", "{{seed:a}} x150")}),
        check_of({"type": "equals", "value": "{{seed:a}} x{{seed:n}}!"}),
        check_of({"type": "starts_with", "value": "{{seed:a}}"}),
        check_of({"type": "ends_with", "value": "{{seed:n}}!"}),
    ],
)
def test_tokens_are_filled_with_javascript_s_texts(ask: Ask, check: Check) -> None:
    assert ask(check, "AAPL x150!", seed=SEED).outcome == "passed"


@pytest.mark.parametrize(
    "check",
    [
        check_of({"type": "contains", "value": "{{seed:a}} {{seed:none}}"}),
        check_of({"type": "not_contains", "value": "{{seed:none}}"}),
        check_of({"type": "icontains", "value": "{{seed:none}}"}),
        check_of({"type": "contains_any", "values": ("{{seed:none}}",)}),
        check_of({"type": "equals", "value": "{{seed:none}}"}),
        check_of({"type": "starts_with", "value": "{{seed:none}}"}),
        check_of({"type": "ends_with", "value": "{{seed:none}}"}),
    ],
)
def test_an_unresolved_text_is_skipped_whole(ask: Ask, check: Check) -> None:
    verdict = ask(check, "AAPL", seed=SEED)
    assert verdict.outcome == "skipped"
    assert verdict.skipped_tokens == ("{{seed:none}}",)
    assert [tuple(note) for note in verdict.notes] == [("{{seed:none}} is unresolved", "skipped")]


def test_an_unresolved_member_leaves_its_group(ask: Ask) -> None:
    check = check_of({"type": "contains_any", "values": ("{{snapshot:x}}", "rain")})
    assert ask(check, "rain").outcome == "passed"
    verdict = ask(check, "sun")
    assert verdict.message == "expected one of 'rain' in response but found none"
    assert verdict.skipped_tokens == ("{{snapshot:x}}",)
    assert verdict.notes[0].effect == "checked without it"


def test_an_empty_group_is_skipped(ask: Ask) -> None:
    verdict = ask(check_of({"type": "contains_any", "values": ()}), "x")
    assert (verdict.outcome, verdict.message, verdict.skipped_tokens) == ("skipped", "the group is empty", ())


def test_icontains_folds_case(ask: Ask) -> None:
    assert ask(check_of({"type": "icontains", "value": "STRASSE"}), "Straße").outcome == "passed"
    assert "ignoring case" in (ask(check_of({"type": "icontains", "value": "x"}), "y").message or "")


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        (check_of({"type": "contains", "value": "rain"}), "missing"),
        (check_of({"type": "icontains", "value": "rain"}), "missing"),
        (check_of({"type": "not_contains", "value": "sun"}), "forbidden"),
        (check_of({"type": "equals", "value": "rain"}), "differs"),
        (check_of({"type": "starts_with", "value": "rain"}), "differs"),
    ],
)
def test_findings_are_kept_as_facts(ask: Ask, check: Any, kind: str) -> None:
    found = ask(check, "sun").finding
    assert found is not None
    assert (found.kind, found.text, found.path) == (kind, record_of(check)["value"], None)
    within = ask(check_of({"type": "at", "path": "a", "check": record_of(check)}), '{"a": "sun"}').finding
    assert within is not None
    assert within.path == "a"


def test_a_text_too_long_for_a_report_is_no_finding(ask: Ask) -> None:
    assert ask(check_of({"type": "contains", "value": "x" * 1000}), "y").finding is not None
    assert ask(check_of({"type": "contains", "value": "x" * 1001}), "y").finding is None


def test_equals_and_starts_with_say_what_they_got(ask: Ask) -> None:
    assert ask(check_of({"type": "equals", "value": "42"}), "42\n").message == "response is `42\\n`, expected `42`"
    assert (
        ask(check_of({"type": "starts_with", "value": "Dear"}), "Hi").message
        == "response is `Hi`, expected it to start with `Dear`"
    )


def test_ends_with_shows_the_end_of_what_it_got(ask: Ask) -> None:
    check = check_of({"type": "ends_with", "value": "regards"})
    assert ask(check, "Best regards").outcome == "passed"
    assert ask(check, "Bye\n").message == "response is `Bye\\n`, expected it to end with `regards`"
    message = ask(check, "a" * 500 + "end").message or ""
    assert message.startswith("response is `…aaa")
    assert "aaaend`" in message
    assert ask(check, "a" * 120).message == f"response is `{'a' * 120}`, expected it to end with `regards`"
    assert not ask(check_of({"type": "ends_with", "value": "{{seed:empty}}"}), "x", seed={"empty": ""}).verifies


@pytest.mark.parametrize("blank", ["", " \n\t", "\ufeff", "\u00a0\u3000"])
def test_non_empty_trims_as_javascript_does(ask: Ask, blank: str) -> None:
    assert ask(check_of({"type": "non_empty"}), blank).outcome == "failed"
    assert ask(check_of({"type": "non_empty"}), blank + "x").outcome == "passed"


def test_non_empty_distinguishes_blank_from_empty(ask: Ask) -> None:
    assert ask(check_of({"type": "non_empty"}), "").message == "expected a response but it is empty"
    assert ask(check_of({"type": "non_empty"}), " \n").message == "expected a response but it is only white space"


def test_a_group_with_an_empty_member_verifies_nothing(ask: Ask) -> None:
    verdict = ask(check_of({"type": "contains_any", "values": ("{{seed:empty}}", "AAPL")}), "AAPL", seed={"empty": ""})
    assert (verdict.outcome, verdict.verifies) == ("passed", False)
    assert ask(check_of({"type": "contains_any", "values": ("{{seed:a}}", "x")}), "AAPL", seed=SEED).verifies


def test_non_empty_does_not_trim_what_javascript_keeps(ask: Ask) -> None:
    assert ask(check_of({"type": "non_empty"}), "\x1c\x85").outcome == "passed"


@pytest.mark.parametrize(
    ("text", "unit", "size"),
    [
        ("a😀b", "chars", 3),
        ("one  two\ufeffthree\n", "words", 3),
        ("one\x1ctwo", "words", 1),
        ("", "words", 0),
        ("", "lines", 0),
        ("a", "lines", 1),
        ("a\n", "lines", 1),
        ("a\r\nb\rc\nd", "lines", 4),
        ("\n", "lines", 1),
        ("a\u2028b", "lines", 1),
        ("é😀", "bytes", 6),
        ("\ud800", "bytes", 3),
    ],
)
def test_lengths(text: str, unit: Any, size: int) -> None:
    assert length_of(text, unit) == size


def test_length_bounds_are_inclusive(ask: Ask) -> None:
    assert ask(check_of({"type": "length", "min": 3, "max": 3}), "abc").outcome == "passed"
    assert ask(check_of({"type": "length", "min": 4}), "abc").message == "expected at least 4 characters, found 3"
    assert (
        ask(check_of({"type": "length", "max": 1, "unit": "words"}), "a b").message
        == "expected at most 1 word, found 2"
    )


@given(st.text(), st.text())
def test_contains_and_not_contains_are_opposites(value: str, response: str) -> None:
    ask = Ask()
    outcomes = {
        ask(check_of({"type": "contains", "value": value}), response).outcome,
        ask(check_of({"type": "not_contains", "value": value}), response).outcome,
    }
    assert outcomes == {"passed", "failed"}


@given(st.text(), st.text(min_size=1))
def test_messages_are_one_short_printable_line(response: str, value: str) -> None:
    message = Ask()(check_of({"type": "equals", "value": value}), response + "#" + value).message
    assert message is not None
    assert message.isprintable()
    assert len(message) < 40 + 2 * 10 * 120


def test_a_group_that_an_empty_token_leaves_without_a_question_verifies_nothing(ask: Ask) -> None:
    check = check_of({"type": "contains_any", "values": ("{{seed:none}}", "other", "{{seed:empty}}")})
    verdict = ask(check, "any text", seed={"none": None, "empty": ""})
    assert (verdict.outcome, verdict.verifies) == ("passed", False)
    assert [note.fact for note in verdict.notes] == [
        "{{seed:empty}} resolves to an empty text",
        "{{seed:none}} is unresolved",
    ]


@pytest.mark.parametrize(
    ("record", "is_found"),
    [
        ({"type": "contains", "value": "z"}, True),
        ({"type": "icontains", "value": "z"}, True),
        ({"type": "not_contains", "value": "a"}, True),
        ({"type": "not", "check": {"type": "icontains", "value": "A"}}, False),
        ({"type": "equals", "value": "z"}, True),
        ({"type": "equals", "value": "z", "ignoringCase": True}, False),
    ],
)
def test_reports_mark_a_text_where_they_can_find_it_by_its_letters(
    record: dict[str, Any], is_found: bool, ask: Ask
) -> None:
    verdict = ask(check_of(record), "a")
    assert (verdict.outcome, verdict.finding is not None) == ("failed", is_found)
