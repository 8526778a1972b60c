"""`evalc lsp` on the command line: what it says where it cannot serve, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


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
