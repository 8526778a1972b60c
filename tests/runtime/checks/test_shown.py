"""Hostile texts in messages."""

from __future__ import annotations

from evalc.runtime.checks.words import bracketed, number, quoted, shown


def test_long_texts_are_shortened() -> None:
    assert shown("x" * 121) == "x" * 119 + "…"
    assert shown("x" * 120) == "x" * 120


def test_control_characters_are_escaped() -> None:
    assert quoted("a\n\x1b[31m\u2028\u202e\U000e0001\x7f") == r"'a\n\x1b[31m\u2028\u202e\U000e0001\x7f'"


def test_lists_and_numbers() -> None:
    assert bracketed(("a", "b")) == "[a, b]"
    assert bracketed(()) == "[]"
    assert [number(2000), number(2000.0), number(0.02)] == ["2000", "2000", "0.02"]
