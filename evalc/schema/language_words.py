"""The keys of the source language, each with one sentence that says what it is for, and the shape of its value.

Which keys there are, the tables of the checker say (`evalc.dsl`); a key that has no sentence here breaks a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evalc.dsl.build_case import DIFFICULTIES, TIERS
from evalc.dsl.build_rule import PARAM_OPS, TEST_KEYS
from evalc.model.case import BROKEN_AGENTS, MUTATIONS
from evalc.schema.shapes import (
    Schema,
    any_of,
    anything,
    choice,
    filled,
    filled_list_of,
    flag,
    free_mapping,
    list_of,
    mapping,
    number,
    reason,
    ref,
    required_text,
    text,
    whole,
)


class Word(NamedTuple):
    """What a key is for, the shape of its value, and values that it may have."""

    sentence: str
    shape: Schema
    examples: tuple[Any, ...] = ()


def described(word: Word) -> Schema:
    """The schema of a key's value."""
    schema = {"description": word.sentence, **word.shape}
    return {**schema, "examples": list(word.examples)} if word.examples else schema


def of_keys(keys: Iterable[str], words: Mapping[str, Word], *, title: str, required: Iterable[str] = ()) -> Schema:
    """A mapping that has the keys of one of the checker's tables."""
    properties = {key: described(words[key]) if key in words else {} for key in keys}
    return mapping(properties, title=title, required=[*required])


def _or_absent(shape: Schema) -> Schema:
    return any_of(shape, {"type": "null"})


_SHARE = number(minimum=0, maximum=1)
_REQUIREMENT: Schema = {
    "type": ["string", "integer", "null"],
    "pattern": r"^\s*[0-9]{1,9}(\s*/\s*[0-9]{1,9}|(\.[0-9]+)?\s*%)?\s*$",
    "minimum": 0,
    "maximum": 999_999_999,
}
_ROW: Schema = {"type": "object"}
_OPTION: Schema = {
    "type": "object",
    "properties": {"value": {"description": "The value that the input has by this option.", **text()}},
    "required": ["value"],
}
_DECLARATIONS = any_of(
    list_of(any_of(text(), ref("declaredInput"))),
    {
        "type": "object",
        "additionalProperties": any_of(
            {"type": ["string", "number", "boolean", "null", "array"]}, ref("declaredInputByName")
        ),
    },
)

_BY_CLASS = {"type": ["object", "null"], "additionalProperties": _SHARE}

GATES: Mapping[str, Word] = {
    "min_pass_rate": Word("The least share of the cases that pass, from 0 to 1.", _SHARE, (0.9,)),
    "min_score": Word("The least score of the suite, from 0 to 1.", _SHARE, (0.8,)),
    "max_p95_ms": Word("The time in milliseconds that 95 % of the cases keep to.", number(exclusiveMinimum=0), (5000,)),
    "fail_on_regression": Word("Whether no case may fail that passed in the baseline.", flag(), (True,)),
    "recall": Word("The least recall of classes, by their labels.", _BY_CLASS, ({"refund": 0.95},)),
    "precision": Word("The least precision of classes, by their labels.", _BY_CLASS, ({"refund": 0.9},)),
    "macro_f1": Word("The least mean of the F1 of all classes, from 0 to 1.", _SHARE, (0.8,)),
    "confidence": Word(
        "How sure a gate has to be, above 0.5 and below 1; what is less certain is undecided.",
        {"type": ["number", "string", "null"], "exclusiveMinimum": 0.5, "exclusiveMaximum": 1, "pattern": "%\\s*$"},
        ("95%", 0.99),
    ),
}

