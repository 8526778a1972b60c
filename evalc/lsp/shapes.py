"""What the JSON Schema of the language says of a place: which keys may stand there, and what they are for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from evalc.dsl.nodes import Node
from evalc.lsp.cursor import Place, plain
from evalc.schema.language import language
from evalc.schema.shapes import Schema


def shapes_around(place: Place) -> list[Schema]:
    """What may stand where the collection is that the scalar is a key or an item of."""
    shapes: list[Schema] = [_language()]
    nodes = [node for node, _ in place.steps]
    for node, key in place.steps[:-1]:
        shapes = _stepped(shapes, node, key)
    return [each for shape in shapes for each in _applying(shape, nodes[-1])] if nodes else shapes


def shapes_at(place: Place) -> list[Schema]:
    """What may stand where the scalar is; of a key, where its value is."""
    return [
        each
        for shape in _stepped_from(shapes_around(place), place.steps[-1][1] if place.steps else "")
        for each in _applying(shape, place.scalar)
    ]


def described(place: Place) -> str:
    """The sentence that says what the key is for that the scalar is, or that it stands under."""
    sentences = (shape.get("description", "") for shape in shapes_at(place))
    return next(filter(None, sentences), "")


@cache
def _language() -> Schema:
    return language()


def _stepped(shapes: list[Schema], node: Node, key: str | int) -> list[Schema]:
    return _stepped_from([each for shape in shapes for each in _applying(shape, node)], key)


def _stepped_from(shapes: list[Schema], key: str | int) -> list[Schema]:
    found: list[Schema] = []
    for shape in shapes:
        inner = shape.get("items") if isinstance(key, int) else shape.get("properties", {}).get(key)
        if inner is None and isinstance(key, str) and isinstance(shape.get("additionalProperties"), dict):
            inner = shape["additionalProperties"]
        if isinstance(inner, dict) and inner not in found:
            found.append(inner)
    return found


def _applying(shape: Schema, node: Node) -> Iterator[Schema]:
    """The shape and all that it refers to, less what does not hold for the node as it is."""
    yield shape
    if (name := shape.get("$ref", "").removeprefix("#/$defs/")) in _language()["$defs"]:
        yield from _applying(_language()["$defs"][name], node)
    for every in ("anyOf", "oneOf", "allOf"):
        for each in shape.get(every, ()):
            yield from _applying(each, node)
    if "if" in shape:
        branch = shape.get("then" if _holds(shape["if"], plain(node)) else "else")
        if isinstance(branch, dict):
            yield from _applying(branch, node)


def _holds(condition: Schema, data: Any) -> bool:
    return Draft202012Validator(condition).is_valid(data)


def is_check(place: Place) -> bool:
    """Whether the scalar may be a check on one line."""
    return any(shape.get("title") == "check on one line" for shape in shapes_at(place))
