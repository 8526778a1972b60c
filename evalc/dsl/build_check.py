"""Builds an entry of `validate:`: a line, `{type, rule}`, `{PREDICATE: VALUE}`, or `any_of:` / `all_of:` / `not:`.

Of `{PREDICATE: VALUE}`, key and value become a line, which is read like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from evalc import base
from evalc.base.source import Source, Span
from evalc.check.tree import Bounds, Test, within
from evalc.diagnostics import Fault, Finding, Fix
from evalc.diagnostics.near import nearest
from evalc.diagnostics.raised import outside
from evalc.dsl import kinds as k
from evalc.dsl import operands as o
from evalc.dsl import quoting
from evalc.dsl.build_rule import CHECK_TYPES, CHECKS, TEXT_TYPES, is_sound_rule, typed_check
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, Stretch, one_or_many, stretch_of
from evalc.dsl.places import locate
from evalc.dsl.scalars import kind_of, to_plain
from evalc.dsl.tree import CheckBody, CheckGroup, CheckLeaf, CheckTree, CheckUse, Str
from evalc.dsl.walk import Fields
from evalc.grammar import nodes as g
from evalc.grammar.nodes import Atom, Parsed, PatternAtom, ReadCheck, Text
from evalc.grammar.read_check import exact_limits, misread, odd_readings, read_check
from evalc.model.numbers import WEIGHT

SUBJECTS: Final = ("turn", "file", "at")
"""The keys that name a subject; the key beside them names the predicate."""
_SAYS_MORE: Final = re.compile(
    r"""
    \bignoring\ case\Z | \sfor\s+[\w-]+\Z | && | \|\| | \b(?:and|or)\s.*["'/]
    | \A\w+(?:,\ \w+)+\Z | \A/.*/[a-z]*\Z
    """,
    re.VERBOSE,
)
"""Texts without quotes that may be more than a text in the language of checks."""
_JOINS: Final = re.compile(r"^[“„\u2018]|\b(?:not|no|any of|all of|none of|one of|n?either|n?or|both|and)\b")
"""Words that join or deny texts on a line."""
_OF_TEXTS: Final = frozenset(("contains", "contains_any", "contains_all", "equals", "starts_with", "ends_with"))
_BOUNDS: Final = {"min": ">=", "max": "<=", "above": ">", "below": "<"}
_EQUALITY: Final = frozenset(("is", "equals", "==", "="))

Pairs = tuple[tuple[Scalar, Node], ...]


class _Piece(NamedTuple):
    """A part of a line, and the node that it stands for, if any."""

    text: str
    node: Node | None = None


class Asked(NamedTuple):
    """A mapping as a line: its parse, the pieces of the line, and the key that names the predicate."""

    parse: Parsed[ReadCheck]
    pieces: tuple[_Piece, ...]
    key: Scalar

    @property
    def text(self) -> str:
        """The line."""
        return "".join(piece.text for piece in self.pieces)

    def leaf(self, at: Stretch) -> CheckLeaf | None:
        """The check, with the places of its texts in the source; None if it is none."""
        line = self.parse.node
        if line is None:
            return None
        return CheckLeaf(at, check=line.check, places=tuple(map(self._placed, line.places)))

    def faults(self) -> Iterator[tuple[Span, Fault]]:
        """The mistakes in it, each with its place in the source."""
        for fault in self.parse.faults:
            yield self._node_at(fault.start).span, fault

    @property
    def may_be_check(self) -> bool:
        """Whether it is a check, or would be one with another value: all faults are behind the key."""
        ends = accumulate(len(piece.text) for piece in self.pieces)
        begins = max(end for end, piece in zip(ends, self.pieces, strict=True) if piece.node is self.key)
        return all(fault.start >= begins for fault in self.parse.faults)

    def without_quotes(self) -> Scalar | None:
        """The text which, as it is written, is a predicate on a line and means another check: `is not: empty`."""
        *before, (text, node) = self.pieces
        if not isinstance(node, Scalar) or node.style != "plain" or text == node.text or self.parse.node is None:
            return None
        other = read_check("".join(piece.text for piece in before) + node.text).node
        return None if other is None or other.check == self.parse.node.check else node

    def joined_text(self) -> tuple[Scalar, str] | None:
        """The text without quotes that joins or denies texts, and the line that was meant: `contains: a or b`."""
        *before, (_, node) = self.pieces
        line = self.parse.node
        if line is None or not isinstance(node, Scalar) or node.style != "plain" or not _JOINS.search(node.text):
            return None
        test = next((part for part in within(line.check) if isinstance(part, Test)), None)
        if test is None or test.predicate not in _OF_TEXTS or test.operand not in (node.text, (node.text,)):
            return None
        from evalc.dsl.meant import meant_by_words  # noqa: PLC0415 - as below

        meant = meant_by_words("".join(piece.text for piece in before), node.text)
        return None if meant is None else (node, meant)

    def _placed(self, place: Atom) -> Atom:
        span = self._node_at(place.start).span
        if isinstance(place, PatternAtom):
            return PatternAtom(*span, place.pattern, int(place.literal), place.literal, place.flags)
        return Text(*span, place.value)

    def _node_at(self, offset: int) -> Node:
        """The node that the line has at an offset, or the nearest one before."""
        starts = accumulate((len(piece.text) for piece in self.pieces), initial=0)
        said = zip(starts, self.pieces, strict=False)
        return [piece.node for start, piece in said if start <= offset and piece.node is not None][-1]


def asked(pairs: Pairs) -> Asked | None:
    """The mapping with these keys as a line. Its value is read in the one way that makes a check, else in the first.

    None if it is no check, whatever the value.
    """
    own = [pair for pair in pairs if pair[0].text not in SUBJECTS]
    if len(own) != 1:
        return None
    ((key, value),) = own
    subjects = {key.text: (key, value) for key, value in pairs}
    before: list[_Piece] = []
    for name in SUBJECTS:
        if name in subjects and isinstance(node := subjects[name][1], Scalar):
            words = json.dumps(node.text, ensure_ascii=False) if name == "file" else node.text
            before += [_Piece(f"{name} ", subjects[name][0]), _Piece(f"{words} ", node)]
    first: Asked | None = None
    for pieces in _ways(key, value):
        whole = (*before, *pieces)
        line = Asked(read_check("".join(piece.text for piece in whole)), whole, key)
        if line.parse.node is not None and line.parse.node.criterion is None:
            return line
        first = first or line
    return first if first is not None and first.may_be_check else None


def says_more(value: Node) -> bool:
    """Whether a value without quotes may be more than a text, such as `bob ignoring case`, or is not written yet."""
    match value:
        case Scalar(text=text, style="plain"):
            return not text or _SAYS_MORE.search(text) is not None
        case Scalar():
            return False
        case Sequence(items=items):
            return any(map(says_more, items))
        case Mapping(pairs=pairs):
            return any(says_more(inner) for _, inner in pairs)


def _ways(key: Scalar, value: Node) -> Iterator[list[_Piece]]:
    """The lines that a key and its value may stand for: with the value as it is, then with its text as words."""
    name = _Piece(f"{key.text} ", key)
    match value:
        case Scalar(text=text) if kind_of(value) == "str":
            ways = [*_json(value), _Piece(text, value)]
            if says_more(value):
                ways = ways[1:]  # `bob ignoring case` may be no text
            for way in reversed(ways) if text.startswith("/") else ways:  # `/a/i` is a literal where one may stand
                yield [name, way]
            return
        case Scalar(text="", style="plain"):
            yield [name]
            return
        case Mapping(pairs=pairs) if key.text not in _EQUALITY and all(bound.text in _BOUNDS for bound, _ in pairs):
            limits = {bound.text: _Piece(limit.text, limit) for bound, limit in pairs if isinstance(limit, Scalar)}
            if limits.keys() == {"min", "max"}:
                yield [name, limits["min"], _Piece(".."), limits["max"]]
            elif len(limits) == 1:
                ((bound, limit),) = limits.items()
                yield [name, _Piece(f"{_BOUNDS[bound]} "), limit]
    yield [name, *_json(value)]
    match value:
        case Scalar() if kind_of(value) == "bool":
            yield [name] if _value(value) else [_Piece("not ", key), name]
        case Sequence(items=(Scalar() as low, Scalar() as high)):
            yield [name, _Piece(low.text, low), _Piece(" and "), _Piece(high.text, high)]


def _json(node: Node) -> Iterator[_Piece]:
    """A value as a line has it, each of its texts a piece."""
    parts: list[tuple[Scalar | None, Node]]
    match node:
        case Scalar():
            yield _Piece(json.dumps(_value(node), ensure_ascii=False), node)
            return
        case Sequence(items=items):
            brackets, parts = "[]", [(None, item) for item in items]
        case Mapping(pairs=pairs):
            brackets, parts = "{}", [*pairs]
    yield _Piece(brackets[0])
    for index, (name, item) in enumerate(parts):
        of_name = "" if name is None else f"{json.dumps(name.text, ensure_ascii=False)}: "
        yield _Piece(f"{', ' if index else ''}{of_name}", name)
        yield from _json(item)
    yield _Piece(brackets[1])


def _value(node: Scalar) -> object:
    """The value of a scalar; what cannot be read is a text here."""
    return node.text if kind_of(node) == "str" else to_plain(node)


_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_TAKEN_APART: Final = re.compile(r": | #")
_IN_QUOTES: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*\"""")

