"""Derives what holds for a response that equals or contains a text. None if nothing is certain.

The tokens of a text become characters that no text contains. Two equal tokens are equal runs, so `in`, `startswith`
and `==` hold of the encoded texts only where they hold of the resolved ones, whatever the tokens are worth. That they
do *not* hold says something of texts without tokens alone.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final, NoReturn

from evalc.compiler.logic.formulas import Atom, Begins, Exceeds, Has, HasFolded, HasHeading, Is, IsJson, Matches, Unit
from evalc.compiler.patterns import answer
from evalc.ecma.text import length_of, trim
from evalc.ecma.tokens import find_tokens

_OPEN, _CLOSE, _BYTE = 0x10FE00, 0x10FE01, 0x10FF00  # the end of the last private use area
_MARK: Final = chr(_OPEN)
_RUN: Final = re.compile(f"{_MARK}[^{chr(_CLOSE)}]*{chr(_CLOSE)}")


def encode(text: str) -> str:
    """The text, with a run of private characters for each token."""
    if "{{" not in text:
        return text
    pieces: list[str] = []
    at = 0
    for token in find_tokens(text):
        name = f"{token.source}:{token.path}".encode("utf-8", "surrogatepass")
        run = "".join(chr(_BYTE + byte) for byte in name)
        pieces += (text[at : token.start], _MARK, run, chr(_CLOSE))
        at = token.end
    return "".join(pieces) + text[at:]


def is_fixed(encoded: str) -> bool:
    """Whether the text has no tokens."""
    return _MARK not in encoded


def beginning(encoded: str) -> str:
    """The text before the first token."""
    return encoded.partition(_MARK)[0]


def pieces(encoded: str) -> list[str]:
    """The texts between the tokens."""
    return _RUN.split(encoded)


def without_tokens(encoded: str) -> str:
    """The text as it is where every token is empty."""
    return encoded if is_fixed(encoded) else _RUN.sub("", encoded)


_LONGEST: Final = 10_000
_JSON_SPACES: Final = " \t\n\r"
_JSON_STARTS: Final = {"object": "{", "array": "[", "strict": '{["-0123456789tfn'}


def is_so(atom: Atom, text: str) -> bool | None:
    """Whether the atom holds of the text, which has no tokens."""
    match atom:
        case Has(text=part):
            return _found(part in text, part)
        case HasFolded(text=part):
            return _found(part in text.casefold(), part)
        case Is(text=other):
            return _found(text == other, other)
        case Begins(text=start):
            return _found(text.startswith(start), start)
        case Exceeds(unit=unit, limit=limit):
            count = _measure(text, unit)
            return None if count is None else count > limit
        case IsJson(mode=mode):
            return _is_json(text, mode)
        case Matches():
            return answer(atom.pattern, atom.flags, text) if len(text) <= _LONGEST and _is_well_formed(text) else None
        case HasHeading():
            return None if trim(text) else False
        case _:
            return None


def _found(found: bool, other: str) -> bool | None:
    """The result of a comparison: not finding a text that has tokens decides nothing."""
    return found if found or without_tokens(other) == other else None


def _measure(text: str, unit: Unit) -> int | None:
    """The length of a text in a unit; None for units that texts do not have."""
    match unit:
        case "chars" | "words" | "lines" | "bytes":
            return length_of(text, unit)
        case _:
            return None


def least(encoded: str, unit: Unit) -> int:
    """How much is at least in a text that has this one in it, whatever surrounds it and its tokens are worth."""
    return _measure(without_tokens(encoded), unit) or 0


def least_folded(encoded: str, unit: Unit) -> int:
    """The same of a text in which this one is found when case is folded: one character folds to three at most."""
    match unit:
        case "words" | "lines":
            return least(encoded, unit)
        case "chars" | "bytes":
            return -(-len(without_tokens(encoded)) // 3)
        case _:
            return 0


def cannot_begin_json(start: str, mode: str) -> bool:
    """Whether no JSON of the mode starts so; what a lenient one starts with may be prose."""
    rest = start.lstrip(_JSON_SPACES)
    return mode != "lenient" and rest != "" and rest[0] not in _JSON_STARTS[mode]


@lru_cache(256)
def _is_json(text: str, mode: str) -> bool | None:
    try:
        value = _DECODER.decode(trim(text) if mode == "lenient" else text)
    except RecursionError:
        return None
    except ValueError:
        return None if mode == "lenient" and ("```" in text or "~~~" in text) else False
    return mode in ("strict", "lenient") or isinstance(value, dict if mode == "object" else list)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_DECODER: Final[Any] = json.JSONDecoder(parse_constant=_refuse, parse_int=lambda _digits: 0)


def _is_well_formed(text: str) -> bool:
    """Whether Python's characters and JavaScript's are the same text: no half of a surrogate pair is alone."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def matched_inside(pattern: str, flags: str, parts: list[str]) -> bool:
    """Whether the pattern, which looks at no edge, matches in one of the parts of a text."""
    return any(is_so(Matches(pattern, flags), part) for part in parts if part)
