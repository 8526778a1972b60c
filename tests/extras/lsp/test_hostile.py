"""Texts, places and addresses that no editor should send: whatever they are, every request has an answer."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from evalc.base.source import Span
from evalc.extras.lsp import LatestResults, features, filter_of, lenses
from evalc.extras.lsp.completion import completion
from evalc.extras.lsp.features import actions, formatting, hints, hover, symbols
from evalc.extras.lsp.workspace import Document, Workspace
from tests.extras.lsp.conftest import FILES
from tests.extras.lsp.editor import SECONDS, Editor

WEATHER = "weather.eval.yaml"
PIECES = [
    *("'", '"', "{", "}", "[", "]", ": ", "- ", "\n", "\t", "#", "---\n", "|\n", "{{", "}}", "{{seed:"),
    *("&a ", "*a", "<<: *a\n", "!!python/object:os.system ", "\u2028", "\x00", "\ud800", "\ue000", "\U0001f600"),
    *("name: x\n", "use: ", " for ", "tool ", "include: [a]\n"),
]


def ask_everything(workspace: Workspace, document: Document, position: lsp.Position) -> None:
    """Every request there is, about one place."""
    whole = document.range_of(Span(0, len(document.source.text)))
    for request in (hover, completion, features.definition, features.highlights, features.prepare_rename):
        request(workspace, document, position)
    features.references(workspace, document, position, declarations=True)
    with contextlib.suppress(features.NotRenamed):
        features.rename(workspace, document, position, "another")
    symbols(workspace, document)
    formatting(workspace, document)
    hints(workspace, document, whole)
    list(lenses(workspace, LatestResults(), document))
    [problems, *_] = workspace.check(document).problems.values()
    actions(workspace, document, whole, problems, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of its own: other files of a project are looked through for what a request needs."""
    (project := tmp_path_factory.mktemp("torn")).joinpath("evalc.toml").touch()
    return project


@given(data=st.data())
def test_every_request_about_a_torn_text_has_an_answer(data: st.DataObject, folder: Path) -> None:
    text = data.draw(st.sampled_from(sorted(FILES.values())))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + data.draw(st.integers(0, 20)) :]
    workspace = Workspace()
    name = data.draw(st.sampled_from([WEATHER, "a.yaml", "a.golden.json", "x.prompt.yaml"]))
    document = workspace.open((folder / name).as_uri(), text, 1)
    line = data.draw(st.integers(0, text.count("\n") + 2))
    ask_everything(workspace, document, lsp.Position(line, data.draw(st.integers(0, 60))))


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "git:/a/b.eval.yaml?ref=HEAD", "file:///", "file:///nowhere/at/all/a.eval.yaml", ""]
)
def test_addresses_of_other_kinds(uri: str) -> None:
    workspace = Workspace()
    document = workspace.open(uri, FILES[WEATHER], 1)
    ask_everything(workspace, document, lsp.Position(3, 4))


def test_places_that_are_not_there(editor: Editor) -> None:
    editor.open(WEATHER)
    for place in (lsp.Position(10_000, 0), lsp.Position(0, 10_000), lsp.Position(10_000, 10_000)):
        found = editor.wait(editor.client.text_document_hover_async(lsp.HoverParams(editor.document(WEATHER), place)))
        assert found is None or found.contents
    back = lsp.Range(lsp.Position(5, 3), lsp.Position(2, 1))
    editor.change(WEATHER, lsp.TextDocumentContentChangePartial(back, "x"))
    editor.change(
        WEATHER, lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(900, 0), lsp.Position(901, 0)), "\n")
    )
    editor.problems(WEATHER)


def test_changes_of_what_is_not_open_do_not_end_the_session(editor: Editor) -> None:
    identifier = lsp.VersionedTextDocumentIdentifier(3, editor.uri("other.yaml"))
    change = lsp.TextDocumentContentChangeWholeDocument("x")
    editor.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [change]))
    editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(identifier.uri)))
    assert editor.open(WEATHER) == []


