"""From an entry of `validate:` to a check: the one-line form, `{type, rule}`, or `any_of:` / `all_of:` / `not:`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from evalc.diagnostics.catalogue.contract import NeedsValue
from evalc.diagnostics.catalogue.names import MissingKey, UnknownCheck
from evalc.diagnostics.catalogue.syntax_yaml import ColonInString, CommaInString, CommentInString
from evalc.diagnostics.catalogue.values import EmptyValue, LinkInsideGroup, OutOfRange, WrongType
from evalc.dsl.fields import Fields, described
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.places import locate
from evalc.dsl.quoting import lost_to_comment, quoted_line, split_at_colon, split_at_comma
from evalc.dsl.tree import CheckBody, CheckGroup, CheckLeaf, CheckTree, Str
from evalc.grammar import nodes as g
from evalc.grammar.parse import RULE_TYPES, parse_check, parse_rule
from evalc.source import Span

GroupOp = Literal["any_of", "all_of", "not"]
_GROUPS: tuple[GroupOp, ...] = ("any_of", "all_of", "not")
_LINK_KEYS = ("criterion", "weight")
PARAM_OPS: tuple[g.ParamOp, ...] = ("equals", "contains", "oneOf", "exists", "notExists", "matches")


def build_checks(fields: Fields, key: str) -> tuple[CheckTree, ...]:
    """The checks of a list such as `validate:`; what is no check is reported and left out."""
    items = fields.items(key)
    if items is None:
        return ()
    if not items and not fields.partial:
        fields.fault(fields.key(key), EmptyValue(what=f"`{key}`"))
    torn = _report_commas(fields, key)
    if fields.is_cut(key):
        items = items[:-1]  # the syntax error that ended the list may have torn its last item
    whole = (item for item in items if not any(span.start <= item.start < span.end for span in torn))
    built = (build_check(fields, item) for item in whole)
    return tuple(check for check in built if check is not None)


def _report_commas(fields: Fields, key: str) -> tuple[Span, ...]:
    """The stretches of `[contains "a, b"]` that YAML tore apart, each reported once."""
    node = fields.node(key)
    torn = split_at_comma(fields.source, node) if isinstance(node, Sequence) else ()
    for span in torn:
        fields.fault(span, CommaInString(quoted=quoted_line(fields.source.text[span.start : span.end])))
    return torn


def build_check(fields: Fields, item: Node) -> CheckTree | None:
    """One entry of `validate:` with what it counts for."""
    match item:
        case Scalar():
            return _one_line(fields, item)
        case Mapping():
            return _linked(fields, item)
        case Sequence():
            fields.fault(item, WrongType(what="a check", expected="a line or a mapping", found="a list"))
            return None


def _one_line(fields: Fields, item: Scalar) -> CheckTree | None:
    text = fields.text_of(item, "a check")
    if text is None:
        return None
    lost = lost_to_comment(fields.source, item)
    if lost is not None:
        raw = fields.source.text[item.start : lost.end]
        fields.fault(lost, CommentInString(quoted=quoted_line(raw)))
        return None
    parse = parse_check(text.value)
    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    line = parse.node
    if line is None:
        return None
    criterion = None
    if line.criterion is not None:
        span = locate(fields.source, text.span, line.criterion.start, line.criterion.end)
        criterion = Str(line.criterion.value, span)
    leaf = CheckLeaf(span=text.span, check=line.check, origin=text)
    return CheckTree(span=text.span, body=leaf, criterion=criterion)


def _linked(fields: Fields, item: Mapping) -> CheckTree | None:
    inner = _fields_of_check(fields, item, _LINK_KEYS)
    if inner is None:
        return None
    body = _mapped(inner)
    weight = inner.number("weight")
    if weight is not None and not 0 <= weight.value < float("inf"):
        inner.fault(weight.span, OutOfRange(what="the weight", value=str(weight.value), allowed="0 or more"))
        weight = None
    criterion = inner.text("criterion")
    fields.partial |= inner.partial
    if body is None:
        return None
    return CheckTree(span=body.span, body=body, criterion=criterion, weight=1 if weight is None else weight.value)


def _within_group(fields: Fields, item: Node) -> CheckBody | None:
    """A check within a group, where neither `for` nor `criterion` may stand."""
    if isinstance(item, Mapping):
        inner = _fields_of_check(fields, item, ())
        body = None if inner is None else _mapped(inner)
        fields.partial |= inner is None or inner.partial
        return body
    tree = build_check(fields, item)
    if tree is None:
        return None
    if tree.criterion is not None:
        fields.fault(tree.criterion.span, LinkInsideGroup())
        return None
    return tree.body


def _fields_of_check(fields: Fields, item: Mapping, link_keys: tuple[str, ...]) -> Fields | None:
    """The fields of a check's mapping, with the keys that its type has; None when it is no check at all."""
    by_key = {key.text: value for key, value in item.pairs}
    type_ = by_key.get("type")
    if type_ is not None:
        name = fields.text_of(type_, "`type`")
        if name is None:
            return None
        if name.value not in _BUILDERS:
            fields.fault(name.span, UnknownCheck(name=name.value, known=CHECK_TYPES))
            return None
        own = _OWN_KEYS.get(name.value, ("rule",))
        return fields.inside(item, what=f"a `{name.value}` check", keys=("type", *own, *link_keys))
    op = next((op for op in _GROUPS if op in by_key), None)
    if op is not None:
        return fields.inside(item, what=f"an `{op}` check", keys=(op, *link_keys))
    trap = split_at_colon(fields.source, item)
    if trap is not None:
        fields.fault(trap, ColonInString(quoted=quoted_line(fields.source.text[trap.start : trap.end])))
    else:
        why = 'a check is a line such as `contains "x"`, or a mapping with `type:`'
        fields.fault(item.pairs[0][0] if item.pairs else item, MissingKey(key="type", what="a check", why=why))
    return None


