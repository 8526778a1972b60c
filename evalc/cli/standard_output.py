"""From standard output to a stream of the report's own, to which nothing else that prints in this process gets."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO


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