GroupOp = Literal["any_of", "all_of", "not"]
GROUPS: Final[tuple[GroupOp, ...]] = get_args(GroupOp)
USE: Final = "use"
"""The key of an entry that inserts the checks of a named rule."""


def _weight(fields: Fields, node: Node, what: str, _places: o.Places) -> int | float | None:
    number = k.NUMBER.take(fields, node, what)
    finding = None if number is None else outside("the weight", number.value, WEIGHT)
    if finding is not None:
        fields.fault(number.span, finding)
    return None if number is None or finding is not None else number.value


LINKS: Final = {
    "criterion": k.Key(
        o.Operand(k.text(), o.of_kind(k.TEXT), absent=None), "The criterion that the check counts for.", ("clarity",)
    ),
    "weight": k.Key(
        o.Operand(k.number(minimum=0), _weight, absent=1),
        "How often the check counts within its criterion; by default 1.",
        (2,),
    ),
}
_LINKS: Final[dict[str, Any]] = {key: each.holds for key, each in LINKS.items()}
LINK_KEYS: Final = tuple(LINKS)
_WITHIN: Final = k.ref("checkWithin")
WITHOUT_TYPE: Final = {
    USE: k.Key(k.NAME, "The named rule whose checks are used here.", ("no_cop_outs",), required=True),
    "any_of": k.Key(k.Kind(k.filled_list_of(_WITHIN)), "Checks, at least one of which must pass.", required=True),
    "all_of": k.Key(k.Kind(k.filled_list_of(_WITHIN)), "Checks that have to hold all.", required=True),
    "not": k.Key(k.Kind(k.any_of(_WITHIN, k.filled_list_of(_WITHIN))), "A check that may not hold.", required=True),
}
"""The keys by which a check without a `type` is known; the first that is there counts."""


