"""Builds the checks of an `expect:` block, which uses the JSON's own field names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from typing import Any, Final, get_args

from evalc.base.source import Span
from evalc.check.contract import CONTRACT_FIELDS, KEYS, PAIRS, check_in
from evalc.check.forms import check_of, record_of
from evalc.check.places import bare
from evalc.diagnostics.problem import Finding, Fix
from evalc.dsl.build_rule import PARAM_OPS, acceptable, leaf_of, limit_of, param_check, placed, plain_leaf
from evalc.dsl.kinds import FLAG, NUMBER, WHOLE, Choice, keyed
from evalc.dsl.nodes import Mapping, Scalar, Sequence, span_of
from evalc.dsl.quoting import quoted_line
from evalc.dsl.tree import CheckJson, CheckLeaf, CheckTree, Num
from evalc.dsl.walk import Fields, described
from evalc.grammar.parse import parse_check
from evalc.model.case import FieldType

_Build = Callable[[Fields, str], Iterator[CheckLeaf | CheckJson]]


_ASSERTION: Final = Choice(PARAM_OPS, called="parameter assertion")
_FIELD_TYPE: Final = Choice(get_args(FieldType), called="type")


def build_expect(fields: Fields, key: str) -> tuple[CheckTree, ...]:
    """The checks of a case's `expect:`, in the order in which they are written."""
    if _is_a_line(fields):
        return ()
    block = fields.mapping(key)
    if block is None:
        return ()
    inner = fields.inside(block, keyed("`expect`", EXPECT_KEYS))
    leaves = [leaf for key, _ in block.pairs if key.text in _BUILDERS for leaf in _field(inner, key.text)]
    fields.partial |= inner.partial
    return tuple(CheckTree(span=leaf.span, body=leaf) for leaf in leaves)


def _is_a_line(fields: Fields) -> bool:
    """Whether there is a check on one line, which belongs into `validate:`; it is reported."""
    node = fields.node("expect")
    if not isinstance(node, Scalar) or parse_check(node.text).faults:
        return False
    text = fields.source.text
    corrected = f"validate: [{quoted_line(text[node.start : node.end])}]"
    key = next(key for key, _ in fields.pairs if key.text == "expect")
    fix = Fix.of(text, key.start, node.end, corrected)
    found = described(node)
    finding = Finding("EV301", fix=fix, what="`expect`", expected="a mapping", found=found, corrected=corrected)
    fields.fault(node, finding)
    return True


def _field(fields: Fields, key: str) -> tuple[CheckLeaf | CheckJson, ...]:
    """The checks of one field; a field that asserts nothing (a `false`, an empty list) brings a warning."""
    node = fields.node(key)
    if isinstance(node, Sequence) and not node.items and key in _EMPTY_ASSERTS_NOTHING:
        fields.warn(fields.key(key), Finding("EV501", check=f"`{key}`", why="an empty list asserts nothing"))
        return ()
    if isinstance(node, Scalar) and key in _FLAGS and FLAG.read(fields, key) is False:
        fields.warn(fields.key(key), Finding("EV501", check=f"`{key}`", why="`false` asserts nothing"))
        return ()
    return tuple(_BUILDERS[key](fields, key))


def _leaf(span: Span, name: str, value: Any) -> CheckLeaf:
    """The check that a value of a field means; its texts know where they were written."""
    return plain_leaf(span, check_in(name, bare(value)), check_in(name, value))


