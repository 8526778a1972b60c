"""Nodes of the small languages: checks of the model with the places of their texts, templates, criteria, and atoms.

Offsets are half-open and count code points: from the start of the parsed text for nodes that a grammar built, from
the start of the source for nodes that the YAML reader's mappings were turned into (`dsl` keeps which is which).
Texts may still hold templates: a check is parsed first and its texts are filled after. What is wrong inside a token
becomes a fault in the list that is handed along; its atom is then a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar, cast

import msgspec

from evalc.check import tree
from evalc.diagnostics import Fault, Finding

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token

N = TypeVar("N")
F = TypeVar("F", bound=Callable[..., Any])
_LONGEST_REMEMBERED: Final = 1_000

MAX_FAULTS: Final = 20
"""How many faults of one text are reported."""
MAX_DEPTH: Final = 50
"""How deep parentheses, `not` and values may nest, and blocks of templates."""


class Node(msgspec.Struct, frozen=True, gc=False):
    """A node: where it begins and ends."""

    start: int
    end: int


# --- atoms -----------------------------------------------------------------------------------------------------------


class Text(Node, frozen=True, gc=False):
    """A string: its value with escapes undone; the offsets take in its quotes."""

    value: str


class Number(Node, frozen=True, gc=False):
    """A number, in the base unit of its place: milliseconds, US dollars, else a plain count."""

    value: int | float


class PatternAtom(Node, frozen=True, gc=False):
    """An ECMAScript pattern and its flags (a subset of `imsuv`, in alphabetical order, each once).

    `pattern_at` is the offset of the pattern's first character; for a `/pattern/flags` literal the pattern is
    exactly the characters between the outer slashes, so an offset in it is `pattern_at` plus an index.
    `literal` is True for `/pattern/flags`, False for a pattern written as a plain text.
    """

    pattern: str
    pattern_at: int
    literal: bool
    flags: str = ""


# --- checks ----------------------------------------------------------------------------------------------------------


Atom = Text | PatternAtom


class ReadCheck(Node, frozen=True, gc=False):
    """A whole one-line check: its tree, its texts unfilled, and the criterion it counts for.

    `places` are where its texts were written, in the order of `texts_of`.
    """

    check: tree.Check
    places: Sequence[Atom]
    criterion: Text | None = None


# --- criteria --------------------------------------------------------------------------------------------------------


class CriterionLine(Node, frozen=True):
    """A one-line criterion, `clarity (0.3): Clear and well-structured`."""

    name: Text
    weight: Number | None = None
    description: Text | None = None


# --- templates -------------------------------------------------------------------------------------------------------


class Words(Node, frozen=True, gc=False):
    """Literal text."""

    value: str


class Variable(Node, frozen=True, gc=False):
    """`{{name}}`, or `{{this}}` inside `#each`."""

    name: str


class TemplateToken(Node, frozen=True, gc=False):
    """`{{seed:path}}` or `{{snapshot:path}}`: resolved when the eval runs. `text` is the token as written."""

    source: Literal["seed", "snapshot"]
    path: str
    text: str


class If(Node, frozen=True):
    """`{{#if name}}...{{else}}...{{/if}}`; `{{#unless name}}` is the same with `negated`."""

    name: Variable
    then: tuple[Part, ...]
    negated: bool = False
    otherwise: tuple[Part, ...] = ()


class Each(Node, frozen=True):
    """`{{#each name}}...{{this}}...{{/each}}`."""

    name: Variable
    body: tuple[Part, ...]


Part = Words | Variable | TemplateToken | If | Each


class Template(Node, frozen=True):
    """A parsed template."""

    parts: tuple[Part, ...]


class Parsed(NamedTuple, Generic[N]):
    """A parsed text: `node` is None exactly when there are faults. Offsets count from the text's start."""

    node: N | None
    faults: tuple[Fault, ...]


def parsed(node: N | None, faults: list[Fault]) -> Parsed[N]:
    """The node when there are no faults, else the first of the faults, in the order of their places."""
    in_order = sorted(faults, key=lambda fault: (fault.start, fault.end))
    return Parsed(None if faults else node, tuple(in_order[:MAX_FAULTS]))


def too_long(text: str, limit: int) -> Parsed[Any]:
    """The parse of a text that is longer than can be read."""
    return Parsed(None, (Fault(limit, len(text), Finding("EV139", what="length", limit=limit)),))


