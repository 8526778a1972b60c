"""Declares the keys of prompts and of the inputs that they declare (PromptSpec), and builds their trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from evalc.base.source import Source, where_used
from evalc.diagnostics import Finding
from evalc.dsl import kinds as k
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, stretch
from evalc.dsl.tree import Str
from evalc.dsl.walk import Fields, is_null

# --- the trees -------------------------------------------------------------------------------------------------------


class InputTree(msgspec.Struct, frozen=True, kw_only=True):
    """A declared input of a prompt (PromptSpec)."""

    name: Str
    type: Str | None = None
    options: tuple[Str, ...] | None = None
    required: bool = False
    default: Node | None = None


class PromptTree(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt: its template's text in its source, and the inputs it declares (None: it declares none).

    `system` are the texts of its role and its instructions, in their order. `has_evals` says that its document holds
    evals, `partial` that something of these declarations is left out.
    """

    source: Source
    text: Str
    id: Str | None = None
    system: tuple[str, ...] = ()
    inputs: tuple[InputTree, ...] | None = None
    has_evals: bool = False
    partial: bool = False


class VariantTree(msgspec.Struct, frozen=True, kw_only=True):
    """One of the prompts that a suite compares: its text, a file, or an id to look up."""

    name: Str
    text: Str | None = None
    file: Str | None = None
    id: Str | None = None


# --- reading ---------------------------------------------------------------------------------------------------------


def inline_prompt(fields: Fields, inputs: tuple[InputTree, ...] | None) -> PromptTree | None:
    """The prompt in the document itself, with the inputs that the document declares."""
    text = fields.text("prompt")
    if text is None:
        return None
    return PromptTree(
        source=fields.source,
        text=text,
        id=fields.text("id"),
        system=tuple(_system(fields)),
        inputs=inputs,
        partial=fields.has_hole("inputs"),
    )


def _system(fields: Fields) -> Iterator[str]:
    """The texts of the role and the instructions, each a text or a list of texts; anything else there is metadata."""
    for key in ("role", "instructions"):
        match fields.node(key):
            case Scalar(text=text) if text.strip():
                yield text.strip()
            case Sequence(items=items):
                lines = [f"- {item.text.strip()}" for item in items if isinstance(item, Scalar)]
                if lines:
                    yield "\n".join(lines)


def _variants(fields: Fields, key: str) -> tuple[VariantTree, ...]:
    """The prompts of `prompts:`, by name: a text, or a mapping that says where the prompt is."""
    fields.forbid_empty(key)
    node = fields.mapping(key)
    if node is None:
        return ()
    if not node.pairs and not node.cut:
        fields.fault(fields.key(key), Finding("EV309", what=f"`{key}`"))
    built = (_variant(fields, Str(stretch(name.start, name.end), name.text), value) for name, value in node.pairs)
    return tuple(variant for variant in built if variant is not None)


def _variant(fields: Fields, name: Str, value: Node) -> VariantTree | None:
    if not isinstance(value, Mapping):
        text = fields.text_of(value, f"the prompt `{name.value}`")
        if text is not None and (is_null(value) or not text.value.strip()):
            fields.fault(name.span, Finding("EV309", what=f"the prompt `{name.value}`"))
            return None
        return None if text is None else VariantTree(name=name, text=text)
    inner = fields.inside(value, VARIANT)
    read = VARIANT.of(inner)
    given = [key for key in VARIANT.keys if key in inner]
    if not given and not inner.partial:
        inner.fault(name.span, Finding("EV202", key="file", what="a prompt of `prompts`", why="add `file:` or `id:`"))
    if all(inner.node(key) is None for key in given):
        for key in given:
            inner.forbid_empty(key)
    inner.allow_one(given)
    variant = VariantTree(name=name, **read)
    fields.partial |= inner.partial
    return variant if variant.file or variant.id else None


