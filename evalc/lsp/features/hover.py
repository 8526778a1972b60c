"""What a name under the pointer is: a key, a check, a criterion, a rule, an input, a tool, a seed value."""

from __future__ import annotations

from lsprotocol import types as lsp

from evalc.base.source import Span
from evalc.dsl.places import locate
from evalc.dsl.tree import CriterionTree, InputTree, RuleTree
from evalc.lsp.check_line import KINDS, described_kind, kind_at
from evalc.lsp.cursor import Place, place_at
from evalc.lsp.document import Document
from evalc.lsp.features.hints import share_of
from evalc.lsp.known import KnownNames
from evalc.lsp.mentions import Mention, mention_at, mentions
from evalc.lsp.shapes import Shapes, shapes_of
from evalc.lsp.workspace import Workspace
from evalc.tools.registry import Tool

_LONGEST_VALUE = 500


def hover(workspace: Workspace, document: Document, position: lsp.Position) -> lsp.Hover | None:
    """What is at a place; None if nothing is known of it."""
    offset = document.offset(position)
    found = workspace.around(document, offset)
    known = KnownNames(workspace, document, offset)
    mention = mention_at(mentions(found), offset)
    text = None if mention is None else _of_mention(known, mention)
    if mention is not None and text is not None:
        return _hover(document, text, mention.span)
    place = place_at(found.documents, offset)
    if place is None:
        return None
    text = _of_place(shapes_of(found), document, place, offset)
    return _hover(document, text, Span(place.scalar.start, place.scalar.end)) if text else None


def _hover(document: Document, text: str, span: Span) -> lsp.Hover:
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), document.range_of(span))


def _of_mention(known: KnownNames, mention: Mention) -> str | None:
    match mention.kind:
        case "criterion":
            return next((_criterion(known, each) for each in known.criteria if each.name.value == mention.name), None)
        case "rule":
            return next((_rule(each) for each in known.rules if each.name.value == mention.name), None)
        case "input":
            return next((_input(each) for each in known.inputs if each.name.value == mention.name), None)
        case "seed":
            return _seed(known, mention.name)
        case "tool":
            tool = None if known.tools is None else known.tools.get(mention.name)
            return None if tool is None else _tool(tool)
        case _:
            return None


def _criterion(known: KnownNames, criterion: CriterionTree) -> str:
    share = share_of(criterion, known.criteria)
    weight = "" if criterion.weight is None else f", weight {criterion.weight.value:g}"
    of_all = "" if share is None else f", {share} of the score"
    return _lines(f"**{criterion.name.value}**: criterion{weight}{of_all}", criterion.description or "")


def _rule(rule: RuleTree) -> str:
    lines = [rule.source.text[slice(*check.span)] for check in rule.checks]
    return "\n".join([f"**{rule.name.value}**: rule", "", "```yaml", *(f"- {line}" for line in lines), "```"])


def _input(declared: InputTree) -> str:
    type_ = "" if declared.type is None else f", {declared.type.value}"
    options = "" if declared.options is None else "one of " + ", ".join(f"`{each.value}`" for each in declared.options)
    return _lines(f"**{declared.name.value}**: {'required' if declared.required else 'optional'} input{type_}", options)


def _seed(known: KnownNames, path: str) -> str:
    value = known.seed_value(path)
    if value is None:
        where = known.settings.seed_manifest
        return f"`{path}` has no value: " + (
            "no seed manifest is configured" if where is None else f"`{where}` has none"
        )
    return f"`{path}` is `{value[:_LONGEST_VALUE]}` in the seed manifest"


def _tool(tool: Tool) -> str:
    properties = (tool.parameters or {}).get("properties", {})
    required = set((tool.parameters or {}).get("required", ()))
    lines = [
        f"- `{name}`{'' if name in required else ' (optional)'}: {shape.get('description', shape.get('type', ''))}"
        for name, shape in properties.items()
        if isinstance(shape, dict)
    ]
    return "\n".join([f"**{tool.name}**: tool", "", tool.description or "", "", *lines]).strip()


def _of_place(shapes: Shapes, document: Document, place: Place, offset: int) -> str:
    """What a key is for, or what a check does."""
    scalar = place.scalar
    if place.is_key:
        sentence = shapes.described(place)
        return _lines(f"**{scalar.text}**", sentence) if sentence else ""
    if place.keys[-1:] == ("type",) and scalar.text in KINDS:
        return described_kind(KINDS[scalar.text])
    if shapes.is_check(place):
        kind = kind_at(scalar.text, _within(document, place, offset))
        return "" if kind is None else described_kind(kind)
    return shapes.described(place)


def _within(document: Document, place: Place, offset: int) -> int:
    """The index in the value of a scalar that an offset of its token is."""
    span = Span(place.scalar.start, place.scalar.end)
    length = len(place.scalar.text)
    return next(
        (index for index in range(length) if locate(document.source, span, index, index + 1).end > offset), length
    )


def _lines(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))
