"""From problems and messages to the standard streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from evalc.project import below_working_folder
from evalc.terminal import Screen, painted, visible

if TYPE_CHECKING:
    from evalc.compiler.compiled import Inventory
    from evalc.diagnostics.problem import Problem


def print_error(message: str) -> None:
    """Say on standard error why the command does not go on."""
    head = painted("error", "red", on=Screen.of(sys.stderr, os.environ).color)
    sys.stderr.write(f"{head}: {visible(message)}\n")


def print_warning(message: str) -> None:
    """Say on standard error what the user should know, though the command goes on."""
    head = painted("warning", "yellow", on=Screen.of(sys.stderr, os.environ).color)
    sys.stderr.write(f"{head}: {visible(message)}\n")


def print_problems(problems: Sequence[Problem], stream: TextIO, *, fixable: bool = True) -> None:
    """Print the problems, how many they are and how many of them can be fixed; nothing where there are none.

    `fixable` is false where everything is fixed that can be.
    """
    # Deferred for start-up: most commands find no problem.
    from evalc.diagnostics.render_text import render_text, summary_line  # noqa: PLC0415

    if problems:
        screen = Screen.of(stream, os.environ)
        told = render_text(problems, color=screen.color, width=screen.width)
        stream.write(f"{told}\n{summary_line(problems, fixable=fixable)}\n")


def inventory_lines(inventory: Inventory, *, all_good: bool = False, verbose: bool = False) -> Iterator[str]:
    """What was read and what was skipped, as lines: `all good: 12 suites, 3 prompts; skipped 4 other files`.

    `verbose` names the files that were skipped.
    """
    if inventory.read or inventory.skipped:
        read = inventory.read or "nothing"
        skipped = f"; skipped {inventory.skipped}" if inventory.skipped else ""
        yield f"{'all good: ' if all_good else 'read '}{read}{skipped}\n"
    if verbose:
        yield from (f"skipped {visible(name)}\n" for name in inventory.others)
    if inventory.with_examples and not inventory.suites:
        first = visible(inventory.with_examples[0])
        yield f"these prompts have examples and no test cases: `evalc import {first}` makes cases of the examples\n"


def shown_path(path: Path) -> str:
    """The path as the working folder sees it, where it lies below."""
    return visible(str(below_working_folder(path)))