def _mapped(inner: Fields) -> CheckBody | None:
    """The check that a mapping of a known form means."""
    for op in _GROUPS:
        if op in inner:
            return _group(inner, op)
    type_ = inner.text("type")
    return None if type_ is None else _BUILDERS[type_.value](inner, type_)


def _group(inner: Fields, op: GroupOp) -> CheckBody | None:
    node = inner.node(op)
    if node is None or (isinstance(node, Sequence) and not node.items):
        inner.fault(inner.key(op), EmptyValue(what=f"`{op}`"))
        return None
    if isinstance(node, Sequence):
        nodes = node.items
    elif op == "not":
        nodes = (node,)
    else:
        inner.fault(node, WrongType(what=f"`{op}`", expected="a list of checks", found=described(node)))
        return None
    bodies = tuple(body for body in (_within_group(inner, child) for child in nodes) if body is not None)
    if len(bodies) != len(nodes):
        return None
    if op == "not" and len(bodies) > 1:
        bodies = (CheckGroup(span=inner.anchor, op="all_of", items=bodies),)
    return CheckGroup(span=inner.anchor, op=op, items=bodies)


# --- {type, rule} --------------------------------------------------------------------------------------------------


def _rule(fields: Fields) -> Str | None:
    """The `rule:`, taken as it was written."""
    fields.require("rule")
    return fields.written("rule")


def _atom(text: Str) -> g.Text:
    return g.Text(start=text.span.start, end=text.span.end, value=text.value)


def _rule_list(fields: Fields) -> tuple[g.Text, ...] | None:
    fields.require("rule")
    texts = fields.texts("rule")
    return None if texts is None else tuple(map(_atom, texts))


def _contains(fields: Fields, type_: Str) -> CheckLeaf | None:
    rule = _rule(fields)
    if rule is None:
        return None
    text = _atom(rule)
    contains = g.Contains(start=text.start, end=text.end, text=text, ignore_case=type_.value == "icontains")
    if type_.value == "not_contains":
        return _leaf(type_, g.Not(start=text.start, end=text.end, check=contains))
    return _leaf(type_, contains)


def _contains_any(fields: Fields, type_: Str) -> CheckLeaf | None:
    texts = _rule_list(fields)
    if texts is None:
        return None
    if not texts:
        fields.fault(fields.key("rule"), EmptyValue(what="the list of `contains_any`"))
        return None
    return _leaf(type_, g.ContainsAny(start=texts[0].start, end=texts[-1].end, texts=texts))


def _text_check(make: Callable[[g.Text], g.Check]) -> Callable[[Fields, Str], CheckLeaf | None]:
    def build(fields: Fields, type_: Str) -> CheckLeaf | None:
        rule = _rule(fields)
        return None if rule is None else _leaf(type_, make(_atom(rule)))

    return build


def _bare(make: Callable[[Span], g.Check]) -> Callable[[Fields, Str], CheckLeaf | None]:
    def build(_fields: Fields, type_: Str) -> CheckLeaf | None:
        return _leaf(type_, make(type_.span))

    return build


def _parsed_rule(fields: Fields, type_: Str) -> CheckLeaf | None:
    """The types whose rule is a small language of its own (`min:100`, `fields:title,content`)."""
    text = _rule(fields)
    if text is None:
        return None
    parse = parse_rule(type_.value, text.value)
    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    return None if parse.node is None else CheckLeaf(span=type_.span, check=parse.node, origin=text)


