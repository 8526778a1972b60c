"""The share of the score that each criterion has, beside its weight."""

from __future__ import annotations

from lsprotocol import types as lsp

from evalc.lsp.document import Document
from evalc.lsp.features.shares import share_of
from evalc.lsp.workspace import Workspace
from evalc.source import Span


def hints(workspace: Workspace, document: Document, range_: lsp.Range) -> list[lsp.InlayHint]:
    """The hints within a range of a document."""
    shown = Span(document.offset(range_.start), document.offset(range_.end))
    found: list[lsp.InlayHint] = []
    for suite in workspace.outline(document).suites:
        for criterion in suite.criteria:
            share = share_of(criterion, suite.criteria)
            end = (criterion.name if criterion.weight is None else criterion.weight).span.end
            if share is not None and shown.start <= end <= shown.end:
                place = document.range_of(Span(end, end)).start
                found.append(lsp.InlayHint(place, share, padding_left=True, tooltip="its share of the score"))
    return found
