"""Decides whether somebody's words say the value of a fact, word for word or in another form.

It can be wrong only in the user's favour: an honest paraphrase must pass more often than a denial is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
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
_DATE: Final = re.compile(r"\b(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))\b")
_FULL_HOUR: Final = re.compile(r"(?<=\d)[:.]00\b")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def says(text: str, value: str) -> bool:
    """Whether a text says the value of a fact.

    Capitals, accents, punctuation, the order of words, their endings, a year, and the unit of a number do not count.
    Numbers and months may be written in words or digits.
    """
    text, value = _plain(text), _plain(value)
    if not value.isascii() and value.casefold() in text.casefold():
        return True  # of scripts that do not divide words by spaces
    if any(map(str.isdigit, value)) and len(value) >= _SHORTEST_CODE and _is_in_one_piece(value, text):
        return True
    parts = list(_parts(text, value))
    return sum(parts) >= (len(parts) if len(parts) <= _WHOLE_WORDS else len(parts) / 2)


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
    yield from (not unfounded_numbers(number.text, [text, *(months if dated else ())]) for number in numbers)
    if not numbers or len(needed) > 1 or not _MONTH_OF.keys().isdisjoint(needed):  # else it is a unit
        yield from (_is_said(word, words, months, text) for word in needed)


def _is_said(word: str, words: list[str], months: set[int], text: str) -> bool:
    if any(other == word or _inflects(other, word) or _inflects(word, other) for other in words):
        return True
    if (month := _MONTH_OF.get(word)) is not None:
        return month in months or not unfounded_numbers(str(month), [text])
    return any(not unfounded_numbers(str(number), [text]) for number in numbers_in_words(word))


def _inflects(longer: str, word: str) -> bool:
    """Whether a word is another one with an ending."""
    return len(word) >= _INFLECTED and longer.startswith(word)


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
