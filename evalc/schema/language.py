"""Generates the JSON Schema of the source language, for editors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final

import msgspec

from evalc.dsl.build_case import CASE_KEYS, DEFAULT_KEYS, FOR_EACH_KEYS, TURN_KEYS, USER_KEYS
from evalc.dsl.build_criterion import CRITERION_KEYS
from evalc.dsl.build_prompt import INPUT_KEYS, VARIANT_KEYS
from evalc.dsl.build_suite import EVAL_KEYS, GATE_KEYS, KEYS, SHARED_KEYS
from evalc.dsl.document_kind import Kind
from evalc.model import case as m
from evalc.schema.language_checks import checks, expect
from evalc.schema.language_words import (
    CASE,
    CRITERION,
    DECLARED_INPUT,
    DOCUMENT,
    FOR_EACH,
    GATES,
    TURN,
    USER,
    VARIANT,
    Word,
    of_keys,
)
from evalc.schema.record_words import COMPILED_FILE
from evalc.schema.records import definitions
from evalc.schema.shapes import DIALECT, Schema, any_of, filled, ref, required_text, text

_ONE_OF_PROMPTS: Final = ("prompt", "prompts", "prompt_file", "prompt_id")
_DESCRIPTION: Final = (
    "An eval file in YAML: a suite, a prompt file with its evals, cases for a prompt elsewhere, "
    "or rules and defaults that suites share."
)
_FOREIGN: Final[Schema] = {"additionalProperties": True}
_ANY_ID: Final = DOCUMENT["id"]._replace(shape=text())


def language() -> Schema:
    """The schema of one document of an eval file in YAML, of whichever kind its keys say."""
    is_prompt = {"required": ["id", "prompt"], "not": {"required": ["suite"]}}
    is_cases = {"required": ["prompt_id", "test_cases"], "not": _has_any("eval", "suite", "tool")}
    of_suites = ("eval", "test_cases", "suite", "tool", "tier", *_ONE_OF_PROMPTS)
    is_shared = {**_has_any(*SHARED_KEYS), "not": _has_any(*of_suites)}
    return {
        "$schema": DIALECT,
        "title": "evalc: eval file",
        "description": _DESCRIPTION,
        "type": "object",
        "if": is_prompt,
        "then": {"if": _has_any("eval", "test_cases"), "then": ref("promptFile"), "else": ref("prompt")},
        "else": {
            "if": is_cases,
            "then": ref("externalCases"),
            "else": {"if": is_shared, "then": ref("sharedRules"), "else": ref("suite")},
        },
        "$defs": {
            **_documents(),
            "case": of_keys(CASE_KEYS, CASE, title="case", required=["name"]),
            "criterion": _criterion(),
            "declaredInput": {**_of_others(INPUT_KEYS, DECLARED_INPUT, title="declared input"), "required": ["name"]},
            "declaredInputByName": _of_others(INPUT_KEYS, DECLARED_INPUT, title="declared input"),
            "defaults": of_keys(DEFAULT_KEYS, CASE, title="defaults"),
            "forEach": _for_each(),
            "gates": of_keys(GATE_KEYS, GATES, title="gates"),
            "promptVariant": _variant(),
            "user": of_keys(USER_KEYS, USER, title="simulated user", required=["goal"]),
            "turn": of_keys(TURN_KEYS, TURN, title="turn", required=["say"]),
            **checks(),
            "expect": expect(),
            **_records(),
        },
    }


def _has_any(*keys: str) -> Schema:
    return {"anyOf": [{"required": [key]} for key in keys]}


def _at_most_one(keys: Iterable[str]) -> Schema:
    return {"allOf": [{"not": {"required": [*pair]}} for pair in combinations(keys, 2)]}


# --- documents -----------------------------------------------------------------------------------------------------


def _documents() -> dict[str, Schema]:
    return {
        "suite": _with_block_or_flat(Kind.SUITE),
        "promptFile": _with_block_or_flat(Kind.PROMPT),
        "prompt": _prompt(),
        "externalCases": _with_block_or_flat(Kind.CASES),
        "sharedRules": _shared_rules(),
        "eval": of_keys(EVAL_KEYS, DOCUMENT, title="eval", required=["test_cases"]),
    }


def _with_block_or_flat(kind: Kind) -> Schema:
    """A document that has its criteria and cases in `eval:`, or at the top.

    The flat form lists `eval` too: an editor offers it while neither is written.
    """
    keys = KEYS[kind]
    flat_keys = dict.fromkeys((*keys, "eval", *EVAL_KEYS))
    prompts = [key for key in _ONE_OF_PROMPTS if key in keys]
    with_block = of_keys(dict.fromkeys((*keys, "eval")), DOCUMENT, title=kind.value)
    flat = of_keys(flat_keys, DOCUMENT, title=kind.value, required=["test_cases"])
    if kind is Kind.PROMPT:
        with_block, flat = {**with_block, **_FOREIGN}, {**flat, **_FOREIGN}
    schema = {"if": {"required": ["eval"]}, "then": with_block, "else": flat}
    return {**schema, **_at_most_one(prompts)} if len(prompts) > 1 else schema


def _prompt() -> Schema:
    """A prompt file that only other files refer to, in which evalc reads only the prompt and its inputs."""
    return _of_others(KEYS[Kind.PROMPT], {**DOCUMENT, "id": _ANY_ID}, title="prompt file")


def _of_others(keys: Iterable[str], words: Mapping[str, Word], *, title: str) -> Schema:
    """A mapping that belongs to a library of prompts, and may have keys of the library's own."""
    return {**of_keys(keys, words, title=title), **_FOREIGN}


