"""The language server: a session with an editor, which hands each request to its feature, and the newest results."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from evalc import __version__
from evalc.base.errors import EvalcError
from evalc.compiler.compiled import file_name
from evalc.config import Settings
from evalc.diagnostics import Problem
from evalc.dsl.build_case import CaseTree
from evalc.dsl.build_suite import SuiteTree
from evalc.extras.lsp import features
from evalc.extras.lsp.completion import TRIGGERS, completion
from evalc.extras.lsp.workspace import Document, DocumentProblems, Encoding, Workspace, uri_of
from evalc.model.numbers import rounded
from evalc.model.result import CaseResult
from evalc.runtime.run.again_load import read_suite
from evalc.runtime.store.runs import age, has_results, result_files, run_folders
from evalc.setup.selection import id_in_pattern

# --- the newest results, above each case -----------------------------------------------------------------------------


_MOST_RUNS: Final = 5
_LARGEST: Final = 64_000_000


class Ended(NamedTuple):
    """How a case ended: where the run keeps the result, the case's tier, and its result."""

    run_id: str
    tier: str
    case: CaseResult


Verdict = Sequence[Ended]
"""How a case ended in a run, or several that are rows of one, or were put to several agents."""


def _in_short(verdict: Verdict) -> str:
    """A verdict in a few words: `passed, score 0.83`, `3 of 4 passed`."""
    cases = [each.case for each in verdict]
    scores = [case.score for case in cases if case.score is not None]
    score = f", score {rounded(sum(scores) / len(scores))}" if scores else ""
    passed = f"{sum(case.passed for case in cases)} of {len(cases)} passed"
    return f"{cases[0].status if len(cases) == 1 else passed}{score}"


@final
class LatestResults:
    """How cases ended in the newest runs, which are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str, str], tuple[list[Path], list[list[Ended]]]] = {}

    def verdicts(self, settings: Settings, suite: SuiteTree, name: str) -> Mapping[str, Verdict]:
        """How the cases of a suite of this name ended in the last few runs, by id; of each, the newest that it was in.

        The ids are without what rows and variants add. Results that do not name their suite are filed under its tool.
        """
        folder, tool = settings.results_folder, name if suite.tool is None else suite.tool.value
        runs = sorted(run_folders(folder, has_results), key=age)[-_MOST_RUNS:]
        known = self._known.get((folder, name, tool))
        if known is None or known[0] != runs:
            known = self._known[folder, name, tool] = (runs, [[*_ended(run, name, tool)] for run in runs])
        usual = "labeled" if suite.tier is None else suite.tier.value
        tiers = {id_: usual if case.tier is None else case.tier.value for case, id_ in ids_of(suite, name)}
        filled = {id_: re.compile(f"{_pattern_of(id_)}(@.*)?", re.DOTALL) for id_ in tiers if "{{" in id_}
        verdicts: dict[str, Verdict] = {}
        for run in known[1]:
            by_case: dict[str, list[Ended]] = {}
            for each in run:
                id_ = _declared(each.case.id, tiers, filled)
                if tiers.get(id_) == each.tier:
                    by_case.setdefault(id_, []).append(each)
            verdicts |= by_case
        return verdicts


def _declared(id_: str, declared: Container[str], filled: Mapping[str, re.Pattern[str]]) -> str:
    """The id that a file declares, without what rows and variants add to it; the shortest where it declares none.

    `filled` are the patterns of the declared ids that rows fill.
    """
    found = next((each for each, pattern in filled.items() if pattern.fullmatch(id_)), None)
    while found is None and id_ not in declared and "@" in id_:
        id_ = id_.rpartition("@")[0]
    return found or id_


def _pattern_of(id_: str) -> str:
    """The pattern of an id, in which the templates that rows fill may be any text."""
    return ".*".join(map(id_in_pattern, re.split(r"\{\{.*?\}\}", id_)))


def _ended(run: Path, name: str, tool: str) -> Iterator[Ended]:
    """How the cases of a suite ended with each agent of a run, as far as files can be read and are not very large."""
    beginnings = tuple(file_name(called, "").removesuffix(".json") for called in (name, tool))
    for file in result_files(run):
        try:
            if file.name.startswith(beginnings) and file.stat().st_size <= _LARGEST:
                suite = read_suite(file)
                if (suite.result.suite or name) == name:
                    run_id = file.parent.relative_to(run.parent).as_posix()
                    yield from (Ended(run_id, suite.result.tier, case) for case in suite.cases)
        except (EvalcError, OSError):
            continue


def ids_of(suite: SuiteTree, name: str) -> list[tuple[CaseTree, str]]:
    """The cases of a suite with their ids, without what rows and variants add; `name` is the suite's."""
    return [(each, f"{name}/{each.name.value}" if each.id is None else each.id.value) for each in suite.cases]


