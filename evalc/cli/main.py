"""The entry point of the process. It imports little, so that small commands start quickly."""

from __future__ import annotations

import gc
import os
import sys

from evalc import __version__

TYPE_CHECKING = False  # as in typing, whose import would take as long as the rest of `evalc --version`

if TYPE_CHECKING:
    from typing import Never


def main() -> None:
    """Run the command line and exit."""
    try:
        if sys.argv[1:] == ["--version"]:
            if sys.stdout is not None:  # as it is where it is closed
                sys.stdout.write(f"evalc {__version__}\n")
                sys.stdout.flush()
        else:
            _hear_of_termination()
            _run(sys.argv[1:])
    except KeyboardInterrupt:  # before there was a command that would end in order
        if sys.stderr is not None:
            sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    except OSError as error:  # of what no command writes: the version, a help text
        try:
            if sys.stderr is not None:
                sys.stderr.write(f"error: {error.strerror}\n")
        finally:
            os._exit(70)  # in order it would end with a second try to write


def _hear_of_termination() -> None:
    """Let a request to terminate end any command as Ctrl-C does, unless whoever started it wants none heard."""
    import signal  # noqa: PLC0415 - for start-up: it takes longer than all of `--version`

    def interrupt(*_: object) -> Never:
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, interrupt)


_MADE_BEFORE_COLLECTING = 20_000
"""How many objects are made before the collector looks for cycles: a run makes many, and hardly a cycle."""


def _run(arguments: list[str]) -> None:
    # Imported when they are needed, for start-up: typer takes about as long to import as a small file to be checked.
    from evalc.base import collector_off  # noqa: PLC0415
    from evalc.cli.ending import exits, leave  # noqa: PLC0415

    kept_alive: list[object] = []
    try:
        match arguments:
            case ["check", *paths] if not any(map(_is_option, paths)):
                from evalc.cli.checking import check_files  # noqa: PLC0415

                exits(check_files)(paths, kept_alive=kept_alive)
            case _:
                with collector_off():
                    from evalc.cli.app import command_line  # noqa: PLC0415

                    line = command_line(*arguments[:1])
                from evalc.cli.ending import allow_supervision  # noqa: PLC0415

                allow_supervision()
                gc.set_threshold(_MADE_BEFORE_COLLECTING, 20, 50)
                line()
    except SystemExit as end:
        leave(int(end.code or 0))


def _is_option(argument: str) -> bool:
    return argument.startswith("-") and argument != "-"