def _shared_rules() -> Schema:
    """A file that only other files include.

    It lists `suite` and `eval` too: an editor offers them to a suite that begins with what it includes.
    """
    return of_keys((*SHARED_KEYS, "description", "suite", "eval"), DOCUMENT, title=Kind.SHARED.value)


# --- what documents hold -------------------------------------------------------------------------------------------


def _criterion() -> Schema:
    one_line = {**filled(), "examples": ["clarity (0.3): Clear and well-structured"]}
    unquoted = {
        "description": "The one-line form without quotes, which YAML reads as a mapping.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": {"not": {"enum": [*CRITERION_KEYS]}},
        "additionalProperties": text(),
    }
    written_out = of_keys(CRITERION_KEYS, CRITERION, title="criterion", required=["name"])
    return {"title": "criterion", **any_of(written_out, one_line, unquoted)}


def _for_each() -> Schema:
    """The rows of a case in the form of a mapping: a list of them, or a file."""
    return {
        **of_keys(FOR_EACH_KEYS, FOR_EACH, title="for_each"),
        "if": {"required": ["rows"]},
        "then": {"properties": {"file": {"type": "null"}}},
        "else": {"properties": {"file": required_text()}, "required": ["file"]},
    }


def _variant() -> Schema:
    """A prompt of `prompts:` that is defined elsewhere."""
    schema = of_keys(VARIANT_KEYS, VARIANT, title="prompt of prompts")
    return {**schema, **_has_any(*VARIANT_KEYS), **_at_most_one(VARIANT_KEYS)}


def _records() -> dict[str, Schema]:
    """The records of the case model that a case holds as they are; a dimension's keys may be in snake case."""
    defined = definitions((m.Message, m.RubricDimension), COMPILED_FILE)
    dimension = defined["RubricDimension"]
    fields = msgspec.structs.fields(m.RubricDimension)
    spellings = [(field.name, field.encode_name) for field in fields if field.name != field.encode_name]
    snake_case = {name: dimension["properties"][json_name] for name, json_name in spellings}
    one_of_each = [{"not": {"required": [*spelling]}} for spelling in spellings]
    properties = {**dimension["properties"], **snake_case}
    return {**defined, "RubricDimension": {**dimension, "properties": properties, "allOf": one_of_each}}
