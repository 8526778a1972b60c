"""The schemas that `evalc schema` prints and `specs/schema/` holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any, Final

import msgspec

from evalc import base
from evalc.check.shapes import Check, sentence_of
from evalc.config import shape
from evalc.config.kinds import or_null
from evalc.dsl import kinds as k
from evalc.dsl.build_case import ALLOW, CASE, DEFAULTS, FOR_EACH, LABEL, STUB, STUB_RESULT, TURN, USER
from evalc.dsl.build_check import LINK_KEYS, LINKS, SUBJECTS, WITHOUT_TYPE
from evalc.dsl.build_expect import EXPECT
from evalc.dsl.build_prompt import INPUT, INPUT_BY_NAME, VARIANT
from evalc.dsl.build_rule import CHECK_TYPES, CHECKS
from evalc.dsl.build_suite import CRITERION, DOCUMENTS, EVAL, GATES, PROMPTS
from evalc.dsl.document_kind import Kind
from evalc.dsl.kinds import DIALECT, Schema, filled_list_of, mapping, ref
from evalc.grammar.lalr import following, load
from evalc.model import case as m
from evalc.model import result as r
from evalc.model.suite import Place
from evalc.schema.records import TYPE, definitions

_TYPES: Final = sorted(CHECK_TYPES)
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
    EVAL, CASE, INPUT, INPUT_BY_NAME, DEFAULTS, FOR_EACH, GATES, USER, TURN, LABEL, ALLOW, STUB, STUB_RESULT,
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
            EXPECT.name: EXPECT.definition(),
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
    defined = definitions(m.Message, m.RubricDimension)
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
    custom = [name for name in base.names_offered("evalc.checks") if name not in CHECK_TYPES]
    # Of a check on one line only the first word is known; what follows, only the compiler reads.
    line = {"title": "check on one line", "type": "string", "pattern": _begins(), "examples": [*_ONE_LINE]}
    return {
        "check": {"title": "check", **k.any_of(line, k.ref("checkMapping"))},
        "checkWithin": {"title": "check within a group", "allOf": [k.ref("check"), within_no_link]},
        "checkMapping": _check_mapping(custom),
        **{f"check.{type_}": _typed(type_) for type_ in _TYPES},
        **({"check.custom": _custom()} if custom else {}),
        **_as_written(definitions(Check)),
        **{
            f"check.{key}": k.Shape("", {key: each, **LINKS}, title=key).definition()
            for key, each in WITHOUT_TYPE.items()
        },
    }


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
        "properties": {key: k.described(each) for key, each in {**WITHOUT_TYPE, **LINKS}.items()},
        "propertyNames": k.any_of({"enum": beside}, {"pattern": "^x-"}, {"pattern": _begins()}),
        "minProperties": 1,
    }
    for key in reversed(WITHOUT_TYPE):
        chosen = {"if": _with(key), "then": k.ref(f"check.{key}"), "else": chosen}
    of_type = [{"if": _with("type", {"const": name}), "then": k.ref(f"check.{name}")} for name in _TYPES]
    if custom:
        of_type.append({"if": _with("type", {"enum": custom}), "then": k.ref("check.custom")})
    sentences = [*map(sentence_of, _TYPES), *["A check that an installed package provides."] * len(custom)]
    type_ = {"description": TYPE, "enum": [*_TYPES, *custom], "enumDescriptions": sentences}
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
    keys = {
        "type": k.Key(k.Kind({"type": "string"}), TYPE, required=True),
        "rule": k.Key(k.ANYTHING, "What the check is given, by place."),
        **LINKS,
    }
    return {**k.Shape("", keys, title="check of a package").definition(), "additionalProperties": True}


def _with(key: str, value: k.Schema | None = None) -> k.Schema:
    """A mapping that has the key; an editor asks with null if nothing is written yet, which counts as no key."""
    return {"type": "object", "properties": {} if value is None else {key: value}, "required": [key]}


def _typed(type_: str) -> k.Schema:
    """A check of one type, with the keys that the checker knows of it."""
    shape = CHECKS[type_]
    keys = {"type": k.Key(k.Kind({"const": type_}), sentence_of(type_), required=True), **shape.keys, **LINKS}
    return k.Shape("", keys, title=type_, narrow=shape.narrow).definition()


def _as_written(schema: Any) -> Any:
    """A schema of the case model for YAML, where texts are taken as they are written."""
    if isinstance(schema, list):
        return [_as_written(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {key: _as_written(value) for key, value in schema.items()}
    types = copied.get("type", [])
    types = [types] if isinstance(types, str) else types
    return copied | ({"type": [*dict.fromkeys((*k.text()["type"], *types))]} if "string" in types else {})


def compiled_file() -> Schema:
    """The schema of what evalc compiles to, and reads like any other eval file."""
    cases = {"description": "The cases.", **filled_list_of(ref("Case"))}
    metadata = {"description": "What the cases are about.", "anyOf": [ref("Metadata"), {"type": "null"}]}
    envelope = mapping({"metadata": metadata, "cases": cases}, title="Envelope", required=["cases"])
    return {
        "$schema": DIALECT,
        "title": "evalc: compiled eval file",
        "description": "An eval file of the eval runner contract, with evalc's own additions.",
        "if": {"type": "array"},
        "then": filled_list_of(ref("Case")),
        "else": ref("Envelope"),
        "$defs": {**definitions(m.Case, m.Metadata), "Metadata": _metadata(), "Envelope": envelope},
    }


def _metadata() -> Schema:
    """The metadata, in which other generators leave keys of their own, and which the file's name completes."""
    schema = definitions(m.Metadata)["Metadata"]
    properties = {key: or_null(value) for key, value in schema["properties"].items()}
    kept = {key: value for key, value in schema.items() if key not in {"required", "additionalProperties"}}
    return {**kept, "properties": properties}


def run_result() -> Schema:
    """The schema of a suite's result; that of a whole run, as `evalc run --json` prints it, is `$defs/RunResult`."""
    defined = definitions(r.SuiteResult, r.RunResult)
    for name, record in (*vars(r).items(), ("Place", Place)):
        if name in defined and not record.__struct_config__.omit_defaults:  # so that every key is always written
            fields = msgspec.structs.fields(record)
            defined[name]["required"] = [each.encode_name for each in fields if each.default is not msgspec.UNSET]
    return {
        "$schema": DIALECT,
        "title": "evalc: result of a suite",
        "description": "EvalSuiteResult of the eval runner contract, with evalc's own additions.",
        "$ref": "#/$defs/SuiteResult",
        "$defs": defined,
    }


def configuration() -> Schema:
    """The schema of `evalc.config.json`, of `evalc.toml`, and of `[tool.evalc]` in a `pyproject.toml`."""
    return {"$schema": DIALECT, **shape().definition()}


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "language": language,
    "case": compiled_file,
    "config": configuration,
    "result": run_result,
}
"""The schemas by the name that they are asked for and published under."""


def schema_text(name: str) -> bytes:
    """The schema as indented JSON with a line end; the same on every machine."""
    return msgspec.json.format(msgspec.json.encode(SCHEMAS[name]()), indent=2) + b"\n"


def file_name(name: str) -> str:
    """The file that the schema is written to."""
    return f"{name}.json"
