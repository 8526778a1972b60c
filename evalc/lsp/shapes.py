"""What the JSON Schemas say of a place: which keys are allowed there, and what they are for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, final

from jsonschema import Draft202012Validator

from evalc.compiler.pipeline import is_json
from evalc.dsl.nodes import Node
from evalc.lsp.cursor import Place, plain
from evalc.lsp.outline import Outline
from evalc.schema.language import language
from evalc.schema.published import compiled_file
from evalc.schema.shapes import Schema


@cache
def _of_yaml() -> Shapes:
    return Shapes(language())


@cache
def _of_json() -> Shapes:
    return Shapes(compiled_file())


def shapes_of(found: Outline) -> Shapes:
    """The shapes of a text: those of eval JSON, or those of the source language, which may be written in JSON, too."""
    return _of_json() if is_json(found.source) and not found.kinds else _of_yaml()


@final
class Shapes:
    """A JSON Schema, to be asked about places."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def around(self, place: Place) -> list[Schema]:
        """What is allowed in place of the collection around the scalar."""
        shapes: list[Schema] = [self._schema]
        nodes = [node for node, _ in place.steps]
        for node, key in place.steps[:-1]:
            shapes = _inside([each for shape in shapes for each in self._applying(shape, node)], key)
        return [each for shape in shapes for each in self._applying(shape, nodes[-1])] if nodes else shapes

    def at(self, place: Place) -> list[Schema]:
        """What is allowed in place of the scalar; for a key, in place of its value."""
        shapes = _inside(self.around(place), place.steps[-1][1] if place.steps else "")
        return [each for shape in shapes for each in self._applying(shape, place.scalar)]

    def described(self, place: Place) -> str:
        """The sentence that says what the key is for that the scalar is or belongs to."""
        return next(filter(None, (shape.get("description", "") for shape in self.at(place))), "")

    def is_check(self, place: Place) -> bool:
        """Whether the scalar may be a check on one line."""
        return any(shape.get("title") == "check on one line" for shape in self.at(place))

    def _applying(self, shape: Schema, node: Node) -> Iterator[Schema]:
        """The shape and all that it refers to, without what does not apply to the node."""
        yield shape
        name = shape.get("$ref", "").removeprefix("#/$defs/")
        if name in self._schema["$defs"]:
            yield from self._applying(self._schema["$defs"][name], node)
        for every in ("anyOf", "oneOf", "allOf"):
            for each in shape.get(every, ()):
                yield from self._applying(each, node)
        if "if" in shape:
            branch = shape.get("then" if _holds(shape["if"], plain(node)) else "else")
            if isinstance(branch, dict):
                yield from self._applying(branch, node)


def _inside(shapes: list[Schema], key: str | int) -> list[Schema]:
    """What the shapes say of an item, or of the value of a key."""
    found: list[Schema] = []
    for shape in shapes:
        inner = shape.get("items") if isinstance(key, int) else shape.get("properties", {}).get(key)
        if inner is None and isinstance(key, str) and isinstance(shape.get("additionalProperties"), dict):
            inner = shape["additionalProperties"]
        if isinstance(inner, dict) and inner not in found:
            found.append(inner)
    return found


def _holds(condition: Schema, data: Any) -> bool:
    return Draft202012Validator(condition).is_valid(data)
