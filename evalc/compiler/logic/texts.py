"""Compares texts with tokens, and reads their JSON as far as it is certain.

Each token of a text becomes a run of characters that no text contains, and equal tokens become equal runs. So `in`,
`startswith` and `==` hold of encoded texts only if they hold of the resolved ones, for all values of the tokens. That
they do *not* hold is conclusive only for texts without tokens.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from evalc.check.texts import NotJson, parse, parse_leniently
from evalc.ecma import Unit, find_tokens, length_of

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


def end(encoded: str) -> str:
    """The text behind the last token."""
    return encoded.rpartition(chr(_CLOSE))[2]


def pieces(encoded: str) -> list[str]:
    """The texts between the tokens."""
    return _RUN.split(encoded)


def without_tokens(encoded: str) -> str:
    """The text if every token is empty."""
    return encoded if is_fixed(encoded) else _RUN.sub("", encoded)


def least(encoded: str, unit: Unit, folded: bool) -> int:
    """The least length of a text that contains this one, whatever its tokens and the text around it are.

    If case is folded: one character folds to at most three.
    """
    text = without_tokens(encoded)
    return -(-len(text) // 3) if folded and unit in ("chars", "bytes") else length_of(text, unit)


# --- JSON ------------------------------------------------------------------------------------------------------------

_JSON_SPACES: Final = " \t\n\r"
_JSON_STARTS: Final = {"object": "{", "array": "[", "strict": '{["-0123456789tfn'}
NOT_JSON: Final = object()
"""Stands for the value of a text that is not JSON."""
UNCERTAIN: Final = object()
"""Stands for the value of a text whose JSON depends on its tokens."""
_SAFE: Final = 2**53


def cannot_begin_json(start: str, mode: str) -> bool:
    """Whether no JSON of the mode starts so; what a lenient one starts with may be prose."""
    rest = start.lstrip(_JSON_SPACES)
    return rest != "" and rest[0] not in _JSON_STARTS[mode]


@lru_cache(256)
def json_of(text: str, *, lenient: bool) -> Any:
    """The JSON of a text, `NOT_JSON` or `UNCERTAIN`."""
    try:
        value = parse_leniently(text) if lenient else parse(text)
    except NotJson:
        return NOT_JSON
    except RecursionError:
        return UNCERTAIN
    return value if is_safe(value) else UNCERTAIN


def is_safe(value: Any) -> bool:
    """Whether the numbers within the value are equal only if they are written alike."""
    match value:
        case bool() | str() | None:
            return True
        case int() | float():
            return -_SAFE < value < _SAFE
        case list():
            return all(map(is_safe, value))
        case _:
            return isinstance(value, dict) and all(map(is_safe, value.values()))


def is_well_formed(text: str) -> bool:
    """Whether Python and JavaScript read the same characters: no half of a surrogate pair stands alone."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
