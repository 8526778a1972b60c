"""Decides whether somebody's words say the value of a fact, word for word or in another form.

It can be wrong only in the user's favour: an honest paraphrase must pass more often than a denial is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from evalc.runtime.checks.grounding import unfounded_numbers
from evalc.runtime.checks.numbers_in_text import numbers_in, numbers_in_words

_WHOLE_WORDS: Final = 4
"""Up to so many words and numbers of a value all have to be said; of a longer value, half of them."""
_INFLECTED: Final = 4
"""Letters from which on a word may have an ending, as in `nights` and `Oslosta`."""
_SHORTEST_CODE: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")
_CODE: Final = re.compile(r"\b[^\W\d_]+\d\w*")
_MINOR: Final = """
    a an and any are as at by for from i in is it me my no none not of on or our per that the their to with without
    yes true false null unknown st nd rd th
"""
"""Words that a paraphrase leaves out or replaces. A value of nothing else, such as `yes`, can be said in any words."""
_MINOR_WORDS: Final = frozenset(_MINOR.split())
_MONTHS: Final = "january february march april may june july august september october november december"
_MONTH_OF: Final = {
    name: number for number, month in enumerate(_MONTHS.split(), 1) for name in (month, month[:3], month[:4])
}
_ISO_DATE: Final = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_DATE: Final = re.compile(r"\b(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))\b")
_FULL_HOUR: Final = re.compile(r"(?<=\d)[:.]00\b")
_TWELVE_HOURS: Final = re.compile(r"\b(0?[1-9]|1[0-2])(?:[:.]([0-5]\d))?\s*([ap])\.?m\b", re.IGNORECASE)
_NEGATION: Final = re.compile(
    r"\b(?:no(?!\.?\s*\d)|non|not|none|nor|neither|never|without|cannot)\b|n['\u2019]?t\b", re.IGNORECASE
)
"""A word that turns a fact round; `no. 7` is a number."""
_EXCLUSION: Final = re.compile(
    r"\b(?:nothing|nobody|nope|zero|free|less|avoid\w*|except\w*|exclud\w+|skip\w*|declin\w+|refus\w+|hat(?:e|es|ed|ing)"
    r"|dislik\w+|allerg\w+|intoleran\w+|against|instead|rather|other|but|only|un\w+|from|after|later|earliest|least"
    r"|before|earlier|latest|until|most|over|under|above|below)\b",
    re.IGNORECASE,
)
"""What may stand for a negation in other words, as in `nut-free` and, for `not before 9`, `from 9 on`."""
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def says(text: str, value: str) -> bool:
    """Whether a text says the value of a fact.

    Capitals, accents, punctuation, the order of words, their endings, a year, and the unit of a number do not count.
    Numbers and months may be written in words or digits. Negations, am and pm, and the order of an ISO date do.
    """
    text, value = _plain(text), _plain(value)
    if not value.isascii() and value.casefold() in text.casefold():
        return True  # of scripts that do not divide words by spaces
    if any(map(str.isdigit, value)) and len(value) >= _SHORTEST_CODE and _is_in_one_piece(value, text):
        return True
    halves, said_halves = _halves(value), _halves(text)
    if halves and said_halves and halves.isdisjoint(said_halves):
        return False
    text = _with_dates_in_words(_with_24_hours(text), _ISO_DATE.findall(value))
    return any(_says_parts(text, form) for form in {value, _TWELVE_HOURS.sub(_in_24_hours, value)})


def gives(text: str, value: str) -> bool:
    """Whether what was given outright for a fact says its value, and does not deny it, as `not Oslo` does."""
    if not says(text, value):
        return False
    denied = re.compile(rf"(?:{_NEGATION.pattern})[\s-]+(?:(?:a|an|any|at|in|of|on|the|to)\s+)?(\w+)", re.IGNORECASE)
    words = {word for word in re.findall(r"\w+", _plain(value).casefold()) if word not in _MINOR_WORDS}
    return _NEGATION.search(value) is not None or words.isdisjoint(
        match[1].casefold() for match in denied.finditer(_plain(text))
    )


def _says_parts(text: str, value: str) -> bool:
    parts = list(_parts(text, _with_dates_in_words(value, [])))
    if len(parts) > _WHOLE_WORDS:
        return sum(parts) >= len(parts) / 2
    if parts and _NEGATION.search(value) and not (_NEGATION.search(text) or _EXCLUSION.search(text)):
        return False
    return all(parts)


def given_for(name: str, text: str) -> Iterator[str]:
    """What a text gives as the value of a fact of this name where it does so outright, as in `City: Paris`."""
    words = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", name)))
    pattern = rf"(?:^|[\n.,;])\s*(?:my\s+|the\s+)?{words}\s*[:=]\s*(\S.*?)(?=$|[\n,;]|[.!?](?:\s|$))"
    return (match[1] for match in re.finditer(pattern, text, re.IGNORECASE))


def _parts(text: str, value: str) -> Iterator[bool]:
    """Of each code, number and word that a value needs to be recognised by, whether the text says it."""
    dated = _DATE.search(value) is not None
    text, value = _divided(text), _divided(value)
    codes = [code for code in _CODE.findall(value) if not any(numbers_in(code))]
    yield from (_is_in_one_piece(code, text) for code in codes)
    words = _WORD.findall(text.casefold())
    months = {_MONTH_OF[word] for word in words if word in _MONTH_OF}
    needed = [word for word in _WORD.findall(_CODE.sub(" ", value).casefold()) if word not in _MINOR_WORDS]
    if dated or any(word in _MONTH_OF for word in needed):
        value = _YEAR.sub(" ", value)
    # A hyphen between numbers is not the sign of the second.
    numbers = list(numbers_in(re.sub(r"(?<=\d)-(?=\d)", " ", _FULL_HOUR.sub("", value))))
    yield from (_has(number.text, text, *(months if dated else ())) for number in numbers)
    if not numbers or len(needed) > 1 or not _MONTH_OF.keys().isdisjoint(needed):  # else it is a unit
        yield from (_is_said(word, words, months, text) for word in needed)


def _is_said(word: str, words: list[str], months: set[int], text: str) -> bool:
    if any(other == word or _inflects(other, word) or _inflects(word, other) for other in words):
        return True
    if (month := _MONTH_OF.get(word)) is not None:
        return month in months or _has(str(month), text)
    return any(_has(str(number), text) for number in numbers_in_words(word))


def _has(number: str, *sources: str | int) -> bool:
    """Whether a number is said, and not another one that it is when it is rounded."""
    return not unfounded_numbers(number, sources, rounded=False)


def _inflects(longer: str, word: str) -> bool:
    """Whether a word is another one with an ending."""
    return len(word) >= _INFLECTED and longer.startswith(word)


def _halves(text: str) -> set[str]:
    """Which halves of the day the times of a text are in, where it says so."""
    return {time[3].casefold() for time in _TWELVE_HOURS.finditer(text)}


def _with_24_hours(text: str) -> str:
    """The text, and its times of half a day once more as those of a whole one."""
    return " ".join([text, *map(_in_24_hours, _TWELVE_HOURS.finditer(text))])


def _in_24_hours(time: re.Match[str]) -> str:
    hour = int(time[1]) % 12 + (12 if time[3].casefold() == "p" else 0)
    return f"{hour}:{time[2] or '00'}"


def _with_dates_in_words(text: str, only: Sequence[tuple[str, ...]]) -> str:
    """The text with its ISO dates in words; if only some count, without the others."""

    def in_words(date: re.Match[str]) -> str:
        year, month, day = date.groups()
        return "" if only and date.groups() not in only else f"{int(day)} {_MONTHS.split()[int(month) - 1]} {year}"

    return _ISO_DATE.sub(in_words, text)


def _plain(text: str) -> str:
    """The text without accents and underscores."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(" " if each == "_" else each for each in decomposed if not unicodedata.combining(each))


def _divided(text: str) -> str:
    """The text with its dates as numbers of their own, where `-03` and `14.3` are none."""
    return _DATE.sub(lambda date: re.sub(r"\D", " ", date[0]), text)


def _is_in_one_piece(code: str, text: str) -> bool:
    """Whether a code or a telephone number is in a text, which may divide it otherwise."""
    code, text = ("".join(filter(str.isalnum, each.casefold())) for each in (code, text))
    return re.search(rf"(?<!\d){code}(?!\d)", text) is not None
