"""Reads mappings by their shapes, whatever format they are in: each key once, with its kind checked.

A `Tree` is a format: how its values are looked at, and how findings about them are reported. `Fields` are the keys of
one mapping, which the kinds of a `Shape` read. The nodes of a tree are opaque here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeGuard, final

from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding, Fix, Problem
from evalc.diagnostics.near import nearest, typo_of
from evalc.diagnostics.raised import unknown_key
from evalc.dsl import nodes as n
from evalc.dsl.kinds import UNREADABLE, Shape
from evalc.dsl.nodes import Mapping, Node, Scalar, behind
from evalc.dsl.scalars import Value, kind_of, value_of
from evalc.dsl.tree import Num, Str

_MAY_STAND_IN_A_LIST: Final = re.compile(r"[\w./-][\w ./-]*")
_NONE: Final[frozenset[str | None]] = frozenset()


def is_null(node: Node) -> bool:
    """Whether a node is YAML's null, written out or by an absent value."""
    # Asked for every value there is: without a tag, what is longer than `null` is known by its length.
    return isinstance(node, Scalar) and (len(node.text) <= 4 or node.tag != "") and kind_of(node) == "null"


def is_plainly_text(node: Node) -> TypeGuard[Scalar]:
    """Whether a value is a text for certain, as most are; of `False` nothing follows."""
    if type(node) is not Scalar or node.tag:
        return False
    return len(node.text) > 4 if node.style == "plain" else node.style != "hole"


def described(node: Node) -> str:
    """A node in words, for messages: `a list`, `the text "abc"`."""
    match node:
        case n.Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
        case Scalar() if node.text == "":
            return "empty"
        case Scalar():
            shown = node.text if len(node.text) <= 40 else node.text[:37] + "..."
            return f"`{shown}`"


class Tree:
    """A format: how a walker looks at its values, and what is said of those that do not fit.

    A key, as `pairs` gives it, is a node with a `text`.
    """

    source: Any = None
    """The file, where values are built that know it."""
    mapping: str = "a mapping"
    """The format's name for a mapping."""
    language: tuple[Shape, ...] = ()
    """The shapes whose keys may have been meant in another place, from the outer to the inner ones."""

    def report(self, node: Any, finding: Finding) -> None:
        """Report a finding at a node."""
        raise NotImplementedError

    def take_in(self, found: Iterable[Problem]) -> None:
        """Report what was found elsewhere."""
        raise NotImplementedError

    def pairs(self, node: Any) -> Sequence[tuple[Any, Any]] | None:
        """The keys of a mapping with their values; None of anything else."""
        raise NotImplementedError

    def items(self, node: Any) -> Sequence[Any] | None:
        """The items of a list; None of anything else."""
        raise NotImplementedError

    def text(self, _node: Any) -> Any:
        """The text that a node may be taken as; None if it is none. A scalar of YAML always may."""
        return None

    def value(self, node: Any) -> Any:
        """The value of a scalar, or `UNREADABLE`; a collection itself."""
        raise NotImplementedError

    def look(self, node: Any) -> str:
        """The look of a value: a mapping, a list, null, a flag, a whole number, a number or a text."""
        if self.pairs(node) is not None:
            return "mapping"
        if self.items(node) is not None:
            return "list"
        names = {bool: "flag", int: "whole", float: "number", str: "text"}
        return names.get(type(self.value(node)), "null")

    def number(self, value: Any, _node: Any) -> Any:
        """The number that a node is, as what is built holds numbers."""
        return value

    def is_absent(self, node: Any) -> bool:
        """Whether a value says that its key is not set."""
        raise NotImplementedError

    def written(self, _node: Any) -> str:
        """The source of a node, for suggestions; empty if there is none to show."""
        return ""

    def described(self, node: Any) -> str:
        """The kind of a node, in messages."""
        raise NotImplementedError

    def anchor(self, node: Any) -> Any:
        """Where findings about a mapping as a whole point."""
        return node

    # What is said; a format may have its own words for it.

    def unknown(self, key: str, shape: Shape, what: str, meant: str) -> Finding:
        """The finding about a key that a shape does not have; `meant` is the key that other tools call so."""
        return unknown_key(key, what, shape.known, meant=meant, belongs=self._place_of(key, shape, meant))

    def _place_of(self, key: str, shape: Shape, meant: str) -> str:
        """Says where a key, or what other tools call so, would be right: at the nearest level; empty if nowhere."""
        if meant:
            return f"`{key}` is called `{meant}`, {shape.where}" if shape.where else ""
        if not (shape.otherwise or shape.where) or typo_of(key, shape.known) is not None:
            return ""
        if shape.otherwise:
            return shape.otherwise
        levels = [each.where for each in self.language]
        level = levels.index(shape.where) if shape.where in levels else len(levels) // 2
        for each in sorted(self.language, key=lambda each: abs(levels.index(each.where) - level)):
            if key in each.keys:
                return f"`{key}` belongs {each.where}"
            if called := each.meant_by(key):
                return f"`{key}` is called `{called}`, {each.where}"
        return ""

    def missing(self, key: str, what: str, why: str) -> Finding:
        """The finding about a key that has to be there."""
        return Finding("EV202", key=key, what=what, why=why)

    def wrong(self, node: Any, what: str, expected: str, corrected: str = "") -> Finding:
        """The finding about a value of another kind than expected."""
        return Finding("EV301", what=what, expected=expected, found=self.described(node), corrected=corrected)


