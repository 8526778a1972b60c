"""Checks that numbers and quotes in a response come from the results of tools."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import check_of
from evalc.model.answer import ToolCall
from evalc.model.case import Case, Expect, Input
from tests.runtime.checks.conftest import Ask


def call(result: Any = msgspec.UNSET, error: str | msgspec.UnsetType = msgspec.UNSET) -> ToolCall:
    return ToolCall(name="t", result=result, error=error)


WEATHER = call(
    {"temp": 16.62, "humidity": 0.815, "low": -2, "on": "2026-11-23", "population": 2102650, "note": ["18:05"]}
)


@pytest.mark.parametrize(
    ("response", "unknown"),
    [
        ("It is 17°C, or 16.6, exactly 16.62.", None),
        ("It is 16.", "'16'"),
        ("It is 16.7.", "'16.7'"),
        ("It is 16.620 now.", None),
        ("Down to -2, or \u22122 degrees", None),
        ("[17,-2] or 17,\u22122", None),
        ("Up to 2 degrees", "'2'"),
        ("[17,2]", "'2'"),
        ("Humidity of 82 %, or 81.5 percent, or 0.82", None),
        ("Humidity of 83%", "'83%'"),
        ("On November 23, 2026 at 18:05", None),
        ("On 2026-11-24", "'24'"),
        ("2,102,650 people, 2.1 million, 2,103k", None),
        ("2\u202f102\u202f650 people", None),
        ("2.2 million people", "'2.2 million'"),
        ("1. It is 17.\n2) It is 16.6.\n  3. On the 23rd", None),
        ("Flight B2 and H2O", None),
        ("17x18 cm at 18h05", None),
        ("17x45 cm", "'45'"),
        ("17X45 at 18h40", "'45', '40'"),
        ("17x18x45 cm, 17x18.5x46 cm", "'45', '18.5', '46'"),
        ("B2x45, ISO2x46, abc2h47, v2x49x50", None),
        ("0x48", "'0'"),
        ("3x17", "'3'"),
        ("Ksh45", "'45'"),
        ("no numbers here", None),
        ("", None),
        (".82 of it", None),
        ("1.7e1 degrees", None),
        ("6, 7, 8, 9, 10 and 12", "'6', '7', '8', '9', '10' and 1 more"),
    ],
)
def test_numbers_stand_in_a_result_up_to_their_last_digit(ask: Ask, response: str, unknown: str | None) -> None:
    verdict = ask(check_of({"type": "numbers_from"}), response, tool_calls=(WEATHER,))
    if unknown is None:
        assert (verdict.outcome, verdict.message) == ("passed", None)
    else:
        do = "do" if "," in unknown else "does"
        assert verdict.message == (
            f"expected every number in the response to be in the result of a tool but {unknown} {do} not"
        )


@pytest.mark.parametrize(
    "response",
    [
        "总价是{}元, 含早餐。",
        "料金は{}円です。",
        "ﾎﾃﾙ{}ｴﾝ",
        "โรงแรมราคา{}บาท",
        "ລາຄາ{}ກີບ",
        "តម្លៃ{}រៀល",
        "ဈေးနှုန်း{}ကျပ်",
        "총{}원",
        "ב{} שקל",
        "第{}号",
        "_{}_",
        "__{}__",
        "***_{}_***",
        "总价是_{}_元",
        "EUR{}",
        "USD{}.",
        "{}EUR",
        "总价EUR{}",
        "Rp{}",
        "zł{}",
    ],
)
def test_numbers_are_seen_beside_letters_of_other_scripts_emphasis_and_currencies(ask: Ask, response: str) -> None:
    calls = (call({"price": 42}),)
    assert "'999'" in str(ask(check_of({"type": "numbers_from"}), response.format(999), tool_calls=calls).message)
    assert ask(check_of({"type": "numbers_from"}), response.format(42), tool_calls=calls).outcome == "passed"


@pytest.mark.parametrize(
    "response", ["B999", "room_999", "a__999", "Ж999", "GPT999", "xEUR999", "café999", "_room_999_", "\uff21\uff22999"]
)
def test_digits_within_a_word_are_no_number(ask: Ask, response: str) -> None:
    assert ask(check_of({"type": "numbers_from"}), response, tool_calls=(call({"price": 42}),)).outcome == "passed"


@pytest.mark.parametrize(
    ("source", "response", "passes"),
    [
        ("A room for two nights", "2 nights", True),
        ("TWELVE guests", "12 guests", True),
        ("twenty-five or thirty six", "25, 36", True),
        ("twenty-five", "20", False),
        ("someone often", "1 and 10", False),
        ("two nights", "3 nights", False),
        ("住两晚", "2晚", True),
        ("二十三人、十一", "23 and 11", True),
        ("2万人", "20000", True),
        ({"guests": 20000}, "约2万人", True),
        ({"guests": 20000}, "约3万人", False),
        ({"price": 5000}, "_5k_", True),
        ({"price": 5}, "_-5_", False),
    ],
)
def test_small_numbers_in_words_are_sources(ask: Ask, source: Any, response: str, passes: bool) -> None:
    assert ask(check_of({"type": "numbers_from"}), response, tool_calls=(call(source),)).outcome == (
        "passed" if passes else "failed"
    )


@pytest.mark.parametrize(
    ("response", "unknown"),
    [
        ('A 5" pipe "made up"', "'made up'"),
        ('A 5" and a 6" pipe, "made up"', "'made up'"),
        ('5"x8" "made up"', "'made up'"),
        ('The pipe" fits "made up"', "'made up'"),
        ('5"', None),
        ('It said "a 5" pipe fits" and "made up"', "'made up'"),
        ('The "pipe 5" is "made up"', "'made up'"),
        ('价格是5"假的"好', "'假的'"),
        ('It said:" made up"', "' made up'"),
    ],
)
def test_an_inch_mark_does_not_shift_the_pairs(ask: Ask, response: str, unknown: str | None) -> None:
    verdict = ask(check_of({"type": "quotes_from"}), response, tool_calls=(call('a 5" pipe fits; pipe 5'),))
    assert verdict.outcome == ("passed" if unknown is None else "failed")
    assert unknown is None or f"but {unknown} does not" in str(verdict.message)


@pytest.mark.parametrize(
    ("response", "passes"),
    [
        ("He said “It rains in  PARIS.”", True),
        ('It said "it rains"', True),
        ("«nothing» and „it rains“", False),
        ('She said "it snows"', False),
        ("It's Ann's", True),
        ("no quotes", True),
        ('an open " quote', True),
        ('"..."', False),
    ],
)
def test_quotes_stand_in_a_result(ask: Ask, response: str, passes: bool) -> None:
    calls = (call({"said": ["Well, it rains in Paris today."]}), call(error="no"))
    assert ask(check_of({"type": "quotes_from"}), response, tool_calls=calls).outcome == (
        "passed" if passes else "failed"
    )


def test_unknown_quotes_are_marked_in_the_report(ask: Ask) -> None:
    finding = ask(check_of({"type": "numbers_from"}), "It is 99 there", tool_calls=(WEATHER,)).finding
    assert finding is not None
    assert (finding.kind, finding.text) == ("forbidden", "99")


def test_errors_of_tools_are_sources_and_the_message_where_it_is_named(ask: Ask) -> None:
    case = Case(id="x", description="", input=Input(message="3 days for room 42, please"), expect=Expect())
    failed = call(error="room 42 is taken")
    assert (
        ask(check_of({"type": "numbers_from"}), "Room 42 is taken", tool_calls=(failed,), case=case).outcome == "passed"
    )
    assert ask(check_of({"type": "numbers_from"}), "3 days", tool_calls=(failed,), case=case).outcome == "failed"
    assert (
        ask(
            check_of({"type": "numbers_from", "sources": ("tools", "message")}),
            "3 days",
            tool_calls=(failed,),
            case=case,
        ).outcome
        == "passed"
    )
    assert ask(check_of({"type": "numbers_from", "sources": ("message",)}), "42 and 3", case=case).outcome == "passed"
    assert ask(check_of({"type": "numbers_from", "sources": ("message",)}), "43", case=case).message == (
        "expected every number in the response to be in the message but '43' does not"
    )


def test_calls_without_results_are_an_error_and_never_a_pass(ask: Ask) -> None:
    verdict = ask(check_of({"type": "numbers_from"}), "It is 17", tool_calls=(call(),))
    assert verdict.outcome == "error"
    assert "without their `result`" in (verdict.message or "")
    assert ask(check_of({"type": "numbers_from"}), "It is 17").outcome == "failed"
    assert ask(check_of({"type": "numbers_from"}), "It is 17", tool_calls=(call(None),)).outcome == "failed"


def test_an_agent_that_reports_no_calls_is_noted(ask: Ask) -> None:
    assert ask(check_of({"type": "numbers_from"}), "17", reports_calls=False).notes
    assert not ask(check_of({"type": "numbers_from", "sources": ("message",)}), "17", reports_calls=False).notes


def test_at_a_place(ask: Ask) -> None:
    check = check_of({"type": "at", "path": "summary", "check": {"type": "numbers_from"}})
    assert ask(check, '{"id": 4711, "summary": "17 degrees"}', tool_calls=(WEATHER,)).outcome == "passed"
    assert ask(check, '{"id": 4711, "summary": "19 degrees"}', tool_calls=(WEATHER,)).outcome == "failed"


@given(st.integers(-(10**30), 10**30), st.integers(0, 6))
def test_a_number_is_always_its_own_source(whole: int, digits: int) -> None:
    text = f"{whole / 10**digits:.{digits}f}" if digits else str(whole)
    verdict = Ask()(check_of({"type": "numbers_from"}), f"x {text} y", tool_calls=(call(text),))
    assert verdict.outcome == "passed", verdict.message


@given(st.floats(-1e6, 1e6).filter(lambda number: abs(number) > 1e-4), st.integers(1, 4))
def test_a_rounded_number_passes_and_one_further_off_does_not(number: float, digits: int) -> None:
    rounded = f"{number:.{digits}f}"
    calls = (call(number),)
    assert Ask()(check_of({"type": "numbers_from"}), f"x {rounded}", tool_calls=calls).outcome == "passed"
    off = f"{float(rounded) + 2 * 10**-digits:.{digits}f}"
    assert Ask()(check_of({"type": "numbers_from"}), f"x {off}", tool_calls=calls).outcome == "failed"


@pytest.mark.parametrize(
    ("source", "response", "passes"),
    [
        (42, "It costs 42,00 €.", True),
        (42, "Das macht EUR 42,00, bitte.", True),
        (1234.5, "1.234,50 € or 1234,50 €", True),
        (-3.25, "-3,25 °C", True),
        (3.25, "-3,25 °C", False),
        (42, "It costs 43,00 €.", False),
        (42, "It costs 42,10 €.", False),
        (42, "It costs 42,000 or 42,00,00", False),
        ([19, 99], "19,99", True),
        ("19,99 €", "It costs 19.99 euros, so 20.", True),
        ("1.234,56", "1,234.56", True),
        ("19,99 €", "It costs 18.99.", False),
    ],
)
def test_amounts_may_have_a_comma_before_their_cents(ask: Ask, source: Any, response: str, passes: bool) -> None:
    assert (ask(check_of({"type": "numbers_from"}), response, tool_calls=(call(source),)).outcome == "passed") == passes


@given(st.text("0123456789.,-eE%kM '\u00a0ab\n٣_一十两万是บs\u0131x\u017ftwoUSD", max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert Ask()(check_of({"type": "numbers_from"}), text, tool_calls=(call([text, "1" * 5000]),)).outcome == "passed"


def test_long_texts_are_read_in_linear_time(ask: Ask) -> None:
    for text in (
        "1" * 100_000,
        "1," * 50_000,
        "1 " * 50_000,
        "1,11 " * 25_000,
        "-" * 100_000,
        "." * 100_000,
        '"' * 100_000,
    ):
        assert ask(check_of({"type": "numbers_from"}), text, tool_calls=(call(text),)).outcome == "passed"
        ask(check_of({"type": "quotes_from"}), text, tool_calls=(call(text),))
