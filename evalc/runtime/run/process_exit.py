"""Turns `os._exit` in an agent, a judge or a check into a failing exit code with an explanation."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Never

_CODE: Final = 70
_TOLD: Final = "error: an agent, a judge or a check ended the process (`os._exit`) before there was a report\n"


@contextmanager
def exits_told(before: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Let `os._exit`, called in this process, end it with exit code 70 and a sentence on standard error.

    Args:
        before: what is done first, such as to let go of the standard error that is captured.
    """
    leave, process = os._exit, os.getpid()

    def told(status: int = 0) -> Never:
        if os.getpid() != process:  # a child of the code's own, which ends like this in good order
            leave(status)
        try:
            before()
            sys.stderr.write(_TOLD)
            sys.stderr.flush()
        finally:
            leave(_CODE)

    os._exit = told
    try:
        yield
    finally:
        os._exit = leave
