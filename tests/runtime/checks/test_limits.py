"""Limits of time, tokens and money."""

from __future__ import annotations

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
