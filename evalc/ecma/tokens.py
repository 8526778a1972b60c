"""Resolves the `{{seed:path}}` and `{{snapshot:path}}` tokens of a text."""

from __future__ import annotations

import re
from typing import Final, Literal, cast

import msgspec

from evalc.ecma.values import SPACES, UNDEFINED, token_text, trim

TokenSource = Literal["seed", "snapshot"]

_OPENING: Final = re.compile(rf"\{{\{{[{SPACES}]*(seed|snapshot):")
_INDEXED: Final = re.compile(r"([A-Za-z0-9_]+)((?:\[[0-9]+\])+)")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,14}")


class Token(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A token in a text: `text` is the stretch `[start, end)` as written, `path` what follows the colon, trimmed."""

    start: int
    end: int
    text: str
    source: TokenSource
    path: str


class Unresolved(msgspec.Struct, frozen=True, gc=False):
    """The tokens, as written and in their order, that name nothing or null."""

    tokens: tuple[str, ...]


def find_tokens(text: str) -> list[Token]:
    """The tokens of a text in their order; a token ends at the first `}}` after its colon."""
    if "{{" not in text:
        return []
    tokens: list[Token] = []
    at = 0
    while opening := _OPENING.search(text, at):
        close = text.find("}}", opening.end())
        if close < 0:
            break
        at = close + 2
        tokens.append(
            Token(
                start=opening.start(),
                end=at,
                text=text[opening.start() : at],
                source=cast(TokenSource, opening[1]),
                path=trim(text[opening.end() : close]),
            )
        )
    return tokens


def resolve(text: str, seed: object, snapshot: object) -> str | Unresolved:
    """The text with every token replaced by its value's text; what a value contains is not looked at again."""
    tokens = find_tokens(text)
    if not tokens:
        return text
    pieces: list[str] = []
    unresolved: list[str] = []
    at = 0
    for token in tokens:
        value = walk(seed if token.source == "seed" else snapshot, token.path)
        if value is UNDEFINED or value is None:
            unresolved.append(token.text)
        else:
            pieces += (text[at : token.start], token_text(value))
        at = token.end
    if unresolved:
        return Unresolved(tuple(unresolved))
    return "".join(pieces) + text[at:]


def walk(data: object, path: str) -> object:
    """The value that a token's path leads to, or `UNDEFINED`."""
    value = data
    for segment in path.split("."):
        for key in _keys(segment):
            value = _own_property(value, key)
    return value


def _keys(segment: str) -> list[str]:
    """`name` is one key, `name[0][1]` three; any other characters are part of the key."""
    if segment.endswith("]") and (indexed := _INDEXED.fullmatch(segment)):
        return [indexed[1], *(index.lstrip("0") or "0" for index in indexed[2][1:-1].split("]["))]
    return [segment]


def _own_property(value: object, key: str) -> object:
    """Objects have their keys and arrays their indexes: `length` and the like are not data."""
    match value:
        case dict():
            return value.get(key, UNDEFINED)
        case list() | tuple() if _INDEX.fullmatch(key):
            index = int(key)
            return value[index] if index < len(value) else UNDEFINED
        case _:
            return UNDEFINED
