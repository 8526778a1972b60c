"""A session in headless Neovim, with the settings of the repository: a real editor sees, completes and fixes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras.lsp.conftest import FILES, write_project

SETTINGS = Path(__file__).parents[3] / "editors" / "neovim" / "evalc.lua"
SECONDS = 60.0
_KINDS = ("CONFIG", "DATA", "STATE", "CACHE")
FILE = "weather.eval.yaml"


class Neovim:
    """A Neovim without a screen, driven by its own remote commands."""

    def __init__(self, folder: Path, file: Path) -> None:
        executable = shutil.which("nvim")
        if executable is None:
            pytest.skip("no Neovim on this machine: the language server was not tried in it")
        self.executable = executable
        self.address = str(folder / "nvim.sock")
        environ = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            **{name: str(folder / name) for name in ("HOME", *(f"XDG_{kind}_HOME" for kind in _KINDS))},
        }
        command = [executable, "--headless", "-n", "-u", str(SETTINGS), "--listen", self.address, str(file)]
        self.process = subprocess.Popen(
            command,
            cwd=file.parent,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.until("1", "1")

    def _remote(self, what: str, text: str) -> str:
        command = [self.executable, "--server", self.address, what, text]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        return done.stdout or done.stderr

    def send(self, keys: str) -> None:
        """Press keys."""
        self._remote("--remote-send", keys)

    def ask(self, lua: str) -> Any:
        """The value of a Lua expression."""
        answer = self._remote("--remote-expr", f"json_encode(luaeval({json.dumps(lua)}))")
        try:
            return json.loads(answer)
        except json.JSONDecodeError:
            return answer

    def until(self, lua: str, expected: Any) -> None:
        """Wait until a Lua expression has a value."""
        end = time.monotonic() + SECONDS
        while str(found := self.ask(lua)) != str(expected):
            assert time.monotonic() < end, (lua, found)
            time.sleep(0.05)

    @property
    def lines(self) -> list[str]:
        found: list[str] = self.ask("vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def neovim(tmp_path: Path) -> Iterator[Neovim]:
    """Neovim with an eval file open in which a check is misspelt and not quoted."""
    root = tmp_path / "project"
    write_project(root)
    (root / FILE).write_text(FILES[FILE].replace("- use: short", '- contains "a: b"'))
    editor = Neovim(tmp_path, root / FILE)
    yield editor
    editor.end()


def test_a_session(neovim: Neovim) -> None:
    neovim.until("#vim.diagnostic.get(0)", 1)
    assert neovim.ask("vim.diagnostic.get(0)[1].code") == "EV120"
    assert neovim.ask("vim.diagnostic.get(0)[1].source") == "evalc"

    neovim.ask("vim.fn.search('description: One')")
    neovim.send("o<C-u>      thre<C-x><C-o>")  # the only key that begins so is written out at once
    neovim.until("vim.fn.getline('.')", "      threshold: ")
    neovim.send("0.5<Esc>")
    neovim.until("vim.fn.mode()", "n")
    assert "      threshold: 0.5" in neovim.lines

    neovim.ask("vim.fn.search('a: b')")
    request = (
        "(function() local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', {"
        " textDocument = vim.lsp.util.make_text_document_params(), context = {diagnostics = {}},"
        " range = vim.lsp.util.make_range_params().range}, 10000)"
        " for id, answer in pairs(answers) do"
        " vim.lsp.util.apply_workspace_edit(answer.result[1].edit, vim.lsp.get_client_by_id(id).offset_encoding)"
        " return answer.result[1].title end end)()"
    )
    assert neovim.ask(request) == 'Put `contains "a: b"` in quotes'
    assert "        - 'contains \"a: b\"'" in neovim.lines
    neovim.until("#vim.diagnostic.get(0)", 0)