DOCUMENT: Mapping[str, Word] = {
    "suite": Word(
        "The suite's name, a slug; by default the prompt's id, else the file's name.", filled(), ("code-review",)
    ),
    "tier": Word("The tier of the cases, which says what they may assert; by default `labeled`.", choice(TIERS)),
    "tool": Word(
        "The tool that the suite is about, which names its files and results; by default the suite's name.",
        filled(),
        ("get_weather",),
    ),
    "tool_version": Word("The tool's version that the evals were written for.", text(), ("1.0.0",)),
    "tool_description": Word("The tool's description that the evals were written for.", text()),
    "registry_size": Word("How many tools there were when the evals were written.", whole()),
    "threshold": Word("The least score of the suite, from 0 to 1.", _SHARE, (0.8,)),
    "gates": Word(
        "What the suite must reach as a whole; this decides instead of its cases.",
        any_of(ref("gates"), {"type": "null"}),
        ({"min_pass_rate": 0.9},),
    ),
    "description": Word("What this is about, for readers.", anything()),
    "prompt": Word("The prompt, a template that the inputs fill.", text(), ("Review this {{language}} code.",)),
    "prompt_file": Word("The path of the prompt, relative to this file.", text(), ("prompts/review.md",)),
    "prompt_id": Word(
        "The `id` of a prompt file, which is looked up in the folder of the prompts.", text(), ("code-review-v1",)
    ),
    "prompts": Word(
        "Variants of the prompt by name; every case runs with each of them.",
        {"type": "object", "minProperties": 1, "additionalProperties": any_of(text(), ref("promptVariant"))},
        ({"short": "Weather in {{city}}?", "long": {"file": "prompts/long.md"}},),
    ),
    "inputs": Word("The inputs that the prompt takes.", _or_absent(_DECLARATIONS)),
    "rules": Word(
        "Groups of checks by name, for `use: NAME`.",
        {"type": ["object", "null"], "additionalProperties": filled_list_of(ref("check"))},
        ({"no_cop_outs": ['not contains "I don\'t know"']},),
    ),
    "include": Word(
        "Files with named rules and defaults.",
        any_of(filled_list_of(text()), required_text()),
        (["shared/rules.eval.yaml"],),
    ),
    "defaults": Word("What every case has, unless it says `inherit: false`.", _or_absent(ref("defaults"))),
    "eval": Word("The criteria and the cases.", ref("eval")),
    "criteria": Word("What the answers are scored by, with weights.", list_of(ref("criterion"))),
    "test_cases": Word("The cases.", filled_list_of(ref("case"))),
    # PromptSpec's
    "id": Word("The prompt's id, which other files look it up by.", filled(), ("code-review-v1",)),
    "name": Word("The prompt's name, for readers.", anything()),
    "version": Word("The prompt's version.", anything(), ("1.0.0",)),
    "author": Word("Who wrote the prompt.", anything()),
    "category": Word("What kind of prompt it is.", anything()),
    "tags": Word("Words to find the prompt by.", anything()),
    "model_compatibility": Word("The models that the prompt was tried with.", anything()),
    "outputs": Word("What the prompt gives.", anything()),
    "examples": Word("Examples of inputs and outputs.", anything()),
    "role": Word("The role that the model has: the beginning of its system prompt.", anything()),
    "contexts": Word("What the model is told besides the prompt.", anything()),
    "instructions": Word("What the model is told to do, in its system prompt: a text, or a list.", anything()),
    "dependencies": Word("What the prompt needs.", anything()),
    "notes": Word("Notes about the prompt.", anything()),
    "usage": Word("How the prompt is used.", anything()),
    "last_updated": Word("When the prompt was last changed.", anything()),
}
"""The keys at the top of a file, and of its `eval:`."""


def _reason(description: str) -> dict[str, Any]:
    return {**reason(), "description": description}


