"""JMESPath expressions: what they find, and the mistakes of invalid ones."""

from __future__ import annotations

import pytest

from evalc.runtime.mapping import BadPath, JsonPath, NotSearchable


def test_finds() -> None:
    document = {"steps": [{"kind": "tool", "n": 1}, {"kind": "text"}]}
    assert JsonPath.of("steps[?kind=='tool'].n | [0]").find(document) == 1
    assert JsonPath.of("nothing.there").find(document) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("a[", "it ends too early"),
        ("a..b", "at character 3 is not allowed there"),
        ("a ^ b", "`^` at character 3 has no meaning there"),
        ("a[?lenght(b) > `1`]", "unknown function `lenght`; did you mean `length`?"),
        ("(" * 5_000, "nested too deeply"),
    ],
)
def test_invalid_expressions_are_refused(text: str, why: str) -> None:
    with pytest.raises(BadPath) as caught:
        JsonPath.of(text)
    assert why in str(caught.value)


def test_a_function_that_does_not_take_what_is_there() -> None:
    with pytest.raises(NotSearchable, match=r"`length\(a\)` cannot be applied"):
        JsonPath.of("length(a)").find({"a": 1})
