"""`evalc explain`: explains a code, and how to fix the problem."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalc.base.errors import UsageError
from evalc.cli.ending import ExitCode


def explain(
    code: Annotated[
        str | None,
        typer.Argument(metavar="[CODE]", help="A code such as EV203; without one, all are listed."),
    ] = None,
) -> int:
    """Explain a problem: why it matters, an example, and a fix.

    \b
    Example:
      evalc explain EV203
    """
    from evalc.diagnostics.catalogue import entries  # noqa: PLC0415 - for start-up
    from evalc.diagnostics.near import as_code  # noqa: PLC0415 - as above

    if code is None:
        for entry in entries().values():
            sys.stdout.write(f"{entry.code}  {entry.summary}\n")
        return ExitCode.OK
    known = entries().get(as_code(code))
    if known is None:
        raise UsageError(f"`{code}` is not a code; `evalc explain` lists them all")
    sys.stdout.write(known.explanation())
    return ExitCode.OK
