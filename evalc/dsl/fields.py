"""Reads the fields of a mapping, each once and with its type checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple, TypeGuard, final

from evalc.base.source import Source, Span
from evalc.diagnostics.near import nearest
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.diagnostics.raised import unknown_key
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, behind, span_of
from evalc.dsl.scalars import Value, kind_of, value_of
from evalc.dsl.tree import Num, Str

OTHER_WORDS: Final = {
    **dict.fromkeys(("prompt", "question", "query", "user", "user_message"), "message"),
    **dict.fromkeys(("dataset", "data", "rows", "table"), "for_each"),
    **dict.fromkeys(("assert", "asserts", "assertions", "checks"), "validate"),
    **dict.fromkeys(("vars", "variables", "parameters"), "inputs"),
    **dict.fromkeys(("expected_output", "ideal", "reference", "answer"), "expected"),
    **dict.fromkeys(("runs", "times"), "repeat"),
}
"""What other tools call a key."""

_PERCENT: Final = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?) ?%")
_FLAGS: Final = {
    **dict.fromkeys(("yes", "y", "on", "1", "true"), "true"),
    **dict.fromkeys(("no", "n", "off", "0", "false"), "false"),
}
_MAY_STAND_IN_A_LIST: Final = re.compile(r"[\w./-][\w ./-]*")
_NONE: Final[frozenset[str | None]] = frozenset()


class Foreign(NamedTuple):
    """What evalc reads of a mapping that belongs to others: a key near one of these is a slip, any other is kept.

    Of a `required` key a slip is an error, of the others a warning.
    """

    read: tuple[str, ...]
    required: tuple[str, ...] = ()


@final
class Fields:
    """The fields of one mapping.

    Every accessor returns None for a key that is absent or null, and for a value of the wrong type, which it
    reports; `partial` is then True. `cut` says that a syntax error ended the file inside the mapping, so that
    nothing follows from what is not there.

    Args:
        source: the file of the mapping.
        mapping: the mapping.
        what: what it is, in messages: `a test case`.
        keys: the keys that it may have; `x-anything` is always allowed.
        foreign: set where the mapping is not evalc's own: it may have any key, and only slips are reported.
        problems: where findings go.
    """

    def __init__(
        self,
        source: Source,
        mapping: Mapping,
        *,
        what: str,
        keys: tuple[str, ...],
        foreign: Foreign | None = None,
        problems: Diagnostics,
    ) -> None:
        self.source = source
        self.cut = mapping.cut
        self.partial = mapping.cut
        self._what = what
        self._problems = problems
        alias = mapping.alias
        pairs = mapping.pairs if alias is None else [(behind(alias, key), behind(alias, v)) for key, v in mapping.pairs]
        self._pairs = {key.text: (key, value) for key, value in pairs}
        self._anchor = pairs[0][0] if pairs else mapping
        self._misspelt = _NONE
        self._holes = _NONE
        if not self._pairs.keys() <= _as_set(keys):
            self._report_unknown(keys, foreign)

    def _report_unknown(self, keys: tuple[str, ...], foreign: Foreign | None) -> None:
        for key, _ in self._pairs.values():
            if key.text in keys or key.text.startswith("x-"):
                continue
            near = nearest(key.text, keys)
            if foreign is None or (near in foreign.required and near not in self._pairs):
                self._misspelt |= {near}
                other = OTHER_WORDS.get(key.text, "")
                meant = other if other in keys and near != key.text else ""
                self._misspelt |= {meant} if meant else set()
                self.fault(key, unknown_key(key.text, self._what, keys, meant=meant))
            elif near in foreign.read and near not in self._pairs:
                self._misspelt |= {near}
                self.warn(key, Finding("EV219", key=key.text, what=self._what, meant=near))

    def __contains__(self, key: str) -> bool:
        return key in self._pairs

    @property
    def pairs(self) -> Iterable[tuple[Scalar, Node]]:
        """The keys with their values, in the order of the source."""
        return self._pairs.values()

    @property
    def anchor(self) -> Span:
        """Where messages about the mapping as a whole point: its first key."""
        return span_of(self._anchor)

    @property
    def has_slips(self) -> bool:
        """Whether some key is a misspelling of a key that evalc reads."""
        return bool(self._misspelt)

    def inside(self, mapping: Mapping, *, what: str, keys: tuple[str, ...], foreign: Foreign | None = None) -> Fields:
        """The fields of a mapping within this one, reported to the same place."""
        return Fields(self.source, mapping, what=what, keys=keys, foreign=foreign, problems=self._problems)

    def fault(self, node: Node | Span, finding: Finding) -> None:
        """Report a finding, and remember that something is missing from the tree."""
        self.partial = True
        self.warn(node, finding)

    def leave_out(self, key: str) -> None:
        """Remember that something of a key's value is missing from the tree."""
        self.partial = True
        self._holes |= {key}

    def has_hole(self, key: str) -> bool:
        """Whether a key may have been meant to hold more than the tree has, as far as it is read.

        Something of its value is wrong and left out, or the key itself is misspelt or after a syntax error.
        """
        return key in self._holes or (key not in self._pairs and (self.cut or key in self._misspelt))

    def warn(self, node: Node | Span, finding: Finding) -> None:
        """Report a finding that leaves nothing out of the tree."""
        self._problems.add(self.source, node if isinstance(node, Span) else span_of(node), finding)

    def value(self, scalar: Scalar) -> Value:
        """The value that a scalar is to YAML."""
        return value_of(scalar, self.warn)

    def require(self, key: str, *, why: str = "") -> None:
        """Report that a key is missing or has no value, if it is so; a misspelt one is reported already."""
        if self.cut or key in self._misspelt:
            return
        if key not in self._pairs:
            self.fault(self.anchor, Finding("EV202", key=key, what=self._what, why=why))
        elif is_null(self._pairs[key][1]):
            self.fault(self._pairs[key][0], Finding("EV309", what=f"`{key}`"))

    def forbid_empty(self, key: str) -> None:
        """Report that a key is there and has no value, or a list without items, if it is so."""
        key_node, node = self._pairs.get(key, (None, None))
        if key_node is None or node is None or self.cut:
            return
        if is_null(node) or (isinstance(node, Sequence) and not node.items and not node.cut):
            self.fault(key_node, Finding("EV309", what=f"`{key}`"))

    def key(self, key: str) -> Scalar:
        """The key itself, as a node; it must be there."""
        return self._pairs[key][0]

    def is_cut(self, key: str) -> bool:
        """Whether a syntax error ended the file inside the list or mapping of this key."""
        node = self._pairs[key][1]
        return not isinstance(node, Scalar) and node.cut

    def node(self, key: str) -> Node | None:
        """The value, unread; None if it is absent, null or a hole."""
        pair = self._pairs.get(key)
        if pair is None or is_null(pair[1]):
            return None
        if isinstance(pair[1], Scalar) and pair[1].style == "hole":
            self.leave_out(key)
            return None
        return pair[1]

    def text(self, key: str) -> Str | None:
        """A text, taken as it was written: `1.50` is "1.50"."""
        pair = self._pairs.get(key)
        if pair is None:
            return None
        node = pair[1]
        if is_plainly_text(node):
            return Str(node.text, span_of(node))
        present = self.node(key)
        return None if present is None else self.text_of(present, f"`{key}`")

    def filled(self, key: str) -> Str | None:
        """A text that has to hold something."""
        text = self.text(key)
        if text is not None and not text.value.strip():
            self.fault(text.span, Finding("EV309", what=f"`{key}`"))
            return None
        return text

    def written(self, key: str) -> Str | None:
        """A required text, taken literally, `null` and `~` too."""
        pair = self._pairs.get(key)
        if pair is None:
            self.require(key)
            return None
        node = pair[1]
        if isinstance(node, Scalar) and node.style == "plain" and not node.text:
            self.fault(pair[0], Finding("EV309", what=f"`{key}`"))
            return None
        return self.text_of(node, f"`{key}`")

    def text_of(self, node: Node, what: str) -> Str | None:
        """A node as a text; `what` names it in the message if it is not a text."""
        if isinstance(node, Scalar):
            if node.style == "hole":
                self.partial = True
                return None
            return Str(node.text, span_of(node))
        self.fault(node, Finding("EV301", what=what, expected="a text", found=described(node)))
        return None

    def choice(self, key: str, what: str, choices: tuple[str, ...]) -> Str | None:
        """One of a few texts."""
        text = self.text(key)
        if text is not None and text.value not in choices:
            self.fault(text.span, Finding("EV302", what=what, value=text.value, choices=choices))
            return None
        return text

    def number(self, key: str) -> Num | None:
        """A number."""
        return self._num(key, (int, float), "a number")

    def share(self, key: str) -> Num | None:
        """A number, or one in per cent: `95%` is 0.95."""
        node = self.node(key) if key in self._pairs else None
        if isinstance(node, Scalar) and (percent := _PERCENT.fullmatch(node.text.strip())):
            return Num(float(Decimal(percent[1]) / 100), span_of(node))
        return self.number(key)

    def integer(self, key: str) -> Num | None:
        """A whole number."""
        return self._num(key, (int,), "a whole number")

    def _num(self, key: str, types: tuple[type, ...], expected: str) -> Num | None:
        node = self.node(key) if key in self._pairs else None
        if node is None:
            return None
        value = self.value(node) if isinstance(node, Scalar) else None
        if isinstance(value, str) and isinstance(node, Scalar) and kind_of(node) in ("int", "float"):
            self.partial = True  # a number that JSON cannot hold, which is reported already
            return None
        if isinstance(value, bool) or not isinstance(value, types):
            share = _share(value) if float in types and isinstance(value, str) else ""
            corrected = f"{key}: {share}" if share else ""
            finding = Finding("EV301", what=f"`{key}`", expected=expected, found=described(node), corrected=corrected)
            self.fault(node, finding)
            return None
        assert isinstance(value, int | float)  # noqa: S101 - for the type checker: `types` holds only these
        return Num(value, span_of(node))

    def boolean(self, key: str, *, default: bool = False) -> bool:
        """`true` or `false`."""
        node = self.node(key)
        if node is None:
            return default
        value = self.value(node) if isinstance(node, Scalar) else None
        if not isinstance(value, bool):
            meant = _FLAGS.get(node.text.lower()) if isinstance(node, Scalar) else None
            corrected = "" if meant is None else f"{key}: {meant}"
            finding = Finding(
                "EV301", what=f"`{key}`", expected="`true` or `false`", found=described(node), corrected=corrected
            )
            self.fault(node, finding)
            return default
        return value

    def items(self, key: str) -> tuple[Node, ...] | None:
        """The items of a list."""
        node = self.node(key)
        if node is None:
            return None
        if not isinstance(node, Sequence):
            self.leave_out(key)
            raw = self.source.text[node.start : node.end]
            corrected = f"{key}: [{raw}]" if isinstance(node, Scalar) and "\n" not in raw else ""
            if isinstance(node, Scalar) and node.style == "plain" and not _MAY_STAND_IN_A_LIST.fullmatch(raw):
                corrected = ""
            finding = Finding("EV301", what=f"`{key}`", expected="a list", found=described(node), corrected=corrected)
            self.fault(node, finding)
            return None
        if node.cut:
            self.leave_out(key)
        alias = node.alias
        return node.items if alias is None else tuple(behind(alias, item) for item in node.items)

    def texts(self, key: str) -> tuple[Str, ...] | None:
        """A list of texts."""
        items = self.items(key)
        if items is None:
            return None
        texts = tuple(self.each_text(items, f"an item of `{key}`"))
        if len(texts) != len(items):
            self.leave_out(key)
        return texts

    def all_texts(self, key: str) -> tuple[Str, ...] | None:
        """A list of texts that belong together: None if one of them is not a text."""
        texts = self.texts(key)
        return None if key in self._holes else texts

    def each_text(self, items: Iterable[Node], what: str) -> Iterator[Str]:
        """The items that are texts; the others are reported."""
        for item in items:
            text = self.text_of(item, what)
            if text is not None:
                yield text

    def together(self, items: tuple[Node, ...], what: str) -> tuple[Str, ...] | None:
        """The items where all are texts; else None, and those that are not are reported."""
        texts = tuple(self.each_text(items, what))
        return texts if len(texts) == len(items) else None

    def mapping(self, key: str) -> Mapping | None:
        """A mapping."""
        node = self.node(key)
        if node is None:
            return None
        if not isinstance(node, Mapping):
            self.leave_out(key)
            self.fault(node, Finding("EV301", what=f"`{key}`", expected="a mapping", found=described(node)))
            return None
        if node.cut:
            self.leave_out(key)
        return node


@lru_cache
def _as_set(keys: tuple[str, ...]) -> frozenset[str]:
    return frozenset(keys)


def is_null(node: Node) -> bool:
    """Whether a node is YAML's null, written out or by an absent value."""
    # Asked for every value there is: without a tag, what is longer than `null` is told by its length.
    return isinstance(node, Scalar) and (len(node.text) <= 4 or node.tag != "") and kind_of(node) == "null"


def is_plainly_text(node: Node) -> TypeGuard[Scalar]:
    """Whether a value is a text for certain, as most are; of `False` nothing follows."""
    if type(node) is not Scalar or node.tag:
        return False
    return len(node.text) > 4 if node.style == "plain" else node.style != "hole"


def described(node: Node) -> str:
    """What a node is, for messages: `a list`, `the text "abc"`."""
    match node:
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
        case Scalar() if node.text == "":
            return "empty"
        case Scalar():
            shown = node.text if len(node.text) <= 40 else node.text[:37] + "..."
            return f"`{shown}`"


def _share(text: str) -> str:
    """A text such as `70%` as the share of 1 that it is; empty for others."""
    percent = _PERCENT.fullmatch(text)
    return f"{float(percent[1]) / 100:g}" if percent is not None else ""
