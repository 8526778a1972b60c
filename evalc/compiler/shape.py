"""Finds every place where plain JSON data does not have the shape of a model type.

msgspec names the first misfit; the walker names them all. The types themselves are the only statement of the shape: the
kinds that the walker reads follow from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import inspect as t

from evalc.diagnostics import Finding
from evalc.dsl.kinds import ANYTHING, Flag, Key, Kind, ListOf, MapOf, Number, OneOf, Shape, Text
from evalc.dsl.walk import Fields, Tree
from evalc.model.json import pointer_step

Misfit = tuple[str, Finding]
"""A JSON pointer, with a leading `#` where the key is meant rather than its value, and what is wrong there."""


def mismatches(data: object, type_: Any, pointer: str = "", *, what: str = "the value") -> Sequence[Misfit]:
    """Every misfit between the data and the type, in the order of the data; `what` names the data in messages."""
    try:
        msgspec.convert(data, type_)
    except msgspec.ValidationError:
        tree = _Json()
        _kind(t.type_info(type_)).take(Fields(tree, _At({}, pointer), _NOTHING), _At(data, pointer), what)
        return tree.found
    return ()


def is_timestamp(text: str) -> bool:
    """Whether a text is a date or a time as ISO 8601 writes it."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


class _At(NamedTuple):
    """A value at a JSON pointer, or a key there with its text."""

    data: Any
    pointer: str
    text: str = ""


class _Json(Tree):
    """Plain data; a misfit is at a JSON pointer."""

    mapping = "an object"

    def __init__(self) -> None:
        self.found: list[Misfit] = []

    def report(self, node: _At, finding: Finding) -> None:
        self.found.append((node.pointer, finding))

    def pairs(self, node: _At) -> Sequence[tuple[_At, _At]] | None:
        if not isinstance(node.data, dict):
            return None
        at = {key: f"{node.pointer}/{pointer_step(key)}" for key in node.data}
        return [(_At(key, f"#{at[key]}", key), _At(value, at[key])) for key, value in node.data.items()]

    def items(self, node: _At) -> Sequence[_At] | None:
        if not isinstance(node.data, list):
            return None
        return [_At(item, f"{node.pointer}/{index}") for index, item in enumerate(node.data)]

    def text(self, node: _At) -> str | None:
        return node.data if isinstance(node.data, str) else None

    def value(self, node: _At) -> Any:
        return node.data

    def is_absent(self, _node: _At) -> bool:
        return False  # null is a value, which few keys take

    def described(self, node: _At) -> str:
        return named(node.data)


# --- kinds of types --------------------------------------------------------------------------------------------------

_NOTHING: Final = Shape("", {})


class _Null(Kind):
    expected = ""
    looks = frozenset({"null"})


_NO_NOUNS: Final = frozenset({"`of`", "`has`"})


class _Literal(Kind):
    """One of a few texts. Anything else is named as a text that is none of them."""

    expected = "a text"
    looks = frozenset({"text"})

    def __init__(self, choices: tuple[str, ...]) -> None:
        super().__init__({})
        self._choices = choices

    def take(self, fields: Fields, node: _At, what: str) -> Any:
        if node.data not in self._choices:
            called = f"value of {what}" if what in _NO_NOUNS else what.strip("`") if what.startswith("`") else what
            fields.no_choice(node, called, _shown(node.data), self._choices)


class _OrToken(Kind):
    """A value of a kind, or a token in its place."""

    def __init__(self, kind: Kind, token: str) -> None:
        super().__init__({})
        self.looks = kind.looks | {"text"}
        self.expected = kind.expected
        self._kind = kind
        self._token = re.compile(token)

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        if not isinstance(node.data, str) or not self._token.search(node.data):
            self._kind.take(fields, node, what)


class _Map(MapOf):
    expected = "an object"


class _Record(Kind):
    """A record of the model; its kind is made when it is needed, since a check may hold checks."""

    expected = "an object"
    looks = frozenset({"mapping"})

    def __init__(self, type_: t.StructType) -> None:
        super().__init__({})
        self.type = type_

    def take(self, fields: Fields, node: _At, what: str) -> Any:
        return _shape(self.type.cls).take(fields, node, what)


class _Tagged(Kind):
    """One of several records, by the name in its tag."""

    expected = "an object"
    looks = frozenset({"mapping"})

    def __init__(self, records: list[t.StructType]) -> None:
        super().__init__({})
        self._tag = records[0].tag_field or "type"
        self._records = {str(record.tag): _Record(record) for record in records}

    def take(self, fields: Fields, node: _At, what: str) -> Any:
        pairs = fields.pairs_of(node, what)
        if pairs is None:
            return
        tag = next((value for key, value in pairs if key.text == self._tag), None)
        if tag is None:
            fields.fault(node, Finding("EV202", key=self._tag, what="a check"))
        elif not isinstance(tag.data, str) or tag.data not in self._records:
            fields.fault(tag, Finding("EV203", name=_shown(tag.data), known=tuple(self._records)))
        else:
            self._records[tag.data].take(fields, node, what)


@cache
def _shape(record: type[msgspec.Struct]) -> Shape:
    type_ = t.type_info(record)
    assert isinstance(type_, t.StructType)  # noqa: S101 - for the type checker
    keys = {field.encode_name: Key(_kind(field.type), required=field.required) for field in type_.fields}
    one_of: tuple[str, ...] = getattr(record, "asks_one_of", ())

    def build(fields: Fields, _: object) -> None:
        if one_of and not any(key in fields for key in one_of):
            fields.require(one_of[0])

    return Shape("", keys | ({type_.tag_field: Key(ANYTHING, kept=True)} if type_.tag_field else {}), build=build)


def _kind(type_: t.Type) -> Kind:
    match type_:
        case t.Metadata():  # what a declaration says beside the type
            return _kind(type_.type)
        case t.UnionType():
            return _union(type_)
        case t.StructType():
            return _Record(type_)
        case t.VarTupleType() | t.ListType():
            return ListOf(_kind(type_.item_type))
        case t.DictType():
            return _Map(_kind(type_.value_type), {})
        case t.LiteralType():
            return _Literal(tuple(map(str, type_.values)))
        case t.StrType():
            return Text({})
        case t.BoolType():
            return Flag({})
        case t.IntType():
            return Number(
                {}, int, expected="a whole number" + f" from {type_.ge}" * (type_.ge is not None), least=type_.ge
            )
        case t.FloatType():
            return Number({}, int, float)
        case t.NoneType():
            return _Null({})
        case _:
            return ANYTHING


def _union(type_: t.UnionType) -> Kind:
    records = [each for each in type_.types if isinstance(each, t.StructType)]
    tokens = [each.pattern for each in type_.types if isinstance(each, t.StrType) and each.pattern]
    others = [
        _kind(each)
        for each in type_.types
        if (each not in records or len(records) == 1) and getattr(each, "pattern", None) not in tokens
    ]
    kind = OneOf(*others, *([_Tagged(records)] if len(records) > 1 else []))
    return _OrToken(kind, tokens[0]) if tokens else kind


def named(data: object) -> str:
    """The kind of a value, for messages."""
    match data:
        case None:
            return "null"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"`{_shown(data)}`"


def _shown(data: object) -> str:
    text = data if isinstance(data, str) else msgspec.json.encode(data).decode()
    return text if len(text) <= 40 else text[:37] + "..."
