"""Builds the checks of an `expect:` block, which uses the JSON's own field names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, cast, get_args

from evalc.diagnostics.problem import Finding, Fix
from evalc.dsl.build_rule import PARAM_OPS, acceptable, atom, limit_of, of_pattern, of_text, of_texts, param_check
from evalc.dsl.kinds import FLAG, NUMBER, WHOLE, Choice, keyed
from evalc.dsl.nodes import Mapping, Scalar, Sequence, span_of
from evalc.dsl.quoting import quoted_line
from evalc.dsl.tree import CheckJson, CheckLeaf, CheckTree, Num, Str
from evalc.dsl.walk import Fields, described
from evalc.grammar.parse import parse_check
from evalc.model import checks as c
from evalc.model.checks.declaration import Declared
from evalc.model.json import path_of_key

_Build = Callable[[Fields, str], Iterator[CheckLeaf | CheckJson]]


_ASSERTION: Final = Choice(PARAM_OPS, called="parameter assertion")
_FIELD_TYPE: Final = Choice(get_args(c.FieldType), called="type")


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


def _each_text(kind: type[Declared]) -> _Build:
    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        for text in fields.texts(key) or ():
            yield of_text(kind, text, text.span)

    return build


def _each_cop_out(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for text in fields.texts(key) or ():
        check = c.Not(check=c.IContains(value=text.value))
        yield CheckLeaf(span=text.span, check=check, atoms={"/check/value": atom(text)})


def _each_group(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for item in fields.items(key) or ():
        if not isinstance(item, Sequence):
            fault = Finding("EV301", what=f"a group of `{key}`", expected="a list of texts", found=described(item))
            fields.fault(item, fault)
            continue
        texts = fields.together(item.items, "a synonym")
        if texts is not None:
            yield of_texts(c.ContainsAny, "values", texts, span_of(item))


def _each_pattern(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    yield from map(of_pattern, fields.texts(key) or ())


def _pattern(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    text = fields.text(key)
    if text is not None:
        yield of_pattern(text)


def _names(kind: type[Declared]) -> _Build:
    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        names = fields.all_texts(key)
        if names is not None:
            yield of_texts(kind, "names", names, span_of(fields.key(key)))

    return build


def _acceptable(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    leaf = acceptable(fields, key, span_of(fields.key(key)))
    if leaf is not None:
        yield leaf


def _params(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for item in fields.items(key) or ():
        if not isinstance(item, Mapping):
            fault = Finding("EV301", what=f"an entry of `{key}`", expected="a mapping", found=described(item))
            fields.fault(item, fault)
            continue
        inner = fields.inside(item, keyed(f"an entry of `{key}`", ("tool", "paramName", "assertion", "value")))
        for required in ("tool", "paramName", "assertion"):
            inner.require(required)
        tool, param = inner.text("tool"), inner.text("paramName")
        op: Str | None = _ASSERTION.read(inner, "assertion")
        leaf = None
        if tool is not None and param is not None and op is not None:
            leaf = param_check(inner, inner.anchor, tool, param, op)
        fields.partial |= inner.partial
        if leaf is not None:
            yield leaf


def _flag(check: c.Check) -> _Build:
    """A field that asserts something when it is true."""

    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        if FLAG.read(fields, key):
            yield CheckLeaf(span=span_of(fields.key(key)), check=check)

    return build


def _limit(make: Callable[[int | float], c.Check], *, idle_at_0: bool = False) -> _Build:
    """A field that holds one limit; in those of the contract, 0 asserts nothing."""

    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        limit: Num | None = NUMBER.read(fields, key)
        if limit is not None and idle_at_0 and limit.value == 0:
            fields.warn(fields.key(key), Finding("EV501", check=f"`{key}`", why="0 asserts nothing"))
        elif limit is not None:
            yield CheckLeaf(span=span_of(fields.key(key)), check=make(limit_of(limit)))

    return build


def _bounds(low: str, high: str, make: Callable[[int | None, int | None], c.Check]) -> _Build:
    """The two fields of a range, which are one check; it is built for the lower one, or the only one."""

    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        if key == high and low in fields:
            return
        least, most = _whole(WHOLE.read(fields, low)), _whole(WHOLE.read(fields, high))
        if least is not None or most is not None:
            yield CheckLeaf(span=span_of(fields.key(key)), check=make(least, most))

    return build


def _whole(number: Num | None) -> int | None:
    return None if number is None else int(number.value)


def _keys(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    names = fields.texts(key)
    if not names:
        return
    yield _structure(fields, key, tuple(c.RequiredField(path=path_of_key(name.value)) for name in names))


def _types(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    block = fields.mapping(key)
    if block is None:
        return
    names = tuple(Str(name.text, span_of(name)) for name, _ in block.pairs)
    inner = fields.inside(block, keyed(f"`{key}`", tuple(name.value for name in names)))
    typed: list[c.RequiredField] = []
    for name in names:
        type_: Str | None = _FIELD_TYPE.read(inner, name.value)
        if type_ is not None:
            typed.append(c.RequiredField(path=path_of_key(name.value), type=cast(c.FieldType, type_.value)))
    fields.partial |= inner.partial
    if typed:
        yield _structure(fields, key, tuple(typed))


def _structure(fields: Fields, key: str, has: tuple[c.RequiredField, ...]) -> CheckLeaf:
    return CheckLeaf(span=span_of(fields.key(key)), check=c.Structure(fields=has))


def _each_in_json(fields: Fields, key: str) -> Iterator[CheckJson]:
    for item in fields.items(key) or ():
        if isinstance(item, Mapping):
            yield CheckJson(span=span_of(item.pairs[0][0] if item.pairs else item), node=item)
        else:
            fault = Finding("EV301", what=f"an entry of `{key}`", expected="a mapping", found=described(item))
            fields.fault(item, fault)


_length = _bounds("minLength", "maxLength", lambda least, most: c.Length(min=least, max=most))
_tool_count = _bounds("minToolCalls", "maxToolCalls", lambda least, most: c.ToolCount(min=least, max=most))

_BUILDERS: dict[str, _Build] = {
    "toolsCalled": _names(c.ToolsCalled),
    "toolsAcceptable": _acceptable,
    "toolsNotCalled": _names(c.ToolsNotCalled),
    "toolParams": _params,
    "noToolErrors": _flag(c.NoToolErrors()),
    "responseNonEmpty": _flag(c.NonEmpty()),
    "responseContains": _each_text(c.Contains),
    "responseContainsAny": _each_group,
    "responseNotContains": _each_text(c.NotContains),
    "responseMatches": _each_pattern,
    "maxLatencyMs": _limit(lambda limit: c.Latency(max=limit), idle_at_0=True),
    "maxTokens": _limit(lambda limit: c.Tokens(max=limit), idle_at_0=True),
    "minLength": _length,
    "maxLength": _length,
    "jsonValid": _flag(c.Json()),
    "requiredKeys": _keys,
    "typeChecks": _types,
    "minToolCalls": _tool_count,
    "maxToolCalls": _tool_count,
    "maxCost": _limit(lambda limit: c.Cost(max=limit)),
    "regexPattern": _pattern,
    "copOutPhrases": _each_cop_out,
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
