"""Generates the JSON Schema of the source language, for editors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, Final

import msgspec
from msgspec import inspect as t

from evalc.base import installed
from evalc.check.forms import TYPES
from evalc.check.shapes import Check, sentence_of
from evalc.dsl import kinds as k
from evalc.dsl.asked import SUBJECTS
from evalc.dsl.build_case import ALLOW, CASE, DEFAULTS, FOR_EACH, LABEL, TURN, USER
from evalc.dsl.build_check import GROUPS, LINK_KEYS, USE
from evalc.dsl.build_criterion import CRITERION
from evalc.dsl.build_expect import EXPECT_KEYS
from evalc.dsl.build_prompt import INPUT, INPUT_BY_NAME, VARIANT
from evalc.dsl.build_rule import CHECK, CHECK_TYPES, PARAM_OPS, keys_of
from evalc.dsl.build_suite import DOCUMENTS, EVAL, GATES, PROMPTS
from evalc.dsl.document_kind import Kind
from evalc.grammar.lalr import following, load
from evalc.model import case as m
from evalc.schema.record_words import COMPILED_FILE
from evalc.schema.records import definitions

_TYPES: Final = sorted(CHECK_TYPES)
_SOURCES: Final = ("tools", "message")
_WITHOUT_TYPE: Final = (USE, *GROUPS)
"""The keys by which a check without a `type` is known; the first that is there counts."""
_ONE_LINE: Final = (
    'contains "type hint"',
    'not contains "I don\'t know"',
    'contains any of ["rain", "umbrella"]',
    "matches /^def .*:/m",
    "length 100..2000 chars",
    "json",
    "has fields title, items[].id as number",
    "tools called [get_weather]",
    'tool get_weather.city equals "Paris"',
    "no tool errors",
    "latency <= 30s",
)
_DESCRIPTION: Final = (
    "An eval file in YAML: a suite, a prompt file with its evals, cases for a prompt elsewhere, "
    "or rules and defaults that suites share."
)
_SHAPES: Final = (
    EVAL, CASE, INPUT, INPUT_BY_NAME, DEFAULTS, FOR_EACH, GATES, USER, TURN, LABEL, ALLOW,
)  # fmt: skip
_EVAL: Final = {"eval": DOCUMENTS[Kind.SUITE]["eval"]}


def language() -> k.Schema:
    """The schema of one document of an eval file in YAML, of whichever kind its keys say."""
    is_prompt = {"required": ["id", "prompt"], "not": {"required": ["suite"]}}
    is_cases = {"required": ["prompt_id", "test_cases"], "not": _has_any("eval", "suite", "tool")}
    of_suites = ("eval", "test_cases", "suite", "tool", "tier", *PROMPTS)
    is_shared = {**_has_any("rules", "defaults", "include"), "not": _has_any(*of_suites)}
    return {
        "$schema": k.DIALECT,
        "title": "evalc: eval file",
        "description": _DESCRIPTION,
        "type": "object",
        "if": is_prompt,
        "then": {"if": _has_any("eval", "test_cases"), "then": k.ref("promptFile"), "else": k.ref("prompt")},
        "else": {
            "if": is_cases,
            "then": k.ref("externalCases"),
            "else": {"if": is_shared, "then": k.ref("sharedRules"), "else": k.ref("suite")},
        },
        "$defs": {
            **_documents(),
            **{shape.name: shape.definition() for shape in _SHAPES},
            "criterion": _criterion(),
            "promptVariant": {**VARIANT.definition(), **_has_any(*VARIANT.keys), **_at_most_one(VARIANT.keys)},
            **_checks(),
            "expect": _expect(),
            **_records(),
        },
    }


def _has_any(*keys: str) -> k.Schema:
    return {"anyOf": [{"required": [key]} for key in keys]}


def _at_most_one(keys: Iterable[str]) -> k.Schema:
    return {"allOf": [{"not": {"required": [*pair]}} for pair in combinations(keys, 2)]}


# --- documents -------------------------------------------------------------------------------------------------------


def _documents() -> dict[str, k.Schema]:
    any_id = {"id": DOCUMENTS[Kind.PROMPT]["id"]._replace(holds=k.TEXT)}
    return {
        "suite": _with_block_or_flat(Kind.SUITE),
        "promptFile": _with_block_or_flat(Kind.PROMPT),
        # A prompt file that only other files refer to, in which evalc reads only the prompt and its inputs.
        "prompt": _document(Kind.PROMPT, {**DOCUMENTS[Kind.PROMPT], **any_id}),
        "externalCases": _with_block_or_flat(Kind.CASES),
        # An editor offers `suite` and `eval` to a suite that begins with what it includes.
        "sharedRules": _document(
            Kind.SHARED, {**DOCUMENTS[Kind.SHARED], "suite": DOCUMENTS[Kind.SUITE]["suite"], **_EVAL}
        ),
    }


def _document(kind: Kind, keys: dict[str, k.Key]) -> k.Schema:
    return k.Shape("", keys, title=kind.value, foreign=() if kind is Kind.PROMPT else None).definition()


def _with_block_or_flat(kind: Kind) -> k.Schema:
    """A document that has its criteria and cases in `eval:`, or at the top.

    The flat form lists `eval` too: an editor offers it while neither is written.
    """
    keys = {**DOCUMENTS[kind], **_EVAL}
    prompts = [key for key in PROMPTS if key in keys]
    with_block = {key: each._replace(required=False) for key, each in keys.items()}
    schema = {
        "if": {"required": ["eval"]},
        "then": _document(kind, with_block),
        "else": _document(kind, {**keys, **EVAL.keys}),
    }
    return {**schema, **_at_most_one(prompts)} if len(prompts) > 1 else schema


# --- what documents hold ---------------------------------------------------------------------------------------------


def _criterion() -> k.Schema:
    one_line = {**k.filled(), "examples": ["clarity (0.3): Clear and well-structured"]}
    unquoted = {
        "description": "The one-line form without quotes, which YAML reads as a mapping.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": {"not": {"enum": [*CRITERION.keys]}},
        "additionalProperties": k.text(),
    }
    return {"title": "criterion", **k.any_of(CRITERION.definition(), one_line, unquoted)}


def _records() -> dict[str, k.Schema]:
    """The records of the case model that a case holds as they are; a dimension's keys may be in snake case."""
    defined = definitions((m.Message, m.RubricDimension), COMPILED_FILE)
    dimension = defined["RubricDimension"]
    fields = msgspec.structs.fields(m.RubricDimension)
    spellings = [(field.name, field.encode_name) for field in fields if field.name != field.encode_name]
    snake_case = {name: dimension["properties"][json_name] for name, json_name in spellings}
    one_of_each = [{"not": {"required": [*spelling]}} for spelling in spellings]
    properties = {**dimension["properties"], **snake_case}
    return {**defined, "RubricDimension": {**dimension, "properties": properties, "allOf": one_of_each}}


