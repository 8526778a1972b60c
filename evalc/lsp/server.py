"""The language server: it hears the protocol and hands each request to its feature."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.uris import to_fs_path

from evalc.lsp.document import Document, Encoding
from evalc.lsp.features import completion as completing
from evalc.lsp.features import navigation
from evalc.lsp.features.fixes import actions
from evalc.lsp.features.formatting import formatting
from evalc.lsp.features.hints import hints
from evalc.lsp.features.hover import hover
from evalc.lsp.features.lenses import RUN, SHOW, lenses
from evalc.lsp.features.symbols import symbols, workspace_symbols
from evalc.lsp.session import EditorSession

_WATCHED: Final = ("**/*.{yaml,yml,json,csv,jsonl,ts,js}", "**/evalc.toml", "**/pyproject.toml", "**/evalc.lock")


def serve() -> None:
    """Serve an editor over standard input and output until it says goodbye."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    session = EditorSession()
    for hear in (_hear_of_documents, _answer_of_places, _answer_of_documents, _obey):
        hear(session)
    # What anything else prints must not get between the messages; and the end of the session closes its streams.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    session.start_io(os.fdopen(os.dup(sys.stdin.fileno()), "rb"), answers)


def _document(session: EditorSession, uri: str) -> Document:
    document = session.files.get(uri)
    if document is None:
        raise JsonRpcInvalidParams(message=f"{uri} is not open")
    return document


def _hear_of_documents(session: EditorSession) -> None:
    """Take over what the editor opens, changes, saves and closes."""

    @session.feature(lsp.INITIALIZED)
    def initialized(_: lsp.InitializedParams) -> None:
        chosen = session.workspace.position_encoding
        session.files.encoding = Encoding(str(getattr(chosen, "value", chosen)))
        capabilities = session.client_capabilities.workspace
        watching = None if capabilities is None else capabilities.did_change_watched_files
        if watching is not None and watching.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            wanted = lsp.Registration("evalc-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            session.client_register_capability(lsp.RegistrationParams(registrations=[wanted]))

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

    @session.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(_: lsp.DidSaveTextDocumentParams) -> None:
        session.files.forget()
        session.check_once_quiet()

    @session.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        session.closed(params.text_document.uri)

    @session.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_: lsp.DidChangeWatchedFilesParams) -> None:
        session.files.forget()
        session.check_once_quiet()


def _answer_of_places(session: EditorSession) -> None:
    """What is asked of a place in a document."""

    @session.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        return hover(session.files, _document(session, params.text_document.uri), params.position)

    @session.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=list(completing.TRIGGERS)))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        return completing.completion(session.files, _document(session, params.text_document.uri), params.position)

    @session.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
        return navigation.definition(session.files, _document(session, params.text_document.uri), params.position)

    @session.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def referred(params: lsp.ReferenceParams) -> list[lsp.Location]:
        declared = params.context.include_declaration
        document = _document(session, params.text_document.uri)
        return navigation.references(session.files, document, params.position, declarations=declared)

    @session.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        return navigation.highlights(session.files, _document(session, params.text_document.uri), params.position)

    @session.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def rename_prepared(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        return navigation.prepare_rename(session.files, _document(session, params.text_document.uri), params.position)

    @session.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        document = _document(session, params.text_document.uri)
        try:
            return navigation.rename(session.files, document, params.position, params.new_name)
        except navigation.NotRenamed as refused:
            raise JsonRpcInvalidParams(message=str(refused)) from None


def _answer_of_documents(session: EditorSession) -> None:
    """What is asked of a document or a project as a whole."""

    @session.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return symbols(session.files, _document(session, params.text_document.uri))

    @session.feature(lsp.WORKSPACE_SYMBOL)
    def found(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        folders = [Path(path) for uri in session.workspace.folders if (path := to_fs_path(uri)) is not None]
        root = session.workspace.root_path
        return workspace_symbols(session.files, folders or ([] if root is None else [Path(root)]), params.query)

    @session.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return formatting(session.files, _document(session, params.text_document.uri))

    @session.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]),
    )
    def acted(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        document = _document(session, params.text_document.uri)
        only = (
            None if params.context.only is None else [str(getattr(kind, "value", kind)) for kind in params.context.only]
        )
        return actions(session.files, document, params.range, session.problems(document), only)

    @session.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    def lensed(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return lenses(session.files, session.results, _document(session, params.text_document.uri))

    @session.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hinted(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return hints(session.files, _document(session, params.text_document.uri), params.range)


def _obey(session: EditorSession) -> None:
    """The commands of the code lenses."""

    @session.command(RUN)
    async def run(uri: str, id_: str) -> str:
        return await session.run_cases(_document(session, uri), id_)

    @session.command(SHOW)
    async def show(uri: str, id_: str) -> str | None:
        return await session.show_case(_document(session, uri), id_)