def _case(run_id: str, case: CaseResult) -> Iterator[str]:
    """A case with what was said and what was checked, in Markdown."""
    score = "" if case.score is None else f", score {rounded(case.score)}"
    yield f"# {case.id}: {case.status}{score}"
    yield ""
    yield f"Run {run_id}, {case.duration_ms:.0f} ms"
    if case.why is not None:
        yield from ("", *_quoted(case.why))
    details = case.details
    for title, text in (("Message", details.message), ("Response", details.response)):
        if isinstance(text, str):
            yield from ("", f"## {title}", "", *_quoted(text))
    if details.tool_calls:
        calls = json.dumps(list(details.tool_calls), indent=2, ensure_ascii=False, default=repr)
        yield from ("", "## Tool calls", "", *_quoted(calls))
    if case.assertions:
        yield from ("", "## Checks", "")
        for assertion in case.assertions:
            yield f"- {assertion.outcome}: {assertion.line or assertion.at} {assertion.message or ''}".rstrip()
    yield ""


def _quoted(text: str) -> Iterator[str]:
    """A text as an indented block, in which nothing is Markdown."""
    return (f"    {line}" for line in text.splitlines())


RUN: Final = "evalc.run"
SHOW: Final = "evalc.show"


def lenses(workspace: Workspace, results: LatestResults, document: Document) -> Iterator[lsp.CodeLens]:
    """The lenses of a document: for each suite `run all`, for each case its verdict, `run` and `show`."""
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
                yield _lens(range_, _in_short(verdict), SHOW, document.uri, id_)
            yield _lens(range_, "run", RUN, document.uri, id_)


def _lens(range_: lsp.Range, title: str, command: str, uri: str, id_: str) -> lsp.CodeLens:
    return lsp.CodeLens(range=range_, command=lsp.Command(title=title, command=command, arguments=[uri, id_]))


def filter_of(id_: str, declared: Iterable[str]) -> str:
    """The `--filter` of `evalc run` that chooses a case by its id, with all of its rows and variants.

    Of the ids that its file declares, those that begin like a row of it are cases of their own.
    """
    others = "".join(f"(?!{id_in_pattern(each)}(@|$))" for each in declared if each.startswith(f"{id_}@"))
    return f"/^{others}{_pattern_of(id_)}(@.*)?$/"


# --- the session -----------------------------------------------------------------------------------------------------


_AT_ONCE: Final = 0.005
"""Seconds until what was typed is checked: changes that arrive together are checked together."""
_ONCE_QUIET: Final = 0.4
"""Seconds until the other open documents are checked, which may include what was typed."""
_LAST_LINES: Final = 4
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")
_LONGEST_NAME: Final = 80


class _Protocol(LanguageServerProtocol):
    """The protocol without a second copy of each document.

    pygls keeps one whose lines are those of `str.splitlines`, which other characters end than an editor's. It changes
    the places of edits, too, if they are after the end of such a line.
    """

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Leave the change to the session."""
        handler = self.fm.features.get(lsp.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Answer an invalid request with an error: pygls would only log it, and the editor would wait."""
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=JsonRpcInvalidParams().to_response_error())
            raise


class _Known(NamedTuple):
    """The problems of a version of a document, and those that the editor shows, by file."""

    version: int
    checked: DocumentProblems
    shown: Mapping[str, list[lsp.Diagnostic]]