def test_a_bomb_of_aliases_and_a_deep_nest(editor: Editor) -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
    )
    assert editor.open("bomb.eval.yaml", f"{bomb}eval: *h\n")
    assert editor.open("deep.eval.yaml", "[" * 5_000)
    editor.hover("deep.eval.yaml", "[[[|[[")
    editor.completions("deep.eval.yaml", "[[[|[[")


def test_only_files_of_the_project_are_named_by_includes(editor: Editor, root: Path) -> None:
    (root.parent / "secret.eval.yaml").write_text("rules:\n  hidden:\n    - json\n")
    editor.open(
        WEATHER, FILES[WEATHER].replace("shared/rules.eval.yaml", "../secret.eval.yaml").replace("use: polite", "use: ")
    )
    assert "hidden" not in editor.completions(WEATHER, "use: |\n")


@pytest.mark.parametrize("id_", ["a/b", "a.b*", "x (1) [y]", "back\\slash", "ü/ß", "$^|?+{}"])
def test_any_id_can_be_chosen(id_: str) -> None:
    from evalc.ecma.regexp import compile_pattern

    pattern = compile_pattern(filter_of(id_, ())[1:-1])
    assert pattern.test(id_)
    assert pattern.test(f"{id_}@row")
    assert not pattern.test(f"{id_}x")


def test_a_command_for_another_address_is_refused(editor: Editor) -> None:
    params = lsp.ExecuteCommandParams("evalc.run", ["file:///etc/passwd", "x"])
    with pytest.raises(JsonRpcException):
        editor.wait(editor.client.workspace_execute_command_async(params))


DOCUMENT: Final = {"textDocument": {"uri": "file:///a.eval.yaml"}}
BAD_PARAMS: Final[dict[str, object]] = {
    "a line below 0": DOCUMENT | {"position": {"line": -1, "character": 0}},
    "a line beyond 32 bits": {
        "textDocument": {"uri": "file:///a.eval.yaml"},
        "position": {"line": 2**40, "character": 0},
    },
    "a line that is a text": {
        "textDocument": {"uri": "file:///a.eval.yaml"},
        "position": {"line": "x", "character": 0},
    },
    "no position": DOCUMENT,
    "a list": [],
    "null": None,
    "nothing": ...,
}


def test_a_request_with_invalid_params_is_answered_with_an_error() -> None:
    bad: list[dict[str, object]] = [
        {"method": f"textDocument/{method}", **({} if params is ... else {"params": params})}
        for method in ("hover", "completion", "rename", "codeAction")
        for params in BAD_PARAMS.values()
    ]
    begin: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
    calls: list[dict[str, object]] = [{"method": "initialize", "params": begin}, *bad, {"method": "shutdown"}]
    requests = [{"jsonrpc": "2.0", "id": id_, **each} for id_, each in enumerate(calls)]
    end = {"jsonrpc": "2.0", "method": "exit"}
    messages = [json.dumps(each).encode() for each in (*requests, end)]
    done = subprocess.run(
        [sys.executable, "-m", "evalc", "lsp", "--stdio"],
        input=b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(each), each) for each in messages),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    answers = [json.loads(each) for each in re.findall(rb"\r\n\r\n(\{.*?\})(?=Content-|$)", done.stdout, re.DOTALL)]
    codes = {each["id"]: each.get("error", {}).get("code") for each in answers if "id" in each}
    assert codes == {id_: -32602 if 0 < id_ <= len(bad) else None for id_ in range(len(requests))}


def test_at_a_terminal_it_says_where_editors_are_set_up() -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "evalc", "lsp"]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, timeout=60, check=False)
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stdout) == (2, "")
    assert "docs/editors.md" in done.stderr


@pytest.mark.parametrize("sent", [b"", b"Content-Length: 5\r\n\r\n{...}", b"not the protocol\r\n\r\n", b"\xff" * 100])
def test_it_ends_with_its_input_whatever_that_was(sent: bytes) -> None:
    command = [sys.executable, "-m", "evalc", "lsp"]
    done = subprocess.run(command, input=sent, capture_output=True, timeout=60, check=False)
    assert b"evalc broke" not in done.stderr
    assert b"Traceback" not in done.stdout
