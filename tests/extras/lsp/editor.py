"""An editor without a screen: a real client of the protocol, over the server's standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from lsprotocol import types as lsp
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

T = TypeVar("T")

SECONDS = 30.0
"""Seconds that the server gets for an answer, on a machine that is busy with other tests."""


class Editor:
    """A session of the server with the files of a folder."""

    def __init__(self, root: Path, *, encoding: lsp.PositionEncodingKind = lsp.PositionEncodingKind.Utf16) -> None:
        self.root = root
        self.runner = asyncio.Runner()
        self.client: LanguageClient = make_test_lsp_client()
        self.versions: dict[Path, int] = {}
        self.texts: dict[Path, str] = {}
        capabilities = client_capabilities("neovim@v0.11.0")
        assert capabilities.general is not None
        capabilities.general.position_encodings = [encoding]
        self.published: list[lsp.PublishDiagnosticsParams] = []
        features = self.client.protocol.fm.features
        keep = features[lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]

        def published(client: LanguageClient, params: lsp.PublishDiagnosticsParams) -> None:
            self.published.append(params)
            keep(client, params)

        features[lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = partial(published, self.client)
        self.wait(self.client.start_io(sys.executable, "-m", "evalc", "lsp", "--stdio"))
        params = lsp.InitializeParams(
            capabilities=capabilities,
            root_uri=root.as_uri(),
            workspace_folders=[lsp.WorkspaceFolder(root.as_uri(), root.name)],
        )
        self.server = self.wait(self.client.initialize_session(params))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if kind is None:
            self.wait(self.client.shutdown_session())
        elif (server := self.client._server) is not None:
            server.kill()
        self.wait(self.client.stop())  # type: ignore[no-untyped-call]
        self.runner.close()

    def wait(self, answer: Awaitable[T]) -> T:
        async def within() -> T:
            return await asyncio.wait_for(answer, SECONDS)

        return self.runner.run(within())

    # --- documents ---

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def document(self, name: str) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str | None = None) -> list[lsp.Diagnostic]:
        """Open a file, which need not be there, and wait for what is wrong with it."""
        path = self.root / name
        self.texts[path] = path.read_text(encoding="utf-8") if text is None else text
        self.versions[path] = 1
        item = lsp.TextDocumentItem(path.as_uri(), "yaml", 1, self.texts[path])
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return self.problems(name)

    def close(self, name: str) -> None:
        """Close a file."""
        path = self.root / name
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(self.document(name)))
        del self.texts[path], self.versions[path]

    def close_all(self) -> None:
        """Close every file, and forget what has been published."""
        for path in list(self.versions):
            self.close(str(path.relative_to(self.root)))
        self.wait(self.client.workspace_symbol_async(lsp.WorkspaceSymbolParams("no such case")))  # all is heard by now
        self.published.clear()

    def edit(self, name: str, old: str, new: str) -> list[lsp.Diagnostic]:
        """Type `new` in the place of `old`, and wait for what is wrong then."""
        path = self.root / name
        at = self.texts[path].index(old)
        range_ = lsp.Range(self.place(name, at), self.place(name, at + len(old)))
        self.texts[path] = self.texts[path].replace(old, new, 1)
        self.change(name, lsp.TextDocumentContentChangePartial(range_, new))
        return self.problems(name)

    def change(self, name: str, *changes: Any) -> None:
        path = self.root / name
        self.versions[path] += 1
        identifier = lsp.VersionedTextDocumentIdentifier(self.versions[path], path.as_uri())
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, list(changes)))

    def problems(self, name: str) -> list[lsp.Diagnostic]:
        """The diagnostics of the newest text of a file."""
        uri, version = self.uri(name), self.versions[self.root / name]
        return self.until(lambda each: each.uri == uri and each.version == version)

    def until(self, matches: Callable[[lsp.PublishDiagnosticsParams], bool]) -> list[lsp.Diagnostic]:
        """The first matching diagnostics of those that have been published or will be."""

        async def found() -> list[lsp.Diagnostic]:
            while True:
                for each in self.published:
                    if matches(each):
                        return list(each.diagnostics)
                await asyncio.sleep(0.005)

        return self.wait(found())

    def place(self, name: str, at: int | str) -> lsp.Position:
        """A place in a file: an offset, or a text with `|` where the cursor is."""
        text = self.texts[self.root / name]
        if isinstance(at, str):
            at = text.index(at.replace("|", "", 1)) + at.index("|")
        before = text[:at]
        line = before[before.rfind("\n") + 1 :]
        return lsp.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    def text_at(self, name: str, range_: lsp.Range) -> str:
        """The text in a range of a file, which need not be open."""
        path = self.root / name
        text = self.texts[path] if path in self.texts else path.read_text(encoding="utf-8")
        lines = text.split("\n")
        if range_.start.line == range_.end.line:
            return lines[range_.start.line][range_.start.character : range_.end.character]
        inner = lines[range_.start.line + 1 : range_.end.line]
        ends = lines[range_.start.line][range_.start.character :], lines[range_.end.line][: range_.end.character]
        return "\n".join([ends[0], *inner, ends[1]])

    def applied(self, name: str, edits: list[lsp.TextEdit]) -> str:
        """The text of a file after edits."""
        text = self.texts[self.root / name]
        lines = text.split("\n")

        def offset(position: lsp.Position) -> int:
            if position.line >= len(lines):
                return len(text)
            return sum(len(line) + 1 for line in lines[: position.line]) + position.character

        for edit in sorted(edits, key=lambda each: each.range.start, reverse=True):
            text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
        return text

    # --- requests ---

    def at(self, name: str, cursor: str) -> dict[str, Any]:
        return {"text_document": self.document(name), "position": self.place(name, cursor)}

    def hover(self, name: str, cursor: str) -> str:
        found = self.wait(self.client.text_document_hover_async(lsp.HoverParams(**self.at(name, cursor))))
        if found is None:
            return ""
        assert isinstance(found.contents, lsp.MarkupContent)
        return found.contents.value

    def completions(self, name: str, cursor: str) -> dict[str, lsp.CompletionItem]:
        params = lsp.CompletionParams(**self.at(name, cursor))
        found = self.wait(self.client.text_document_completion_async(params))
        assert isinstance(found, lsp.CompletionList)
        return {item.label: item for item in found.items}

    def definition(self, name: str, cursor: str) -> list[lsp.Location]:
        found = self.wait(self.client.text_document_definition_async(lsp.DefinitionParams(**self.at(name, cursor))))
        assert isinstance(found, list)
        return [each for each in found if isinstance(each, lsp.Location)]

    def references(self, name: str, cursor: str, *, declarations: bool = True) -> list[lsp.Location]:
        params = lsp.ReferenceParams(context=lsp.ReferenceContext(declarations), **self.at(name, cursor))
        found = self.wait(self.client.text_document_references_async(params))
        return [*(found or ())]

    def rename(self, name: str, cursor: str, to: str) -> dict[str, list[lsp.TextEdit]]:
        params = lsp.RenameParams(new_name=to, **self.at(name, cursor))
        found = self.wait(self.client.text_document_rename_async(params))
        assert found is not None
        assert found.changes is not None
        return {uri.removeprefix(f"{self.root.as_uri()}/"): list(edits) for uri, edits in found.changes.items()}

    def actions(self, name: str, cursor: int | str, *only: lsp.CodeActionKind) -> dict[str, lsp.CodeAction]:
        place = self.place(name, cursor)
        context = lsp.CodeActionContext(diagnostics=[], only=list(only) or None)
        params = lsp.CodeActionParams(self.document(name), lsp.Range(place, place), context)
        found = self.wait(self.client.text_document_code_action_async(params)) or []
        return {action.title: action for action in found if isinstance(action, lsp.CodeAction)}

    def fixed(self, name: str, action: lsp.CodeAction) -> str:
        """The text of a file after an action."""
        assert action.edit is not None
        assert action.edit.changes is not None
        return self.applied(name, list(action.edit.changes[self.uri(name)]))

    def lenses(self, name: str) -> list[lsp.CodeLens]:
        found = self.wait(self.client.text_document_code_lens_async(lsp.CodeLensParams(self.document(name))))
        return [*(found or ())]

    def formatting(self, name: str) -> list[lsp.TextEdit]:
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        params = lsp.DocumentFormattingParams(self.document(name), options)
        found = self.wait(self.client.text_document_formatting_async(params))
        return [*(found or ())]
