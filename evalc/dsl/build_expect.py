"""From an `expect:` block, which has the JSON's own field names, to the same checks that `validate:` holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evalc.diagnostics.catalogue.values import WrongType
from evalc.dsl.build_check import PARAM_OPS, param_check
from evalc.dsl.fields import Fields, described
from evalc.dsl.nodes import Mapping, Sequence, span_of
from evalc.dsl.tree import CheckLeaf, CheckTree, Num, Str
from evalc.grammar import nodes as g
from evalc.source import Span

_Build = Callable[[Fields, str], Iterator[CheckLeaf]]


def build_expect(fields: Fields) -> tuple[CheckTree, ...]:
    """The checks of a case's `expect:`, in the order in which they are written."""
    block = fields.mapping("expect")
    if block is None:
        return ()
    inner = fields.inside(block, what="`expect`", keys=EXPECT_KEYS)
    leaves = [leaf for key, _ in block.pairs if key.text in _BUILDERS for leaf in _BUILDERS[key.text](inner, key.text)]
    fields.partial |= inner.partial
    return tuple(CheckTree(span=leaf.span, body=leaf) for leaf in leaves)


def _each_text(make: Callable[[g.Text], g.Check]) -> _Build:
    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        for text in fields.texts(key) or ():
            yield CheckLeaf(span=text.span, check=make(_atom(text)))

    return build


def _each_group(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for item in fields.items(key) or ():
        if not isinstance(item, Sequence):
            fault = WrongType(what=f"a group of `{key}`", expected="a list of texts", found=described(item))
            fields.fault(item, fault)
            continue
        texts = tuple(map(_atom, fields.each_text(item.items, "a synonym")))
        span = span_of(item)
        yield CheckLeaf(span=span, check=g.ContainsAny(start=span.start, end=span.end, texts=texts))


def _each_pattern(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for text in fields.texts(key) or ():
        start, end = text.span
        regexp = g.Regexp(start=start, end=end, pattern=text.value, pattern_at=0, literal=False)
        yield CheckLeaf(span=text.span, check=g.Matches(start=start, end=end, regexp=regexp))


def _names(make: Callable[[Span, tuple[g.Text, ...]], g.Check]) -> _Build:
    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        names = fields.texts(key)
        if names is not None:
            span = span_of(fields.key(key))
            yield CheckLeaf(span=span, check=make(span, tuple(map(_atom, names))))

    return build


def _acceptable(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    items = fields.items(key)
    if items is None:
        return
    sets: list[tuple[g.Text, ...]] = []
    for item in items:
        if not isinstance(item, Sequence):
            fields.fault(item, WrongType(what="a tool set", expected="a list of tools", found=described(item)))
            continue
        names = tuple(map(_atom, fields.each_text(item.items, "the name of a tool")))
        sets.append(() if [name.value for name in names] == ["__none__"] else names)
    span = span_of(fields.key(key))
    yield CheckLeaf(span=span, check=g.ToolsAcceptable(start=span.start, end=span.end, sets=tuple(sets)))


def _params(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    for item in fields.items(key) or ():
        if not isinstance(item, Mapping):
            fault = WrongType(what=f"an entry of `{key}`", expected="a mapping", found=described(item))
            fields.fault(item, fault)
            continue
        inner = fields.inside(item, what=f"an entry of `{key}`", keys=("tool", "paramName", "assertion", "value"))
        for required in ("tool", "paramName", "assertion"):
            inner.require(required)
        tool, param = inner.text("tool"), inner.text("paramName")
        op = inner.choice("assertion", "parameter assertion", PARAM_OPS)
        leaf = None
        if tool is not None and param is not None and op is not None:
            leaf = param_check(inner, inner.anchor, _atom(tool), _atom(param), op)
        fields.partial |= inner.partial
        if leaf is not None:
            yield leaf


def _flag(make: Callable[[Span], g.Check]) -> _Build:
    """A field that asserts something when it is true; `false` asserts nothing."""

    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        if fields.boolean(key):
            span = span_of(fields.key(key))
            yield CheckLeaf(span=span, check=make(span))

    return build


def _limit(make: Callable[[Span, g.Number], g.Check], *, whole: bool) -> _Build:
    """A field that holds one limit; 0 asserts nothing."""

    def build(fields: Fields, key: str) -> Iterator[CheckLeaf]:
        limit: Num | None = fields.integer(key) if whole else fields.number(key)
        if limit is not None:
            span = span_of(fields.key(key))
            number = g.Number(start=limit.span.start, end=limit.span.end, value=limit.value)
            yield CheckLeaf(span=span, check=make(span, number))

    return build


def _json(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    if fields.boolean(key):
        span = span_of(fields.key(key))
        yield CheckLeaf(span=span, check=g.Json(start=span.start, end=span.end))


def _keys(fields: Fields, key: str) -> Iterator[CheckLeaf]:
    names = fields.texts(key)
    if not names:
        return
    span = span_of(fields.key(key))
    has = tuple(
        g.HasField(
            start=name.span.start,
            end=name.span.end,
            path=g.Path(start=name.span.start, end=name.span.end, steps=(name.value,), text=name.value),
        )
        for name in names
    )
    yield CheckLeaf(span=span, check=g.Structure(start=span.start, end=span.end, fields=has))


def _atom(text: Str) -> g.Text:
    return g.Text(start=text.span.start, end=text.span.end, value=text.value)


def _contains(text: g.Text) -> g.Check:
    return g.Contains(start=text.start, end=text.end, text=text)


def _not_contains(text: g.Text) -> g.Check:
    return g.Not(start=text.start, end=text.end, check=_contains(text))


_BUILDERS: dict[str, _Build] = {
    "toolsCalled": _names(lambda span, names: g.ToolsCalled(start=span.start, end=span.end, names=names)),
    "toolsAcceptable": _acceptable,
    "toolsNotCalled": _names(lambda span, names: g.ToolsNotCalled(start=span.start, end=span.end, names=names)),
    "toolParams": _params,
    "noToolErrors": _flag(lambda span: g.NoToolErrors(start=span.start, end=span.end)),
    "responseNonEmpty": _flag(lambda span: g.NonEmpty(start=span.start, end=span.end)),
    "responseContains": _each_text(_contains),
    "responseContainsAny": _each_group,
    "responseNotContains": _each_text(_not_contains),
    "responseMatches": _each_pattern,
    "maxLatencyMs": _limit(lambda span, n: g.Latency(start=span.start, end=span.end, max=n), whole=False),
    "maxTokens": _limit(lambda span, n: g.Tokens(start=span.start, end=span.end, max=n), whole=False),
    "minLength": _limit(lambda span, n: g.Length(start=span.start, end=span.end, min=n), whole=True),
    "maxLength": _limit(lambda span, n: g.Length(start=span.start, end=span.end, max=n), whole=True),
    "jsonValid": _json,
    "requiredKeys": _keys,
    "minToolCalls": _limit(lambda span, n: g.ToolCount(start=span.start, end=span.end, min=n), whole=True),
    "maxToolCalls": _limit(lambda span, n: g.ToolCount(start=span.start, end=span.end, max=n), whole=True),
    "maxCost": _limit(lambda span, n: g.Cost(start=span.start, end=span.end, max=n), whole=False),
}
EXPECT_KEYS = tuple(_BUILDERS)
"""The fields that `expect:` may have in YAML: the JSON's, but for `checks`, which `validate:` is there for."""
