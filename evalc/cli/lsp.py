"""`evalc lsp`: the language server for editors."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

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
    try:
        from evalc.lsp.server import serve  # noqa: PLC0415 - an optional extra, and for start-up
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"pygls", "lsprotocol"}:
            raise
        raise UsageError("`evalc lsp` needs packages that are not installed: pip install 'evalc[lsp]'") from None

    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("`evalc lsp` talks to an editor, not to a terminal: docs/editors.md says how to set one up")
    serve()
    return ExitCode.OK
