"""Laws of the scan for places: what it says of a value is where that value stands."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalc.dsl.read_toml import Keys, locate

scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
documents = st.recursive(
    scalars | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


def paths_of(value: Any, path: Keys = ()) -> list[tuple[Keys, Any]]:
    """Every value inside `value`, with its path."""
    if isinstance(value, dict):
        inner: list[tuple[str | int, Any]] = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        return []
    return [entry for key, item in inner for entry in [((*path, key), item), *paths_of(item, (*path, key))]]


@given(st.dictionaries(names, documents, max_size=4), st.sampled_from([None, 2]), st.booleans())
def test_json_places_are_those_of_the_values(document: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    located = locate(text, "JSON")
    assert located.repeated == []
    for path, value in paths_of(document):
        place = located.places[path]
        assert json.loads(text[slice(*place.value)]) == value
        if isinstance(path[-1], str):
            assert json.loads(text[slice(*place.key)]) == path[-1]


toml_scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
toml_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.just("\n"))
toml_names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
toml_values = st.recursive(
    toml_scalars | toml_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(toml_names, inner, max_size=3),
    max_leaves=8,
)


def toml(value: Any) -> str:
    """The value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[\n  " + "".join(f"{toml(item)}, # [a, comment = \n" for item in value) + "]"
    if isinstance(value, str) and "'" not in value and "\n" in value:
        return f"'''\n{value}'''"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@given(
    st.dictionaries(toml_names, toml_values, max_size=3),
    st.dictionaries(toml_names, st.dictionaries(toml_names, toml_values, max_size=3), max_size=3),
    st.booleans(),
)
def test_toml_places_are_those_of_the_values(
    top: dict[str, Any], tables: dict[str, dict[str, Any]], dotted: bool
) -> None:
    document = {**top, **tables}
    lines = [f"{toml(key)} = {toml(document[key])}" for key in top if key not in tables]
    for name, table in tables.items():
        lines += [] if dotted else [f"[ {toml(name)} ] # a header"]
        prefix = f"{toml(name)} . " if dotted else ""
        lines += [f"{prefix}{toml(key)} = {toml(value)} # a comment" for key, value in table.items()]
    text = "\n".join(lines) + "\n"
    parsed = tomllib.loads(text)
    located = locate(text, "TOML")
    assert located.repeated == []
    for path, value in paths_of(parsed):
        place = located.places[path]
        if len(path) > 1 or path[0] not in tables:
            assert tomllib.loads(f"x = {text[slice(*place.value)]}")["x"] == value
        if isinstance(path[-1], str):
            assert next(iter(tomllib.loads(f"{text[slice(*place.key)]} = 1"))) == path[-1]


def test_dates_and_fractions_are_one_value() -> None:
    text = "d = 2026-01-01T10:00:00.5Z\nf = 1.5\n"
    places = locate(text, "TOML").places
    assert text[slice(*places[("d",)].value)] == "2026-01-01T10:00:00.5Z"
    assert text[slice(*places[("f",)].value)] == "1.5"


def test_a_repeated_key_of_json_is_reported_with_its_place() -> None:
    text = '{"a": {"b": 1, "b": 2}, "a": 3}'
    repeated = locate(text, "JSON").repeated
    assert [(path, text[slice(*span)], span.start) for path, span in repeated] == [
        (("a", "b"), '"b"', 15),
        (("a",), '"a"', 24),
    ]


@given(st.text("[]{}\"',:=.#\n ab1\\"))
def test_no_text_is_refused(text: str) -> None:
    for language in ("TOML", "JSON"):
        for place in locate(text, language).places.values():
            assert 0 <= place.value.start <= place.value.end <= len(text)


def test_deep_nesting_is_passed_over() -> None:
    text = '{"a": ' + "[" * 50_000 + "]" * 50_000 + ', "b": 2}'
    places = locate(text, "JSON").places
    assert text[slice(*places[("b",)].value)] == "2"
    assert len(places) < 30
