"""Paths of JSON documents: their steps, and the one path that each key has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.model.json import EVERY, Step, only_key, path_of_key, steps


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.b", [("key", "a"), ("key", "b")]),
        ("items[].id", [("key", "items"), ("every", EVERY), ("key", "id")]),
        ("[0].x", [("index", 0), ("key", "x")]),
        ("a.", [("key", "a"), ("key", "")]),
        ("a[१]", [("key", "a[१]")]),
        ('["a.b"].c[0]', [("key", "a.b"), ("key", "c"), ("index", 0)]),
        (r'a["x]\"y.z"][]', [("key", "a"), ("key", 'x]"y.z'), ("every", EVERY)]),
        ('["a.b', [("key", '["a'), ("key", "b")]),
        (r'["\q"]', [("key", r'["\q"]')]),
    ],
)
def test_steps(path: str, expected: list[Step]) -> None:
    assert [*steps(path)] == expected


@given(st.text())
def test_every_key_has_a_path(key: str) -> None:
    assert steps(path_of_key(key)) == (("key", key),)
    assert only_key(path_of_key(key)) == key
    assert only_key(f"{path_of_key(key)}.x") is None


def test_a_plain_key_is_its_own_path() -> None:
    assert path_of_key("x-y z") == "x-y z"
    assert path_of_key("a.b") == '["a.b"]'
