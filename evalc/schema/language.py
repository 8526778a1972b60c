"""Generates the JSON Schema of the source language, for editors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

import msgspec

from evalc.dsl.build_case import ALLOW, CASE, DEFAULTS, FOR_EACH, LABEL, TURN, USER
from evalc.dsl.build_criterion import CRITERION
from evalc.dsl.build_prompt import INPUT, INPUT_BY_NAME, VARIANT
from evalc.dsl.build_suite import DOCUMENTS, EVAL, GATES, PROMPTS
from evalc.dsl.document_kind import Kind
from evalc.dsl.kinds import DIALECT, TEXT, Key, Schema, Shape, any_of, filled, ref, text
from evalc.model import case as m
from evalc.schema.language_checks import checks, expect
from evalc.schema.record_words import COMPILED_FILE
from evalc.schema.records import definitions

_DESCRIPTION: Final = (
    "An eval file in YAML: a suite, a prompt file with its evals, cases for a prompt elsewhere, "
    "or rules and defaults that suites share."
)
_SHAPES: Final = (
    EVAL, CASE, INPUT, INPUT_BY_NAME, DEFAULTS, FOR_EACH, GATES, USER, TURN, LABEL, ALLOW,
)  # fmt: skip
_EVAL: Final = {"eval": DOCUMENTS[Kind.SUITE]["eval"]}


def language() -> Schema:
    """The schema of one document of an eval file in YAML, of whichever kind its keys say."""
    is_prompt = {"required": ["id", "prompt"], "not": {"required": ["suite"]}}
    is_cases = {"required": ["prompt_id", "test_cases"], "not": _has_any("eval", "suite", "tool")}
    of_suites = ("eval", "test_cases", "suite", "tool", "tier", *PROMPTS)
    is_shared = {**_has_any("rules", "defaults", "include"), "not": _has_any(*of_suites)}
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
            **{shape.name: shape.definition() for shape in _SHAPES},
            "criterion": _criterion(),
            "promptVariant": {**VARIANT.definition(), **_has_any(*VARIANT.keys), **_at_most_one(VARIANT.keys)},
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
    any_id = {"id": DOCUMENTS[Kind.PROMPT]["id"]._replace(holds=TEXT)}
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


def _document(kind: Kind, keys: dict[str, Key]) -> Schema:
    return Shape("", keys, title=kind.value, foreign=() if kind is Kind.PROMPT else None).definition()


def _with_block_or_flat(kind: Kind) -> Schema:
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


# --- what documents hold -------------------------------------------------------------------------------------------


def _criterion() -> Schema:
    one_line = {**filled(), "examples": ["clarity (0.3): Clear and well-structured"]}
    unquoted = {
        "description": "The one-line form without quotes, which YAML reads as a mapping.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": {"not": {"enum": [*CRITERION.keys]}},
        "additionalProperties": text(),
    }
    return {"title": "criterion", **any_of(CRITERION.definition(), one_line, unquoted)}


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
