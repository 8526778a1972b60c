"""Finds text that YAML took apart and that needs quotes, and makes the fixes that quote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from evalc.base.source import AliasedSpan, Source, Span
from evalc.diagnostics import Fix
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.grammar.read_check import read_check

_IN_BRACKETS: Final = frozenset("[]{},")
_SPACES: Final = (" ", "\t")
_COMMENT_BEHIND: Final = re.compile(r"[ \t]+(#[^\r\n]*)")
_CUT_OFF: Final = re.compile(r"[ \t]*(?<=[ \t])#(?!evalc: ignore)\S[^\r\n]*")
_COMMENT: Final = re.compile(r"[ \t]+#")
_TAKEN_APART: Final = re.compile(r":(?: |$)| #")
_LINE_REST: Final = re.compile(r"[^\r\n]*")
_CHECK: Final = re.compile(r"""(?:[^"#]|"(?:[^"\\]|\\.)*"|(?<=[^ \t])#)*""")
TEMPLATE: Final = re.compile(r"\{\{[^{}\r\n\"']*\}\}")  # no quote: in `["{{", "}}"]` the quotes are YAML's
_DASHES: Final = re.compile(r" *(?:- +)+(?=[^\s#])")
_OPENING: Final = re.compile(r"\[")
_SEPARATOR: Final = re.compile(r"""[\[\]{},\r\n]|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'""")


def quoted_line(raw: str) -> str:
    """The raw text as one single-quoted YAML scalar on one line: `it's` is `'it''s'`."""
    return "'" + " ".join(raw.split("\n")).replace("\r", "").replace("'", "''") + "'"


def unquoted_line(quoted: str) -> str:
    """The raw text that `quoted_line` has quoted."""
    return quoted[1:-1].replace("''", "'")


def as_item(line: str) -> str:
    """A line as an item of a list: `- json`, or `- 'contains "a: b"'` where YAML would take it apart."""
    return f"- {quoted_line(line)}" if _TAKEN_APART.search(line) else f"- {line}"


def in_quotes(source: Source, start: int, end: int, *, sure: bool = False) -> Fix | None:
    """Put a stretch in quotes; a text of several lines would be folded in another way once it is quoted."""
    raw = source.text[start:end]
    return None if re.search(r"[\r\n]", raw) else Fix.of(source.text, start, end, quoted_line(raw), sure=sure)


def check_in_quotes(source: Source, start: int, end: int) -> Fix | None:
    """Put a check in quotes; a comment after it stays a comment."""
    raw = source.text[start:end]
    check = _CHECK.match(raw)
    if check is None or check.end() == len(raw):
        return in_quotes(source, start, end, sure=True)
    # What is neither part of the check nor a comment is a string that nobody closed.
    return in_quotes(source, start, start + len(check[0].rstrip()), sure=True) if raw[check.end()] == "#" else None


def text_in_quotes(source: Source, start: int, end: int) -> Fix | None:
    """Put the rest of a line in quotes, unless a `#` in it may begin a comment."""
    raw = source.text[start:end]
    return None if " #" in raw or raw.startswith("-") else in_quotes(source, start, end, sure=True)


def template_in_quotes(source: Source, start: int, end: int) -> Fix | None:
    """Put a text with a template in quotes, if it ends where the text does that was meant.

    Templates without quotes inside are hidden from YAML, so that it finds the end of a text that begins with one. Of
    other texts that begin with braces nobody knows the end.
    """
    raw = source.text[start:end]
    if _COMMENT.search(TEMPLATE.sub("", raw)):
        return None  # it may be a comment after all
    return in_quotes(source, start, end, sure=True) if not raw.startswith("{{") or TEMPLATE.match(raw) else None


def rewritten_item(source: Source, start: int, end: int, item: str, *, sure: bool = False) -> Fix | None:
    """Write an item of a list, such as `as_item` gives, in place of another, which begins behind its dash."""
    line, text = item.removeprefix("- "), source.text
    in_flow = not text[:start].rstrip(" ").endswith("-")
    if line[0] not in "'\"" and (text[start] in "'\"" or (in_flow and _IN_BRACKETS.intersection(line))):
        line = quoted_line(line)
    return Fix.of(text, start, end, line, sure=sure)


def goes_on(source: Source, scalar: Scalar) -> bool:
    """Whether a space is behind a plain scalar, and so perhaps a comment that cut it off."""
    return scalar.style == "plain" and source.text.startswith(_SPACES, scalar.end)


def lost_to_comment(source: Source, scalar: Scalar) -> Span | None:
    """The `#...` that cut off, inside a string, a scalar that `goes_on` (`contains "a #b"`), to the end of its line."""
    match = _COMMENT_BEHIND.match(source.text, scalar.end)
    if match is None or not _inside_string(scalar.text) or not _inside_string(match[1]):
        return None
    return Span(match.start(1), match.start(1) + len(match[1].rstrip()))


def cut_off(source: Source, scalar: Scalar) -> Span | None:
    """The text that was probably meant where a comment without a space after its `#` follows a plain scalar.

    It ends where the line ends: `Where is order #4711?`, of which YAML reads the first three words.
    """
    if not goes_on(source, scalar):
        return None
    match = _CUT_OFF.match(source.text, scalar.end)
    if match is None:
        return None
    start = scalar.start if scalar.end > scalar.start else source.text.index("#", scalar.end)
    span = Span(start, match.start() + len(match[0].rstrip()))
    return span if scalar.alias is None else AliasedSpan(span, scalar.alias)


def has_comment(source: Source, scalar: Scalar) -> bool:
    """Whether a comment follows a scalar on its line."""
    return _COMMENT_BEHIND.match(source.text, scalar.end) is not None


def check_around(source: Source, at: int, brackets: Iterable[int]) -> Span | None:
    """The check about a place that YAML takes apart since it has no quotes; None if there is none.

    It is an item on a line of its own, up to a `#` that may begin a comment, or one in `brackets`.
    """
    text = source.text
    line_start = text.rfind("\n", 0, at) + 1
    for opening in (*brackets, *(found.start() for found in _OPENING.finditer(text, line_start, at))):
        item = next((item for item in _items_in(text, opening) if item.start <= at < item.end), None)
        if item is not None and is_check(text[slice(*item)]):
            return item
    dashes, rest = _DASHES.match(text, line_start), _LINE_REST.match(text, line_start)
    if dashes is None or rest is None or not dashes.end() <= at:
        return None
    ends = [*(comment.start() for comment in _COMMENT.finditer(text, dashes.end(), rest.end())), rest.end()]
    lines = (Span(dashes.end(), dashes.end() + len(text[dashes.end() : end].rstrip())) for end in reversed(ends))
    return next((line for line in lines if at < line.end and is_check(text[slice(*line)])), None)


def is_check(line: str) -> bool:
    """Whether a line is a check."""
    return not read_check(line).faults


def _items_in(text: str, opening: int) -> Iterator[Span]:
    """The items of a list in brackets on one line, as a reader would separate them: by commas outside of brackets."""
    depth, begin = 0, opening + 1
    for found in _SEPARATOR.finditer(text, opening):
        sign = found[0]
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign, 0)
        if (sign == "," and depth == 1) or depth == 0:
            start = begin + len(text[begin : found.start()]) - len(text[begin : found.start()].lstrip())
            yield Span(start, begin + len(text[begin : found.start()].rstrip()))
            begin = found.end()
        if depth == 0 or sign in "\r\n":
            return


def split_at_comma(source: Source, sequence: Sequence) -> tuple[Span, ...]:
    """The stretches of a flow sequence that a comma inside a string took apart (`[contains "a, b"]`)."""
    if not source.text.startswith("[", sequence.start):
        return ()
    stretches: list[Span] = []
    begun: Node | None = None
    for item in sequence.items:
        odd = isinstance(item, Scalar) and item.style == "plain" and _inside_string(item.text)
        if not odd:
            continue
        if begun is None:
            begun = item
        else:
            stretches.append(Span(begun.start, item.end))
            begun = None
    return tuple(stretches)


def split_at_colon(source: Source, mapping: Mapping) -> Span | None:
    """The whole check of a one-pair mapping that a colon inside it made: in a string, a pattern or an argument."""
    if len(mapping.pairs) != 1:
        return None
    key, value = mapping.pairs[0]
    if key.style != "plain":
        return None
    stretches = [*_lines_of(source, mapping, key, value)]
    whole = next((span for span in stretches if not read_check(source.text[slice(*span)]).faults), None)
    return stretches[-1] if whole is None and _inside_string(key.text) else whole


def _lines_of(source: Source, mapping: Mapping, key: Scalar, value: Node) -> Iterator[Span]:
    """The stretches that may be the line with the colon: up to a `#` that begins a comment, and with what follows."""
    if source.text.startswith("{", mapping.start):
        yield Span(mapping.start, mapping.end)
        return
    rest = _LINE_REST.match(source.text, key.end)
    end = key.end if rest is None else rest.start() + len(rest[0].rstrip())
    if key.end < value.end < end:
        yield Span(key.start, value.end)
        yield from (Span(key.start, comment.start()) for comment in _COMMENT.finditer(source.text, value.end + 1, end))
    yield Span(key.start, end)


def _inside_string(text: str) -> bool:
    """Whether a double quote opened in the text is still open at its end."""
    return len(re.findall(r'(?<!\\)(?:\\\\)*"', text)) % 2 == 1
