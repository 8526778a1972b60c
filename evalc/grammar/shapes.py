"""Parses each shape of a one-line check once: lines that differ in their literals share a parse.

Two checks of one shape (`contains "a" for x`, `contains "docstring" for x`) are one check, but for the texts of its
literals and for the places of everything. So each shape is parsed once, and the check is then made anew for each text;
the places of its texts are computed when somebody asks. What is odd in any way (an escape, a mistake, a long line) is
read with care, as if there were no shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, final

import msgspec

from evalc.grammar.check_nodes import check_line
from evalc.grammar.nodes import LONGEST_REMEMBERED, REMEMBERED, Atom, CheckLine, Parsed, Text
from evalc.model.checks import Json
from evalc.model.json import path_of_key, pointer_step

_LONGEST: Final = 300
"""The most characters of a text that is looked at for its shape; so short, it cannot nest too deep for recursion."""
_SHAPES_REMEMBERED: Final = 1_024

_LITERAL: Final = re.compile(
    r"""
    (
      "[^"\\]*" | '[^'\\]*'
      | /(?<=matches\ /)
        (?:
          [^/\\\[\r\n\u2028\u2029]++ | \\[^\r\n\u2028\u2029]
          | \[(?:[^\]\\\r\n\u2028\u2029] | \\[^\r\n\u2028\u2029])*\]
        )+
        /
    )
    """,
    re.VERBOSE,
)
_STAND_INS: Final = {'"': '"_"', "'": "'_'", "/": "/_/"}

_Make = Callable[[list[str]], Any]
"""Makes a value of a shape, given the texts of its literals."""


def parse_by_shape(text: str) -> Parsed[CheckLine]:
    """A whole one-line check; the same as `check_line` gives, in a fraction of its time."""
    if len(text) > _LONGEST:
        return _with_care(text)
    pieces = _LITERAL.split(text)  # the literals are every second piece
    texts: list[str] = []
    for at in range(1, len(pieces), 2):
        literal = pieces[at]
        texts.append(literal[1:-1])
        pieces[at] = _STAND_INS[literal[0]]
    shape = _shape_of("".join(pieces))
    return _with_care(text) if shape is None else Parsed(shape.line(text, texts), ())


def _with_care(text: str) -> Parsed[CheckLine]:
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else check_line(text)


_remembered = lru_cache(REMEMBERED)(check_line)


@final
class _Shape:
    """The common part of the checks of a shape.

    `pointers` says for each literal which text of the check it is; None for the criterion.
    """

    def __init__(self, line: CheckLine, pointers: list[str | None]) -> None:
        self._line = line
        self._has_quoted_criterion = pointers[-1:] == [None]
        self._make = _maker(line.check, "", {pointer: i for i, pointer in enumerate(pointers) if pointer is not None})

    def line(self, text: str, texts: list[str]) -> CheckLine:
        """The check of this shape with the texts of other literals."""
        shape = self._line
        end = len(text.rstrip())
        criterion = shape.criterion
        if criterion is not None:  # it is last
            value = texts[-1] if self._has_quoted_criterion else criterion.value
            quotes = 2 if self._has_quoted_criterion else 0
            criterion = Text(end - len(value) - quotes, end, value)
        return CheckLine(shape.start, end, self._make(texts), _Atoms(text, shape.atoms), criterion)


@final
class _Atoms(Mapping[str, Atom]):
    """The places of the texts of a check, read with care the first time that somebody asks.

    Which texts there are, the shape knows.
    """

    __slots__ = ("_known", "_of_shape", "_text")

    def __init__(self, text: str, of_shape: Mapping[str, Atom]) -> None:
        self._text = text
        self._of_shape = of_shape
        self._known: Mapping[str, Atom] | None = None

    def __getitem__(self, pointer: str) -> Atom:
        if pointer not in self._of_shape:
            raise KeyError(pointer)
        if self._known is None:
            line = check_line(self._text).node
            self._known = {} if line is None else line.atoms
        return self._known[pointer]

    def __contains__(self, pointer: object) -> bool:
        return pointer in self._of_shape

    def __iter__(self) -> Iterator[str]:
        return iter(self._of_shape)

    def __len__(self) -> int:
        return len(self._of_shape)


@lru_cache(_SHAPES_REMEMBERED)
def _shape_of(text: str) -> _Shape | None:
    """The shape of a text; None if it has a fault, or if a placeholder is not a literal of its own."""
    line = None if "\\" in text else check_line(text).node
    if line is None:
        return None
    starts = {atom.start: pointer for pointer, atom in line.atoms.items()}
    criterion = -1 if line.criterion is None else line.criterion.start
    pointers: list[str | None] = []
    for literal in _LITERAL.finditer(text):
        start = literal.start()
        if literal[0] not in _STAND_INS.values():  # beside it, a text was taken for a literal that is part of another
            return None
        if start != criterion and start not in starts:
            return None
        pointers.append(None if start == criterion else starts[start])
    return _Shape(line, pointers)


def _maker(value: Any, at: str, moving: Mapping[str, int]) -> _Make:
    """A function that makes a value anew: the texts at the `moving` pointers, from literals, and their containers."""
    if at in moving:
        index = moving[at]
        if at.endswith("/path"):
            return lambda texts: path_of_key(texts[index])
        return lambda texts: texts[index]
    if isinstance(value, Json) or not _moves(at, moving):  # the schema of a `Json` is loaded later, from the path
        return lambda _texts: value
    match value:
        case msgspec.Struct():
            return _maker_of_struct(value, at, moving)
        case dict():
            members = [(key, _maker(item, f"{at}/{pointer_step(key)}", moving)) for key, item in value.items()]
            return lambda texts: {key: make(texts) for key, make in members}
        case _:
            makers = [_maker(item, f"{at}/{index}", moving) for index, item in enumerate(value)]
            into = type(value)
            return lambda texts: into([make(texts) for make in makers])


def _maker_of_struct(value: msgspec.Struct, at: str, moving: Mapping[str, int]) -> _Make:
    """The same for a struct: of most, one field moves."""
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    parts = {name: f"{at}/{key}" for name, key in names if _moves(f"{at}/{key}", moving)}
    makers = [(name, _maker(getattr(value, name), pointer, moving)) for name, pointer in parts.items()]
    replace = msgspec.structs.replace
    if len(makers) > 1:
        return lambda texts: replace(value, **{name: make(texts) for name, make in makers})
    ((name, make),) = makers
    return lambda texts: replace(value, **{name: make(texts)})


def _moves(at: str, moving: Mapping[str, int]) -> bool:
    return at in moving or any(pointer.startswith(f"{at}/") for pointer in moving)
