"""Limits of time, tokens and money."""

from __future__ import annotations

from typing import Any

import pytest

from evalc.check.forms import check_of
from evalc.check.tree import Not
from evalc.model.answer import Usage
from evalc.runtime.checks.subjects import count_tokens
from tests.runtime.checks.conftest import Ask


def test_latency_is_inclusive(ask: Ask) -> None:
    assert ask(check_of({"type": "latency", "max": 2000}), duration_ms=2000.0).outcome == "passed"
    verdict = ask(check_of({"type": "latency", "max": 2000}), duration_ms=2100.5)
    assert verdict.message == "expected at most 2000 ms but took 2100.5 ms"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("a\ud800b", 3),
        ("naïve café 👩\u200d💻", 9),
        ("const x = 1;\r\n\treturn x", 8),
        ("東京の天気は晴れ", 7),
    ],
)
def test_tokens_are_counted(text: str, count: int) -> None:
    assert count_tokens(text) == count


def test_special_tokens_are_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_a_text_of_millions_of_characters_is_counted() -> None:
    assert count_tokens("word " * 300_000) == pytest.approx(300_000, abs=5)


def test_token_limit(ask: Ask) -> None:
    assert ask(check_of({"type": "tokens", "max": 2}), "hello world").outcome == "passed"
    assert ask(check_of({"type": "tokens", "max": 1}), "hello world").message == "expected at most 1 tokens but got 2"


def test_cost(ask: Ask) -> None:
    assert ask(check_of({"type": "cost", "max": 0.02}), usage=Usage(cost_usd=0.02)).outcome == "passed"
    verdict = ask(check_of({"type": "cost", "max": 0.02}), usage=Usage(cost_usd=0.03))
    assert verdict.message == "expected at most $0.02, found $0.03"


@pytest.mark.parametrize("usage", [None, Usage(input_tokens=3)])
def test_an_unknown_cost_is_an_error(ask: Ask, usage: Usage | None) -> None:
    verdict = ask(check_of({"type": "cost", "max": 1}), usage=usage)
    assert verdict.outcome == "error"
    assert verdict.message == (
        "what it cost is not known: the agent's answer has no `usage.costUsd`, "
        "and its model has no list price to compute it from"
    )


@pytest.mark.parametrize("negated", [False, True])
def test_a_text_too_long_to_look_for_links_is_an_error(ask: Ask, negated: bool) -> None:
    has_link = check_of({"type": "markdown", "has": "link"})
    check = Not(has_link) if negated else has_link
    assert ask(check, "a" * 200_000).outcome == ("passed" if negated else "failed")
    verdict = ask(check, "a" * 200_001)
    said = "a text of 200,001 characters is too long to look for links in it"
    assert (verdict.outcome, verdict.message) == ("error", said)
    assert ask(check_of({"type": "markdown", "has": "heading"}), "# a\n" * 100_001).outcome == "passed"


@pytest.mark.parametrize(
    ("value", "outcome", "message"),
    [
        (4, "passed", None),
        ("4.5", "passed", None),
        (6, "failed", "total is 5, expected at least 6"),
        ("many", "error", "a token names `many`, where a number is needed"),
        ("", "error", "a token names an empty text, where a number is needed"),
        (True, "error", "a token names `true`, where a number is needed"),
    ],
)
def test_a_limit_may_be_a_token_that_names_a_number(value: Any, outcome: str, message: str | None, ask: Ask) -> None:
    limit = check_of({"type": "at", "path": "total", "check": {"type": "number", "min": "{{seed:least}}"}})
    verdict = ask(limit, '{"total": 5}', seed={"least": value})
    assert (verdict.outcome, verdict.message) == (outcome, message)


def test_how_often_may_be_a_token_that_names_a_number(ask: Ask) -> None:
    often = check_of({"type": "occurs", "value": "a", "min": "{{seed:least}}"})
    assert ask(often, "a b a", seed={"least": 2}).outcome == "passed"
    assert ask(often, "a b", seed={"least": 2}).outcome == "failed"
    assert ask(often, "a b", seed={"least": "x"}).message == "a token names `x`, where a number is needed"
