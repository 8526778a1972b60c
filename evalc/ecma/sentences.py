"""Splits a text into the sentences that its reader would count, in linear time and without a dictionary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LINE_END: Final = re.compile(r"\r\n?")
# Quotes, brackets, and marks of Markdown.
_OPENING: Final = "\"'“‘«‹(\\[*_`"  # noqa: RUF001 - these characters are meant
_CLOSING: Final = "\"'”’»›)\\]}*_`"  # noqa: RUF001
_ENDS: Final = ".!?…‼⁇⁈⁉؟۔।॥։።᠃"  # noqa: RUF001
_WIDE_ENDS: Final = "。！？｡．"  # noqa: RUF001
_WIDE_CLOSING: Final = "」』）】》〉"  # noqa: RUF001
_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t].*+$", re.MULTILINE)
_BLOCK_END: Final = re.compile(r"\n(?:[ \t]*+\n|(?=[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]))")
_SENTENCE_END: Final = re.compile(
    rf"(?<![{_ENDS}])[{_ENDS}]++[{_CLOSING}]*+(?!\S)|[{_WIDE_ENDS}]++[{_CLOSING}{_WIDE_CLOSING}]*+"
)
_FOLLOWING: Final = re.compile(rf"\s*+[{_OPENING}]*+(.?)")
_LAST_WORD: Final = re.compile(r"(?<![\w.])(?:\w+\.)*\w+\Z")
_LONGEST_ABBREVIATION: Final = 12
_ABBREVIATION: Final = re.compile(
    "Mr|Mrs|Ms|Mx|Dr|Prof|St|Gen|Sen|Gov|Capt|Sgt|Lt|Col|Rev|Hon|Fr|Hr|Mme|Mlle|Sra|Dra|Nr"
    "|[Ff]igs?|[Ee]q|[Vv]ol|pp|vs|cf|ca|approx|viz|resp|incl|excl|bzw"
)
_DAYTIMES: Final = frozenset({"a.m", "p.m", "A.M", "P.M"})


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, as its reader would count them; each has a letter or a digit.

    A sentence ends at `.`, `!`, `?` or `…`, and the quotes and brackets that close there, before white space; at a
    Chinese or Japanese `。` also without. It ends at a blank line and before an item of a list. Headings do not
    count. It goes on after the full stop of an abbreviation (`Dr.`, `e.g.`), an initial (`J. Smith`) or an item's
    number, after any other before a small letter (`etc. and`), and after a quoted text before a small letter
    (`"Stop!" she said.`).
    """
    for block in _BLOCK_END.split(_HEADING.sub("\n", _LINE_END.sub("\n", text))):
        start = 0
        for end in _SENTENCE_END.finditer(block):
            if not _goes_on(block, end):
                yield from _if_worded(block[start : end.end()])
                start = end.end()
        yield from _if_worded(block[start:])


def _if_worded(text: str) -> Iterator[str]:
    if any(map(str.isalnum, text)):
        yield text


def _goes_on(block: str, end: re.Match[str]) -> bool:
    """Whether a sentence goes on after what looks like its end."""
    mark = end[0]
    following = _FOLLOWING.match(block, end.end())
    if mark[0] in _WIDE_ENDS or following is None or not following[1]:
        return False
    if following[1].islower() and (mark[0] in ".…" or mark[-1] in _CLOSING):
        return True
    word = _LAST_WORD.search(block, max(end.start() - _LONGEST_ABBREVIATION, 0), end.start())
    if mark != "." or word is None:
        return False
    if word[0].isdigit():
        return word.end() <= _LONGEST_ABBREVIATION and not block[: word.start()].strip()
    if word[0] in {"No", "no"}:
        return following[1].isdigit()
    return _ABBREVIATION.fullmatch(word[0]) is not None or _is_initials(word[0])


def _is_initials(word: str) -> bool:
    """Whether it is a letter, or such as `e.g`, `U.S` and `Ph.D`; `I` and times of day may be last in a sentence."""
    parts = word.split(".")
    if word == "I" or word in _DAYTIMES:
        return False
    return all(part.isalpha() and part.upper() != part.lower() for part in parts) and (
        len(word) == 1 or (len(parts) > 1 and all(len(part) <= 2 for part in parts))
    )
