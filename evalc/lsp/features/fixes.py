"""Quick fixes: every cure that a message offers, and all sure ones of a file at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from evalc.base.source import Source, Span
from evalc.base.terminal import counted
from evalc.compiler.pipeline import is_json
from evalc.diagnostics.fixes import ProposedFix, cures_for
from evalc.diagnostics.fixing import fixed
from evalc.diagnostics.problem import Problem
from evalc.lsp.document import Document
from evalc.lsp.features.diagnostics import diagnostic
from evalc.lsp.workspace import Workspace
from evalc.setup.collector import collector_off
from evalc.setup.compile import problems_of

_IGNORE = "# evalc: ignore"


def actions(
    workspace: Workspace, document: Document, range_: lsp.Range, problems: Sequence[Problem], only: Sequence[str] | None
) -> list[lsp.CodeAction]:
    """What can be done about the problems that begin or end within a range of a document."""
    span = Span(document.offset(range_.start), document.offset(range_.end))
    found: list[lsp.CodeAction] = []
    if _wanted(lsp.CodeActionKind.QuickFix, only):
        near = [problem for problem in problems if _touches(problem, span)]
        for problem in near:
            found += (_quick_fix(workspace, document, problem, cure) for cure in cures_for(problem))
        found += _ignoring(workspace, document, near)
    if _wanted(lsp.CodeActionKind.SourceFixAll, only):
        found += _fix_all(workspace, document, problems)
    return found


def _wanted(kind: lsp.CodeActionKind, only: Sequence[str] | None) -> bool:
    return not only or any(str(kind.value).startswith(each) for each in only)


def _touches(problem: Problem, span: Span) -> bool:
    return problem.span.start <= span.end and span.start <= problem.span.end


def _quick_fix(workspace: Workspace, document: Document, problem: Problem, cure: ProposedFix) -> lsp.CodeAction:
    edit = lsp.TextEdit(document.range_of(Span(cure.edit.start, cure.edit.end)), cure.edit.text)
    return lsp.CodeAction(
        title=cure.title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(problem, workspace.encoding)],
        is_preferred=cure.is_safe,
        edit=lsp.WorkspaceEdit(changes={document.uri: [edit]}),
    )


def _ignoring(workspace: Workspace, document: Document, problems: Sequence[Problem]) -> Iterator[lsp.CodeAction]:
    """An ignore comment for each warning on a line that has none yet."""
    for problem in problems:
        line = document.source.line(problem.start.line)
        if problem.severity == "warning" and "#" not in line and not is_json(document.source):
            end = document.source.offset(problem.start._replace(column=len(line) + 1))
            edit = lsp.TextEdit(document.range_of(Span(end, end)), f" {_IGNORE}[{problem.code}]")
            yield lsp.CodeAction(
                title=f"Ignore {problem.code} on this line",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(problem, workspace.encoding)],
                edit=lsp.WorkspaceEdit(changes={document.uri: [edit]}),
            )


def _fix_all(workspace: Workspace, document: Document, problems: Sequence[Problem]) -> Iterator[lsp.CodeAction]:
    """What `evalc check --fix` would make of the file, with its proof that nothing new goes wrong."""
    settings = workspace.settings(document.path)

    def check(source: Source) -> Sequence[Problem]:
        found = problems_of(source, settings=settings)
        return [problem for problem in found if problem.source.name == source.name]

    if not any(cure.is_safe for problem in problems for cure in cures_for(problem)):
        return
    codes = {problem.code for problem in problems}
    with collector_off():
        done = fixed(document.source, check(document.source), check, wanted=lambda problem: problem.code in codes)
    if done.fixes:
        yield lsp.CodeAction(
            title=f"Fix {counted(done.fixes, 'problem')} (evalc check --fix)",
            kind=lsp.CodeActionKind.SourceFixAll,
            edit=lsp.WorkspaceEdit(changes={document.uri: [lsp.TextEdit(document.whole, done.text)]}),
        )