@final
class EditorSession(LanguageServer):
    """The language server of one editor, with the documents that it has open."""

    def __init__(self) -> None:
        super().__init__("evalc", __version__, lsp.TextDocumentSyncKind.Incremental, protocol_cls=_Protocol)
        self.files = Workspace()
        self.results = LatestResults()
        self._checked: dict[str, _Known] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._shown: tempfile.TemporaryDirectory[str] | None = None

    # --- checking ---

    def check_soon(self, document: Document) -> None:
        """Check what has been edited in a document, and all of it once it is quiet."""
        self._check_in(_AT_ONCE, document, whole=False)

    def check_once_quiet(self, *, but: Document | None = None) -> None:
        """Check the other open documents a little later: they may include the changed document, or use its prompt."""
        for other in self.files.documents:
            if other is not but:
                self._check_in(_ONCE_QUIET, other, whole=True)

    def _check_in(self, seconds: float, document: Document, *, whole: bool) -> None:
        """Check a document when so many seconds have gone by, in place of a check of it that still waits."""
        waiting = self._waiting.pop(document.uri, None)
        if waiting is not None:
            waiting.cancel()
        check = partial(self._check_now, document, whole=whole)
        self._waiting[document.uri] = asyncio.get_running_loop().call_later(seconds, check)

    def _check_now(self, document: Document, *, whole: bool) -> None:
        self._waiting.pop(document.uri, None)
        if self.files.get(document.uri) is not document:
            return
        try:
            self._check(document) if whole else self.problems(document)
        except Exception:  # a defect of evalc's, which is not to end the editor's session
            logging.getLogger(__name__).exception("%s could not be checked", document.path)

    def problems(self, document: Document) -> tuple[Problem, ...]:
        """The current problems of a document, which are published if they are new."""
        known = self._checked.get(document.uri)
        if known is None:
            checked = self._check(document)
        elif known.version == document.version:
            checked = known.checked
        else:
            of_case = self.files.check_case(document, known.checked)
            checked = self._check(document) if of_case is None else self._publish(document, of_case)
            if of_case is not None:
                self._check_in(_ONCE_QUIET, document, whole=True)
        return checked.problems.get(uri_of(document.path), ())

    def _check(self, document: Document) -> DocumentProblems:
        known = self._checked.get(document.uri)
        return self._publish(document, self.files.check(document, None if known is None else known.checked))

    def _publish(self, document: Document, checked: DocumentProblems) -> DocumentProblems:
        """Send the diagnostics of all files with problems, and take back those that are gone."""
        before = self._checked.get(document.uri)
        encoding = self.files.encoding
        shown = {
            uri: [features.diagnostic(each, encoding) for each in found] for uri, found in checked.problems.items()
        }
        self._checked[document.uri] = _Known(document.version, checked, shown)
        document.edited = None
        for uri in dict.fromkeys((*shown, *(() if before is None else before.shown))):
            self._send(uri)
        return checked

    def _send(self, uri: str) -> None:
        """Send what the checks of all open documents have found in a file, each once."""
        opened = self.files.get(uri)
        found = (each for known in self._checked.values() for each in known.shown.get(uri, ()))
        every = {
            (each.range.start.line, each.range.start.character, str(each.code), each.message): each for each in found
        }
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(
                uri=uri if opened is None else opened.uri,
                diagnostics=[every[key] for key in sorted(every)],
                version=None if opened is None else opened.version,
            )
        )

    def closed(self, uri: str) -> None:
        """Take back what a document's check has found."""
        document = self.files.get(uri)
        self.files.close(uri)
        known = None if document is None else self._checked.pop(document.uri, None)
        for each in () if known is None else known.shown:
            self._send(each)

    # --- commands ---

    async def run_cases(self, document: Document, id_: str) -> str:
        """Run a case of a file as it is on disk, or all of its cases; the last lines that the run printed."""
        settings = self.files.settings(document.path)
        command = [sys.executable, "-P", "-m", "evalc", "run", str(document.path)]
        suites = self.files.outline(document).suites
        declared = (each for suite in suites for _, each in ids_of(suite, self.files.name_of(document, suite)))
        command += ["--filter", filter_of(id_, declared)] if id_ else []
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=settings.root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        lines = printed.decode("utf-8", "replace").strip().splitlines()
        said = "\n".join(lines[-_LAST_LINES:])
        kind = lsp.MessageType.Info if process.returncode == 0 else lsp.MessageType.Warning
        self.window_show_message(lsp.ShowMessageParams(kind, said))
        capabilities = self.client_capabilities.workspace
        if capabilities is not None and capabilities.code_lens is not None and capabilities.code_lens.refresh_support:
            await self.workspace_code_lens_refresh_async(None)
        return said

    async def show_case(self, document: Document, id_: str) -> str | None:
        """Show how a case ended in the newest run; the same text is the answer of the command."""
        settings = self.files.settings(document.path)
        for suite in self.files.outline(document).suites:
            name = self.files.name_of(document, suite)
            if any(each == id_ for _, each in ids_of(suite, name)):
                verdict = self.results.verdicts(settings, suite, name).get(id_)
                if verdict is not None:
                    text = "\n".join(line for each in verdict for line in _case(each.run_id, each.case))
                    await self._show_text(id_, text)
                    return text
        return None

    async def _show_text(self, id_: str, text: str) -> None:
        """Open a text about a case in the editor, from a file that goes with the session."""
        window = self.client_capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            return
        if self._shown is None:
            self._shown = tempfile.TemporaryDirectory(prefix="evalc-")
        file = Path(self._shown.name) / f"{_NOT_IN_NAMES.sub('-', id_)[:_LONGEST_NAME]}.md"
        file.write_text(text, encoding="utf-8")
        await self.window_show_document_async(lsp.ShowDocumentParams(uri=uri_of(file), take_focus=True))


# --- what it answers -------------------------------------------------------------------------------------------------


_WATCHED: Final = ("**/*.{yaml,yml,json,csv,jsonl,ts,js,py}", "**/evalc.toml", "**/pyproject.toml", "**/evalc.lock")