def build_checks(fields: Fields, key: str) -> tuple[CheckTree, ...]:
    """The checks of a list such as `validate:`; what is not a check is reported and left out."""
    node = fields.node(key)
    is_sound = isinstance(node, Sequence) and _is_whole_block(fields.source, node)
    built: list[CheckTree] = []
    for item in node.items if is_sound else _items_with_care(fields, key, node):
        check = build_check(fields, item)
        if check is not None:
            built.append(check)
    return tuple(built)


def _is_whole_block(source: Source, node: Sequence) -> bool:
    """Whether a list has its items below each other, as most do, so that no comma took one of them apart."""
    return bool(node.items) and not node.cut and node.alias is None and not source.text.startswith("[", node.start)


def _items_with_care(fields: Fields, key: str, node: Node | None) -> Iterable[Node]:
    """The items of what may be no list, or a torn one, which is reported."""
    fields.forbid_empty(key)
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        fields.leave_out(key)
        finding = fields.tree.wrong(node, f"`{key}`", "a list", _listed(fields, key, node))
        fields.fault(node, finding.replaced(advice="write each check on a line of its own that begins with `- `"))
        return ()
    torn = quoting.split_at_comma(fields.source, node)  # `[contains "a, b"]`, which YAML tore apart
    for span in torn:
        fields.fault(span, _unquoted("EV122", fields.source, *span))
    items = fields.items(key) or ()
    return [item for item in items if not any(span.start <= item.start < span.end for span in torn)]


