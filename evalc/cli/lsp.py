"""`evalc lsp`: the language server for editors."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.cli.ending import ExitCode


def lsp(
    _stdio: Annotated[
        bool, typer.Option("--stdio", hidden=True, help="Has no effect; accepted since some editors pass it.")
    ] = True,
) -> int:
    """Serve an editor with mistakes, completions and fixes.

    The server speaks the Language Server Protocol over standard input and output. It needs
    `pip install 'evalc[lsp]'`. docs/editors.md has the settings for VS Code, Neovim, Helix and Emacs.

    \b
    Example:
      evalc lsp
    """
    extras.refuse_missing("lsp")
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("`evalc lsp` talks to an editor, not to a terminal: docs/editors.md says how to set one up")
    extras.lsp.serve()
    return ExitCode.OK
