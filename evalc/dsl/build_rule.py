"""From the fields of `{type, rule}` to a check: what each `type:` makes of its rule."""

from __future__ import annotations

from collections.abc import Callable

from evalc.diagnostics.catalogue.contract import NeedsValue
from evalc.diagnostics.catalogue.values import WrongType
from evalc.dsl.build_fields import parse_fields
from evalc.dsl.fields import Fields, described
from evalc.dsl.nodes import Node, Scalar, Sequence
from evalc.dsl.places import locate
from evalc.dsl.tree import CheckLeaf, Str
from evalc.grammar import nodes as g
from evalc.grammar.parse import RULE_TYPES, parse_rule
from evalc.source import Span

PARAM_OPS: tuple[g.ParamOp, ...] = ("equals", "contains", "oneOf", "exists", "notExists", "matches")


def build_rule(fields: Fields, type_: Str) -> CheckLeaf | None:
    """The check of one of the `CHECK_TYPES`; what is wrong with its rule is reported."""
    leaf = _BUILDERS[type_.value](fields, type_)
    return leaf if leaf is None or "at" not in fields else _at(fields, leaf)


def sound_check(type_: Str, rule: Str) -> CheckLeaf | None:
    """The check that a type and a text for its `rule:` are together; None where that is not all, or not right."""
    make = _OF_TEXT.get(type_.value)
    if make is not None:
        return _leaf(type_, make(atom(rule)))
    parse = parse_rule(type_.value, rule.value) if type_.value in RULE_TYPES else None
    if parse is None or parse.node is None or parse.faults:
        return None
    return CheckLeaf(span=rule.span, check=parse.node, origin=rule)


def keys_of(type_: str) -> tuple[str, ...]:
    """The keys beside `type:` that a check of this type has."""
    return (*_OWN_KEYS.get(type_, ("rule",)), *(("at",) if type_ in _TEXT_TYPES else ()))


def _at(fields: Fields, leaf: CheckLeaf) -> CheckLeaf | None:
    """The check of one place of a JSON response; the place is written as the fields of `structure` are."""
    fields.require("at")
    text = fields.filled("at")
    if text is None:
        return None
    lead = "fields:"
    parse = parse_fields(lead + text.value)
    for fault in parse.faults:
        start, end = (max(at - len(lead), 0) for at in (fault.start, fault.end))
        fields.fault(locate(fields.source, text.span, start, end), fault.finding)
    match parse.node:
        case g.Structure(fields=(g.HasField(path=path, type=None),)):
            at = g.At(start=leaf.check.start, end=leaf.check.end, path=path, check=leaf.check)
            return CheckLeaf(span=leaf.span, check=at, origin=leaf.origin)
        case None:
            return None
    fields.fault(
        text.span, WrongType(what="`at`", expected="one place such as `items[0].title`", found=f"`{text.value}`")
    )
    return None


def atom(text: Str) -> g.Text:
    """A text of the file as the grammar's own; its offsets count from the start of the source."""
    return g.Text(*text.span, text.value)


def _rule_list(fields: Fields) -> tuple[g.Text, ...] | None:
    fields.require("rule")
    texts = fields.all_texts("rule")
    return None if texts is None else tuple(map(atom, texts))


def _contains_any(fields: Fields, type_: Str) -> CheckLeaf | None:
    fields.forbid_empty("rule")
    texts = _rule_list(fields)
    return _leaf(type_, g.ContainsAny(start=type_.span.start, end=type_.span.end, texts=texts)) if texts else None


def _text_check(fields: Fields, type_: Str) -> CheckLeaf | None:
    rule = fields.written("rule")
    return None if rule is None else _leaf(type_, _OF_TEXT[type_.value](atom(rule)))


def _bare(make: Callable[[Span], g.Check]) -> Callable[[Fields, Str], CheckLeaf | None]:
    def build(_fields: Fields, type_: Str) -> CheckLeaf | None:
        return _leaf(type_, make(type_.span))

    return build


def _parsed_rule(fields: Fields, type_: Str) -> CheckLeaf | None:
    """The types whose rule is a small language of its own (`min:100`, `fields:title,content`)."""
    text = fields.written("rule")
    if text is None:
        return None
    parse = parse_fields(text.value) if type_.value == "structure" else parse_rule(type_.value, text.value)
    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    return None if parse.node is None else CheckLeaf(span=text.span, check=parse.node, origin=text)


def is_sound_rule(type_: str, rule: str) -> bool:
    """Whether a text is a rule of a type; of those without a small language of their own any text is."""
    if _BUILDERS[type_] is not _parsed_rule:
        return True
    return not (parse_fields(rule) if type_ == "structure" else parse_rule(type_, rule)).faults


def _tools(make: Callable[[Span, tuple[g.Text, ...]], g.Check]) -> Callable[[Fields, Str], CheckLeaf | None]:
    def build(fields: Fields, type_: Str) -> CheckLeaf | None:
        names = _rule_list(fields)
        return None if names is None else _leaf(type_, make(type_.span, names))

    return build


def _tools_acceptable(fields: Fields, type_: Str) -> CheckLeaf | None:
    fields.require("rule")
    return acceptable(fields, "rule", type_.span)


