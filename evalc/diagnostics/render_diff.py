"""Renders fixes as a unified diff.

A fix stays on its line, so that lines are compared in pairs: the time is linear, whatever the texts are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_CONTEXT: Final = 3
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def render_diff(name: str, before: str, after: str) -> str:
    """The unified diff of two texts of as many lines; empty if they are equal."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    changed = [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    if not changed:
        return ""
    hunks = (line for first, last in _hunks(changed, len(old)) for line in _hunk(old, new, first, last))
    return "".join([f"--- {name}\n", f"+++ {name}\n", *hunks])


def _hunks(changed: list[int], lines: int) -> Iterator[tuple[int, int]]:
    """The stretches of lines that are shown: each change with its neighbours, together where they meet."""
    first = last = -1
    for number in changed:
        if last >= 0 and number - _CONTEXT > last:
            yield first, last
            last = -1
        if last < 0:
            first = max(number - _CONTEXT, 0)
        last = min(number + _CONTEXT + 1, lines)
    yield first, last


def _hunk(old: list[str], new: list[str], first: int, last: int) -> Iterator[str]:
    yield f"@@ -{first + 1},{last - first} +{first + 1},{last - first} @@\n"
    at = first
    while at < last:
        if old[at] == new[at]:
            yield _line(" ", old[at])
            at += 1
            continue
        end = at
        while end < last and old[end] != new[end]:
            end += 1
        yield from (_line("-", line) for line in old[at:end])
        yield from (_line("+", line) for line in new[at:end])
        at = end


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line[-1] in "\r\n" else f"{sign}{line}\n\\ No newline at end of file\n"
