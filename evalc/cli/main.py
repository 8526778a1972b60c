"""From the arguments of the process to its exit: the entry point, quick where there is little to do."""

from __future__ import annotations

import sys

from evalc import __version__


def main() -> None:
    """Run the command line and exit."""
    try:
        _run(sys.argv[1:])
    except KeyboardInterrupt:  # before there was a command that would end in order
        sys.exit(130)


def _run(arguments: list[str]) -> None:
    # Imported when they are needed, for start-up: typer takes longer to import than all of `--version`, and about as
    # long as a small file takes to be checked.
    match arguments:
        case ["--version"]:
            sys.stdout.write(f"evalc {__version__}\n")
        case ["check", *paths] if not any(map(_is_option, paths)):
            from evalc.cli.checking import check_files  # noqa: PLC0415
            from evalc.cli.ending import exits, leave  # noqa: PLC0415

            try:
                exits(check_files)(paths)
            except SystemExit as end:
                leave(int(end.code or 0))
        case _:
            from evalc.cli.app import app  # noqa: PLC0415

            app()


def _is_option(argument: str) -> bool:
    return argument.startswith("-") and argument != "-"
