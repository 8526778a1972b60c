"""Finds where a name is declared and everywhere it is used, and renames it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp

from evalc.base.source import Source, Span
from evalc.lsp.document import Document, range_in, uri_of
from evalc.lsp.known import KnownNames
from evalc.lsp.mentions import Mention, mention_at, mentions
from evalc.lsp.references import Location, occurrences
from evalc.lsp.workspace import Workspace, beside

_RENAMED: Final = frozenset({"rule", "criterion", "prompt", "input"})
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*")
_WORDS_OF_YAML: Final = frozenset({"true", "false", "null"})


class NotRenamed(Exception):
    """Why a name cannot be changed."""


def definition(workspace: Workspace, document: Document, position: lsp.Position) -> list[lsp.Location]:
    """Where the name at a place is declared; of a file, the file."""
    mention = _mention(workspace, document, position)
    if mention is None:
        return []
    known = KnownNames(workspace, document, mention.span.start)
    match mention.kind:
        case "file":
            path = beside(document.path, mention.name)
            return [_beginning(path)] if path is not None and path.is_file() else []
        case "seed":
            place = known.seed_place(mention.name)
            return [] if place is None else [_location(workspace, *place)]
        case "tool":
            tool = None if known.tools is None else known.tools.get(mention.name)
            return [] if tool is None or tool.place is None else [_beginning(Path(tool.place.file), tool.place.line)]
        case "input":
            place = known.input_place(mention.name)
            return [] if place is None else [_location(workspace, *place)]
        case _:
            return [
                _location(workspace, each.source, each.mention.span) for each in _declared(workspace, document, mention)
            ]


def _declared(workspace: Workspace, document: Document, mention: Mention) -> list[Location]:
    return [each for each in occurrences(workspace, document.path, mention) if each.mention.defines]


def references(
    workspace: Workspace, document: Document, position: lsp.Position, *, declarations: bool
) -> list[lsp.Location]:
    """Every use in the project of the name at a place."""
    mention = _mention(workspace, document, position)
    found = [] if mention is None else occurrences(workspace, document.path, mention)
    return [
        _location(workspace, each.source, each.mention.span)
        for each in found
        if declarations or not each.mention.defines
    ]


def highlights(workspace: Workspace, document: Document, position: lsp.Position) -> list[lsp.DocumentHighlight]:
    """Every use in its document of the name at a place."""
    mention = _mention(workspace, document, position)
    found = mentions(workspace.outline(document))
    same = [] if mention is None else [each for each in found if each[:2] == mention[:2]]
    kinds = {True: lsp.DocumentHighlightKind.Write, False: lsp.DocumentHighlightKind.Read}
    return [lsp.DocumentHighlight(document.range_of(each.span), kinds[each.defines]) for each in same]


def prepare_rename(workspace: Workspace, document: Document, position: lsp.Position) -> lsp.Range | None:
    """The name at a place, if it can be changed; None if there is none."""
    mention = _mention(workspace, document, position)
    return None if mention is None or mention.kind not in _RENAMED else document.range_of(mention.span)


def rename(workspace: Workspace, document: Document, position: lsp.Position, name: str) -> lsp.WorkspaceEdit:
    """The edits that give the thing at a place another name, in every file that names it.

    Raises:
        NotRenamed: nothing there can be renamed, or the name needs quotes somewhere.
    """
    mention = _mention(workspace, document, position)
    if mention is None or mention.kind not in _RENAMED:
        raise NotRenamed("only rules, criteria, inputs and ids of prompts can be renamed")
    if not _NAME.fullmatch(name) or name.lower() in _WORDS_OF_YAML:
        raise NotRenamed(f"`{name}` is not a name: use letters, digits, `-` and `_`, beginning with a letter")
    found = occurrences(workspace, document.path, mention)
    _refuse_taken(workspace, found, mention, name)
    changes: dict[str, list[lsp.TextEdit]] = {}
    for each in found:
        edits = changes.setdefault(_uri(workspace, each.source), [])
        edits.append(lsp.TextEdit(range_in(each.source, each.mention.span, workspace.encoding), name))
    return lsp.WorkspaceEdit(changes=changes)


def _refuse_taken(workspace: Workspace, found: Iterable[Location], mention: Mention, name: str) -> None:
    """Refuse a name that something else of the same kind has already."""
    for path in {Path(each.source.name) for each in found}:
        outline = workspace.outline_of(path)
        taken = () if outline is None else mentions(outline)
        if any(each.defines and (each.kind, each.name) == (mention.kind, name) for each in taken):
            raise NotRenamed(f"there is another {mention.kind} `{name}` in {path.name}")


def _mention(workspace: Workspace, document: Document, position: lsp.Position) -> Mention | None:
    return mention_at(mentions(workspace.outline(document)), document.offset(position))


def _location(workspace: Workspace, source: Source, span: Span) -> lsp.Location:
    return lsp.Location(_uri(workspace, source), range_in(source, span, workspace.encoding))


def _uri(workspace: Workspace, source: Source) -> str:
    """The address of a source; of an open document, as the editor writes it."""
    uri = uri_of(source.name)
    document = workspace.get(uri)
    return uri if document is None else document.uri


def _beginning(path: Path, line: int = 1) -> lsp.Location:
    place = lsp.Position(line - 1, 0)
    return lsp.Location(uri_of(path), lsp.Range(place, place))
