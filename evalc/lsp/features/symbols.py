"""The suites, criteria, rules and cases of a document, and the cases of a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types as lsp

from evalc.base.source import Span
from evalc.dsl.tree import CaseTree, SharedTree, Str, SuiteTree
from evalc.lsp.document import Document, range_in, uri_of
from evalc.lsp.workspace import Workspace

_MOST_FOUND = 500


def symbols(workspace: Workspace, document: Document) -> list[lsp.DocumentSymbol]:
    """The contents of a document, as a tree."""
    found = workspace.outline(document)
    starts = [suite.span.start for suite in found.suites]
    ends = [*starts[1:], len(found.source.text)]
    suites = [_suite(document, suite, end) for suite, end in zip(found.suites, ends, strict=False)]
    shared = [symbol for each in found.shared for symbol in _rules(document, each)]
    prompts = [
        _named(document, each.id, lsp.SymbolKind.File, "prompt") for each in found.prompts if each.id is not None
    ]
    return [*suites, *shared, *prompts]


def _suite(document: Document, suite: SuiteTree, end: int) -> lsp.DocumentSymbol:
    children = [
        *(_named(document, each.name, lsp.SymbolKind.Property, each.description or "") for each in suite.criteria),
        *_rules(document, suite.shared),
        *_cases(document, suite.cases, end),
    ]
    title = suite.name or (None if suite.prompt is None else suite.prompt.id)
    name = Path(document.path).name if title is None else title.value
    whole = document.range_of(Span(suite.span.start, end))
    return lsp.DocumentSymbol(
        name=name or "suite",
        kind=lsp.SymbolKind.Module,
        range=whole,
        selection_range=document.range_of(suite.span if title is None else title.span),
        detail="" if suite.tier is None else suite.tier.value,
        children=[child for child in children if _is_within(child, whole)],
    )


def _is_within(child: lsp.DocumentSymbol, parent: lsp.Range) -> bool:
    return parent.start <= child.range.start and child.range.end <= parent.end


def _rules(document: Document, shared: SharedTree) -> Iterator[lsp.DocumentSymbol]:
    for rule in shared.rules:
        yield _named(document, rule.name, lsp.SymbolKind.Function, "rule")


def _cases(document: Document, cases: Iterable[CaseTree], end: int) -> Iterator[lsp.DocumentSymbol]:
    listed = list(cases)
    for case, following in zip(listed, [*listed[1:], None], strict=False):
        until = end if following is None else following.span.start
        text = document.source.text[case.span.start : until].rstrip().rstrip("-").rstrip()
        whole = Span(case.span.start, max(case.span.start + len(text), case.name.span.end))
        description = "" if case.description is None else case.description.value
        yield _symbol(document, case.name, lsp.SymbolKind.Method, description, whole)


def _named(document: Document, name: Str, kind: lsp.SymbolKind, detail: str) -> lsp.DocumentSymbol:
    return _symbol(document, name, kind, detail, name.span)


def _symbol(document: Document, name: Str, kind: lsp.SymbolKind, detail: str, whole: Span) -> lsp.DocumentSymbol:
    around = Span(min(whole.start, name.span.start), max(whole.end, name.span.end))
    return lsp.DocumentSymbol(
        name=name.value or "(no name)",
        kind=kind,
        range=document.range_of(around),
        selection_range=document.range_of(name.span),
        detail=detail,
    )


def workspace_symbols(workspace: Workspace, folders: Iterable[Path], query: str) -> list[lsp.WorkspaceSymbol]:
    """The cases, rules and criteria of the folders whose names have the letters of the query in their order."""
    found: list[lsp.WorkspaceSymbol] = []
    for folder in folders:
        for path in workspace.project_files(folder / "x.eval.yaml"):
            outline = workspace.outline_of(path)
            if outline is None:
                continue
            for suite in outline.suites:
                names = [
                    *((case.name, lsp.SymbolKind.Method) for case in suite.cases),
                    *((rule.name, lsp.SymbolKind.Function) for rule in suite.shared.rules),
                    *((criterion.name, lsp.SymbolKind.Property) for criterion in suite.criteria),
                ]
                container = "" if suite.name is None else suite.name.value
                for name, kind in names:
                    if _matches(query, name.value):
                        range_ = range_in(outline.source, name.span, workspace.encoding)
                        place = lsp.Location(uri_of(path), range_)
                        found.append(
                            lsp.WorkspaceSymbol(
                                location=place,
                                name=name.value or "(no name)",
                                kind=kind,
                                container_name=container or None,
                            )
                        )
                        if len(found) >= _MOST_FOUND:
                            return found
    return found


def _matches(query: str, name: str) -> bool:
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower())
