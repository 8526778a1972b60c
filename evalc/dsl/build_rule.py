"""Builds checks written as `{type, rule}`: each `type:` is a shape, whose keys make the record of the check."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from typing import Any, Final, get_args

from evalc.check.forms import Record, check_of, tests_of
from evalc.check.predicates import texts_of
from evalc.check.tree import At, Of, Test
from evalc.diagnostics import Fault, Finding
from evalc.dsl import kinds as k
from evalc.dsl import operands as o
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, is_cut
from evalc.dsl.places import locate
from evalc.dsl.read_json import half_characters
from evalc.dsl.tree import CheckLeaf, Str
from evalc.dsl.walk import Fields
from evalc.grammar import nodes as g
from evalc.grammar.nodes import MAX_DIGITS, Parsed, ReadCheck
from evalc.grammar.parse import RULE_TYPES, parse_rule
from evalc.model.case import ParamAssertion

PARAM_OPS: Final[tuple[ParamAssertion, ...]] = get_args(ParamAssertion)
_WITHOUT_VALUE: Final = ("exists", "notExists")
_QUANTIFIERS: Final = ("any", "every", "no")
_SOURCES: Final = ("tools", "message")
_LEAD: Final = "fields:"
_NAMES: Final[k.Schema] = {"type": "array", "items": k.text()}
_NUMERAL: Final = o.Operand({"type": "number"}, o.take_number)
_TEXT: Final = o.Operand(k.text(), o.take_text, null=o.WRITTEN)
_TEXTS: Final = o.Operand(_NAMES, o.take_texts)
_JSON: Final = o.Operand(k.anything(), o.take_json, null=None)


def _parse(type_: str, rule: str) -> Parsed[ReadCheck]:
    """The parse of a rule; keys of fields in quotes are JSON."""
    parse = parse_rule(type_, rule)
    match parse.node:
        case ReadCheck(check=Test("structure", (_, ()))) if '["' in rule:
            halves = tuple(half_characters(rule, 0, len(rule)))
            return Parsed(None, halves) if halves else parse
        case _:
            return parse


# --- rules and places ------------------------------------------------------------------------------------------------


def is_sound_rule(type_: str, rule: str) -> bool:
    """Whether a text is a rule of a type; any text is one for types without a small language of their own."""
    return type_ not in RULE_TYPES or not _parse(type_, rule).faults


def _parsed(type_: str) -> o.Operand:
    """A rule that is a small language of its own (`min:100`, `fields:title,content`): the check that it means."""

    def taken(fields: Fields, node: Node, what: str, _places: o.Places) -> CheckLeaf | None:
        rule = fields.text_of(node, what)
        if rule is None:
            return None
        parse = _parse(type_, rule.value)
        for fault in parse.faults:
            fields.fault(locate(fields.source, rule.span, fault.start, fault.end), fault.finding)
        line = parse.node
        return None if line is None else CheckLeaf(rule.at, check=line.check, places=line.places, line=rule.value)

    return o.Operand(k.text(), taken, null=o.WRITTEN)


def _filled(fields: Fields, node: Node, what: str, places: o.Places) -> list[str] | None:
    return o.take_texts(fields, node, what, places) or None


def _sources(fields: Fields, node: Node, what: str, _places: o.Places) -> list[str] | None:
    items = (node,) if isinstance(node, Scalar) else fields.items_of(node, what) or ()
    read = [each.text for each in items if o.take_text(fields, each, f"an item of {what}", []) is not None]
    if len(read) < len(items) or is_cut(node):
        return None
    for index, source in enumerate(read):
        if source not in _SOURCES:
            finding = Finding("EV301", what=what, expected="`tools` or `message`", found=f"`{source}`")
        elif source in read[:index]:
            finding = Finding("EV206", what="source", name=source)
        else:
            continue
        fields.fault(items[index], finding)
        return None
    return read or None


def _place(fields: Fields, node: Node, what: str, _places: o.Places) -> g.Text | None:
    """The path that `at:` names, written as the fields of `structure` are, and its place."""
    text = fields.text_of(node, what)
    if text is None:
        return None
    if not text.value.strip():
        fields.fault(text.span, Finding("EV309", what=what))
        return None
    place, faults = _path(fields, text)
    for fault in faults:
        start, end = (max(at - len(_LEAD), 0) for at in (fault.start, fault.end))
        fields.fault(locate(fields.source, text.span, start, end), fault.finding)
    if place is None and not faults:
        expected = "one place such as `items[0].title`"
        fields.fault(text.span, Finding("EV301", what=what, expected=expected, found=f"`{text.value}`"))
    return place


def _path(fields: Fields, text: Str) -> tuple[g.Text | None, tuple[Fault, ...]]:
    """The path that a text is, at its place; reports a spelling that meant another path in earlier versions."""
    parse = _parse("structure", _LEAD + text.value)
    match parse.node:
        case ReadCheck(check=Test("structure", (((path, None),), ()))):
            if path != text.value.strip():
                fields.warn(text.span, Finding("EV436", why="path"))
            return g.Text(*text.span, str(path)), ()
        case _:
            return None, parse.faults


# --- arguments of calls ----------------------------------------------------------------------------------------------


def param_record(fields: Fields, given: Record, by_key: o.Keys, places: o.Places) -> Record | None:
    """The record of the check of one parameter, whose `value` is read as the operator wants it."""
    operator: Str = given["assertion"]
    record = {**given, "assertion": operator.value}
    if operator.value in _WITHOUT_VALUE:
        return record
    if "value" not in by_key:
        fields.fault(operator.span, Finding("EV414", assertion=operator.value, wants="needs a `value`"))
        return None
    value = (_TEXTS if operator.value == "oneOf" else _TEXT).of_key(fields, *by_key["value"], places)
    return None if value in (None, o.WRONG) else {**record, "value": value}


def _which(fields: Fields, node: Node, what: str, _places: o.Places) -> str | int | None:
    """The call that is meant."""
    text = fields.text_of(node, what)
    if text is None:
        return None
    if text.value in _QUANTIFIERS:
        return text.value
    if text.value.isascii() and text.value.isdecimal() and int(text.value[:MAX_DIGITS]) > 0:
        return int(text.value[:MAX_DIGITS])
    expected = "`any`, `every`, `no` or a number from 1"
    fields.fault(text.span, Finding("EV301", what=what, expected=expected, found=f"`{text.value}`"))
    return None


def _args(fields: Fields, node: Node, what: str, places: o.Places) -> Any:
    """The tests of arguments, by their paths."""
    if not isinstance(node, Mapping):
        return fields.wrong(node, what, "a mapping from arguments to values")
    args: Record = {}
    is_whole = bool(node.pairs)
    for name, value in node.pairs:
        path, own = _argument(fields, name), o.Places()
        test = _arg_test(fields, name, value, own)
        if path is None or test is None:
            is_whole = False
            continue
        args[path.value] = test
        for each in tests_of(test):  # the path stands before each of them
            size = len(texts_of(each))
            places += (path, *own[:size])
            own = own[size:]
    return args if is_whole else None


def _argument(fields: Fields, name: Scalar) -> g.Text | None:
    """The path of an argument, which is a key of `args:`."""
    path, _ = _path(fields, Str(name.at, name.text))
    if path is None:
        expected, found = "a path such as `city` or `units.temperature`", f"`{name.text}`"
        fields.fault(name, Finding("EV301", what="an argument", expected=expected, found=found))
    return path


def _arg_test(fields: Fields, name: Scalar, node: Node, places: o.Places) -> Any:
    """The test of one argument: a value that it equals, or a mapping of tests."""
    what = f"the test of `{name.text}`"
    match node:
        case Mapping(pairs=()):
            fields.fault(node, Finding("EV309", what=what))
        case Mapping():
            return _ARGUMENT.taken(fields, node, what, places)
        case Scalar(text="", style="plain"):
            fields.fault(name, Finding("EV309", what=what))
        case _:
            return {"equals": o.take_json(fields, node, what, places)}
    return None


def _values(fields: Fields, node: Node, what: str, places: o.Places) -> list[Any] | None:
    items = fields.items_of(node, what)
    return None if items is None else [o.take_json(fields, item, "", places) for item in items]


_ARGUMENT: Final = o.Operands(
    "",
    {
        "equals": k.Key(_JSON, "The value that the argument equals, of any type."),
        "contains": k.Key(o.Operand(k.text(), o.take_text), "A text in it, or an item of it.", ("Par",)),
        "matches": k.Key(o.Operand(k.text(), o.take_text), "A pattern that it matches.", ("^P",)),
        "one_of": k.Key(
            o.Operand({"type": ["array", "null"]}, _values),
            "The values, one of which it must equal.",
            (["EUR", "USD"],),
            into="oneOf",
        ),
        "exists": k.Key(o.Operand(k.flag(), o.of_kind(k.FLAG)), "Whether it was sent."),
        "min": k.Key(o.Operand(k.number(), o.take_number), "The least number that it is.", (1,)),
        "max": k.Key(o.Operand(k.number(), o.take_number), "The greatest number that it is.", (3,)),
    },
    lambda fields, given, _pairs, _places: None if fields.partial else given,
    title="argument",
    narrow={"minProperties": 1},
)
"""The tests of an argument of a call."""


# --- the types -------------------------------------------------------------------------------------------------------


def _judge(_fields: Fields, given: Record, _pairs: o.Keys, places: o.Places) -> Record | None:
    if ("minScore" in given) is not ("maxScore" in given):
        return None
    places.insert(0, places[0])  # what the question is called by is made of it
    return {"dimension": "", "minScore": 1, "maxScore": 1, **given}


def typed_check(fields: Fields, type_: Scalar, by_key: o.Keys) -> CheckLeaf | None:
    """The check of a mapping of a type, read from its keys; None if it is wrong, which is reported."""
    places: o.Places = []
    given = CHECKS[type_.text].of_keys(fields, by_key, places)
    if given is None:
        return None
    at: g.Text | None = given.pop("at", None)
    leaf: CheckLeaf | None = given.get("rule")
    if leaf is None:
        given["type"] = type_.text
        leaf = CheckLeaf(type_.at, check=check_of(given), places=tuple(places))
    if at is None:
        return leaf
    here = at if leaf.line is None else g.Text(0, 0, at.value)
    check = Of(At(at.value), leaf.check)
    return CheckLeaf(leaf.at, check=check, places=(here, *leaf.places), line=leaf.line)


def _rule(holds: o.Operand, *examples: Any, into: str = "") -> k.Key:
    return k.Key(holds, "What the check compares with.", examples, required=True, into=into)


def _of(rule: o.Operand, *examples: Any, into: str = "", at: bool = True, **others: k.Key) -> o.Operands:
    """A type with a rule, and perhaps other keys; with `at`, its check can be asked of one place."""
    return o.Operands("", {"rule": _rule(rule, *examples, into=into), **others, **(_AT if at else {})})


def operator(called: str) -> o.Operand:
    """An operator that compares a parameter, which messages call `called`."""
    return o.Operand({"enum": [*PARAM_OPS]}, o.of_kind(k.Choice(PARAM_OPS, called=called)))


def value_by(key: str) -> k.Schema:
    """The schema of `value` by the operator that is under a key: a list, anything, or a text."""
    return {
        "if": {"properties": {key: {"const": "oneOf"}}},
        "then": {"required": ["value"], "properties": {"value": k.list_of(k.text())}},
        "else": {
            "if": {"properties": {key: {"enum": [*_WITHOUT_VALUE]}}},
            "else": {"required": ["value"], "properties": {"value": k.text()}},
        },
    }


_FROM: Final = o.Operand(
    k.any_of(k.choice(_SOURCES), k.filled_list_of(k.choice(_SOURCES))), _sources, filled=(Sequence,)
)
_NAME: Final = o.Operand({"type": ["string", "number", "boolean"]}, o.take_text)
_AT: Final = {
    "at": k.Key(
        o.Operand(k.filled(), _place),
        "The place of a JSON response that is looked at; by default the whole.",
        ("items[0].title",),
    )
}
_ARGUMENTS: Final = k.any_of({"type": ["string", "number", "boolean", "array", "null"]}, _ARGUMENT.definition())
_TOOL: Final = k.Key(_NAME, "The tool whose first call is looked at.", ("get_weather",), required=True)
PARAM: Final = {
    "tool": _TOOL,
    "param": k.Key(_NAME, "The parameter of that call.", ("city",), required=True, into="paramName"),
    "op": k.Key(operator("operator"), "How the parameter is compared.", required=True, into="assertion"),
    "value": k.Key(
        k.Kind(k.any_of(k.text(), k.list_of(k.text()))),
        "What the parameter is compared with; a list for `oneOf`.",
        kept=True,  # `param_record` reads it
    ),
}
"""The keys of a check of one parameter."""
CHECKS: Final[AnyMapping[str, o.Operands]] = {
    "contains": _of(_TEXT, "type hint", into="value"),
    "not_contains": _of(_TEXT, "I don't know", into="value"),
    "icontains": _of(_TEXT, "refund", into="value"),
    "contains_any": _of(
        o.Operand(k.filled_list_of(k.text()), _filled, filled=(Sequence,)), ["rain", "umbrella"], into="values"
    ),
    "regex": _of(_parsed("regex"), "/^def .*:/m"),
    "equals": _of(_TEXT, "42", into="value"),
    "starts_with": _of(_TEXT, "Dear", into="value"),
    "ends_with": _of(_TEXT, "Best regards", into="value"),
    "non_empty": o.Operands("", _AT),
    "length": _of(_parsed("length"), "min:100", "max:2000", "min:20,max:80 words"),
    "similar": _of(
        _TEXT, into="value", threshold=k.Key(_NUMERAL, "The least likeness that passes, from 0 to 1.", (0.8,))
    ),
    "json": _of(_parsed("json"), "strict", "lenient", "object", "array", "schema:answer.schema.json"),
    "structure": _of(
        _parsed("structure"),
        "fields:title,content",
        "fields:meta.title:string,items[].id:number",
        "headings:Summary,Risks",
    ),
    "number": _of(_parsed("number"), "min:18", "min:0,max:1", 30),
    "count": _of(_parsed("count"), "min:2,max:5", 3),
    "value": _of(_JSON, 30, True, [1, 2], into="value"),
    "numbers_from": _of(_FROM, "tools", ["tools", "message"], into="sources"),
    "quotes_from": _of(_FROM, "tools", ["tools", "message"], into="sources"),
    "tools_called": _of(_TEXTS, ["get_weather"], [], into="names", at=False),
    "tools_acceptable": _of(
        o.Operand({"type": "array", "items": k.any_of({"const": "none"}, _NAMES)}, o.take_sets),
        [["get_weather"], ["get_weather", "get_forecast"], "none"],
        into="sets",
        at=False,
    ),
    "tools_not_called": _of(_TEXTS, ["delete_account"], into="names", at=False),
    "tools_include": _of(_TEXTS, ["search", "search", "book"], into="names", at=False),
    "tools_in_order": _of(_TEXTS, ["search", "book"], into="names", at=False),
    "tools_only": _of(_TEXTS, ["search", "book"], into="names", at=False),
    "tool_param": o.Operands("", PARAM, param_record, narrow=value_by("op")),
    "call_has": o.Operands(
        "",
        {
            "tool": _TOOL,
            "which": k.Key(
                o.Operand(k.any_of({"enum": [*_QUANTIFIERS]}, {"type": "integer", "minimum": 1}), _which),
                "Which of the tool's calls is meant; by default any one.",
                ("every", 2),
            ),
            "args": k.Key(
                o.Operand(
                    {"type": "object", "minProperties": 1, "additionalProperties": _ARGUMENTS},
                    _args,
                    filled=(Sequence, Mapping),
                ),
                "What the arguments are: each a value that it equals, or a mapping of tests.",
                ({"city": "Paris", "days": {"min": 1, "max": 3}},),
                required=True,
            ),
        },
    ),
    "no_tool_errors": o.Operands("", {}),
    "tool_count": _of(_parsed("tool_count"), "min:1,max:3", at=False),
    "latency": _of(_parsed("latency"), "30s", "500ms", at=False),
    "tokens": _of(_parsed("tokens"), 500, at=False),
    "cost": _of(_parsed("cost"), "$0.02", at=False),
    "judge": o.Operands(
        "",
        {
            "rule": _rule(_TEXT, "Is the tone kind?", into="criteria"),
            "scale": k.Key(_NUMERAL, "The best score that the judge can give.", (5,), into="maxScore"),
            "min": k.Key(_NUMERAL, "The least score that passes.", (4,), into="minScore"),
        },
        _judge,
        narrow={"dependentRequired": {"min": ["scale"], "scale": ["min"]}},
    ),
}
"""Every `type:` that a check can have, with its keys."""
CHECK_TYPES: Final = tuple(CHECKS)
TEXT_TYPES: Final = {"regex", "contains_any"} | {
    type_ for type_, shape in CHECKS.items() if "rule" in shape.keys and shape.keys["rule"].holds is _TEXT
}
"""The types whose rule is a text, or may be one."""