def _declarations(fields: Fields, key: str) -> tuple[InputTree, ...] | None:
    """The declared inputs; None if the document declares none.

    A list of mappings with `name`, a list of names, or a mapping of names to declarations.
    """
    node = fields.node(key)
    if node is None:
        return None
    if not isinstance(node, Scalar) and node.cut:
        fields.leave_out(key)
    if isinstance(node, Mapping):
        return tuple(
            _declaration(fields, Str(stretch(name.start, name.end), name.text), value) for name, value in node.pairs
        )
    if not isinstance(node, Sequence):
        fields.leave_out(key)
        expected = "a list of declarations, or a mapping of names to them"
        fields.wrong(node, "`inputs`", expected)
        return None
    declared: dict[str, InputTree] = {}
    for item in node.items:
        tree = _listed(fields, item)
        if tree is None:
            fields.leave_out(key)
            continue
        earlier = declared.setdefault(tree.name.value, tree)
        if earlier is not tree:
            line = fields.source.position(earlier.name.span.start).line
            fields.fault(
                where_used(tree.name.span), Finding("EV206", what="declared input", name=tree.name.value, line=line)
            )
    return tuple(declared.values())


def _listed(fields: Fields, item: Node) -> InputTree | None:
    if isinstance(item, Scalar):
        name = fields.text_of(item, "a declared input")
        return None if name is None else InputTree(name=name, required=True)
    tree: InputTree | None = INPUT.take(fields, item, "a declared input")
    return tree


def _declaration(fields: Fields, name: Str, value: Node) -> InputTree:
    if not isinstance(value, Mapping):
        return InputTree(name=name, default=value)
    inner = fields.inside(value, INPUT_BY_NAME)
    tree = _declared(inner, INPUT_BY_NAME.of(inner), name)
    fields.partial |= inner.partial
    return tree


def _build_input(inner: Fields, given: dict[str, Any]) -> InputTree | None:
    name = given.get("name")
    return None if name is None else _declared(inner, given, name)


def _declared(inner: Fields, given: dict[str, Any], name: Str) -> InputTree:
    default = given.get("default")
    return InputTree(
        name=name,
        type=given.get("type"),
        options=given.get("options"),
        # What is wrong, or misspelt, may have been what frees cases from giving it.
        required=given.get("required", True) and default is None and not (inner.partial or inner.has_typos),
        default=default,
    )


def _options(inner: Fields, key: str) -> tuple[Str, ...] | None:
    """The values that an input may have; an option may be a mapping with its `value`."""
    items = inner.items(key)
    if items is None:
        return None
    texts = tuple(inner.each_text(map(_value_of, items), "an item of `options`"))
    return texts if len(texts) == len(items) else None


def _value_of(item: Node) -> Node:
    if not isinstance(item, Mapping):
        return item
    return next((value for key, value in item.pairs if key.text == "value"), item)


# --- the keys --------------------------------------------------------------------------------------------------------

