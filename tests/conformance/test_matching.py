"""The comparison itself: what it lets pass, and that it can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.matching import differences


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"error": None}, {}),
        ({"errorStartsWith": "timeout"}, {"error": "timeout: no answer"}),
        ({"score": "1/3"}, {"score": 0.333333333333}),
        ({"score": None}, {"score": None}),
        ([{"a": 1}], [{"a": 1, "b": 2}]),
        ("<milliseconds>", 0.25),
        ("<uuid>", "5e6f0a52-9f1f-4b8e-8d0e-2d6a1f3c7b90"),
        ("<timestamp>", "2026-01-31T12:00:00.000Z"),
        ("<hash>", "0123456789ab"),
        ("<it>", 7),
    ],
)
def test_as_expected(expected: Any, actual: Any) -> None:
    assert list(differences(expected, actual, names={"<it>": 7})) == []


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        ({"a": 1}, {"a": 2}, "$.a: expected 1, found 2"),
        ({"a": 1}, {}, "$.a: expected 1, found null"),
        ({"a": {"b": 1}}, {"a": 1}, "$.a: expected an object, found 1"),
        ({"passed": True}, {"passed": 1}, "$.passed: expected true, found 1"),
        ({"run": 1}, {"run": True}, "$.run: expected 1, found true"),
        ({"error": None}, {"error": "x"}, '$.error: expected null, found "x"'),
        ({"errorStartsWith": "t"}, {"error": "x"}, '$.error: expected it to start with "t", found "x"'),
        ({"errorStartsWith": "t"}, {}, '$.error: expected it to start with "t", found null'),
        ({"score": "1/3"}, {"score": 0.3333}, "$.score: expected 1/3, found 0.3333"),
        ({"score": "1"}, {"score": None}, "$.score: expected 1, found null"),
        ([1, 2], [1], "$: expected [1, 2], found [1]"),
        ([1, 2], [1, 3], "$[1]: expected 2, found 3"),
        ("<milliseconds>", -1, '$: expected "<milliseconds>", found -1'),
        ("<uuid>", "x", '$: expected "<uuid>", found "x"'),
        ("<timestamp>", "2026-01-31T12:00:00", '$: expected "<timestamp>", found "2026-01-31T12:00:00"'),
        ("<hash>", "0123456789AB", '$: expected "<hash>", found "0123456789AB"'),
        ("<it>", 8, '$: expected "<it>", found 8'),
    ],
)
def test_not_as_expected(expected: Any, actual: Any, words: str) -> None:
    assert list(differences(expected, actual, names={"<it>": 7})) == [words]
