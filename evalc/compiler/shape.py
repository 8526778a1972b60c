"""Finds every place where plain JSON data does not have the shape of a model type.

msgspec names the first misfit; a check names them all. The types themselves are the only statement of the shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec import inspect as t

from evalc.diagnostics.near import nearest
from evalc.diagnostics.problem import Finding
from evalc.diagnostics.raised import unknown_key
from evalc.model.json import pointer_step

Misfit = tuple[str, Finding]
"""A JSON pointer, with a leading `#` where the key is meant rather than its value, and what is wrong there."""


def mismatches(data: object, type_: Any, pointer: str = "", *, what: str = "the value") -> Iterator[Misfit]:
    """Every misfit between the data and the type, in the order of the data; `what` names the data in messages."""
    try:
        msgspec.convert(data, type_)
    except msgspec.ValidationError:
        yield from _misfits(data, t.type_info(type_), pointer, what)


def is_timestamp(text: str) -> bool:
    """Whether a text is a date or a time as ISO 8601 writes it."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _misfits(data: object, type_: t.Type, pointer: str, what: str) -> Iterator[Misfit]:
    match type_:
        case t.Metadata():  # what a declaration says beside the type
            yield from _misfits(data, type_.type, pointer, what)
        case t.UnionType():
            yield from _of_union(data, type_, pointer, what)
        case t.StructType():
            yield from _of_struct(data, type_, pointer, what)
        case t.VarTupleType() | t.ListType():
            if not isinstance(data, list):
                yield pointer, Finding("EV301", what=what, expected="a list", found=named(data))
                return
            for index, item in enumerate(data):
                yield from _misfits(item, type_.item_type, f"{pointer}/{index}", f"an item of {what}")
        case t.DictType():
            if not isinstance(data, dict):
                yield pointer, Finding("EV301", what=what, expected="an object", found=named(data))
                return
            for key, value in data.items():
                yield from _misfits(value, type_.value_type, f"{pointer}/{pointer_step(key)}", f"value of {what}")
        case t.LiteralType():
            if data not in type_.values:
                yield pointer, _no_choice(data, type_, what)
        case t.AnyType():
            pass
        case _:
            if not _fits_scalar(data, type_) or _is_below(data, type_):
                yield pointer, Finding("EV301", what=what, expected=_expected(type_), found=named(data))


def _no_choice(data: object, type_: t.LiteralType, what: str) -> Finding:
    choices = tuple(map(str, type_.values))
    return Finding("EV302", what=what.strip("`") if what.startswith("`") else what, value=_shown(data), choices=choices)


def _is_below(data: object, type_: t.Type) -> bool:
    return isinstance(type_, t.IntType) and type_.ge is not None and isinstance(data, int) and data < type_.ge


def _of_union(data: object, type_: t.UnionType, pointer: str, what: str) -> Iterator[Misfit]:
    """The misfits with the one alternative that was probably meant."""
    alternatives = [alternative for alternative in type_.types if not isinstance(alternative, t.NoneType)]
    structs = [alternative for alternative in alternatives if isinstance(alternative, t.StructType)]
    if len(structs) > 1 and isinstance(data, dict):
        yield from _of_tagged(data, structs, pointer, what)
        return
    if any(not any(_misfits(data, alternative, pointer, what)) for alternative in type_.types):
        return
    meant = next((each for each in alternatives if _is_of_kind(data, each)), alternatives[0])
    if len(alternatives) > 1 and not _is_of_kind(data, meant):
        wider = [each for each in alternatives if not isinstance(each, t.IntType)] or alternatives
        expected = " or ".join(dict.fromkeys(map(_expected, wider)))
        yield pointer, Finding("EV301", what=what, expected=expected, found=named(data))
    else:
        yield from _misfits(data, meant, pointer, what)


def _of_tagged(data: dict[str, Any], structs: list[t.StructType], pointer: str, what: str) -> Iterator[Misfit]:
    """The misfits with the record that the data's tag names."""
    tag_field = structs[0].tag_field or "type"
    chosen = next((struct for struct in structs if struct.tag == data.get(tag_field)), None)
    if chosen is not None:
        yield from _of_struct(data, chosen, pointer, what)
    elif tag_field not in data:
        yield pointer, Finding("EV202", key=tag_field, what="a check")
    else:
        known = tuple(str(struct.tag) for struct in structs)
        finding = Finding("EV203", name=_shown(data[tag_field]), known=known)
        yield f"{pointer}/{pointer_step(tag_field)}", finding


def _of_struct(data: object, type_: t.StructType, pointer: str, what: str) -> Iterator[Misfit]:
    if not isinstance(data, dict):
        yield pointer, Finding("EV301", what=what, expected="an object", found=named(data))
        return
    fields = {field.encode_name: field for field in type_.fields}
    known = (*fields, *((type_.tag_field,) if type_.tag_field else ()))
    misspelt: set[str | None] = set()  # reported as what they are, and not as missing
    for key, value in data.items():
        if key in fields:
            yield from _misfits(value, fields[key].type, f"{pointer}/{pointer_step(key)}", f"`{key}`")
        elif key != type_.tag_field and not key.startswith("x-"):
            yield f"#{pointer}/{pointer_step(key)}", unknown_key(key, what, known)
            misspelt.add(nearest(key, known))
    for name, field in fields.items():
        if field.required and name not in data and name not in misspelt:
            yield pointer, Finding("EV202", key=name, what=what)


def _is_of_kind(data: object, type_: t.Type) -> bool:
    """Whether data and type are of one kind (both lists, both objects, both numbers)."""
    match type_:
        case t.VarTupleType() | t.ListType():
            return isinstance(data, list)
        case t.StructType() | t.DictType():
            return isinstance(data, dict)
        case t.LiteralType():
            return isinstance(data, str)
        case _:
            return _fits_scalar(data, type_)


def _fits_scalar(data: object, type_: t.Type) -> bool:
    match type_:
        case t.StrType():
            return isinstance(data, str)
        case t.BoolType():
            return isinstance(data, bool)
        case t.IntType():
            return isinstance(data, int) and not isinstance(data, bool)
        case t.FloatType():
            return isinstance(data, int | float) and not isinstance(data, bool)
        case t.NoneType():
            return data is None
        case _:
            return True


def _expected(type_: t.Type) -> str:
    match type_:
        case t.StrType() | t.LiteralType():
            return "a text"
        case t.BoolType():
            return "`true` or `false`"
        case t.IntType():
            return "a whole number" if type_.ge is None else f"a whole number from {type_.ge}"
        case t.FloatType():
            return "a number"
        case t.VarTupleType() | t.ListType():
            return "a list"
        case _:
            return "an object"


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
