"""Shows what an editor shows in a project of `evalc init`, with a real language server: `make test-editor`.

The server is the npm package yaml-language-server, which Visual Studio Code, Neovim, Helix and others use for YAML; it
is installed into a temporary folder.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from evalc.dsl.build_case import CASE
from evalc.dsl.build_rule import CHECK_TYPES

PACKAGE: Final = "yaml-language-server@1.25.0"
CURSOR: Final = "|"

HEAD: Final = "# yaml-language-server: $schema=../.evalc/schema/language.json\n"
OF_A_TYPE: Final = (
    HEAD
    + """\
suite: reviews
tier: labeled
prompt: Review this {{language}} code.
inputs: [language]

eval:
  criteria:
    - "completeness (0.6): Covers all aspects"
    - "clarity (0.4): Clear and well-structured"
  test_cases:
    - name: type_hints
      inputs: {language: Python}
      validate:
        - contains "docstring" for completeness
        - type: |
"""
)
OF_A_CASE: Final = HEAD + "suite: reviews\neval:\n  test_cases:\n    - name: type_hints\n      |\n"
OF_A_RULE: Final = HEAD + (
    "suite: reviews\neval:\n  test_cases:\n    - name: a\n      validate:\n        - type: length\n          |\n"
)
OF_A_TIER: Final = HEAD + "suite: reviews\ntier: |\neval:\n  test_cases: []\n"
MISSPELT: Final = HEAD + (
    "suite: reviews\neval:\n  test_cases:\n    - name: a\n      mesage: hi\n      validate:\n"
    "        - {type: containz, rule: x}\n"
)
SOUND: Final = HEAD + (
    'suite: reviews\neval:\n  test_cases:\n    - name: a\n      message: hi\n      validate: [contains "x"]\n'
)


class Offer(NamedTuple):
    """One completion: what is offered, and the sentence beside it."""

    label: str
    documentation: str


class LanguageServer:
    """A language server that talks over standard input and output."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._last_id = 0
        self._diagnostics: dict[str, list[dict[str, Any]]] = {}

    def start(self, workspace: Path) -> None:
        """Say what the editor can, and which folder is open."""
        capabilities = {"textDocument": {"completion": {"completionItem": {"documentationFormat": ["plaintext"]}}}}
        self.request("initialize", processId=None, rootUri=workspace.as_uri(), capabilities=capabilities)
        self._notify("initialized")

    def open(self, file: Path, text: str) -> list[dict[str, Any]]:
        """Open a file that holds the text; what the server finds wrong with it."""
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self._notify("textDocument/didOpen", textDocument=document)
        while file.as_uri() not in self._diagnostics:
            self._take(self._read())
        return self._diagnostics[file.as_uri()]

    def complete(self, file: Path, line: int, character: int) -> list[Offer]:
        """The completions at a place, both counted from 0, in the order in which editors show them."""
        place = {"line": line, "character": character}
        answer = self.request("textDocument/completion", textDocument={"uri": file.as_uri()}, position=place)
        items = sorted(answer["items"], key=lambda item: item.get("sortText", item["label"]))
        return [Offer(item["label"], _plain(item.get("documentation", ""))) for item in items]

    def request(self, method: str, **parameters: object) -> Any:
        """Ask, and wait for the answer."""
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": parameters})
        while True:
            message = self._read()
            if message.get("id") == self._last_id and "method" not in message:
                return message["result"]
            self._take(message)

    def _notify(self, method: str, **parameters: object) -> None:
        self._send({"method": method, "params": parameters})

    def _take(self, message: dict[str, Any]) -> None:
        """Keep diagnostics; answer what the server asks of its editor with nothing in particular."""
        if message.get("method") == "textDocument/publishDiagnostics":
            self._diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "id" in message and "method" in message:
            items = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
            answer: list[object] | None = (
                [{} for _ in items] if message["method"] == "workspace/configuration" else None
            )
            self._send({"id": message["id"], "result": answer})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise EOFError("the language server has ended")
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message


def _plain(documentation: str | dict[str, str]) -> str:
    """The first sentence; a title above it is left out."""
    text = documentation if isinstance(documentation, str) else documentation["value"]
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("**")), "")


@contextmanager
def language_server(folder: Path) -> Iterator[LanguageServer]:
    """The language server, installed below the folder and started there."""
    npm = [
        shutil.which("npm") or "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        str(folder),
        PACKAGE,
    ]
    subprocess.run(npm, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    program = folder / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
    command = ["node", str(program), "--stdio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield LanguageServer(process)
        finally:
            process.terminate()


class Editor:
    """An editor in a project of `evalc init`."""

    def __init__(self, server: LanguageServer, project: Path) -> None:
        self._server = server
        self._folder = project / "evals"
        self._opened = 0

    def offers(self, text: str) -> list[Offer]:
        """The completions at `|` in the text."""
        before, _, after = text.rpartition(CURSOR)
        file = self._new_file()
        self._server.open(file, before + after)
        lines = before.split("\n")
        return self._server.complete(file, len(lines) - 1, len(lines[-1]))

    def complaints(self, text: str) -> list[str]:
        """The underlined parts of the text."""
        return [diagnostic["message"] for diagnostic in self._server.open(self._new_file(), text)]

    def _new_file(self) -> Path:
        self._opened += 1
        return self._folder / f"new-{self._opened}.eval.yaml"


def main() -> int:
    """Ask the language server, and hold its answers to what they have to be."""
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        sys.stdout.write(f"skipped: there is no {' and no '.join(missing)} here\n")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary) / "project"
        subprocess.run([sys.executable, "-m", "evalc", "init", str(project)], check=True, stdout=subprocess.DEVNULL)
        with language_server(Path(temporary)) as server:
            server.start(project)
            return examine(Editor(server, project))


def examine(editor: Editor) -> int:
    """Compare completions and underlines with those expected, line by line; 1 if anything is missing."""
    types, keys = editor.offers(OF_A_TYPE), editor.offers(OF_A_CASE)
    wrong = "\n".join(editor.complaints(MISSPELT))
    answers = {
        "`type:` offers every check": set(CHECK_TYPES) <= _labels(types),
        "a case offers every key": set(CASE.keys) - {"name"} <= _labels(keys),
        "each key comes with a sentence": all(offer.documentation for offer in keys),
        "a `length` check offers its keys": {"rule", "criterion", "weight"} <= _labels(editor.offers(OF_A_RULE)),
        "`tier:` offers the tiers": {"golden", "labeled", "regression", "rubric"} <= _labels(editor.offers(OF_A_TIER)),
        "a misspelt key is underlined": "mesage" in wrong,
        "a misspelt check is underlined": "contains" in wrong,
        "nothing is underlined in a sound file": not editor.complaints(SOUND),
    }
    for claim, holds in answers.items():
        sys.stdout.write(f"{'ok' if holds else 'NO'}  {claim}\n")
    return 0 if all(answers.values()) else 1


def _labels(offers: list[Offer]) -> set[str]:
    return {offer.label for offer in offers}


if __name__ == "__main__":
    sys.exit(main())
