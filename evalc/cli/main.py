"""From the arguments of the process to its exit: the entry point, quick where there is nothing to do."""

from __future__ import annotations

import sys

from evalc import __version__


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"evalc {__version__}\n")
        return
    from evalc.cli.app import app  # noqa: PLC0415 - for start-up: typer takes longer to import than all of `--version`

    app()
