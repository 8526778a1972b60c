"""From the YAML text of a large suite to texts of parts of it: all that stands above the cases, and some of the cases.

A part reads as the whole text would if it had no other cases, but for where things stand: offsets are the part's own.
Only a text is cut in which the list of cases comes last and each case begins on a line of its own. Whether a cut fell
between cases shows when the part is read: one that fell into a text in quotes or into brackets is a mistake there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# Each begins with characters that stand for themselves, which makes the search fast.
_LIST: Final = re.compile(r"test_cases: *(?:#[^\n]*)?\n(?: *(?:#[^\n]*)?\n)*( *)- ")
_ANCHOR: Final = re.compile(r"&(?<=[\s\[{,]&)[^\s,\[\]{}]")


def parts_of(text: str, count: int) -> Sequence[str]:
    """The text in at most so many parts of about the same length; as it is, where it cannot be cut."""
    lists = list(_LIST.finditer(text)) if count > 1 else []
    if len(lists) != 1 or _ANCHOR.search(text):
        return [text]
    (found,) = lists
    first, dash = found.start(1), len(found[1])
    before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    if before.strip(" ") or len(before) > dash or _other_than_cases(dash).search(text, first - 1):
        return [text]
    begins = [case.start() + 1 for case in re.compile(rf"\n {{{dash}}}- ").finditer(text, first - 1)]
    cuts = _evenly(begins, len(text), count)
    return [text[:first] + text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _other_than_cases(dash: int) -> re.Pattern[str]:
    """The beginning of a line that is no part of a list whose dashes stand in this column."""
    outside = rf" {{0,{dash - 1}}}[^ \n#]|" if dash else ""
    return re.compile(rf"\n(?:{outside} {{{dash}}}(?:[^ \n#-]|-[^ ]))")


def _evenly(begins: Sequence[int], end: int, count: int) -> list[int]:
    """At most `count` of the beginnings, the first among them, with about as much between each two."""
    share = (end - begins[0]) / count
    cuts = [begins[0]]
    for begin in begins:
        if begin >= begins[0] + share * len(cuts):
            cuts.append(begin)
    return cuts[:count]
