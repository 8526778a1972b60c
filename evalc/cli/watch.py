"""`evalc watch`: checks eval files on each save, and runs the cases that have changed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.terminal import Screen, first_of, visible
from evalc.cli.ending import ExitCode, inventory_lines, print_error, print_problems
from evalc.cli.options import Paths, settings_of, with_flags
from evalc.config.settings import spelled
from evalc.setup.flags import several

if TYPE_CHECKING:
    from evalc.extras.watch import Seen, Watcher
    from evalc.model.suite import CaseKey

_CLEAR: Final = "\x1b[2J\x1b[3J\x1b[H"
_MOST_NAMED: Final = 3


@with_flags("agent", "prompts", "tools", "config")
def watch(
    paths: Paths = None,
    run_all: Annotated[bool, typer.Option("--run-all", help="Run every case at the start.")] = False,
    no_run: Annotated[bool, typer.Option("--no-run", help="Only check; run nothing.")] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also", metavar="PATH", help="Run every case when this file or folder changes, such as the agent's code."
        ),
    ] = None,
    **flags: Any,
) -> int:
    """Check on each save, and run the cases that changed.

    The results are shown and not kept. Ctrl-C ends the command.

    \b
    Examples:
      evalc watch evals/ --agent demo
      evalc watch evals/ --agent python:agent:ask --also agent.py
    """
    if no_run and run_all:
        raise UsageError("`--run-all` and `--no-run` cannot go together")
    watcher = extras.watch.Watcher(paths or (), partial(settings_of, flags), also or ())
    runs = not no_run and bool(watcher.settings.agent.use)
    passed_on = [part for name, value in flags.items() for each in several(value) for part in (spelled(name), each)]
    try:
        seen = watcher.look()
        _round(watcher, seen, watcher.board.known if run_all and runs else (), passed_on, runs=runs)
        for saved in watcher.saves():
            seen = watcher.look(saved)
            _round(watcher, seen, seen.to_run if runs else (), passed_on, runs=runs)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    return ExitCode.OK


def _round(watcher: Watcher, seen: Seen, chosen: Sequence[CaseKey], flags: Sequence[str], *, runs: bool) -> None:
    """Show what is wrong; else run the chosen cases, and show the state of all."""
    _show(watcher, seen, runs=runs, running=chosen)
    if chosen and watcher.run(chosen, flags):
        _show(watcher, seen, runs=runs)


def _show(watcher: Watcher, seen: Seen, *, runs: bool, running: Sequence[CaseKey] = ()) -> None:
    from evalc.report.progress import draws  # noqa: PLC0415 - for start-up

    drawn = draws(sys.stdout, os.environ)
    if drawn:
        sys.stdout.write(_CLEAR)
    if seen.compilation is None:
        print_error(seen.refusal)
    else:
        problems = seen.compilation.problems
        print_problems(problems, sys.stdout)
        sys.stdout.writelines(inventory_lines(seen.compilation.inventory, all_good=not problems))
    if running:
        sys.stdout.write(f"running {first_of(running, _MOST_NAMED, lambda key: visible(key.id))}\n")
    elif runs:
        screen = Screen.of(sys.stdout, os.environ)
        sys.stdout.writelines(f"{line}\n" for line in watcher.board.lines(screen, _height() - 4))
    if drawn and not running:
        sys.stdout.write(f"watching since {time.strftime('%H:%M:%S')}; Ctrl-C ends it\n")
    sys.stdout.flush()


def _height() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines
    except (OSError, ValueError):
        return 40