# --- in `validate:` --------------------------------------------------------------------------------------------------


def _checks() -> dict[str, k.Schema]:
    """The definitions of a check in all its forms, by name."""
    within_no_link: k.Schema = {"properties": dict.fromkeys(LINK_KEYS, False)}
    custom = [name for name in installed.names("evalc.checks") if name not in CHECK_TYPES]
    return {
        "check": {"title": "check", **k.any_of(_one_line(), k.ref("checkMapping"))},
        "checkWithin": {"title": "check within a group", "allOf": [k.ref("check"), within_no_link]},
        "checkMapping": _check_mapping(custom),
        **{_definition_of(type_): _typed(type_) for type_ in _TYPES},
        **({"check.custom": _custom()} if custom else {}),
        **_in_json(),
        **{f"check.{key}": _of_keys((key, *LINK_KEYS), CHECK, title=key, required=[key]) for key in _WITHOUT_TYPE},
    }


def _of_keys(keys: Iterable[str], words: Mapping[str, k.Key], *, title: str, required: Iterable[str] = ()) -> k.Schema:
    """A mapping that has some of the keys."""
    held = {key: words.get(key, _UNKNOWN)._replace(required=key in required) for key in keys}
    return k.Shape("", held, title=title).definition()


_UNKNOWN: Final = k.Key(k.ANYTHING)


def _definition_of(type_: str) -> str:
    return f"check.{type_}"


def _one_line() -> k.Schema:
    """A check on one line: its first word is known; what follows, only the compiler reads."""
    return {"title": "check on one line", "type": "string", "pattern": _begins(), "examples": [*_ONE_LINE]}