def acceptable(fields: Fields, key: str, span: Span) -> CheckLeaf | None:
    """The check that one of the tool sets of a list is the one called."""
    items = fields.items(key)
    if items is None:
        return None
    sets = tuple(names for names in (_tool_set(fields, item) for item in items) if names is not None)
    if len(sets) != len(items):
        return None
    return CheckLeaf(span=span, check=g.ToolsAcceptable(start=span.start, end=span.end, sets=sets))


def _tool_set(fields: Fields, item: Node) -> tuple[g.Text, ...] | None:
    if isinstance(item, Scalar) and item.text == "none":
        return ()
    if isinstance(item, Sequence):
        names = fields.together(item.items, "the name of a tool")
        if names is None:
            return None
        return () if [name.value for name in names] == ["__none__"] else tuple(map(atom, names))
    fields.fault(item, WrongType(what="a tool set", expected="a list of tools, or `none`", found=described(item)))
    return None


def _similar(fields: Fields, type_: Str) -> CheckLeaf | None:
    rule, threshold = fields.written("rule"), _numeral(fields, "threshold")
    if rule is None or (threshold is None and "threshold" in fields):
        return None
    text = atom(rule)
    return _leaf(type_, g.Similar(start=text.start, end=text.end, text=text, threshold=threshold))


def _judge(fields: Fields, type_: Str) -> CheckLeaf | None:
    for key, other in (("min", "scale"), ("scale", "min")):
        if other in fields and key not in fields:
            fields.require(key)
    rule, least, scale = fields.written("rule"), _numeral(fields, "min"), _numeral(fields, "scale")
    if rule is None or (least is None) is not (scale is None):
        return None
    question = atom(rule)
    return _leaf(type_, g.Judge(start=question.start, end=question.end, question=question, min=least, scale=scale))


def _numeral(fields: Fields, key: str) -> g.Number | None:
    if key in fields:
        fields.require(key)
    number = fields.number(key)
    return None if number is None else g.Number(start=number.span.start, end=number.span.end, value=number.value)


_PARAM_KEYS = ("tool", "param", "op", "value")


def _tool_param(fields: Fields, type_: Str) -> CheckLeaf | None:
    for key in ("tool", "param", "op"):
        fields.require(key)
    tool, param, op = fields.text("tool"), fields.text("param"), fields.choice("op", "operator", PARAM_OPS)
    if tool is None or param is None or op is None:
        return None
    return param_check(fields, type_.span, atom(tool), atom(param), op)


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
        values = fields.all_texts("value")
        if values is None:
            return None
        atoms = tuple(map(atom, values))
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
        span=span, check=g.ToolParam(start=start, end=end, tool=tool, param=param, op=name, value=atom(text))
    )


def _contains(text: g.Text) -> g.Check:
    return g.Contains(text.start, text.end, text)


_OF_TEXT: dict[str, Callable[[g.Text], g.Check]] = {
    "contains": _contains,
    "not_contains": lambda text: g.Not(text.start, text.end, _contains(text)),
    "icontains": lambda text: g.Contains(text.start, text.end, text, ignore_case=True),
    "equals": lambda text: g.Equals(text.start, text.end, text),
    "starts_with": lambda text: g.StartsWith(text.start, text.end, text),
}
"""The types whose rule is a text, as it stands."""


def _leaf(type_: Str, check: g.Check) -> CheckLeaf:
    return CheckLeaf(span=type_.span, check=check)


_BUILDERS: dict[str, Callable[[Fields, Str], CheckLeaf | None]] = {
    "contains": _text_check,
    "not_contains": _text_check,
    "icontains": _text_check,
    "contains_any": _contains_any,
    "regex": _parsed_rule,
    "length": _parsed_rule,
    "json": _parsed_rule,
    "structure": _parsed_rule,
    "equals": _text_check,
    "starts_with": _text_check,
    "non_empty": _bare(lambda span: g.NonEmpty(start=span.start, end=span.end)),
    "similar": _similar,
    "tools_called": _tools(lambda span, names: g.ToolsCalled(start=span.start, end=span.end, names=names)),
    "tools_acceptable": _tools_acceptable,
    "tools_not_called": _tools(lambda span, names: g.ToolsNotCalled(start=span.start, end=span.end, names=names)),
    "tool_count": _parsed_rule,
    "tool_param": _tool_param,
    "no_tool_errors": _bare(lambda span: g.NoToolErrors(start=span.start, end=span.end)),
    "latency": _parsed_rule,
    "tokens": _parsed_rule,
    "cost": _parsed_rule,
    "judge": _judge,
}
_OWN_KEYS: dict[str, tuple[str, ...]] = {
    "tool_param": _PARAM_KEYS,
    "non_empty": (),
    "no_tool_errors": (),
    "similar": ("rule", "threshold"),
    "judge": ("rule", "scale", "min"),
}
_TEXT_TYPES = frozenset(
    {
        "contains",
        "not_contains",
        "icontains",
        "contains_any",
        "regex",
        "length",
        "json",
        "structure",
        "equals",
        "starts_with",
        "non_empty",
        "similar",
    }
)
"""The types that are about a text, and so may be about one place of a JSON response."""
CHECK_TYPES = tuple(_BUILDERS)
"""Every `type:` that a check can have."""
