"""Parses TypeScript and JavaScript, and holds the values of expressions. The only module that uses tree-sitter."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple, final

import msgspec

from evalc.base.source import Source, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


class ModulePlace(NamedTuple):
    """A place in a module."""

    source: Source
    span: Span


class NotData(Enum):
    """The type of `CODE`."""

    CODE = "code"


CODE: Final = NotData.CODE
"""A function, a class, a regular expression: what is surely no tool's definition."""


@final
class Unread(msgspec.Struct, frozen=True):
    """A value that only running the module could give, and why."""

    why: str
    at: ModulePlace


@final
class Record(msgspec.Struct, frozen=True, eq=False):
    """An object."""

    at: ModulePlace
    members: Mapping[str, Value]  # its own members, in order
    places: Mapping[str, ModulePlace] = {}  # the places of the members
    complete: bool = True  # whether these are all: not where it spreads something that cannot be read
    made_by_call: bool = False  # whether a call made it of such an object: `defineTool({...})`, `new Tool({...})`
    optional: bool = False  # of a schema in a mapping of parameters, whether the parameter may be left out
    is_schema: bool = False  # whether it is known to be a JSON Schema


@final
class Items(msgspec.Struct, frozen=True, eq=False):
    """An array; `complete` unless it spreads something that cannot be read."""

    at: ModulePlace
    items: Sequence[Value]
    complete: bool = True


Value = str | int | float | bool | None | NotData | Unread | Record | Items


ENDINGS: Final = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
"""How the names of modules end, in the order in which an import without an ending tries them."""

_WITHOUT_JSX: Final = (".ts", ".mts", ".cts")
_ASSIGNED: Final = re.compile(
    r"(?<![\w$.])([\w$]+)"  # only the name is taken: what follows it may hold others
    r"(?=\s*(?:(?:\?|!)?\.\s*[\w$]+\s*|\[[^\]\n]*\]\s*)*(?:[-+*/%&|^?]{0,3}=(?![=>])))"
)
_MERGED: Final = re.compile(r"\bObject\s*\.\s*assign\s*\(\s*([\w$]+)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


@final
class Script:
    """A parsed file. Nodes count in bytes; `place` turns them into spans of the source."""

    def __init__(self, source: Source, ending: str) -> None:
        self.source = source
        self._data = source.text.encode("utf-8", "surrogatepass")
        self._ascii = source.text.isascii()
        self._tree = _parser(jsx=ending not in _WITHOUT_JSX).parse(self._data)

    @property
    def root(self) -> Node:
        """The whole program. What does not parse is in nodes of the type `ERROR`."""
        return self._tree.root_node

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def place(self, node: Node) -> ModulePlace:
        """The place of a node."""
        return ModulePlace(self.source, Span(self._offset(node.start_byte), self._offset(node.end_byte)))

    def errors(self) -> Iterator[Node]:
        """The outermost nodes that do not parse; walked by iteration, since nesting has no limit."""
        waiting = [self.root] if self.root.has_error else []
        while waiting:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                yield node
            else:
                waiting += [child for child in reversed(node.children) if child.has_error]

    @cached_property
    def assigned(self) -> dict[str, list[int]]:
        """Where something seems to be assigned to a name or to a member of it, in order."""
        places: dict[str, list[int]] = {}
        for pattern in (_ASSIGNED, _MERGED):
            for found in pattern.finditer(self.source.text):
                places.setdefault(found[1], []).append(found.start())
        return places

    def literal(self, node: Node) -> str:
        """The value of a `string`, or of the parts of a template: fragments and escapes."""
        return "".join(self.piece(child) for child in node.named_children)

    def piece(self, node: Node) -> str:
        """The value of a fragment or of an escape."""
        written = self.text(node)
        # ECMAScript reads every line end in a template as LF.
        return unescaped(written) if node.type == "escape_sequence" else written.replace("\r\n", "\n")

    def _offset(self, at: int) -> int:
        if self._ascii:
            return at
        in_bytes, in_characters = self._lines
        line = bisect_right(in_bytes, at) - 1
        return in_characters[line] + len(self._data[in_bytes[line] : at].decode("utf-8", "surrogatepass"))

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """Where the lines begin: in bytes, and in characters."""
        lines = self._data.split(b"\n")
        characters = (len(line.decode("utf-8", "surrogatepass")) + 1 for line in lines)
        return list(accumulate((len(line) + 1 for line in lines), initial=0)), list(accumulate(characters, initial=0))


def unescaped(escape: str) -> str:
    """The character of one escape of ECMAScript."""
    kind, rest = escape[1:2], escape[2:]
    if kind in {"u", "x"}:
        try:
            return chr(int(rest.strip("{}"), 16))
        except (ValueError, OverflowError):
            return escape
    if kind in "\r\n\u2028\u2029":
        return ""  # a continued line
    return _ESCAPES.get(kind, kind) + rest


@cache
def _parser(*, jsx: bool) -> Parser:
    # For start-up: only if a registry is a module. TypeScript's two grammars read JavaScript too; the one with JSX
    # does not know `<T>value`, so each file gets the grammar that its ending needs.
    from tree_sitter import Language, Parser  # noqa: PLC0415
    from tree_sitter_typescript import language_tsx, language_typescript  # noqa: PLC0415

    return Parser(Language(language_tsx() if jsx else language_typescript()))
