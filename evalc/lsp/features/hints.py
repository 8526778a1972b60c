"""The share of the score that each criterion has, beside its weight."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as lsp

from evalc.base.source import Span
from evalc.dsl.tree import CriterionTree
from evalc.lsp.document import Document
from evalc.lsp.workspace import Workspace


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


def share_of(criterion: CriterionTree, criteria: Sequence[CriterionTree]) -> str | None:
    """The share of all weights that a criterion has, in per cent; None if its suite has no sound weights."""
    weights = {each.name.value: 1.0 if each.weight is None else float(each.weight.value) for each in criteria}
    total = sum(weights.values())
    if total <= 0 or min(weights.values(), default=0) < 0:
        return None
    share = 100 * weights.get(criterion.name.value, 0.0) / total
    return f"{share:.0f} %" if abs(share - round(share)) < 0.05 else f"{share:.1f} %"
