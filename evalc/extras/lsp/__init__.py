"""The language server: a session with an editor, which hands each request to its feature."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from evalc import __version__
from evalc.diagnostics.problem import Problem
from evalc.extras.lsp import features
from evalc.extras.lsp.completion import TRIGGERS, completion
from evalc.extras.lsp.document import Document, DocumentProblems, Encoding, uri_of
from evalc.extras.lsp.results import RUN, SHOW, LatestResults, as_markdown, filter_of, ids_of, lenses
from evalc.extras.lsp.workspace import Workspace

_AT_ONCE: Final = 0.005
"""Seconds until what was typed is checked: changes that arrive together are checked together."""
_ONCE_QUIET: Final = 0.4
"""Seconds until the other open documents are checked, which may include what was typed."""
_LAST_LINES: Final = 3
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
                    text = as_markdown(verdict)
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


_WATCHED: Final = ("**/*.{yaml,yml,json,csv,jsonl,ts,js}", "**/evalc.toml", "**/pyproject.toml", "**/evalc.lock")


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