def _begins() -> str:
    """The pattern of how a line begins."""
    table = load("check")
    begin = following(table, "line", "").terminals
    starts = "|".join(terminal.pattern for terminal in table.terminals if terminal.name in begin)
    return rf"^\s*(?:{starts})"


def _check_mapping(custom: list[str]) -> k.Schema:
    """A check in its mapping form, identified by `type`, or by the key that replaces it."""
    beside = [*LINK_KEYS, *SUBJECTS]
    chosen: k.Schema = {
        "properties": {key: k.described(CHECK[key]) for key in (*_WITHOUT_TYPE, *LINK_KEYS)},
        "propertyNames": k.any_of({"enum": beside}, {"pattern": "^x-"}, {"pattern": _begins()}),
        "minProperties": 1,
    }
    for key in reversed(_WITHOUT_TYPE):
        chosen = {"if": _with(key), "then": k.ref(f"check.{key}"), "else": chosen}
    of_type = [{"if": _with("type", {"const": name}), "then": k.ref(_definition_of(name))} for name in _TYPES]
    if custom:
        of_type.append({"if": _with("type", {"enum": custom}), "then": k.ref("check.custom")})
    sentences = [sentence_of(name) for name in _TYPES]
    sentences += ["A check that an installed package provides."] * len(custom)
    type_ = {"description": CHECK["type"].sentence, "enum": [*_TYPES, *custom], "enumDescriptions": sentences}
    return {
        "title": "check",
        "type": "object",
        "properties": {"type": type_},
        "if": _with("type"),
        "then": {"allOf": of_type},
        "else": chosen,
    }


def _custom() -> k.Schema:
    """A check that an installed package provides: what its other keys are, only the package knows."""
    words = {**CHECK, "rule": k.Key(k.ANYTHING, "What the check is given, by place.")}
    schema = _of_keys(("type", "rule", *LINK_KEYS), words, title="check of a package", required=["type"])
    return {**schema, "additionalProperties": True}


def _with(key: str, value: k.Schema | None = None) -> k.Schema:
    """A mapping that has the key; an editor asks with null if nothing is written yet, which counts as no key."""
    return {"type": "object", "properties": {} if value is None else {key: value}, "required": [key]}


def _typed(type_: str) -> k.Schema:
    """A check of one type, with the keys that the checker knows of it."""
    words = {**CHECK, "type": k.Key(k.Kind({"const": type_}), sentence_of(type_))}
    words["rule"] = k.Key(k.Kind(_rule_of(type_)), CHECK["rule"].sentence, _RULES.get(type_, ()))
    own = keys_of(type_)
    schema = _of_keys(("type", *own, *LINK_KEYS), words, title=type_, required=["type", *_required(own)])
    if "op" in own:
        return {**schema, **_value_of_operator("op")}
    if {"min", "scale"} <= {*own}:
        return {**schema, "dependentRequired": {"min": ["scale"], "scale": ["min"]}}
    return schema


_RULES: Final[Mapping[str, tuple[Any, ...]]] = {
    "contains": ("type hint",),
    "not_contains": ("I don't know",),
    "icontains": ("refund",),
    "contains_any": (["rain", "umbrella"],),
    "regex": ("/^def .*:/m",),
    "equals": ("42",),
    "starts_with": ("Dear",),
    "ends_with": ("Best regards",),
    "length": ("min:100", "max:2000", "min:20,max:80 words"),
    "json": ("strict", "lenient", "object", "array", "schema:answer.schema.json"),
    "structure": ("fields:title,content", "fields:meta.title:string,items[].id:number", "headings:Summary,Risks"),
    "number": ("min:18", "min:0,max:1", 30),
    "count": ("min:2,max:5", 3),
    "value": (30, True, [1, 2]),
    "numbers_from": ("tools", ["tools", "message"]),
    "quotes_from": ("tools", ["tools", "message"]),
    "tools_called": (["get_weather"], []),
    "tools_acceptable": ([["get_weather"], ["get_weather", "get_forecast"], "none"],),
    "tools_not_called": (["delete_account"],),
    "tools_include": (["search", "search", "book"],),
    "tools_in_order": (["search", "book"],),
    "tools_only": (["search", "book"],),
    "tool_count": ("min:1,max:3",),
    "latency": ("30s", "500ms"),
    "tokens": (500,),
    "cost": ("$0.02",),
    "judge": ("Is the tone kind?",),
}
"""Rules that editors offer, by the types of checks."""


