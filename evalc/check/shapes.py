"""The shapes of checks in JSON: for each form a record whose keys say what they hold and what they are for.

The records only validate data and describe it in JSON Schemas. Nothing else is built from them.
Import this module only where one of the two is needed.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

import msgspec
from msgspec import Meta

from evalc.check.forms import ABSENT, CALL_HAS, TYPES, Form, Hole
from evalc.check.languages import LANGUAGES
from evalc.check.predicates import PREDICATES
from evalc.check.texts import Part
from evalc.check.tree import BELOW, Measured, steps_of
from evalc.model.case import FieldType, ParamAssertion


class _Key(NamedTuple):
    """A key: its type, its sentence, and whether YAML's scalars are texts there though any value may stand."""

    holds: Any
    sentence: str
    worded: bool = False


SEED: Final = r"^\{\{\s*seed:[^{}]+\}\}$"
"""A token in the place of a number: a value of the seed replaces it when the eval runs."""
_Number = int | float | Annotated[str, Meta(pattern=SEED)]
_Whole = int | Annotated[str, Meta(pattern=SEED)]
_Format = Literal["date", "date-time", "uuid", "email", "url"]
_Language = Literal[tuple(LANGUAGES.values())]  # type: ignore[valid-type]
_Quantifier = Literal["any", "every", "no"]
_Nth = Annotated[int, Meta(ge=1)]
_Below = Annotated[str, Meta(pattern=BELOW)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """A part of a record."""


class RequiredField(_Part, frozen=True, kw_only=True):
    """A field that `structure` requires: a path such as `meta.title` or `items[].id`, and a type or any."""

    path: Annotated[str, Meta(description="The field, such as `meta.title` or `items[].id`.")]
    type: Annotated[FieldType | None, Meta(description="The type of its value.")] = None


class ArgTest(_Part, frozen=True, kw_only=True):
    """A test of one argument of a call; all that is given has to hold. Numbers are compared as numbers."""

    equals: Annotated[Any, Meta(description="The value that it equals, of any type.")] = msgspec.UNSET
    contains: Annotated[str | None, Meta(description="A text in it, or an item of it.")] = None
    matches: Annotated[str | None, Meta(description="A pattern that it matches.")] = None
    one_of: Annotated[tuple[Any, ...] | None, Meta(description="The values, one of which it must equal.")] = None
    exists: Annotated[bool | None, Meta(description="Whether it was sent.")] = None
    min: Annotated[int | float | None, Meta(description="The least number that it is.")] = None
    max: Annotated[int | float | None, Meta(description="The greatest number that it is.")] = None


# --- what keys hold --------------------------------------------------------------------------------------------------

_KEYS: Final[Mapping[str, _Key]] = {
    "value": _Key(str, "The text."),
    "values": _Key(tuple[Any, ...], "The values, one of which must be there."),
    "ignoringCase": _Key(bool, "Whether case is ignored; both texts are case-folded."),
    "pattern": _Key(str, "The pattern, an ECMAScript regular expression."),
    "flags": _Key(str, "Its flags: any of `i`, `m`, `s`, `u`, `v`."),
    "unit": _Key(Literal["chars", "words", "lines", "bytes", "sentences"], "What is counted; characters by default."),
    "threshold": _Key(int | float, "The least similarity that passes, from 0 to 1."),
    "min": _Key(_Number, "The least number allowed."),
    "max": _Key(_Number, "The greatest number allowed."),
    "above": _Key(_Number, "The number must be greater."),
    "below": _Key(_Number, "The number must be less."),
    "mode": _Key(
        Literal["strict", "lenient", "object", "array"],
        "How much of the response must be JSON; all of it by default.",
    ),
    "schema": _Key(dict[str, Any] | bool | None, "The JSON Schema that the response must be valid against."),
    "fields": _Key(tuple[RequiredField, ...], "The JSON fields that the response has."),
    "headings": _Key(tuple[str, ...], "The Markdown headings that the response has."),
    "has": _Key(Part, "The part of Markdown that it has."),
    "by": _Key(_Number, "How far from it the number may be."),
    "descending": _Key(bool, "Whether the greatest comes first."),
    "sources": _Key(tuple[Literal["tools", "message"], ...], "Where it comes from: `tools`, `message`, or both."),
    "names": _Key(tuple[str, ...], "The names of the tools."),
    "sets": _Key(tuple[tuple[str, ...], ...], "The sets of tools; `__none__` alone is the empty set."),
    "first": _Key(str, "The tool that is called first."),
    "then": _Key(str, "The tool that is called after it."),
    "tool": _Key(str, "The name of the tool."),
    "paramName": _Key(str, "The name of the parameter."),
    "assertion": _Key(ParamAssertion, "How the parameter is compared."),
    "which": _Key(_Quantifier | _Nth, "Which of the tool's calls: `any`, `every`, `no`, or its number from 1."),
    "args": _Key(tuple[Any, ...], "The arguments by position."),
    "options": _Key(dict[str, Any], "The arguments by name."),
    "name": _Key(str, "The name of the check, as the package provides it."),
    "path": _Key(str, "The place, such as `items[0].title`."),
    "turn": _Key(_Nth, "The number of the turn, from 1."),
    "check": _Key("Check", "The check."),
    "checks": _Key("tuple[Check, ...]", "The checks."),
    "dimension": _Key(str, "What is judged."),
    "maxScore": _Key(int | float, "The best score the judge can give; 1 by default."),
    "criteria": _Key(str, "What a good answer is."),
    "minScore": _Key(int | float | None, "The least score that passes."),
}
"""The keys of records; the next table overrides them for some types."""

_OF_TYPES: Final[Mapping[tuple[str, str], _Key]] = {
    ("contains", "value"): _Key(Any, "The text; at a list, an item of any type.", worded=True),
    ("contains_any", "values"): _Key(tuple[Any, ...], "The texts, one of which must occur.", worded=True),
    ("contains_all", "values"): _Key(tuple[Any, ...], "The texts, all of which must occur.", worded=True),
    ("value", "value"): _Key(Any, "The value, of any JSON type."),
    ("number", "min"): _Key(_Number | None, "The least number allowed."),
    ("number", "max"): _Key(_Number | None, "The greatest number allowed."),
    ("count", "min"): _Key(_Whole | None, "The least number of items allowed."),
    ("count", "max"): _Key(_Whole | None, "The greatest number of items allowed."),
    ("length", "min"): _Key(_Whole | None, "The least number allowed."),
    ("length", "max"): _Key(_Whole | None, "The greatest number allowed."),
    ("tool_count", "min"): _Key(_Whole | None, "The least number allowed."),
    ("tool_count", "max"): _Key(_Whole | None, "The greatest number allowed."),
    ("tool_count", "tool"): _Key(str, "The tool whose calls are counted; by default those of all tools."),
    ("latency", "max"): _Key(_Number, "The limit, in milliseconds."),
    ("tokens", "max"): _Key(_Number, "The limit."),
    ("cost", "max"): _Key(_Number, "The limit, in US dollars."),
    ("tool_param", "value"): _Key(
        str | tuple[str, ...] | None, "What it is compared with: a text, or a list for `oneOf`."
    ),
    ("file", "path"): _Key(_Below, "The path of the file in the folder of the attempt: `out/report.md`."),
    ("argument", "name"): _Key(str, "The whole name of the argument."),
    ("markdown", "language"): _Key(str, "The language that a code block is marked with."),
    ("language", "of"): _Key(_Language, "The language, in English."),
    ("within", "of"): _Key(_Number, "The number that it must be near to."),
    ("is_a", "of"): _Key(FieldType, "The type."),
    ("format", "of"): _Key(_Format, "The format."),
    ("sorted", "by"): _Key(str, "The place in each item that the items are sorted by."),
    ("usage", "of"): _Key(Literal["total_tokens", "input_tokens", "output_tokens"], "What is counted."),
    ("measure", "of"): _Key(Measured, "What is measured."),
    ("measure", "tool"): _Key(str, "The tool whose calls are counted; by default those of all tools."),
    ("items", "path"): _Key(str, "The items, with `[]` behind each list: `items[].price`."),
    ("items", "which"): _Key(_Quantifier, "Which of them: `any`, `every`, `no`."),
}

_SENTENCES: Final[Mapping[str, str]] = {
    "not_contains": "It does not contain the text.",
    "icontains": "It contains the text, ignoring case (both are case-folded).",
    "length": "Its length is within the bounds, `min` and `max` inclusive. Characters are Unicode code points.",
    "number": "It is a JSON number within the bounds, `min` and `max` inclusive.",
    "count": "It is a JSON array with so many items; `min` and `max` are inclusive.",
    "tool_param": "A parameter of the first call of a tool has this value. `value` is a list for `oneOf`.",
    "argument": "A check of an argument of the first call of a tool.",
    "call": "A check of the calls of a tool: of any, every one, none, or the Nth.",
    "result": "A check of what a call gave back.",
    "failure": "A check of the error of a call that failed.",
    "tool_count": "The number of tool calls is within the bounds, `min` and `max` inclusive.",
    "tool_errors": "The number of calls that failed is within the bounds.",
    "latency": "The time that the answer took, in milliseconds, is within the bounds.",
    "tokens": "The number of tokens of the response is within the bounds.",
    "cost": "The price of the answer, in US dollars, is within the bounds.",
    "usage": "The number of tokens that the agent reports is within the bounds.",
    "measure": "A check of a number that is measured, where bounds do not say it: `words one of [5, 10]`.",
    "at": "A check of the response, made of one place of a JSON response.",
    "file": "A check of the text of a file that the agent wrote.",
    "items": "A check of items of a list: of any, every one, or none.",
    "turn": "A check of one turn of a conversation: of its answer and its calls.",
    "any_of": "At least one of the checks holds.",
    "all_of": "All of the checks hold.",
    "not": "The check does not hold.",
    CALL_HAS: "A call of a tool has these arguments: any of them, every one, the Nth, or no call.",
}
"""The sentences on types of records that differ from those of their predicates."""

_BOUNDS: Final = ("max", "min", "above", "below")
_ASK_A_BOUND: Final = frozenset({"latency", "tokens", "cost", "tool_errors", "usage", "occurs"})
"""The types that say nothing without one of the bounds."""

_NAMES: Final = {"icontains": "IContains", "turn": "InTurn", "check": "Custom"}
"""The names of records that do not follow from the types."""


def sentence_of(type_: str) -> str:
    """The sentence on a type of record."""
    if type_ in _SENTENCES:
        return _SENTENCES[type_]
    _, test = steps_of(TYPES[type_][0].tree)
    return PREDICATES[test.predicate].sentence  # type: ignore[union-attr] # the forms without a sentence are tests


def _key(type_: str, name: str) -> _Key:
    return _OF_TYPES.get((type_, name)) or _KEYS[name]


# --- records ---------------------------------------------------------------------------------------------------------


def _has_a_bound(record: Any) -> None:
    if all(getattr(record, key) is None for key in _BOUNDS):
        raise ValueError("no bound")


def _record(type_: str, forms: Sequence[Form]) -> type[msgspec.Struct]:
    """The record of a type, which has the keys of all its forms; it needs one of the keys `asks_one_of`."""
    holes = {key: Hole(key) for form in forms for key in form.fixed}  # the key by which forms of one type differ
    holes |= {hole.key: hole for form in forms for hole in form.holes}
    fields = []
    for name in dict.fromkeys(name for form in forms for name in form.keys):
        default, key = holes[name].default, _key(type_, name)
        absent = {} if default is ABSENT else {"default_factory": dict} if default == {} else {"default": default}
        holds: Any = Annotated[key.holds, Meta(description=key.sentence)]
        fields.append((name, holds, msgspec.field(**absent)))
    namespace: dict[str, Any] = {"__doc__": sentence_of(type_)}
    if type_ in _ASK_A_BOUND:
        namespace |= {"asks_one_of": _BOUNDS, "__post_init__": _has_a_bound}
    return msgspec.defstruct(
        _NAMES.get(type_, type_.title().replace("_", "")),
        fields,
        bases=(_Part,),
        module=__name__,
        namespace=namespace,
        tag=type_,
        kw_only=True,
        frozen=True,
        tag_field="type",
    )


class CallHas(_Part, frozen=True, kw_only=True, tag=CALL_HAS, tag_field="type"):
    """A call of a tool has these arguments: any of them, every one, the Nth, or no call."""

    tool: Annotated[str, Meta(description="The name of the tool.")]
    which: Annotated[_Quantifier | _Nth, Meta(description=_KEYS["which"].sentence)] = "any"
    args: Annotated[dict[str, ArgTest], Meta(description="What the arguments have to be, by their paths in the call.")]


def _records() -> dict[str, type[msgspec.Struct]]:
    """The records by their types, in the order of the forms; `CallHas` stands among those of calls."""
    made: dict[str, type[msgspec.Struct]] = {}
    for type_, forms in TYPES.items():
        made[type_] = _record(type_, forms)
        if type_ == "tool_param":
            made[CALL_HAS] = CallHas
    return made


RECORDS: Final[Mapping[str, type[msgspec.Struct]]] = _records()
"""The record of each type of check."""
Check: Any = reduce(operator.or_, RECORDS.values())
"""Any of the records."""


# --- as YAML has them ------------------------------------------------------------------------------------------------


@cache
def worded_keys(type_: str) -> frozenset[str]:
    """The keys whose values are texts or words, so that a scalar of YAML there is a text as it was written."""
    if type_ not in RECORDS:
        return frozenset({"type", *RequiredField.__struct_fields__})
    keys = {name: _key(type_, name) for name in RECORDS[type_].__struct_encode_fields__}
    return frozenset({"type", *(name for name, key in keys.items() if key.worded or _is_worded(key.holds))})


def _is_worded(hint: Any) -> bool:
    if hint is str or get_origin(hint) is Literal:
        return True
    parts = [get_args(part)[0] if get_origin(part) is Annotated else part for part in get_args(hint)]
    return get_origin(hint) is not dict and int not in parts and any(map(_is_worded, parts))