CASE: Mapping[str, Word] = {
    "name": Word(
        "The case's name, which its results go by; unique in the suite.", required_text(), ("basic_code_review",)
    ),
    "description": Word("What the case is about; by default its name.", text()),
    "id": Word(
        "The id that results and baselines know the case by; by default `SUITE/NAME`.",
        filled(),
        ("rg-get-weather-001",),
    ),
    "tier": Word("The tier of this case, where it is another than the suite's.", choice(TIERS)),
    "difficulty": Word("How hard the case is; by default `straightforward`.", choice(DIFFICULTIES)),
    "created_at": Word(
        "When the case was written, as ISO 8601 has it; regression cases need it.", text(), ("2026-03-02",)
    ),
    "bug_ref": Word(
        "The issue or commit that a regression case comes from; regression cases need it.", text(), ("#17",)
    ),
    "prompt_id": Word("The `id` of a prompt for this case alone.", text()),
    "message": Word(
        "The message that is sent instead of the prompt; may be a template.", text(), ("What is the weather in Paris?",)
    ),
    "messages": Word("A conversation for chat agents.", list_of(ref("Message"))),
    "turns": Word(
        "A conversation, turn by turn: what the user says, and checks of each answer.",
        filled_list_of(ref("turn")),
        ([{"say": "A room for two, please.", "validate": ['contains "when"']}],),
    ),
    "user": Word("A simulated user, who holds the conversation.", ref("user")),
    "inputs": Word("The values that fill the prompt, by name.", free_mapping(), ({"language": "Python"},)),
    "expected": Word("A text that describes the answer: what a judge compares with.", text()),
    "validate": Word("The checks.", filled_list_of(ref("check"))),
    "expect": Word("Checks in the field names of the compiled file.", _or_absent(ref("expect"))),
    "stubs": Word("The answers of tools, by their names.", free_mapping()),
    "max_turns": Word("How many turns the agent may take.", whole(minimum=1)),
    "rubric": Word("The dimensions that a judge scores.", list_of(ref("RubricDimension"))),
    "reference_data": Word("Ground truth for a judge.", free_mapping()),
    "threshold": Word("The least score of the case, from 0 to 1.", _SHARE, (0.8,)),
    "tags": Word("Words to choose cases by.", list_of(text()), (["smoke"],)),
    "for_each": Word(
        "One case a row: a list of rows, or a CSV or JSONL file.",
        any_of(filled_list_of(_ROW), required_text(), ref("forEach")),
        ([{"city": "Paris"}, {"city": "Rome"}], "cities.csv"),
    ),
    "repeat": Word("How often the case runs.", whole(minimum=1), (10,)),
    "require": Word("How many of the repeated runs have to pass.", _REQUIREMENT, ("8/10", 8, "80%")),
    "expected_failure": Word("Why the case is known to fail.", reason(), ("the agent overlooks SQL injection",)),
    "allow": Word(
        "Faults that `evalc challenge` does not count for this case, each with the reason.",
        {
            "type": ["object", "null"],
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {
                **{name: _reason(f"In a recorded answer, {fault}.") for name, fault in MUTATIONS.items()},
                **{name: _reason(f"The agent {fault}.") for name, fault in BROKEN_AGENTS.items()},
            },
        },
        ({"refusal": "asks for something forbidden"},),
    ),
    "label": Word(
        "The class that the agent should give, and where its answer has it; `response`, by default, or `at PATH`.",
        {
            "type": ["object", "null"],
            "required": ["expected"],
            "additionalProperties": False,
            "patternProperties": {"^x-": {}},
            "properties": {
                "expected": {**filled(), "description": "The class that the agent should give."},
                "from": {
                    "description": "Where the answer has it: `response`, or `at PATH` for a place in it.",
                    "type": "string",
                    "pattern": r"^\s*(response\s*$|at\s+\S)",
                },
            },
        },
        ({"expected": "{{intent}}", "from": "at intent"},),
    ),
    "archived": Word("Why a locked regression case is retired.", reason(), ("the tool is gone",)),
    "skip": Word("Why the case does not run.", reason(), ("the service is down",)),
    "inherit": Word("Whether the case takes the suite's `defaults`; by default true.", flag()),
}
"""The keys of a case, and of `defaults:`."""

USER: Mapping[str, Word] = {
    "goal": Word("What the user wants.", text(), ("Book a room in Paris for two nights",)),
    "persona": Word("Who the user is, and how the user speaks.", text(), ("Polite, says one thing at a time",)),
    "facts": Word(
        "All that the user knows, by name.",
        {"type": ["object", "null"], "additionalProperties": text()},
        ({"city": "Paris", "nights": 2},),
    ),
    "opens": Word("What the user says first.", filled(), ("I need a room.",)),
    "max_turns": Word("How many turns the conversation may take; by default 10.", whole(minimum=1)),
    "stop_when": Word("When the user is done.", text(), ("The desk has confirmed the booking",)),
}

TURN: Mapping[str, Word] = {
    "say": Word("What the user says; a template.", text(), ("A room for two, please.",)),
    "validate": Word("The checks of the answer and of the calls of this turn.", filled_list_of(ref("check"))),
}

FOR_EACH: Mapping[str, Word] = {
    "rows": Word("The rows, each with its values by name.", list_of(_ROW, minItems=1), ([{"city": "Paris"}],)),
    "file": Word("The path of a CSV or JSONL file with the rows, relative to this file.", filled(), ("cities.csv",)),
    "key": Word(
        "The column that tells the rows apart; by default `id` or `name`, else they are numbered.", filled(), ("city",)
    ),
}
"""The keys of `for_each:` where it is a mapping."""

VARIANT: Mapping[str, Word] = {
    "file": Word("The path of the prompt, relative to this file.", filled(), ("prompts/long.md",)),
    "id": Word(
        "The `id` of a prompt file, which is looked up in the folder of the prompts.", filled(), ("code-review-v1",)
    ),
}
"""The keys of a prompt of `prompts:` that is defined elsewhere."""

