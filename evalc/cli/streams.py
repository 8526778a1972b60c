"""Standard input, output and error: problems, messages, and a stream that only the report writes to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from evalc.base.files import below_working_folder
from evalc.base.terminal import Screen, painted, visible

if TYPE_CHECKING:
    from evalc.compiler.compiled import Inventory
    from evalc.diagnostics.problem import Problem
    from evalc.diagnostics.render_text import Tried


def print_error(message: str) -> None:
    """Say on standard error why the command does not go on."""
    head = painted("error", "red", on=Screen.of(sys.stderr, os.environ).color)
    sys.stderr.write(f"{head}: {visible(message)}\n")


def print_warning(message: str) -> None:
    """Say on standard error what the user should know, though the command continues."""
    head = painted("warning", "yellow", on=Screen.of(sys.stderr, os.environ).color)
    sys.stderr.write(f"{head}: {visible(message)}\n")


def print_problems(problems: Sequence[Problem], stream: TextIO, *, tried: Tried = "nothing") -> None:
    """Print the problems, how many they are and how many of them can be fixed; nothing if there are none.

    `tried` says which fixes have been tried already.
    """
    # Deferred for start-up: most commands find no problem.
    from evalc.diagnostics.render_text import render_text, summary_line  # noqa: PLC0415

    if problems:
        screen = Screen.of(stream, os.environ)
        told = render_text(problems, color=screen.color, width=screen.width)
        stream.write(f"{told}\n{summary_line(problems, tried=tried)}\n")


def inventory_lines(inventory: Inventory, *, all_good: bool = False, verbose: bool = False) -> Iterator[str]:
    """What was read and what was skipped, as lines: `all good: 12 suites, 3 prompts; skipped 4 other files`.

    `verbose` names the files that were skipped.
    """
    if inventory.read or inventory.skipped:
        read = inventory.read or "nothing"
        skipped = f"; skipped {inventory.skipped}" if inventory.skipped else ""
        yield f"{'all good: ' if all_good else 'read '}{read}{skipped}\n"
    if verbose:
        yield from (f"skipped {visible(name)}, a compiled copy of suites that were read\n" for name in inventory.copies)
        yield from (f"skipped {visible(name)}\n" for name in inventory.others)
        yield from (f"skipped {visible(name)}, which cannot be parsed\n" for name in inventory.unparsed)
    if inventory.with_examples and not inventory.suites:
        first = visible(inventory.with_examples[0])
        yield f"these prompts have examples and no test cases: `evalc import {first}` makes cases of the examples\n"


def shown_path(path: Path) -> str:
    """The path as the working folder sees it, where it lies below."""
    return visible(str(below_working_folder(path)))


@contextmanager
def lent_streams() -> Iterator[None]:
    """Let other people's code run with `sys.stdout` and `sys.stderr` of its own, both of which are standard error.

    It may close, replace or delete them: that is between one case of its own and the next.
    """
    stdout, stderr = _another(sys.stderr), _another(sys.stderr)
    with redirect_stdout(stdout), redirect_stderr(stderr):
        yield
    for stream in (stdout, stderr):
        with suppress(OSError, ValueError):  # it may be closed
            stream.flush()


def _another(stream: TextIO) -> TextIO:
    """Another stream to the same descriptor, which is not closed with it: loggers may keep the stream for ever."""
    try:
        descriptor = stream.fileno()
    except OSError:  # not a file, as in tests
        return stream
    return os.fdopen(descriptor, "w", buffering=1, encoding=stream.encoding, errors=stream.errors, closefd=False)


@contextmanager
def standard_output_alone() -> Iterator[TextIO]:
    """Standard output, for the report alone: what an agent prints goes to standard error, by whatever way."""
    report = _with_descriptor_of_its_own(sys.stdout)
    with redirect_stdout(sys.stderr):
        yield report
        report.flush()


def _with_descriptor_of_its_own(stdout: TextIO) -> TextIO:
    """The stream, which other programs and extensions that print cannot reach any more.

    What was its descriptor is standard error's to the end of the process: agents may print when they are shut down.
    """
    try:
        shared = stdout.fileno()
        own = os.dup(shared)
        os.dup2(sys.stderr.fileno(), shared)
    except OSError:  # not a file, as in tests
        return stdout
    return os.fdopen(own, "w", encoding=stdout.encoding, errors=stdout.errors)


def standard_input(paths: Sequence[object]) -> str | None:
    """The whole of standard input where `-` is among the paths, without a byte order mark.

    Raises:
        UsageError: when it is closed, not UTF-8, or larger than a file may be.
    """
    if "-" not in paths:
        return None
    from evalc.base.errors import UsageError  # noqa: PLC0415 - for start-up: only with `-`
    from evalc.dsl.sources import YAML_LIMIT  # noqa: PLC0415 - as above

    if sys.stdin is None:  # as `<&-` leaves it
        raise UsageError("`-` is standard input, and that is closed")
    data = sys.stdin.buffer.read(YAML_LIMIT + 1)
    if len(data) > YAML_LIMIT:
        raise UsageError(f"standard input is larger than {YAML_LIMIT // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8: byte {error.start + 1} is 0x{data[error.start]:02X}") from None