@final
class Yaml(Tree):
    """The nodes of a YAML document."""

    def __init__(self, source: Source, problems: Diagnostics, language: tuple[Shape, ...] = ()) -> None:
        self.source = source
        self.language = language
        self._problems = problems

    def report(self, node: Node | Span, finding: Finding) -> None:
        self._problems.add(self.source, node if isinstance(node, Span) else node.span, finding)

    def take_in(self, found: Iterable[Problem]) -> None:
        self._problems.extend(found)

    def wrong(self, node: Node, what: str, expected: str, corrected: str = "") -> Finding:
        value, text = corrected.partition(": ")[2], self.source.text
        fix = Fix.of(text, node.start, node.end, value, sure=True) if value and "..." not in value else None
        return super().wrong(node, what, expected, corrected).replaced(fix)

    def pairs(self, node: Node) -> Sequence[tuple[Scalar, Node]] | None:
        if not isinstance(node, Mapping):
            return None
        if type(node.at) is int or (alias := node.alias) is None:  # most have none, and each node is asked
            return node.pairs
        return [(behind(alias, key), behind(alias, v)) for key, v in node.pairs]

    def items(self, node: Node) -> tuple[Node, ...] | None:
        if not isinstance(node, n.Sequence):
            return None
        alias = node.alias
        return node.items if alias is None else tuple(behind(alias, item) for item in node.items)

    def value(self, node: Node) -> Any:
        if not isinstance(node, Scalar):
            return node
        value = value_of(node, self.report)
        # A number that JSON cannot hold is a text to `value_of`, which reports it.
        return UNREADABLE if isinstance(value, str) and kind_of(node) in ("int", "float") else value

    def number(self, value: Any, node: Node) -> Num:
        return Num(node.at, value)

    def written(self, node: Node) -> str:
        return self.source.text[node.start : node.end] if isinstance(node, Scalar) else ""

    is_absent = staticmethod(is_null)
    described = staticmethod(described)

    def anchor(self, node: Mapping) -> Node:
        return node.pairs[0][0] if node.pairs else node