def _tools(make: Callable[[Span, tuple[g.Text, ...]], g.Check]) -> Callable[[Fields, Str], CheckLeaf | None]:
    def build(fields: Fields, type_: Str) -> CheckLeaf | None:
        names = _rule_list(fields)
        return None if names is None else _leaf(type_, make(type_.span, names))

    return build


def _tools_acceptable(fields: Fields, type_: Str) -> CheckLeaf | None:
    fields.require("rule")
    items = fields.items("rule")
    if items is None:
        return None
    sets = tuple(_tool_set(fields, item) for item in items)
    span = type_.span
    return _leaf(type_, g.ToolsAcceptable(start=span.start, end=span.end, sets=sets))


def _tool_set(fields: Fields, item: Node) -> tuple[g.Text, ...]:
    if isinstance(item, Scalar) and item.text == "none":
        return ()
    if isinstance(item, Sequence):
        names = tuple(map(_atom, fields.each_text(item.items, "the name of a tool")))
        return () if [name.value for name in names] == ["__none__"] else names
    fields.fault(item, WrongType(what="a tool set", expected="a list of tools, or `none`", found=described(item)))
    return ()


_PARAM_KEYS = ("tool", "param", "op", "value")


def _tool_param(fields: Fields, type_: Str) -> CheckLeaf | None:
    for key in ("tool", "param", "op"):
        fields.require(key)
    tool, param, op = fields.text("tool"), fields.text("param"), fields.choice("op", "operator", PARAM_OPS)
    if tool is None or param is None or op is None:
        return None
    return param_check(fields, type_.span, _atom(tool), _atom(param), op)


def param_check(fields: Fields, span: Span, tool: g.Text, param: g.Text, op: Str) -> CheckLeaf | None:
    """The check of one tool parameter, its `value` taken from the fields as the operator wants it."""
    start, end = span
    name = next(known for known in PARAM_OPS if known == op.value)
    if name in ("exists", "notExists"):
        return CheckLeaf(span=span, check=g.ToolParam(start=start, end=end, tool=tool, param=param, op=name))
    if "value" not in fields:
        fields.fault(op.span, NeedsValue(assertion=name, wants="wants a `value`"))
        return None
    if name == "oneOf":
        values = fields.texts("value")
        if values is None:
            return None
        atoms = tuple(map(_atom, values))
        return CheckLeaf(
            span=span, check=g.ToolParam(start=start, end=end, tool=tool, param=param, op=name, values=atoms)
        )
    text = fields.written("value")
    if text is None:
        return None
    if name == "matches":
        regexp = g.Regexp(start=text.span.start, end=text.span.end, pattern=text.value, pattern_at=0, literal=False)
        return CheckLeaf(
            span=span, check=g.ToolParam(start=start, end=end, tool=tool, param=param, op=name, regexp=regexp)
        )
    return CheckLeaf(
        span=span, check=g.ToolParam(start=start, end=end, tool=tool, param=param, op=name, value=_atom(text))
    )


def _leaf(type_: Str, check: g.Check) -> CheckLeaf:
    return CheckLeaf(span=type_.span, check=check)


_BUILDERS: dict[str, Callable[[Fields, Str], CheckLeaf | None]] = {
    "contains": _contains,
    "not_contains": _contains,
    "icontains": _contains,
    "contains_any": _contains_any,
    "equals": _text_check(lambda text: g.Equals(start=text.start, end=text.end, text=text)),
    "starts_with": _text_check(lambda text: g.StartsWith(start=text.start, end=text.end, text=text)),
    "non_empty": _bare(lambda span: g.NonEmpty(start=span.start, end=span.end)),
    **dict.fromkeys(RULE_TYPES, _parsed_rule),
    "tools_called": _tools(lambda span, names: g.ToolsCalled(start=span.start, end=span.end, names=names)),
    "tools_acceptable": _tools_acceptable,
    "tools_not_called": _tools(lambda span, names: g.ToolsNotCalled(start=span.start, end=span.end, names=names)),
    "tool_param": _tool_param,
    "no_tool_errors": _bare(lambda span: g.NoToolErrors(start=span.start, end=span.end)),
}
_OWN_KEYS: dict[str, tuple[str, ...]] = {"tool_param": _PARAM_KEYS, "non_empty": (), "no_tool_errors": ()}
CHECK_TYPES = tuple(_BUILDERS)
"""Every `type:` that a check can have."""