VARIANT: Final = k.Shape(
    "a prompt of `prompts`",
    {
        "file": k.Key(k.FILLED, "The path of the prompt, relative to this file.", ("prompts/long.md",)),
        "id": k.Key(
            k.FILLED, "The `id` of a prompt file, which is looked up in the folder of the prompts.", ("code-review-v1",)
        ),
    },
    name="promptVariant",
    title="prompt of prompts",
)
"""A prompt of `prompts:` that is defined elsewhere."""
VARIANTS: Final = k.Kind(
    {"type": "object", "minProperties": 1, "additionalProperties": k.any_of(k.TEXT.schema, VARIANT.schema)},
    read=_variants,
    texts="data",
)
_OPTION: Final[k.Schema] = {
    "type": "object",
    "properties": {"value": {"description": "The value that the input has by this option.", **k.TEXT.schema}},
    "required": ["value"],
}
_OF_INPUT: Final = {
    "name": k.Key(
        k.Text({"type": ["string", "number", "boolean"]}),
        "The input's name, as the prompt's template has it.",
        ("language",),
        required=True,
    ),
    "type": k.Key(k.TEXT, "The type of its values.", ("string",)),
    "required": k.Key(k.FLAG, "Whether every case has to give it; by default true where there is no `default`."),
    "default": k.Key(k.Kind({}, read=Fields.node), "Its value where a case gives none."),
    "options": k.Key(
        k.Kind(k.list_of(k.any_of(k.TEXT.schema, _OPTION)), read=_options),
        "The values that it may have.",
        (["celsius", "kelvin"],),
    ),
    "label": k.Key(k.ANYTHING, "What a form calls it.", kept=True),
    "placeholder": k.Key(k.ANYTHING, "What a form shows while it is empty.", kept=True),
    "description": k.Key(k.ANYTHING, "What it is, for readers.", kept=True),
    "example": k.Key(k.ANYTHING, "A value that it may have, for readers.", kept=True),
    "examples": k.Key(k.ANYTHING, "Values that it may have, for readers.", kept=True),
    "validation": k.Key(k.ANYTHING, "Further rules for its values, for readers.", kept=True),
}
INPUT: Final = k.Shape(
    "a declared input", _OF_INPUT, name="declaredInput", title="declared input", foreign=("name",), build=_build_input
)
INPUT_BY_NAME: Final = k.Shape(
    "a declared input", INPUT.only(*_OF_INPUT), name="declaredInputByName", title="declared input", foreign=("name",)
)
DECLARATIONS: Final = k.Kind(
    k.or_absent(
        k.any_of(
            k.list_of(k.any_of(k.TEXT.schema, INPUT.schema)),
            {
                "type": "object",
                "additionalProperties": k.any_of(
                    {"type": ["string", "number", "boolean", "null", "array"]}, INPUT_BY_NAME.schema
                ),
            },
        )
    ),
    read=_declarations,
)
_SAID: Final = k.Kind({}, texts="data")
PROMPT_SPEC: Final = {
    "id": k.Key(k.FILLED, "The prompt's id, which other files look it up by.", ("code-review-v1",)),
    "prompt": k.Key(k.SENT, "The prompt, a template that the inputs fill.", ("Review this {{language}} code.",)),
    "inputs": k.Key(DECLARATIONS, "The inputs that the prompt takes.", aka=("vars", "variables", "parameters")),
    "role": k.Key(_SAID, "The role that the model has: the beginning of its system prompt."),
    "instructions": k.Key(_SAID, "What the model is told to do, in its system prompt: a text, or a list."),
    "name": k.Key(k.ANYTHING, "The prompt's name, for readers.", kept=True),
    "description": k.Key(k.ANYTHING, "What this is about, for readers.", kept=True),
    "category": k.Key(k.ANYTHING, "What kind of prompt it is.", kept=True),
    "model_compatibility": k.Key(k.ANYTHING, "The models that the prompt was tried with.", kept=True),
    "version": k.Key(k.ANYTHING, "The prompt's version.", ("1.0.0",), kept=True),
    "author": k.Key(k.ANYTHING, "Who wrote the prompt.", kept=True),
    "last_updated": k.Key(k.ANYTHING, "When the prompt was last changed.", kept=True),
    "tags": k.Key(k.ANYTHING, "Words to find the prompt by.", kept=True),
    "outputs": k.Key(k.ANYTHING, "What the prompt gives.", kept=True),
    "examples": k.Key(k.ANYTHING, "Examples of inputs and outputs.", kept=True),
    "notes": k.Key(k.ANYTHING, "Notes about the prompt.", kept=True),
    "usage": k.Key(k.ANYTHING, "How the prompt is used.", kept=True),
    "contexts": k.Key(k.ANYTHING, "What the model is told besides the prompt.", kept=True),
    "dependencies": k.Key(k.ANYTHING, "What the prompt needs.", kept=True),
}
"""The keys of PromptSpec. A prompt file may have any other key too: it belongs to its library, not to evalc."""