def _listed(fields: Fields, key: str, node: Node) -> str:
    """The key with its value as the one item of a list."""
    raw = fields.source.text[node.start : node.end]
    if "\n" in raw:
        return ""
    return f"{key}: [{quoting.quoted_line(raw) if isinstance(node, Scalar) and node.style == 'plain' else raw}]"


def _unquoted(code: Literal["EV120", "EV121", "EV122"], source: Source, start: int, end: int) -> Finding:
    """The finding for a check that YAML took apart, since it is not in quotes."""
    return Finding(
        code, fix=quoting.check_in_quotes(source, start, end), quoted=quoting.quoted_line(source.text[start:end])
    )


def build_check(fields: Fields, item: Node, links: tuple[str, ...] = LINK_KEYS) -> CheckTree | None:
    """One entry of `validate:` with what it counts for; `links` are the keys that say so."""
    if isinstance(item, Mapping):
        return _mapping(fields, item, links)
    if isinstance(item, Sequence):
        finding = Finding("EV301", what="a check", expected="a line or a mapping", found="a list")
        fields.fault(item, finding.replaced(advice="write each check as an item of its own, behind one dash"))
        return None
    text = fields.text_of(item, "a check")
    if text is None:
        return None
    goes_on = quoting.goes_on(fields.source, item)
    lost = quoting.lost_to_comment(fields.source, item) if goes_on else None
    if lost is not None:
        fields.fault(lost, _unquoted("EV121", fields.source, item.start, lost.end))
        return None
    parse = read_check(text.value)
    cut = quoting.cut_off(fields.source, item) if goes_on else None
    if cut is not None and (cut_check := _cut_check(fields.source, cut, is_sound=not parse.faults)) is not None:
        fields.fault(cut, cut_check)
        return None
    for fault in parse.faults:
        finding = _with_line(fault.finding, text.value, item, fields.source)
        if finding.code == "EV131" and not finding.fields["found"] and quoting.has_comment(fields.source, item):
            finding = finding.replaced(before_comment=True)
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), finding)
    line = parse.node
    if line is None:
        return None
    criterion = None
    if line.criterion is not None:
        span = locate(fields.source, text.span, line.criterion.start, line.criterion.end)
        criterion = Str(stretch_of(span), line.criterion.value)
    if not isinstance(line.check, Test):
        for fault in odd_readings(text.value):
            fields.warn(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    leaf = CheckLeaf(text.at, check=line.check, places=line.places, line=text.value)
    return CheckTree(text.at, body=leaf, criterion=criterion)


def _cut_check(source: Source, cut: Span, *, is_sound: bool) -> Finding | None:
    """The finding for a line that a `#` cuts off; None if neither what is left nor the whole line can be a check."""
    whole = source.text[cut.start : cut.end]
    if "\n" not in whole:
        if not read_check(whole).faults:
            return Finding("EV156", fix=quoting.in_quotes(source, *cut), quoted=quoting.quoted_line(whole))
        from evalc.dsl.meant import meant_by  # noqa: PLC0415 - as below

        meant = meant_by(whole)
        lost = " ".join(whole[whole.index("#") :].split()).replace("\\", "\\\\").replace('"', '\\"')
        if meant is not None and lost in meant.line:
            line = quoting.as_item(meant.line)
            return Finding("EV156", fix=quoting.rewritten_item(source, *cut, line), line=line)
    return Finding("EV156") if is_sound else None


def _with_line(finding: Finding, text: str, item: Scalar, source: Source) -> Finding:
    """The finding with the check that was probably meant, if there is one and the item is on one line."""
    if finding.code not in {"EV131", "EV160", "EV203"} or item.style in {"literal", "folded"}:
        return finding
    from evalc.dsl import meant as m  # noqa: PLC0415 - for start-up: its patterns are for mistakes

    meant = m.meant_by(text)
    if meant is None:
        return finding.replaced(**{name: _in_place(source, item, line) for name, line in m.hints(text).items()})
    line = quoting.as_item(meant.line)
    fix = quoting.rewritten_item(source, item.start, item.end, line, sure=meant.is_sure and finding.code == "EV131")
    return finding.replaced(fix, line=_in_place(source, item, meant.line), note=meant.note)


def _in_place(source: Source, item: Scalar, line: str) -> str:
    """A line as an item of a list or, where the item is not in one, as the value of `not:`."""
    shown = quoting.as_item(line)
    is_value = source.text[: item.start].rstrip().endswith(":")
    return f"not: {shown.removeprefix('- ')}" if is_value else shown


def _in_other_words(fields: Fields, item: Mapping) -> Finding | None:
    """The finding about a mapping as other tools have it, with the line that says the same; None for any other."""
    from evalc.translate import translated  # noqa: PLC0415 - as above

    if any(_is_beside(key.text) for key, _ in item.pairs) or says_more(item):
        return None
    written: Any = to_plain(item)
    found = translated(written)
    if found is None or not quoting.is_check(found.line):
        return None
    line = quoting.as_item(found.line)
    end = item.start + len(fields.source.text[item.start : item.end].rstrip())
    fix = quoting.rewritten_item(fields.source, item.start, end, line)
    return Finding("EV163", fix=fix, line=line, note=found.note)


def _mapping(fields: Fields, item: Mapping, links: tuple[str, ...]) -> CheckTree | None:
    pairs = item.pairs if type(item.at) is int else fields.tree.pairs(item)
    by_key: o.Keys = {pair[0].text: pair for pair in pairs or ()}
    _, type_ = by_key.get("type", (None, None))
    if not isinstance(type_, Scalar) or type_.text not in CHECKS:
        found = _mapped(fields, item, type_, by_key, links)
    elif item.cut or fields.cut or not _has_its_keys(type_.text, tuple(by_key), links):
        found = _typed(fields, item, type_, by_key, links)
    else:
        found = fields, typed_check(fields, type_, by_key)
    if found is None:
        return None
    inner, body = found
    linked: dict[str, Any] = {}
    for key in links:
        if key in by_key and (value := _LINKS[key].of_key(inner, *by_key[key], [])) is not o.WRONG:
            linked[key] = value
    fields.partial |= inner.partial
    return None if body is None else CheckTree(body.at, body=body, **linked)


_Found = tuple[Fields, CheckBody | None] | None
"""The check that a mapping means, with its fields; None if it is not a check at all."""


def _typed(fields: Fields, item: Mapping, type_: Scalar, by_key: o.Keys, links: tuple[str, ...]) -> _Found:
    """The check of one of the `CHECKS` whose mapping lacks keys or has others, which are reported or renamed."""
    shape = CHECKS[type_.text]
    own = ("type", *shape.keys, *_RULE)
    rules = [by_key[key][1] for key in _RULE if key in by_key]
    is_own = all(key in own or _is_beside(key) for key in by_key) and all(
        is_sound_rule(type_.text, rule.text) for rule in rules if isinstance(rule, Scalar)
    )
    if not is_own and _is_foreign(fields, item):
        return None
    other = next((key for key in _RULE if key in by_key and key not in shape.keys), None)
    if other is not None and "rule" not in by_key and "rule" in shape.keys:
        by_key = {**by_key, other: (msgspec.structs.replace(by_key[other][0], text="rule"), by_key[other][1])}
        by_key = {key.text: (key, value) for key, value in by_key.values()}
    known = k.keyed(f"a `{type_.text}` check", ("type", *shape.keys, *links))
    inner = fields.inside(item, known, pairs=by_key.values())
    for name in shape.lacks(by_key):
        inner.require(name)
    return inner, typed_check(inner, type_, by_key)


_RULE: Final = ("value", "expected", "pattern", "threshold")
"""The names that other tools have for the rule of a check."""


@lru_cache(1_024)
def _has_its_keys(type_: str, keys: tuple[str, ...], links: tuple[str, ...]) -> bool:
    """Whether a mapping of a known type has all keys that it needs, and no others than it may have."""
    shape = CHECKS[type_]
    return {"type", *shape.keys, *links}.issuperset(keys) and not shape.lacks(keys)


def _mapped(fields: Fields, item: Mapping, type_: Node | None, by_key: o.Keys, links: tuple[str, ...]) -> _Found:
    """The check of a mapping without a type that is known here."""

    def inside(what: str, *keys: str) -> Fields:
        return fields.inside(item, k.keyed(what, (*keys, *links)), pairs=by_key.values())

    free = tuple(key for key in by_key if key not in LINK_KEYS)
    if type_ is not None:
        name = fields.text_of(type_, "`type`")
        if name is None:
            return None
        if name.value in (offered := base.names_offered("evalc.checks")):
            inner = inside(f"a `{name.value}` check", *free)
            return inner, _custom(inner, name)
        foreign = None if "rule" in by_key else _in_other_words(fields, item)
        fields.fault(name.span, foreign or Finding("EV203", name=name.value, known=(*CHECK_TYPES, *offered)))
        return None
    if USE in by_key:
        inner = inside("a `use`", USE)
        inner.forbid_empty(USE)
        used = inner.filled(USE)
        return inner, None if used is None else CheckUse(inner.anchor.at, name=used)
    if op := next((op for op in GROUPS if op in by_key), None):
        inner = inside(f"{'a' if op == 'not' else 'an'} `{op}` check", op)
        return inner, _group(inner, op)
    if trap := quoting.split_at_colon(fields.source, item):
        fields.fault(trap, _unquoted("EV120", fields.source, *trap))
        return None
    own = tuple(pair for key, pair in by_key.items() if not _is_beside(key))
    line = asked(own)
    if line is None:
        several = [key for key, value in own if key.text not in SUBJECTS and asked(((key, value),)) is not None]
        if len(several) > 1:
            fields.fault(several[1], Finding("EV170", names=tuple(key.text for key in several)))
        else:
            fields.fault(item.pairs[0][0] if item.pairs else item, _without_type(fields, item))
        return None
    if line.parse.node is None and _is_foreign(fields, item):
        return None
    inner = inside("a check", *free)
    for span, fault in line.faults():
        inner.fault(span, _with_hints(fault.finding, line))
    _warn_of_words(inner, item, line)
    return inner, line.leaf(inner.anchor.at)


def _with_hints(finding: Finding, line: Asked) -> Finding:
    """The finding with the lines that may be meant by a mapping whose value is no value of its predicate."""
    if finding.code != "EV131":
        return finding
    from evalc.dsl.meant import hints  # noqa: PLC0415 - as above

    shown = hints(line.text)
    shown.pop("judged", None)
    return finding.replaced(**{name: quoting.as_item(meant) for name, meant in shown.items()})


def _warn_of_words(fields: Fields, item: Mapping, line: Asked) -> None:
    """Report words of the language that are a path, a name or a text in a mapping."""
    for fault in misread(line.text) if line.key.text.startswith(("at ", "tool ")) else ():
        fields.warn(line.key, fault.finding)
    for fault in exact_limits(line.text):
        fields.warn(item.pairs[-1][1], fault.finding)
    if (other := line.without_quotes()) is not None:
        fields.warn(other, Finding("EV438", path="", text=other.text, line=f"{line.key.text} {other.text}"))
    elif (joined := line.joined_text()) is not None:
        text, meant = joined
        as_item, is_linked = quoting.as_item(meant), any(_is_beside(key.text) for key, _ in item.pairs)
        end = item.end if fields.source.text[item.start] == "{" else text.end
        fix = None if is_linked else quoting.rewritten_item(fields.source, item.start, end, as_item)
        shown = "" if fix is None else as_item
        fields.warn(
            text, Finding("EV438", fix=fix, path="", text=text.text, line="", corrected=shown, curly=text.text[0])
        )


def _custom(fields: Fields, type_: Str) -> CheckLeaf:
    """The check of a name that some package provides, called with what the mapping says."""
    rule = fields.node("rule")
    places: o.Places = [g.Text(*type_.span, type_.value)]
    args = tuple([o.take_json(fields, node, "", places) for node in one_or_many(rule)])
    options = {
        key: o.take_json(fields, node, "", places)
        for key, (_, node) in fields.by_key.items()
        if key not in ("type", "rule") and not _is_beside(key)
    }
    check = Test("check", (type_.value, args, options, Bounds()))
    return CheckLeaf(type_.at, check=check, places=tuple(places))


def _is_foreign(fields: Fields, item: Mapping) -> bool:
    """Whether a mapping is a check as other tools have it, which is reported."""
    finding = _in_other_words(fields, item)
    if finding is not None:
        fields.fault(item.pairs[0][0], finding)
    return finding is not None


def _is_beside(key: str) -> bool:
    """Whether a key says nothing of what is asked."""
    return key in LINK_KEYS or key.startswith("x-")


def _without_type(fields: Fields, item: Mapping) -> Finding:
    """The finding about a mapping without a `type:`; `contains: x` is plain enough for a fix."""
    from evalc.dsl.meant import may_be_text  # noqa: PLC0415 - as above

    text = fields.source.text
    no_type = partial(Finding, "EV202", key="type", what="a check")
    line = _line_of_pair(fields.source, item)
    if line is not None:
        end = item.end if text[item.start] == "{" else item.pairs[0][1].end
        fix = quoting.rewritten_item(fields.source, item.start, end, quoting.as_item(line))
        return no_type(fix=fix, why="a check on one line has no colon after its name", line=quoting.as_item(line))
    foreign = _in_other_words(fields, item) if item.pairs else None
    if foreign is not None:
        return foreign
    for key, value in item.pairs:
        raw = text[value.start : value.end]
        is_text = key.text in TEXT_TYPES and isinstance(value, Scalar) and value.style == "plain"
        is_rule = may_be_text(raw, of=key.text) if is_text else "\n" not in raw and is_sound_rule(key.text, raw)
        if key.text in CHECKS and is_rule:
            line_end = _LINE_END.search(text)
            next_line = (line_end[0] if line_end else "\n") + " " * (fields.source.position(key.start).column - 1)
            between = ", " if text[item.start] == "{" else next_line
            fix = Fix.of(text, key.start, value.start, f"type: {key.text}{between}rule: ")
            return no_type(fix=fix, advice=f"write it as `type: {key.text}` and `rule: {raw}`")
        if nearest(key.text, ("type",)) is not None:
            fix = Fix.of(text, key.start, key.end, "type")
            return no_type(fix=fix, advice=f"did you mean `type` by `{key.text}`?")
    return no_type(why='a check is a line such as `contains "x"`, or a mapping such as `{contains: x}`')


def _line_of_pair(source: Source, item: Mapping) -> str | None:
    """The line that was meant by a mapping of one key, a check with a colon after its name; None if it is none."""
    from evalc.dsl.meant import meant_by_pair  # noqa: PLC0415 - as above

    if len(item.pairs) != 1:
        return None
    ((key, value),) = item.pairs
    raw, written = source.text[value.start : value.end], source.text[key.start : value.end]
    rule = None if raw[:1] in {"'", '"'} else raw
    is_whole = not _TAKEN_APART.search(raw) if rule is not None else _IN_QUOTES.fullmatch(raw) is not None
    if not is_whole or "\n" in written or source.text[key.end : value.start].strip() not in {":", ""}:
        return None
    return meant_by_pair(key.text, rule, value.text if isinstance(value, Scalar) else None, written)


def _group(inner: Fields, op: GroupOp) -> CheckBody | None:
    node = inner.node(op)
    if node is None or (isinstance(node, Sequence) and not node.items):
        inner.fault(inner.key(op), Finding("EV309", what=f"`{op}`"))
        return None
    if isinstance(node, Sequence):
        nodes = node.items
    elif op == "not":
        nodes = (node,)
    else:
        inner.fault(node, inner.tree.wrong(node, f"`{op}`", "a list of checks", _listed(inner, op, node)))
        return None
    trees = [tree for child in nodes if (tree := build_check(inner, child, links=())) is not None]
    for tree in trees:
        if tree.criterion is not None:  # on one line
            inner.fault(tree.criterion.span, Finding("EV311"))
    bodies = tuple([tree.body for tree in trees if tree.criterion is None])
    if len(bodies) != len(nodes):
        return None
    if op == "not" and len(bodies) > 1:
        inner.warn(inner.key(op), Finding("EV442", rule=None))
        bodies = (CheckGroup(inner.anchor.at, op="all_of", items=bodies),)
    return CheckGroup(inner.anchor.at, op=op, items=bodies)