def serve() -> None:
    """Serve an editor over standard input and output until it says goodbye."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    session = EditorSession()
    for serving in (_follow, _answer, _obey):
        serving(session)
    # What anything else prints must not get between the messages; and the end of the session closes its streams.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    session.start_io(os.fdopen(os.dup(sys.stdin.fileno()), "rb"), answers)


def _document(session: EditorSession, uri: str) -> Document:
    document = session.files.get(uri)
    if document is None:
        raise JsonRpcInvalidParams(message=f"{uri} is not open")
    return document


def _follow(session: EditorSession) -> None:
    """Follow what the editor opens, changes, saves and closes."""

    @session.feature(lsp.INITIALIZED)
    def initialized(_: lsp.InitializedParams) -> None:
        chosen = session.workspace.position_encoding
        session.files.encoding = Encoding(str(getattr(chosen, "value", chosen)))
        capabilities = session.client_capabilities.workspace
        watching = None if capabilities is None else capabilities.did_change_watched_files
        if watching is not None and watching.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            registration = lsp.Registration("evalc-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            session.client_register_capability(lsp.RegistrationParams(registrations=[registration]))

    @session.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        session.check_soon(session.files.open(item.uri, item.text, item.version))

    @session.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        document = _document(session, params.text_document.uri)
        document.change(list(params.content_changes), params.text_document.version)
        session.check_soon(document)
        session.check_once_quiet(but=document)

    @session.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        session.closed(params.text_document.uri)

    @session.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    @session.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_: lsp.DidSaveTextDocumentParams | lsp.DidChangeWatchedFilesParams) -> None:
        session.files.forget()
        session.check_once_quiet()


def _answer(session: EditorSession) -> None:
    """Answer what the editor asks of a place, a document or the project."""
    files = session.files

    def of_document(feature: str, answer: Callable[[Document, Any], object], options: object = None) -> None:
        session.feature(feature, options)(lambda params: answer(_document(session, params.text_document.uri), params))

    def of_place(
        feature: str, answer: Callable[[Workspace, Document, lsp.Position], object], options: object = None
    ) -> None:
        of_document(feature, lambda document, params: answer(files, document, params.position), options)

    of_place(lsp.TEXT_DOCUMENT_HOVER, features.hover)
    of_place(lsp.TEXT_DOCUMENT_COMPLETION, completion, lsp.CompletionOptions(trigger_characters=list(TRIGGERS)))
    of_place(lsp.TEXT_DOCUMENT_DEFINITION, features.definition)
    of_place(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, features.highlights)
    of_place(lsp.TEXT_DOCUMENT_PREPARE_RENAME, features.prepare_rename)
    of_document(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lambda document, _: features.symbols(files, document))
    of_document(lsp.TEXT_DOCUMENT_FORMATTING, lambda document, _: features.formatting(files, document))
    of_document(lsp.TEXT_DOCUMENT_INLAY_HINT, lambda document, params: features.hints(files, document, params.range))
    of_document(
        lsp.TEXT_DOCUMENT_CODE_LENS,
        lambda document, _: [*lenses(files, session.results, document)],
        lsp.CodeLensOptions(resolve_provider=False),
    )

    def references(document: Document, params: lsp.ReferenceParams) -> list[lsp.Location]:
        declared = params.context.include_declaration
        return features.references(files, document, params.position, declarations=declared)

    def rename(document: Document, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        try:
            return features.rename(files, document, params.position, params.new_name)
        except features.NotRenamed as refused:
            raise JsonRpcInvalidParams(message=str(refused)) from None

    def actions(document: Document, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        kinds = params.context.only
        only = None if kinds is None else [str(getattr(kind, "value", kind)) for kind in kinds]
        return features.actions(files, document, params.range, session.problems(document), only)

    fixes = [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]
    of_document(lsp.TEXT_DOCUMENT_REFERENCES, references)
    of_document(lsp.TEXT_DOCUMENT_RENAME, rename, lsp.RenameOptions(prepare_provider=True))
    of_document(lsp.TEXT_DOCUMENT_CODE_ACTION, actions, lsp.CodeActionOptions(code_action_kinds=fixes))

    @session.feature(lsp.WORKSPACE_SYMBOL)
    def found(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        folders = [Path(path) for uri in session.workspace.folders if (path := to_fs_path(uri)) is not None]
        root = session.workspace.root_path
        return features.workspace_symbols(files, folders or ([] if root is None else [Path(root)]), params.query)


def _obey(session: EditorSession) -> None:
    """Carry out the commands of the code lenses."""

    @session.command(RUN)
    async def run(uri: str, id_: str) -> str:
        return await session.run_cases(_document(session, uri), id_)

    @session.command(SHOW)
    async def show(uri: str, id_: str) -> str | None:
        return await session.show_case(_document(session, uri), id_)
