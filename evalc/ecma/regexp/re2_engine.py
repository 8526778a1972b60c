"""From a translated pattern and a text to whether RE2 finds a match; linear time, bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from evalc.ecma.regexp.route import Translation

_MOST_WORK: Final = 5 * 10**8
"""Program size x length of the text: the steps, at some 2 ns each, of a match whose automaton grew too big."""

_MOST_MEMORY: Final = 4 << 20


def matcher(translation: Translation) -> Callable[[bytes], bool | None] | None:
    """A test of encoded texts; it answers None where that could take over a second. None where RE2 refuses."""
    # Deferred for start-up time: most commands match nothing.
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MOST_MEMORY
    try:
        compiled = re2.compile(translation.pattern, options)
    except re2.error:
        return None
    size: int = compiled.programsize
    search = compiled.search

    def test(text: bytes) -> bool | None:
        if size * len(text) > _MOST_WORK:
            return None
        return search(text) is not None

    return test
