"""From standard error to streams that agents may close: what they print goes there, and it stays ours."""

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
