"""Above each case: how it ended in the newest run, and commands that run it or show what happened."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from evalc.lsp.document import Document
from evalc.lsp.results import LatestResults, ids_of
from evalc.lsp.workspace import Workspace
from evalc.setup.choice import id_in_pattern

RUN = "evalc.run"
SHOW = "evalc.show"


def lenses(workspace: Workspace, results: LatestResults, document: Document) -> list[lsp.CodeLens]:
    """The lenses of a document: for each suite `run all`, for each case its verdict, `run` and `show`."""
    return [*_lenses(workspace, results, document)]


def _lenses(workspace: Workspace, results: LatestResults, document: Document) -> Iterator[lsp.CodeLens]:
    settings = workspace.settings(document.path)
    for suite in workspace.outline(document).suites:
        if suite.cases:
            yield _lens(document.range_of(suite.span), "run all", RUN, document.uri, "")
        name = workspace.name_of(document, suite)
        verdicts = results.verdicts(settings, suite, name)
        for case, id_ in ids_of(suite, name):
            range_ = document.range_of(case.name.span)
            verdict = verdicts.get(id_)
            if verdict is not None:
                yield _lens(range_, verdict.line, SHOW, document.uri, id_)
            yield _lens(range_, "run", RUN, document.uri, id_)


def _lens(range_: lsp.Range, title: str, command: str, uri: str, id_: str) -> lsp.CodeLens:
    return lsp.CodeLens(range=range_, command=lsp.Command(title=title, command=command, arguments=[uri, id_]))


def filter_of(id_: str) -> str:
    """The `--filter` of `evalc run` that chooses a case by its id, with all of its rows and variants."""
    return f"/^{id_in_pattern(id_)}(@.*)?$/"
