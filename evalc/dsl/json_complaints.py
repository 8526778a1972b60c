"""From what the JSON decoder complains of to a finding in our own words, at the place that must change."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from evalc.diagnostics.catalogue.syntax_yaml import NotJson
from evalc.source import Span

_WORD: Final = re.compile(r"[A-Za-z_$][\w$-]*")
_FOREIGN_WORDS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}
_NAMED_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}

_Explained = tuple[Span, NotJson]


def explained(message: str, text: str, at: int) -> _Explained:
    """The finding and its place, told by the decoder's message and by what stands at its offset."""
    for inside, rule in _INSIDE_A_TEXT:
        if message.startswith(inside):
            return rule(text, at)
    if message.startswith("Illegal trailing comma"):  # newer decoders point at the comma itself
        at = len(text) - len(text[at + 1 :].lstrip())
    at = len(text) - len(text[at:].lstrip())
    for between in _BETWEEN:
        if (found := between(message, text, at)) is not None:
            return found
    return _one(at), NotJson(found=_EXPECTED.get(message.split(" ")[1], "a value is expected here"))


def _one(at: int) -> Span:
    return Span(at, at + 1)


# --- inside a text -------------------------------------------------------------------------------------------------


def _unclosed(_text: str, at: int) -> _Explained:
    return _one(at), NotJson(found='this `"` is never closed', cure="close the text on its line")


def _control(text: str, at: int) -> _Explained:
    escape = _NAMED_ESCAPES.get(text[at], f"\\u{ord(text[at]):04x}")
    found = f"the character U+{ord(text[at]):04X} may not stand inside a text as it is"
    return _one(at), NotJson(found=found, cure=f"write `{escape}`, or close the text before it")


def _escape(text: str, at: int) -> _Explained:
    start = text.rfind("\\", 0, at + 1)
    found = f"`{text[start : start + 2]}` does not begin an escape of JSON here"
    return Span(start, start + 2), NotJson(found=found, cure=r"write `\\` for a backslash")


_INSIDE_A_TEXT: Final[tuple[tuple[str, Callable[[str, int], _Explained]], ...]] = (
    ("Unterminated string", _unclosed),
    ("Invalid control character", _control),
    ("Invalid \\", _escape),
)


# --- between texts -------------------------------------------------------------------------------------------------


def _trailing_comma(_message: str, text: str, at: int) -> _Explained | None:
    before = text[:at].rstrip()
    if not before.endswith(",") or text[at : at + 1] not in {"]", "}"}:
        return None
    return _one(len(before) - 1), NotJson(found="no comma may stand behind the last item", cure="remove it")


def _truncated(_message: str, text: str, at: int) -> _Explained | None:
    if at < len(text):
        return None
    end = len(text.rstrip())
    return Span(end, end), NotJson(found="the text ends before its value does" if end else "the text is empty")


def _foreign(_message: str, text: str, at: int) -> _Explained | None:
    if text.startswith("'", at):
        return _one(at), NotJson(found="texts stand in double quotes", cure="write `\"` in place of `'`")
    if text.startswith(("//", "/*", "#"), at):
        return _one(at), NotJson(found="JSON has no comments", cure="remove it")
    return None


def _behind_the_end(message: str, text: str, at: int) -> _Explained | None:
    if not message.startswith("Extra data"):
        return None
    several = text[at] in '[{"'
    cure = "a file holds one value: put several into a list, `[..., ...]`" if several else "remove what stands here"
    return _one(at), NotJson(found="the value has ended before this", cure=cure)


def _word(message: str, text: str, at: int) -> _Explained | None:
    match = _WORD.match(text, at)
    if match is None or message.startswith("Expecting ','"):
        return None
    word = match[0]
    span = Span(at, match.end())
    if message.startswith("Expecting property name"):
        return span, NotJson(found="keys stand in double quotes", cure=f'write `"{word[:60]}"`')
    if word in _FOREIGN_WORDS:
        return span, NotJson(found=f"`{word}` is not a word of JSON", cure=f"write `{_FOREIGN_WORDS[word]}`")
    return span, NotJson(found="texts stand in double quotes", cure=f'write `"{word[:60]}"`')


def _wrong_bracket(_message: str, text: str, at: int) -> _Explained | None:
    if text[at] not in "]}":
        return None
    return _one(at), NotJson(found=f"`{text[at]}` cannot stand here", cure="look for the bracket that it was to close")


_BETWEEN: Final = (_trailing_comma, _truncated, _foreign, _behind_the_end, _word, _wrong_bracket)

_EXPECTED: Final = {
    "','": "a comma is missing before this",
    "':'": "a colon is missing between the key and its value",
    "property": "a key in double quotes is expected here",
}
