"""Builds the prompt of a prompt file or suite, and the inputs that it declares (PromptSpec)."""

from __future__ import annotations

from collections.abc import Iterator

from evalc.base.source import Span, where_used
from evalc.diagnostics.problem import Finding
from evalc.dsl.fields import Fields, Foreign, described, is_null
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.tree import InputTree, PromptTree, Str, VariantTree

PROMPT_READ = ("id", "prompt", "inputs", "role", "instructions")
"""The keys of a prompt that evalc reads."""


PROMPT_KEYS = (
    *PROMPT_READ,
    "name",
    "description",
    "category",
    "model_compatibility",
    "version",
    "author",
    "last_updated",
    "tags",
    "outputs",
    "examples",
    "notes",
    "usage",
    "contexts",
    "dependencies",
)
"""The keys of PromptSpec. A prompt file may have any other key too: it belongs to its library, not to evalc."""

INPUT_READ = ("name", "type", "required", "default", "options")
"""The keys of a declared input that evalc reads."""

INPUT_KEYS = (*INPUT_READ, "label", "placeholder", "description", "example", "examples", "validation")

_INPUT = Foreign(read=INPUT_READ, required=("name",))

VARIANT_KEYS = ("file", "id")
"""The keys of a prompt of `prompts:` that is not written out."""


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
    """What the role and the instructions say, each a text or a list of texts; anything else there is metadata."""
    for key in ("role", "instructions"):
        match fields.node(key):
            case Scalar(text=text) if text.strip():
                yield text.strip()
            case Sequence(items=items):
                lines = [f"- {item.text.strip()}" for item in items if isinstance(item, Scalar)]
                if lines:
                    yield "\n".join(lines)


def build_variants(fields: Fields) -> tuple[VariantTree, ...]:
    """The prompts of `prompts:`, by name: a text, or a mapping that says where the prompt is."""
    fields.forbid_empty("prompts")
    node = fields.mapping("prompts")
    if node is None:
        return ()
    if not node.pairs and not node.cut:
        fields.fault(fields.key("prompts"), Finding("EV309", what="`prompts`"))
    built = (_variant(fields, Str(key.text, Span(key.start, key.end)), value) for key, value in node.pairs)
    return tuple(variant for variant in built if variant is not None)


def _variant(fields: Fields, name: Str, value: Node) -> VariantTree | None:
    if not isinstance(value, Mapping):
        text = fields.text_of(value, f"the prompt `{name.value}`")
        if text is not None and (is_null(value) or not text.value.strip()):
            fields.fault(name.span, Finding("EV309", what=f"the prompt `{name.value}`"))
            return None
        return None if text is None else VariantTree(name=name, text=text)
    inner = fields.inside(value, what="a prompt of `prompts`", keys=VARIANT_KEYS)
    given = [key for key in VARIANT_KEYS if key in inner]
    if not given and not inner.partial:
        inner.fault(name.span, Finding("EV202", key="file", what="a prompt of `prompts`", why="add `file:` or `id:`"))
    if all(inner.node(key) is None for key in given):
        for key in given:
            inner.forbid_empty(key)
    for key in given[1:]:
        inner.fault(inner.key(key), Finding("EV312", key=key, other=given[0]))
    variant = VariantTree(name=name, file=inner.filled("file"), id=inner.filled("id"))
    fields.partial |= inner.partial
    return variant if variant.file or variant.id else None


def build_inputs(fields: Fields) -> tuple[InputTree, ...] | None:
    """The declared inputs; None if the document declares none.

    A list of mappings with `name`, a list of names, or a mapping of names to declarations.
    """
    node = fields.node("inputs")
    if node is None:
        return None
    if not isinstance(node, Scalar) and node.cut:
        fields.leave_out("inputs")
    if isinstance(node, Mapping):
        return tuple(_declaration(fields, Str(key.text, Span(key.start, key.end)), value) for key, value in node.pairs)
    if not isinstance(node, Sequence):
        fields.leave_out("inputs")
        expected = "a list of declarations, or a mapping of names to them"
        fields.fault(node, Finding("EV301", what="`inputs`", expected=expected, found=described(node)))
        return None
    declared: dict[str, InputTree] = {}
    for item in node.items:
        tree = _listed(fields, item)
        if tree is None:
            fields.leave_out("inputs")
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
    if not isinstance(item, Mapping):
        fields.fault(item, Finding("EV301", what="a declared input", expected="a mapping", found=described(item)))
        return None
    inner = _input_fields(fields, item)
    inner.require("name")
    name = inner.text("name")
    tree = None if name is None else _declared(inner, name)
    fields.partial |= inner.partial
    return tree


def _declaration(fields: Fields, name: Str, value: Node) -> InputTree:
    if not isinstance(value, Mapping):
        return InputTree(name=name, default=value)
    inner = _input_fields(fields, value)
    tree = _declared(inner, name)
    fields.partial |= inner.partial
    return tree


def _input_fields(fields: Fields, item: Mapping) -> Fields:
    return fields.inside(item, what="a declared input", keys=INPUT_KEYS, foreign=_INPUT)


def _declared(inner: Fields, name: Str) -> InputTree:
    default = inner.node("default")
    required = inner.boolean("required", default=default is None)
    type_, options = inner.text("type"), _options(inner)
    return InputTree(
        name=name,
        type=type_,
        options=options,
        # What is wrong, or misspelt, may have been what frees cases from giving it.
        required=required and default is None and not (inner.partial or inner.has_slips),
        default=default,
    )


def _options(inner: Fields) -> tuple[Str, ...] | None:
    """The values that an input may have; an option may be a mapping with its `value`."""
    items = inner.items("options")
    if items is None:
        return None
    return inner.together(tuple(map(_value_of, items)), "an item of `options`")


def _value_of(item: Node) -> Node:
    if not isinstance(item, Mapping):
        return item
    return next((value for key, value in item.pairs if key.text == "value"), item)
