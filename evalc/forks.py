"""From pieces of work to their results as they come: each is done by a fork of this process, side by side."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, TypeVar

T = TypeVar("T")

MOST: Final = 8
"""Of a machine's 64 cores a container may use two, and nothing says so: more processes would wait for each other."""

_AT_ONCE: Final = 1 << 16
_END: Final = b"."
"""What comes last of a result that is whole."""


def useful_processes() -> int:
    """How many processes can work side by side here; 1 where this one must not be forked."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return min(len(os.sched_getaffinity(0)), MOST)


def side_by_side(work: Callable[[T], bytes], pieces: Sequence[T]) -> Generator[bytes | None, None, None]:
    """The results of the pieces, as they come; None for one whose process could not be had, raised, or died.

    The processes share nothing but what is there now. None lives on when this is closed.
    """
    with ExitStack() as ends:
        results = {pipe: b"" for piece in pieces if (pipe := ends.enter_context(_forked(work, piece))) is not None}
        yield from [None] * (len(pieces) - len(results))
        while results:
            for pipe in select.select(list(results), [], [])[0]:
                more = os.read(pipe, _AT_ONCE)
                if more:
                    results[pipe] += more
                else:
                    result = results.pop(pipe)
                    yield result.removesuffix(_END) if result.endswith(_END) else None


@contextmanager
def _forked(work: Callable[[T], bytes], piece: T) -> Iterator[int | None]:
    """The pipe through which the result of a process comes, that ends with this context; None if it cannot be had."""
    try:
        reading, writing = os.pipe()
    except OSError:
        yield None
        return
    try:
        try:
            process = os.fork()
            if process == 0:
                _work_and_end(work, piece, writing)
        except OSError:
            yield None
            return
        finally:
            os.close(writing)
        try:
            yield reading
        finally:
            os.kill(process, signal.SIGKILL)  # it may have ended: until it is waited for, its id is nobody else's
            os.waitpid(process, 0)
    finally:
        os.close(reading)


def _work_and_end(work: Callable[[T], bytes], piece: T, writing: int) -> None:
    """Work as a process of its own, which ends here whatever comes: nothing of the first one's is to run in it."""
    try:
        with open(writing, "wb") as results:
            results.write(work(piece) + _END)
    finally:
        os._exit(0)