def _each_text(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for text in fields.texts(key) or ():
        yield _leaf(text.span, _NAMES[key], placed(text))


def _each_group(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for item in fields.items(key) or ():
        if not isinstance(item, Sequence):
            fault = Finding("EV301", what=f"a group of `{key}`", expected="a list of texts", found=described(item))
            fields.fault(item, fault)
            continue
        texts = fields.together(item.items, "a synonym")
        if texts is not None:
            yield _leaf(span_of(item), _NAMES[key], [*map(placed, texts)])


def _pattern(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    text = fields.text(key)
    if text is not None:
        yield _leaf(text.span, _NAMES[key], placed(text))


def _names(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    names = fields.all_texts(key)
    if names is not None:
        yield _leaf(span_of(fields.key(key)), _NAMES[key], [*map(placed, names)])


def _acceptable(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    record = acceptable(fields, key)
    if record is not None:
        yield _leaf(span_of(fields.key(key)), _NAMES[key], record["sets"])


def _params(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for item in fields.items(key) or ():
        if not isinstance(item, Mapping):
            fault = Finding("EV301", what=f"an entry of `{key}`", expected="a mapping", found=described(item))
            fields.fault(item, fault)
            continue
        inner = fields.inside(item, keyed(f"an entry of `{key}`", ("tool", "paramName", "assertion", "value")))
        for required in ("tool", "paramName", "assertion"):
            inner.require(required)
        record = param_check(inner, inner.text("tool"), inner.text("paramName"), _ASSERTION.read(inner, "assertion"))
        fields.partial |= inner.partial
        if record is not None:
            yield leaf_of(inner.anchor, {"type": "tool_param", **record})


def _flag(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    """A field that asserts something when it is true."""
    if FLAG.read(fields, key):
        yield _leaf(span_of(fields.key(key)), _NAMES[key], value=True)


def _limit(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    """A field that holds one limit; in those of the contract, 0 asserts nothing."""
    limit: Num | None = NUMBER.read(fields, key)
    if limit is not None and key in CONTRACT_FIELDS and limit.value == 0:
        fields.warn(fields.key(key), Finding("EV501", check=f"`{key}`", why="0 asserts nothing"))
    elif limit is not None:
        yield _leaf(span_of(fields.key(key)), _NAMES[key], limit_of(limit))


def _bounds(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    """The two fields of a range, which are one check; it is built for the lower one, or the only one."""
    low, high = next(pair for pair in PAIRS if key in pair)
    if key == high and low in fields:
        return
    given = ((name, WHOLE.read(fields, name)) for name in (low, high))
    checks = [check_in(_NAMES[name], int(number.value)) for name, number in given if number is not None]
    if checks:
        record = reduce(or_, map(record_of, checks))
        yield CheckLeaf(span=span_of(fields.key(key)), check=check_of(record))


def _keys(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    names = fields.texts(key)
    if names:
        yield _leaf(span_of(fields.key(key)), _NAMES[key], [name.value for name in names])


def _types(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    block = fields.mapping(key)
    if block is None:
        return
    names = tuple(name.text for name, _ in block.pairs)
    inner = fields.inside(block, keyed(f"`{key}`", names))
    read = ((name, _FIELD_TYPE.read(inner, name)) for name in names)
    typed = {name: type_.value for name, type_ in read if type_ is not None}
    fields.partial |= inner.partial
    if typed:
        yield _leaf(span_of(fields.key(key)), _NAMES[key], typed)


def _each_in_json(fields: Fields, key: str) -> Iterator[CheckJson]:
    for item in fields.items(key) or ():
        if isinstance(item, Mapping):
            yield CheckJson(span=span_of(item.pairs[0][0] if item.pairs else item), node=item)
        else:
            fault = Finding("EV301", what=f"an entry of `{key}`", expected="a mapping", found=described(item))
            fields.fault(item, fault)


_NAMES: Final = {key: name for name, key in KEYS.items()}
_BUILDERS: dict[str, _Build] = {
    "toolsCalled": _names,
    "toolsAcceptable": _acceptable,
    "toolsNotCalled": _names,
    "toolParams": _params,
    "noToolErrors": _flag,
    "responseNonEmpty": _flag,
    "responseContains": _each_text,
    "responseContainsAny": _each_group,
    "responseNotContains": _each_text,
    "responseMatches": _each_text,
    "maxLatencyMs": _limit,
    "maxTokens": _limit,
    "minLength": _bounds,
    "maxLength": _bounds,
    "jsonValid": _flag,
    "requiredKeys": _keys,
    "typeChecks": _types,
    "minToolCalls": _bounds,
    "maxToolCalls": _bounds,
    "maxCost": _limit,
    "regexPattern": _pattern,
    "copOutPhrases": _each_text,
    "checks": _each_in_json,
}
_FLAGS: Final = frozenset({"noToolErrors", "responseNonEmpty", "jsonValid"})
_EMPTY_ASSERTS_NOTHING: Final = frozenset(
    {
        "toolParams",
        "responseContains",
        "responseContainsAny",
        "responseNotContains",
        "responseMatches",
        "requiredKeys",
        "copOutPhrases",
        "checks",
    }
)
"""The fields whose empty list says nothing. An empty list of tools says something, or is reported with the checks."""
EXPECT_KEYS: Final = tuple(_BUILDERS)
"""The fields that `expect:` may have in YAML, which are the JSON's."""
