"""The canonical style, as `evalc fmt` writes it."""

from __future__ import annotations

from lsprotocol import types as lsp

from evalc.base.source import Span
from evalc.compiler.pipeline import is_json
from evalc.dsl.format import Unformattable, format_text
from evalc.lsp.document import Document
from evalc.lsp.workspace import Workspace


def formatting(workspace: Workspace, document: Document) -> list[lsp.TextEdit]:
    """The one edit that formats a document, as short as it can be; none if it cannot be formatted."""
    if is_json(document.source) or not workspace.outline(document).kinds:
        return []
    before = document.source.text
    try:
        after = format_text(before)
    except Unformattable:
        return []
    if after == before:
        return []
    start = _shared(before, after)
    start = before.rfind("\n", 0, start) + 1
    end = _shared(before[start:][::-1], after[start:][::-1])
    return [lsp.TextEdit(document.range_of(Span(start, len(before) - end)), after[start : len(after) - end])]


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    differing = (index for index, (ours, theirs) in enumerate(zip(one, other, strict=False)) if ours != theirs)
    return next(differing, min(len(one), len(other)))