def _rule_of(type_: str) -> k.Schema:
    """Schema of `rule:` for a type of check: a list where its record has one, else a text."""
    tools: k.Schema = {"type": "array", "items": k.text()}
    match next(iter(TYPES[type_][0].keys), "") if type_ in TYPES else "":
        case _ if type_ == "value":
            return {}
        case "sources":
            return k.any_of(k.choice(_SOURCES), k.filled_list_of(k.choice(_SOURCES)))
        case "values":
            return k.filled_list_of(k.text())
        case "names":
            return tools
        case "sets":
            return {"type": "array", "items": k.any_of({"const": "none"}, tools)}
        case _:
            return k.text()


def _required(keys: Iterable[str]) -> list[str]:
    return [key for key in keys if key in {"rule", "tool", "param", "op", "args"}]


def _value_of_operator(key: str) -> k.Schema:
    """Schema of `value` by the operator under `key`: a list, anything, or a text."""
    idle = [op for op in PARAM_OPS if op in {"exists", "notExists"}]
    return {
        "if": {"properties": {key: {"const": "oneOf"}}},
        "then": {"required": ["value"], "properties": {"value": k.list_of(k.text())}},
        "else": {
            "if": {"properties": {key: {"enum": idle}}},
            "else": {"required": ["value"], "properties": {"value": k.text()}},
        },
    }


# --- in `expect:` ----------------------------------------------------------------------------------------------------


def _expect() -> k.Schema:
    """The schema of an `expect:` block."""
    info = t.type_info(m.Expect)
    assert isinstance(info, t.StructType)  # noqa: S101 - for the type checker
    types = {field.encode_name: field.type for field in info.fields}
    sentences = COMPILED_FILE["Expect"]
    words = {
        key: k.Key(k.Kind(_lenient(types[key])), sentences[key])
        for key in EXPECT_KEYS
        if key in types and key in sentences
    }
    # Each of its sets may be `none`, as in a check.
    sets = k.list_of(k.any_of({"const": "none"}, {"type": "array", "items": k.text()}))
    words["toolsAcceptable"] = words["toolsAcceptable"]._replace(holds=k.Kind(sets))
    words["checks"] = words["checks"]._replace(holds=k.Kind(k.list_of(k.ref("Check"))))
    return _of_keys(EXPECT_KEYS, words, title="expect")


def _in_json() -> dict[str, k.Schema]:
    """The definitions of the checks of the case model, by name; in YAML their texts are taken as they are written."""
    return {name: _as_written(schema) for name, schema in definitions((Check,), COMPILED_FILE).items()}


def _as_written(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_as_written(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {key: _as_written(value) for key, value in schema.items()}
    types = copied.get("type")
    if types == "string" or (isinstance(types, list) and "string" in types):
        others = [each for each in types if each != "string"] if isinstance(types, list) else []
        copied["type"] = list(dict.fromkeys([*k.text()["type"], *others]))
    return copied


def _lenient(type_: t.Type) -> k.Schema:
    """The schema of a type of the model as it is in YAML, where texts are taken literally."""
    match type_:
        case t.UnionType():
            inner = next(each for each in reversed(type_.types) if not isinstance(each, t.NoneType))
            return _lenient(inner)
        case t.VarTupleType():
            return k.list_of(_lenient_item(type_.item_type))
        case t.StrType():
            return k.text()
        case t.IntType():
            return k.whole()
        case t.FloatType():
            return k.number()
        case t.BoolType():
            return k.flag()
        case t.LiteralType():
            return k.choice(map(str, type_.values))
        case _:
            return {}


def _lenient_item(type_: t.Type) -> k.Schema:
    match type_:
        case t.VarTupleType():
            return {"type": "array", "items": _lenient(type_.item_type)}
        case t.StructType():
            return _param_entry(type_)
        case _:
            return _lenient(type_)


def _param_entry(type_: t.StructType) -> k.Schema:
    sentences = COMPILED_FILE[type_.cls.__name__]
    words = {"tool": CHECK["tool"], "paramName": CHECK["param"], "assertion": CHECK["op"], "value": CHECK["value"]}
    words = {key: word._replace(sentence=sentences[key]) for key, word in words.items()}
    keys = [field.encode_name for field in type_.fields]
    entry = _of_keys(keys, words, title="parameter of a tool", required=[key for key in keys if key != "value"])
    return {**entry, **_value_of_operator("assertion")}