class TooDeep(Exception):
    """Something is nested too deep; holds the fault."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__()
        self.fault = Fault(start, end, Finding("EV139", what="depth", limit=MAX_DEPTH))


def remembered(parse: F) -> F:
    """The function, which remembers what it makes of texts that are not long: suites repeat themselves."""
    cached = lru_cache(4_096)(parse)

    def remembering(text: str, *more: Any) -> Any:
        return cached(text, *more) if len(text) <= _LONGEST_REMEMBERED else parse(text, *more)

    return cast("F", remembering)


MAX_DIGITS: Final = 15
"""The most digits of a number: so many are exact in every reader of JSON."""

_ESCAPE: Final = re.compile(r"\\(?:u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[\s\S])")
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_FLAGS: Final = frozenset("imsuv")
_LONGEST_ESCAPE: Final = len(r"\uD83D")


# --- texts -----------------------------------------------------------------------------------------------------------


def text_of(token: Token, faults: list[Fault]) -> Text:
    """A text in quotes, or a bare name."""
    value = str(token)
    if token[0] in "\"'":
        value = token[1:-1] if "\\" not in token else "".join(_unescaped(token, faults))
    return Text(token.start_pos, token.end_pos, value)


def trimmed(token: Token) -> Text:
    """The text of a token without the white space after it."""
    value = token.rstrip()
    return Text(token.start_pos, token.start_pos + len(value), value)


def offset_in_text(source: str, atom: Text | PatternAtom, index: int) -> int:
    """The offset, in the parsed text `source`, of the character at `index` of a text's value or of a pattern.

    An index at the end gives the offset after the last character.
    """
    if isinstance(atom, PatternAtom) and atom.literal:
        return atom.pattern_at + index
    value = atom.value if isinstance(atom, Text) else atom.pattern
    if atom.end - atom.start == len(value):  # quotes would make it longer
        return atom.start + index
    at, last = atom.start + 1, atom.end - 1
    while index > 0 and at < last:
        at += _width(source, at)
        index -= 1
    return at


def _width(source: str, at: int) -> int:
    """How many characters of `source` make the one character of the value at `at`."""
    escape = _ESCAPE.match(source, at)
    return 1 if escape is None or source.startswith("{{", at + 1) else len(escape.group())


def _unescaped(token: Token, faults: list[Fault]) -> Iterator[str]:
    """The pieces of a quoted text's value.

    `\\{{` is kept unchanged: it is not an escape of the text but a template's literal `{{`.
    """
    done, end = 1, len(token) - 1
    for escape in _ESCAPE.finditer(token, done, end):
        at, written = escape.start(), escape.group()
        yield token[done:at]
        done = escape.end()
        character = _character(written)
        if character is not None:
            yield character
        elif token.startswith("{{", at + 1):
            yield written
        else:
            finding = Finding("EV133", escape=written, half=len(written) == _LONGEST_ESCAPE)
            faults.append(Fault(token.start_pos + at, token.start_pos + done, finding))
    yield token[done:end]


def _character(escape: str) -> str | None:
    """The character that an escape means; None for half of a surrogate pair and for an invalid escape."""
    if len(escape) == 2:
        return _ESCAPED.get(escape[1])
    try:
        return bytes.fromhex(escape.replace("\\u", "")).decode("utf-16-be")
    except UnicodeDecodeError:
        return None


# --- numbers ---------------------------------------------------------------------------------------------------------


def number_of(token: Token, faults: list[Fault], *, scale: float = 1) -> int | float:
    """A number that is not negative, times `scale`; whole numbers come out as integers."""
    if token[0] == "-" or len(token) > MAX_DIGITS:
        _report(token, "negative" if token[0] == "-" else "long", faults)
        return 0
    value = float(token)
    if scale != 1:
        value = round(value * scale, 6)  # 4.35 s are 4350 ms, not the nearest binary fraction
    return int(value) if value.is_integer() else value


def count_of(token: Token, faults: list[Fault]) -> int | float:
    """A whole number that is not negative; another number is reported."""
    number = number_of(token, faults)
    if "." in token:  # `1.000` is a thousand to many people
        _report(token, "fraction", faults)
    return number


def signed_of(token: Token, faults: list[Fault]) -> int | float:
    """A number of JSON, which may be negative."""
    if len(token.removeprefix("-")) > MAX_DIGITS:
        _report(token, "long", faults)
        return 0
    return float(token) if "." in token else int(token)


def _report(token: Token, why: str, faults: list[Fault]) -> None:
    faults.append(Fault(token.start_pos, token.end_pos, Finding("EV136", number=str(token), why=why)))


# --- regular expressions ---------------------------------------------------------------------------------------------


def literal_of(token: Token, faults: list[Fault]) -> PatternAtom:
    """A `/pattern/flags` literal."""
    start, slash = token.start_pos, token.rindex("/")
    flags = token[slash + 1 :]
    faults.extend(_flag_faults(flags, start + slash + 1))
    return PatternAtom(start, token.end_pos, token[1:slash], start + 1, literal=True, flags="".join(sorted(flags)))


def pattern_of(text: Text) -> PatternAtom:
    """A pattern written as a text in quotes."""
    return PatternAtom(text.start, text.end, text.value, text.start + 1, literal=False)


def _flag_faults(flags: str, at: int) -> Iterator[Fault]:
    for index, flag in enumerate(flags):
        here = at + index
        if flag not in _FLAGS:
            yield Fault(here, here + 1, Finding("EV135", flag=flag, why="stateful" if flag in "gy" else "unknown"))
        elif flag in flags[:index]:
            yield Fault(here, here + 1, Finding("EV135", flag=flag, why="twice"))
        elif (flag == "u" and "v" in flags[:index]) or (flag == "v" and "u" in flags[:index]):
            yield Fault(here, here + 1, Finding("EV135", flag=flag, why="both"))
