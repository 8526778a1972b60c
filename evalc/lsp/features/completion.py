"""What can be written at the cursor: keys, check words, criteria, rules, inputs, seed paths, tools, parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from lsprotocol import types as lsp

from evalc.base.source import Span
from evalc.compiler.pipeline import is_json
from evalc.dsl.nodes import Mapping
from evalc.lsp.check_line import KINDS, Continuation, continuation, described_kind
from evalc.lsp.cursor import Place, Unfinished, unfinished_at
from evalc.lsp.document import Document
from evalc.lsp.features.hints import share_of
from evalc.lsp.known import KnownNames
from evalc.lsp.shapes import Shapes, shapes_of
from evalc.lsp.workspace import Workspace
from evalc.model.checks.declaration import beginnings
from evalc.schema.shapes import Schema
from evalc.setup.compile import options_for

TRIGGERS: Final = (" ", ":", ".", "[", "{", "-", "/")
"""The characters after which an editor asks without being told to."""

_TEMPLATE: Final = re.compile(
    r"\{\{\s*(?:(?P<seed>seed:\s*(?P<path>[^{}]*))|(?:#(?:if|unless|each)\s+)?(?P<name>[\w.-]*))$"
)
_FILE_KEYS: Final = frozenset({"include", "prompt_file", "file"})
_SUFFIXES: Final = (".yaml", ".yml", ".csv", ".jsonl", ".json")
_MOST_FILES: Final = 500


class _Asked(NamedTuple):
    """What a completion is asked of: a document, the names that it can use, and its schema."""

    document: Document
    known: KnownNames
    shapes: Shapes

    def in_quotes(self, place: Place, text: str, behind: str = "") -> str:
        """A text as it is written at a place: what is in quotes already stays in them, and JSON needs them."""
        if place.scalar.style in {"single", "double"}:
            return text
        return f'"{text}"{behind}' if is_json(self.document.source) else f"{text}{behind}"


class _Offer(NamedTuple):
    """Something that may be written: in place of how much, and what an editor shows of it."""

    label: str
    kind: lsp.CompletionItemKind
    written: str
    detail: str = ""
    documentation: str = ""
    insert: str | None = None


def completion(workspace: Workspace, document: Document, position: lsp.Position) -> lsp.CompletionList:
    """What can be written at a place."""
    offset = document.offset(position)
    offers: dict[str, _Offer] = {}
    found = workspace.around(document, offset)
    asked = _Asked(document, KnownNames(workspace, document, offset), shapes_of(found))
    for unfinished in unfinished_at(found.source, offset):
        for offer in _offers(asked, unfinished):
            offers.setdefault(offer.label, offer)
    items = [_item(document, offset, offer, index) for index, offer in enumerate(offers.values())]
    return lsp.CompletionList(is_incomplete=False, items=items)


def _item(document: Document, offset: int, offer: _Offer, index: int) -> lsp.CompletionItem:
    text = offer.label if offer.insert is None else offer.insert
    documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, offer.documentation) if offer.documentation else None
    return lsp.CompletionItem(
        label=offer.label,
        kind=offer.kind,
        detail=offer.detail or None,
        documentation=documentation,
        sort_text=f"{index:05}",
        filter_text=offer.label,
        text_edit=lsp.TextEdit(document.range_of(Span(offset - len(offer.written), offset)), text),
    )


def _offers(asked: _Asked, unfinished: Unfinished) -> Iterator[_Offer]:
    place, before = unfinished
    template = _TEMPLATE.search(before)
    if template is not None:
        yield from _in_template(asked.known, template)
    elif place.is_key:
        yield from _inputs_given(asked, place, before)
        yield from _keys(asked, place, before)
    else:
        yield from _values(asked, place, before)


def _in_template(known: KnownNames, template: re.Match[str]) -> Iterator[_Offer]:
    if template["seed"] is not None:
        for path in known.seed_paths:
            yield _Offer(path, lsp.CompletionItemKind.Constant, template["path"], known.seed_value(path) or "")
        return
    for declared in known.inputs:
        yield _Offer(declared.name.value, lsp.CompletionItemKind.Variable, template["name"], "input")
    if known.settings.seed_manifest is not None:
        yield _Offer("seed:", lsp.CompletionItemKind.Keyword, template["name"], "a value of the seed manifest")


def _inputs_given(asked: _Asked, place: Place, before: str) -> Iterator[_Offer]:
    """The inputs that a case has not given yet."""
    if len(place.keys) > 2 and place.keys[-2] == "inputs" and isinstance(place.keys[-3], int):
        given = _given(place)
        for name, is_required in ((each.name.value, each.required) for each in asked.known.inputs):
            if name not in given:
                detail = f"{'required' if is_required else 'optional'} input"
                insert = asked.in_quotes(place, name, ": ")
                yield _Offer(name, lsp.CompletionItemKind.Variable, before, detail, insert=insert)


def _given(place: Place) -> set[str]:
    mapping = place.steps[-1][0]
    return {key.text for key, _ in mapping.pairs} if isinstance(mapping, Mapping) else set()


def _keys(asked: _Asked, place: Place, before: str) -> Iterator[_Offer]:
    given = _given(place)
    for shape in asked.shapes.around(place):
        required = shape.get("required", ())
        properties = shape.get("properties", {})
        for key in sorted(properties, key=lambda key: key not in required):
            if key not in given and isinstance(properties[key], dict):
                detail = "required" if key in required else ""
                sentence = properties[key].get("description", "")
                insert = asked.in_quotes(place, key, f":{_behind(properties[key])}")
                yield _Offer(key, lsp.CompletionItemKind.Property, before, detail, sentence, insert)


def _behind(shape: Schema) -> str:
    """A space after keys of values on the same line."""
    types = shape.get("type", ())
    return "" if types and types[0] in {"array", "object"} else " "


def _values(asked: _Asked, place: Place, before: str) -> Iterator[_Offer]:
    key = next((each for each in reversed(place.keys) if isinstance(each, str)), "")
    if asked.shapes.is_check(place):
        yield from _in_check(asked.known, before)
    yield from _names(asked, key, before)
    for shape in asked.shapes.at(place):
        for value in filter(None, shape.get("enum", ())):
            described = described_kind(KINDS[value]) if key == "type" and value in KINDS else ""
            insert = asked.in_quotes(place, value)
            yield _Offer(value, lsp.CompletionItemKind.EnumMember, before, "", described, insert)
        if "boolean" in _first_type(shape):
            yield from (_Offer(word, lsp.CompletionItemKind.EnumMember, before) for word in ("true", "false"))


def _first_type(shape: Schema) -> tuple[str, ...]:
    types = shape.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types[:1])


def _names(asked: _Asked, key: str, before: str) -> Iterator[_Offer]:
    known = asked.known
    match key:
        case "criterion":
            yield from _criteria(known, before)
        case "use":
            for rule in known.rules:
                yield _Offer(rule.name.value, lsp.CompletionItemKind.Function, before, f"{len(rule.checks)} checks")
        case "prompt_id":
            yield from (_Offer(each, lsp.CompletionItemKind.Reference, before, "prompt") for each in known.prompt_ids)
        case "tool":
            yield from _tools(known, before)
        case _ if key in _FILE_KEYS:
            yield from _files(asked, before)


def _criteria(known: KnownNames, before: str) -> Iterator[_Offer]:
    for each in known.criteria:
        share = share_of(each, known.criteria)
        yield _Offer(
            each.name.value,
            lsp.CompletionItemKind.Value,
            before,
            "" if share is None else f"{share} of the score",
            each.description or "",
        )


def _tools(known: KnownNames, before: str) -> Iterator[_Offer]:
    for tool in (known.tools or {}).values():
        yield _Offer(tool.name, lsp.CompletionItemKind.Method, before, "tool", tool.description or "")


def _in_check(known: KnownNames, before: str) -> Iterator[_Offer]:
    found = continuation(before)
    if found is None:
        return
    match found.names:
        case "criteria":
            yield from _criteria(known, found.word)
        case "tools":
            yield from _tools(known, found.word)
        case "parameters":
            yield from _parameters(known, found)
        case None:
            pass
    documentation = {begin: described_kind(kind) for kind in reversed(KINDS.values()) for begin in beginnings(kind)}
    for word in found.words:
        yield _Offer(word, lsp.CompletionItemKind.Keyword, found.word, "", documentation.get(word, ""))


def _parameters(known: KnownNames, found: Continuation) -> Iterator[_Offer]:
    tool = None if known.tools is None else known.tools.get(found.tool)
    properties = {} if tool is None else (tool.parameters or {}).get("properties", {})
    for name, shape in properties.items():
        described = shape if isinstance(shape, dict) else {}
        yield _Offer(
            name,
            lsp.CompletionItemKind.Field,
            found.word,
            str(described.get("type", "")),
            described.get("description", ""),
        )


def _files(asked: _Asked, before: str) -> Iterator[_Offer]:
    """The files below the folder of the document that a suite can name, as a search for evals finds them."""
    folder = asked.document.path.parent
    found = options_for(asked.known.settings).finder.search(folder, _SUFFIXES)
    for path in islice(found, _MOST_FILES):
        yield _Offer(os.path.relpath(path, folder), lsp.CompletionItemKind.File, before)
