"""Regular expressions, which are ECMAScript's and cannot hang a run."""

from __future__ import annotations

import pytest

from evalc.check.forms import check_of
from evalc.ecma import regexp
from evalc.ecma.regexp.nodes import RegexpError
from evalc.runtime.checks import evaluate as asking
from tests.runtime.checks.conftest import Ask


def test_a_match_anywhere_passes(ask: Ask) -> None:
    assert ask(check_of({"type": "regex", "pattern": "\\d+°"}), "about 21° now").outcome == "passed"
    assert ask(check_of({"type": "regex", "pattern": "^B", "flags": "im"}), "a\nb").outcome == "passed"


def test_a_failure_shows_the_pattern_and_the_text(ask: Ask) -> None:
    verdict = ask(check_of({"type": "regex", "pattern": "^x$", "flags": "i"}), "y\n")
    assert (verdict.outcome, verdict.message) == ("failed", "expected response to match /^x$/i but got 'y\\n'")


def test_a_malformed_pattern_is_an_error(ask: Ask) -> None:
    verdict = ask(check_of({"type": "regex", "pattern": "("}), "x")
    assert verdict.outcome == "error"
    assert "is not a regular expression" in (verdict.message or "")


def test_a_pattern_that_explodes_is_an_error(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    async def impatient(compiled: regexp.Regexp, text: str) -> bool:
        return await regexp.test_async(compiled, text, timeout=0.05)

    monkeypatch.setattr(asking, "test_async", impatient)
    verdict = ask(check_of({"type": "regex", "pattern": "^(a+)+\\1$"}), "a" * 40 + "b")
    assert verdict.outcome == "error"
    assert "ran longer than 0.05 s" in (verdict.message or "")


def test_a_pattern_that_gives_no_answer_is_an_error(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(compiled: regexp.Regexp, text: str) -> bool:
        raise RegexpError("the worker ended")

    monkeypatch.setattr(asking, "test_async", breaks)
    verdict = ask(check_of({"type": "regex", "pattern": "x", "flags": "i"}), "x")
    assert (verdict.outcome, verdict.message) == ("error", "/x/i gave no answer: the worker ended")
