"""`evalc demo-agent`: serves the demo agent on a port."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.cli.ending import ExitCode


def demo_agent(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on. Default: 127.0.0.1.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one. Default: 3000.")
    ] = 3000,
) -> int:
    """Serve the demo agent over HTTP until interrupted.

    The agent answers questions about the weather and reviews Python code, always in the same way.

    \b
    Examples:
      evalc demo-agent --port 3000
      evalc run evals/ --agent http://127.0.0.1:3000/chat
    """
    try:
        extras.demo.run_forever(host, port, ready=_announce)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    except OSError as error:
        raise UsageError(f"nobody can listen at `{host}`, port {port}: {error.strerror or error}") from None
    return ExitCode.OK


def _announce(url: str) -> None:
    sys.stdout.write(f"the demo agent answers at {url} (Ctrl-C ends it)\n")
    sys.stdout.flush()