@final
class Fields:
    """The fields of one mapping.

    Every accessor returns None for a key that is absent or null, and for a value of the wrong type, which it
    reports; `partial` is then True. `cut` says that a syntax error ended the file inside the mapping, so that
    nothing follows from what is not there.

    Args:
        tree: the format of the mapping.
        node: the mapping.
        shape: the keys that it may have; `x-anything` is allowed if it is extensible.
        what: what messages call it, if the shape does not say.
        pairs: its keys with their values, if they were looked at already.
    """

    def __init__(
        self, tree: Tree, node: Any, shape: Shape, what: str = "", pairs: Iterable[tuple[Any, Any]] | None = None
    ) -> None:
        self.tree = tree
        self.source: Source = tree.source
        self.cut = getattr(node, "cut", False)
        self.partial = self.cut
        self._what = shape.what or what
        self.by_key = {key.text: (key, value) for key, value in pairs or tree.pairs(node) or ()}
        self._node = node
        self._misspelt = _NONE
        self._holes = _NONE
        if not self.by_key.keys() <= shape.keys.keys():
            self._report_unknown(shape)

    def _report_unknown(self, shape: Shape) -> None:
        foreign = shape.foreign
        for key, value in list(self.by_key.values()):
            if key.text in shape.keys or (shape.extensible and key.text.startswith("x-")):
                continue
            near = nearest(key.text, shape.keys)
            if foreign is None or (near in foreign and near not in self.by_key):
                self._misspelt |= {near}
                is_near = near is not None and self.tree.pairs(value) is not None  # `input: {city: Rome}`, not a text
                other = "" if is_near else shape.meant_by(key.text)
                meant = other if near != key.text else ""
                self._misspelt |= {meant} if meant else set()
                self.fault(key, self.tree.unknown(key.text, shape, self._what, meant))
                self._read_as(meant, key, value, shape)
            elif near is not None and not shape.keys[near].kept and near not in self.by_key:
                self._misspelt |= {near}
                self.warn(key, Finding("EV219", key=key.text, what=self._what, meant=near))

    def _read_as(self, meant: str, key: Any, value: Any, shape: Shape) -> None:
        """Read the list or mapping of an unknown key as that of the key that is meant, to find what is wrong in it."""
        if not (self.tree.items(value) or self.tree.pairs(value)):
            return
        typo = typo_of(key.text, shape.keys)
        name = meant or (typo.meant if typo is not None else "")
        if name and name not in self.by_key:
            self.by_key[name] = key, value

    def __contains__(self, key: str) -> bool:
        return key in self.by_key

    @property
    def anchor(self) -> Any:
        """Where messages about a mapping in YAML as a whole point: its first key."""
        return next((key for key, _ in self.by_key.values()), self._node)

    @property
    def has_typos(self) -> bool:
        """Whether some key is a misspelling of a key that evalc reads."""
        return bool(self._misspelt)

    def inside(self, node: Any, shape: Shape, what: str = "", pairs: Iterable[tuple[Any, Any]] | None = None) -> Fields:
        """The fields of a mapping within this one, reported to the same place."""
        return Fields(self.tree, node, shape, what, pairs)

    def fault(self, node: Any, finding: Finding) -> None:
        """Report a finding, and remember that something is missing from the tree."""
        self.partial = True
        self.tree.report(node, finding)

    def leave_out(self, key: str) -> None:
        """Remember that something of a key's value is missing from the tree."""
        self.partial = True
        self._holes |= {key}

    def has_hole(self, key: str) -> bool:
        """Whether a key may have been meant to hold more than the tree has, as far as it is read.

        Something of its value is wrong and left out, or the key itself is misspelt or after a syntax error.
        """
        return key in self._holes or (key not in self.by_key and (self.cut or key in self._misspelt))

    def warn(self, node: Any, finding: Finding) -> None:
        """Report a finding that leaves nothing out of the tree."""
        self.tree.report(node, finding)

    def wrong(self, node: Any, what: str, expected: str, meant: str = "") -> Any:
        """Report a value of another kind than expected, with the value that was probably `meant`; return None."""
        is_shown = meant and what.startswith("`") and self.tree.written(node)
        self.fault(node, self.tree.wrong(node, what, expected, f"{what.strip('`')}: {meant}" if is_shown else ""))

    def no_choice(self, node: Any, called: str, value: str, choices: tuple[str, ...]) -> Any:
        """Report a text that is not one of the choices; return None."""
        self.fault(node, Finding("EV302", what=called, value=value, choices=choices))

    def exclude(self, key: str, other: str) -> None:
        """Report a key that cannot stand beside another."""
        self.fault(self.key(key), Finding("EV421", key=key, turns=other))

    def allow_one(self, keys: Iterable[str]) -> list[str]:
        """Those of the keys that are there; all but the first are reported, since they exclude each other."""
        given = [key for key in keys if key in self.by_key]
        for key in given[1:]:
            self.fault(self.key(key), Finding("EV312", key=key, other=given[0]))
        return given

    def require(self, key: str, *, why: str = "") -> None:
        """Report that a key is missing or has no value, if it is so; a misspelt one is reported already."""
        if key in self.by_key:
            if self.tree.is_absent(self.by_key[key][1]):
                self.report_empty(self.key(key))
        elif not self.cut and key not in self._misspelt:
            self.fault(self.tree.anchor(self._node), self.tree.missing(key, self._what, why))

    def report_empty(self, key: Any) -> None:
        """Report that a key has no value; if it may have been meant to be somewhere else, that is reported already."""
        if not self.cut and key.text not in self._misspelt:
            self.fault(key, Finding("EV309", what=f"`{key.text}`"))

    def forbid_empty(self, key: str) -> None:
        """Report that a key is there and has no value, or a list without items, if it is so."""
        key_node, node = self.by_key.get(key, (None, None))
        if key_node is None or self.cut:
            return
        items = self.tree.items(node)
        if self.tree.is_absent(node) or (items is not None and not items and not getattr(node, "cut", False)):
            self.fault(key_node, Finding("EV309", what=f"`{key}`"))

    def key(self, key: str) -> Any:
        """The key itself, as a node; it must be there."""
        return self.by_key[key][0]

    def node(self, key: str) -> Any:
        """The value, unread; None if it is absent, null or a hole."""
        pair = self.by_key.get(key)
        if pair is None or self.tree.is_absent(pair[1]):
            return None
        if isinstance(pair[1], Scalar) and pair[1].style == "hole":
            self.leave_out(key)
            return None
        return pair[1]

    # --- texts ---

    def text(self, key: str) -> Str | None:
        """A text, taken as it was written: `1.50` is "1.50"."""
        pair = self.by_key.get(key)
        if pair is None:
            return None
        node = pair[1]
        if is_plainly_text(node):
            return Str(node.at, node.text)
        present = self.node(key)
        return None if present is None else self.text_of(present, f"`{key}`")

    def filled(self, key: str) -> Str | None:
        """A text that has to hold something."""
        text = self.text(key)
        if text is not None and not text.value.strip():
            self.fault(text.span, Finding("EV309", what=f"`{key}`"))
            return None
        return text

    def text_of(self, node: Any, what: str) -> Str | None:
        """A node as a text; `what` names it in the message if it is not a text."""
        if isinstance(node, Scalar):
            if node.style != "hole":
                return Str(node.at, node.text)
            self.partial = True
            return None
        text: Str | None = self.tree.text(node)
        return self.wrong(node, what, "a text") if text is None else text

    # --- collections ---

    def items(self, key: str) -> Sequence[Any] | None:
        """The items of a list."""
        node = self.node(key)
        if node is None:
            return None
        items = self.items_of(node, f"`{key}`")
        if items is None or getattr(node, "cut", False):
            self.leave_out(key)
        return items

    def items_of(self, node: Any, what: str) -> Sequence[Any] | None:
        """A node as a list."""
        items = self.tree.items(node)
        if items is None:
            raw = self.tree.written(node)
            may_stand = "\n" not in raw and (raw[:1] in {'"', "'"} or _MAY_STAND_IN_A_LIST.fullmatch(raw))
            self.wrong(node, what, "a list", f"[{raw}]" if may_stand else "")
        return items

    def texts(self, key: str) -> tuple[Str, ...] | None:
        """A list of texts."""
        items = self.items(key)
        if items is None:
            return None
        texts = tuple(self.each_text(items, f"an item of `{key}`"))
        if len(texts) != len(items):
            self.leave_out(key)
        return texts

    def each_text(self, items: Iterable[Any], what: str) -> Iterator[Str]:
        """The items that are texts; the others are reported."""
        for item in items:
            text = self.text_of(item, what)
            if text is not None:
                yield text

    def mapping(self, key: str) -> Any:
        """A mapping."""
        node = self.node(key)
        if node is None:
            return None
        if self.tree.pairs(node) is None:
            self.leave_out(key)
            return self.wrong(node, f"`{key}`", self.tree.mapping)
        if getattr(node, "cut", False):
            self.leave_out(key)
        return node

    def pairs_of(self, node: Any, what: str) -> Sequence[tuple[Any, Any]] | None:
        """A node as a mapping whose keys are the author's own."""
        pairs = self.tree.pairs(node)
        return self.wrong(node, what, self.tree.mapping) if pairs is None else pairs

    def value(self, scalar: Scalar) -> Value:
        """The value that a scalar is to YAML."""
        return value_of(scalar, self.warn)
