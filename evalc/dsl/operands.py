"""Reads the operands of checks that are mappings, and where their texts were written."""

from __future__ import annotations

from collections.abc import Callable, Container
from collections.abc import Mapping as AnyMapping
from typing import Any, Final

from evalc.check.tree import NO_TOOL
from evalc.dsl import kinds as k
from evalc.dsl import nodes as n
from evalc.dsl.nodes import Mapping, Node, Scalar, is_cut
from evalc.dsl.scalars import NULLS
from evalc.dsl.tree import Place, Str
from evalc.dsl.walk import Fields, is_null
from evalc.grammar import nodes as g

Places = list[Place]
"""Where the texts of a check were written: a reader of some adds theirs, in the order of `texts_of`."""
Keys = dict[str, tuple[Scalar, Node]]
"""The keys of a mapping, with their nodes and their values."""
Take = Callable[[Fields, Any, str, Places], Any]
"""Gives the operand that a node is, which messages call by the text; None if it is wrong, which is reported."""

WRONG: Final = k.UNREADABLE
"""The operand of a key that has none, which is reported."""
WRITTEN: Final = object()
"""Stands for null that is taken as it is written: the text `null`."""


class Operand(k.Kind):
    """A kind of operand: `taken` gives it. If nothing is written, or null, it is `absent` or `null`.

    The collections that are `filled` may not be empty.
    """

    def __init__(
        self, schema: k.Schema, taken: Take, *, absent: Any = WRONG, null: Any = WRONG, filled: tuple[type, ...] = ()
    ) -> None:
        super().__init__(schema)
        self.taken = taken
        self._absent, self._null = absent, absent if null is WRONG else null
        self._filled = filled

    def of_key(self, fields: Fields, key: Scalar, node: Node, places: Places) -> Any:
        """The operand that a key has; `WRONG` if it has none, which is reported."""
        if isinstance(node, Scalar):
            if node.tag or node.text in NULLS:
                is_blank = not node.text and node.style == "plain"
                value = self._absent if is_blank else self._null if is_null(node) else WRITTEN
                if value is WRONG:
                    fields.report_empty(key)
                if value is not WRITTEN:
                    return value
            if node.style == "hole":
                fields.partial = True
                return WRONG
        elif isinstance(node, self._filled) and not (
            node.pairs if isinstance(node, Mapping) else node.items or node.cut
        ):
            fields.report_empty(key)
        value = self.taken(fields, node, f"`{key.text}`", places)
        return WRONG if value is None else value


def of_kind(kind: k.Kind) -> Take:
    """Reads an operand as a value of a kind that has no texts in it."""
    return lambda fields, node, what, _places: kind.take(fields, node, what)


def take_text(fields: Fields, node: Node, what: str, places: Places) -> str | None:
    """A text."""
    if not isinstance(node, Scalar) or node.style == "hole":
        return fields.text_of(node, what)  # type: ignore[return-value] # it is none, which is reported
    places.append(Str(node.at, node.text))
    return node.text


def take_json(fields: Fields, node: Node, _what: str, places: Places) -> Any:
    """A JSON value."""
    match node:
        case Scalar():
            value = fields.value(node)
            if isinstance(value, str):
                places.append(g.Text(*node.span, node.text))
            return value
        case n.Sequence(items=items):
            return [take_json(fields, item, "", places) for item in items]
        case Mapping(pairs=pairs):
            return {key.text: take_json(fields, item, "", places) for key, item in pairs}


def take_number(fields: Fields, node: Node, what: str, _places: Places) -> int | float | None:
    """A number, the same however it is written: `1.0` is 1."""
    found = k.NUMBER.take(fields, node, what)
    return None if found is None else int(found.value) if found.value == int(found.value) else found.value


def take_list(read: Take, called: str = "") -> Take:
    """Reads a list of operands, which messages call `called`; none if one of them is wrong."""

    def taken(fields: Fields, node: Node, what: str, places: Places) -> list[Any] | None:
        items = fields.items_of(node, what)
        operands = [read(fields, item, called or f"an item of {what}", places) for item in items or ()]
        fields.partial |= is_cut(node)
        return None if items is None or None in operands or is_cut(node) else operands

    return taken


take_texts: Final = take_list(take_text)
_read_names: Final = take_list(take_text, "the name of a tool")


def _read_set(fields: Fields, node: Node, what: str, places: Places) -> Any:
    """A set of tools; `none` is the empty one."""
    match node:
        case n.Sequence(items=()) | Scalar(text="none"):
            places.append(g.Text(*node.span, node.text if isinstance(node, Scalar) else ""))
            return [NO_TOOL]
        case n.Sequence():
            return _read_names(fields, node, what, places)
        case _:
            return fields.wrong(node, what, "a list of tools, or `none`")


take_sets: Final = take_list(_read_set, "a tool set")


# --- mappings --------------------------------------------------------------------------------------------------------


class Operands(k.Shape):
    """A mapping of operands, which are read in the order of its keys.

    Its value is made by `made` of the operands, the keys and the places; by default the operands are the value.
    """

    def __init__(
        self,
        what: str,
        keys: AnyMapping[str, k.Key],
        made: Callable[[Fields, dict[str, Any], Keys, Places], Any] | None = None,
        **rest: Any,
    ) -> None:
        super().__init__(what, keys, **rest)
        self._made = made
        kinds = {key: (each.into or key, each.holds) for key, each in keys.items()}
        self._reads = [(key, into, kind.of_key) for key, (into, kind) in kinds.items() if isinstance(kind, Operand)]

    def lacks(self, keys: Container[str]) -> list[str]:
        """The keys that have to be there as well."""
        others = self.narrow.get("dependentRequired", {})
        required = [*self._required, *(other for key in others if key in keys for other in others[key])]
        return [key for key in required if key not in keys]

    def taken(self, fields: Fields, node: Node, what: str, places: Places) -> Any:
        """The value that is made of a mapping; None if it is wrong, which is reported."""
        pairs = fields.pairs_of(node, self.what or what)
        if pairs is None:
            return None
        inner = fields.inside(node, self, what, pairs)
        for key in self.lacks(inner.by_key):
            inner.require(key)
        made = self.of_keys(inner, inner.by_key, places)
        fields.partial |= inner.partial
        return made

    def of_keys(self, fields: Fields, by_key: Keys, places: Places) -> Any:
        """The value that is made of the keys of a mapping; None if some of them lack a value."""
        given: dict[str, Any] = {}
        for key, into, read in self._reads:
            if key in by_key:
                given[into] = read(fields, *by_key[key], places)
        if WRONG in given.values() or not self._required.keys() <= by_key.keys():
            return None
        return given if self._made is None else self._made(fields, given, by_key, places)