CRITERION: Mapping[str, Word] = {
    "name": Word(
        "The criterion's name, which checks are linked to; unique in the suite.", required_text(), ("clarity",)
    ),
    "description": Word("What a good answer is by this criterion.", text()),
    "weight": Word("How much the criterion counts; by default 1.", number(minimum=0), (0.3,)),
}
"""The keys of a criterion."""

DECLARED_INPUT: Mapping[str, Word] = {
    "name": Word(
        "The input's name, as the prompt's template has it.", {"type": ["string", "number", "boolean"]}, ("language",)
    ),
    "type": Word("The type of its values.", text(), ("string",)),
    "required": Word("Whether every case has to give it; by default true where there is no `default`.", flag()),
    "default": Word("Its value where a case gives none.", anything()),
    "options": Word("The values that it may have.", list_of(any_of(text(), _OPTION)), (["celsius", "kelvin"],)),
    "label": Word("What a form calls it.", anything()),
    "placeholder": Word("What a form shows while it is empty.", anything()),
    "description": Word("What it is, for readers.", anything()),
    "example": Word("A value that it may have, for readers.", anything()),
    "examples": Word("Values that it may have, for readers.", anything()),
    "validation": Word("Further rules for its values, for readers.", anything()),
}
"""The keys of a declared input."""

_PLAIN: Schema = {"type": ["string", "number", "boolean", "array", "null"]}
ARG_TEST: Mapping[str, Word] = {
    "equals": Word("The value that the argument equals, of any type.", anything()),
    "contains": Word("A text in it, or an item of it.", text(), ("Par",)),
    "matches": Word("A pattern that it matches.", text(), ("^P",)),
    "one_of": Word("The values, one of which it must equal.", {"type": ["array", "null"]}, (["EUR", "USD"],)),
    "exists": Word("Whether it was sent.", flag()),
    "min": Word("The least number that it is.", number(), (1,)),
    "max": Word("The greatest number that it is.", number(), (3,)),
}
"""The tests of an argument of a call."""
_ARG_TEST: Schema = {**of_keys(TEST_KEYS, ARG_TEST, title="argument"), "minProperties": 1}

CHECK: Mapping[str, Word] = {
    "type": Word("What is checked.", {"type": "string"}),
    "rule": Word("What the check compares with.", text()),
    "criterion": Word("The criterion that the check counts for.", text(), ("clarity",)),
    "weight": Word("How often the check counts within its criterion; by default 1.", number(minimum=0), (2,)),
    "at": Word("The place of a JSON response that is looked at; by default the whole.", filled(), ("items[0].title",)),
    "use": Word("The named rule whose checks are used here.", required_text(), ("no_cop_outs",)),
    "any_of": Word("Checks, at least one of which must pass.", filled_list_of(ref("checkWithin"))),
    "all_of": Word("Checks that have to hold all.", filled_list_of(ref("checkWithin"))),
    "not": Word("A check that may not hold.", any_of(ref("checkWithin"), filled_list_of(ref("checkWithin")))),
    "tool": Word(
        "The tool whose first call is looked at.", {"type": ["string", "number", "boolean"]}, ("get_weather",)
    ),
    "param": Word("The parameter of that call.", {"type": ["string", "number", "boolean"]}, ("city",)),
    "op": Word("How the parameter is compared.", {"enum": [*PARAM_OPS]}),
    "value": Word("What the parameter is compared with; a list for `oneOf`.", any_of(text(), list_of(text()))),
    "which": Word(
        "Which of the tool's calls is meant; by default any one.",
        any_of({"enum": ["any", "every", "no"]}, {"type": "integer", "minimum": 1}),
        ("every", 2),
    ),
    "args": Word(
        "What the arguments are: each a value that it equals, or a mapping of tests.",
        {"type": "object", "minProperties": 1, "additionalProperties": any_of(_PLAIN, _ARG_TEST)},
        ({"city": "Paris", "days": {"min": 1, "max": 3}},),
    ),
    "threshold": Word("The least likeness that passes, from 0 to 1.", {"type": "number"}, (0.8,)),
    "min": Word("The least score that passes.", {"type": "number"}, (4,)),
    "scale": Word("The best score that the judge can give.", {"type": "number"}, (5,)),
}
"""The keys of a check in its mapping form."""
