"""Declarations of checks, and how the phases ask for them.

A check is a frozen struct. In JSON it is an object whose `type` names it: `{"type": "icontains", "value": "refund"}`.
Its docstring begins with the sentence that editors show; the annotation of a field says what the field holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

# --- what a field holds ----------------------------------------------------------------------------------------------


@final
class Filled(NamedTuple):
    """A text whose templates are filled.

    Attributes:
        no_tokens_in: what messages call the text if it must not hold a `{{seed:...}}` (contract, Token Locations);
            empty where tokens are allowed.
        is_pattern: whether it is a regular expression, into which values go escaped.
        json_too: whether a list or a mapping may fill it, as JSON.
    """

    no_tokens_in: str = ""
    is_pattern: bool = False
    json_too: bool = False


Text: TypeAlias = Annotated[str, Filled()]
Pattern: TypeAlias = Annotated[str, Filled("a regular expression", is_pattern=True)]
MATCHED: Final = Filled(is_pattern=True)
Matched: TypeAlias = Annotated[str, MATCHED]
"""A regular expression that may hold tokens."""
ToolName: TypeAlias = Annotated[str, Filled("a tool's name")]
ParamName: TypeAlias = Annotated[str, Filled("a parameter's name")]
Heading: TypeAlias = Annotated[str, Filled("a heading")]
Question: TypeAlias = Annotated[str, Filled("what a judge is asked", json_too=True)]
Label: TypeAlias = Annotated[str, Filled("a name")]

Arguments = Filled(json_too=True)
"""The role of fields that hold any JSON: all texts in it are filled."""


class TextField(NamedTuple):
    """A field of a check that holds texts: its name, its key in JSON, and what it holds."""

    name: str
    key: str
    role: Filled


@cache
def text_fields(kind: type[msgspec.Struct]) -> tuple[TextField, ...]:
    """The fields of a kind of check that hold texts, in order."""
    hints = get_type_hints(kind, include_extras=True)
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    found = ((name, key, _role(hints[name])) for name, key in names)
    return tuple(TextField(name, key, role) for name, key, role in found if role is not None)


@cache
def worded_keys(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The JSON keys of a kind of check whose values are texts or words, whatever else could be read into them."""
    hints = get_type_hints(kind)
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return frozenset(key for name, key in names if _is_worded(hints[name]))


def _is_worded(hint: Any) -> bool:
    if hint is str or get_origin(hint) is Literal:
        return True
    parts = get_args(hint)
    return get_origin(hint) is not dict and int not in parts and any(map(_is_worded, parts))


def _role(hint: Any) -> Filled | None:
    """The role that an annotation names, however deep in tuples and unions."""
    for part in (*getattr(hint, "__metadata__", ()), *get_args(hint)):
        role = part if isinstance(part, Filled) else _role(part)
        if role is not None:
            return role
    return None


# --- the contract's fields -------------------------------------------------------------------------------------------


@final
class Field(NamedTuple):
    """A field of `expect` that can hold a check.

    Attributes:
        name: the field of `Expect`.
        attribute: the attribute of the check that it holds; empty for a field that is `true`.
        each: whether the field is a list with an entry for each such check.
        once: whether a nearer layer replaces it, and a second value in one layer is a mistake.
    """

    name: str
    attribute: str = ""
    each: bool = False
    once: bool = False


# --- a check ---------------------------------------------------------------------------------------------------------


class Declared(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename="camel",
    tag_field="type",
    gc=False,
):
    """The common settings of every check, and what each may declare.

    Attributes:
        line: how the check is written on one line, with its fields in braces; empty if that takes a function.
        begins: how such a line begins, for messages; by default what `line` has before its first field.
        examples: values that its `rule:` may have.
        contract: the fields of `expect` that can hold it, in the order of `Expect`.
        of_response: whether it is about a text, so that it may be made of one place of a JSON response.
        of_calls: whether it is about the calls of tools.
        empty: what an empty text in it means: the check `passes` or `fails` whatever the answer is.
    """

    line: ClassVar[str] = ""
    begins: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[Any, ...]] = ()
    contract: ClassVar[tuple[Field, ...]] = ()
    of_response: ClassVar[bool] = False
    of_calls: ClassVar[bool] = False
    empty: ClassVar[str] = ""

    @property
    def named(self) -> str:
        """The beginning of messages about it."""
        return type_name(self)

    @property
    def needs_calls(self) -> bool:
        """Whether it decides nothing for an agent that does not report its calls."""
        return self.of_calls

    def has_field(self) -> bool:
        """Whether a field of `expect` can hold this very check; the others are in `expect.checks`."""
        return bool(self.contract)


def type_name(check: type[Declared] | Declared) -> str:
    """The check's `type`, as authors write it."""
    return str(check.__struct_config__.tag)


def sentence_of(kind: type[Declared]) -> str:
    """The sentence of a kind of check: the first of its docstring."""
    return " ".join((kind.__doc__ or "").partition("\n\n")[0].split())


def beginnings(kind: type[Declared]) -> tuple[str, ...]:
    """How a line with a check of this kind begins: `has fields`, `starts with`; empty for a negated spelling."""
    begin = kind.line.partition("{")[0].rstrip(" <>=$")
    return kind.begins or (() if not begin or begin.startswith("not ") else (begin,))


def members(union: Any) -> tuple[type[Declared], ...]:
    """The kinds of a union of checks, in its order."""
    return get_args(union)


def by_type(union: Any) -> dict[str, type[Declared]]:
    """The kinds of a union of checks by their `type`, in its order."""
    return {type_name(kind): kind for kind in members(union)}


@cache
def has_parts(kind: type[Declared]) -> bool:
    """Whether checks of a kind are made of other checks."""
    return not {"check", "checks"}.isdisjoint(kind.__struct_fields__)


def parts_of(check: Declared) -> Iterator[tuple[Declared, str]]:
    """The checks that a composition is made of, each with the JSON pointer from the composition to it."""
    one, several = getattr(check, "check", None), getattr(check, "checks", ())
    if one is not None:
        yield one, "/check"
    for index, part in enumerate(several):
        yield part, f"/checks/{index}"


def texts_of(check: Declared, at: str = "") -> Iterator[tuple[Filled, str, str]]:
    """The texts of a check and of its parts: what each is, itself, and the JSON pointer to it."""
    for name, key, role in text_fields(type(check)):
        yield from _texts(role, getattr(check, name), f"{at}/{key}")
    for part, pointer in parts_of(check):
        yield from texts_of(part, at + pointer)


def _texts(role: Filled, value: Any, at: str) -> Iterator[tuple[Filled, str, str]]:
    match value:
        case str():
            yield role, value, at
        case tuple() | list():
            for index, item in enumerate(value):
                yield from _texts(role, item, f"{at}/{index}")
        case dict():
            for item in value.values():
                yield from _texts(role, item, at)
        case msgspec.Struct():
            for name, key, inner in text_fields(type(value)):
                yield from _texts(inner, getattr(value, name), f"{at}/{key}")
        case _:
            pass
