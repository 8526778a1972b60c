"""Builds checks written as `{type, rule}`: each `type:` is a shape, whose keys make the record of the check."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from typing import Any, Final, get_args

from evalc.base.source import Span
from evalc.check.forms import Record, check_of
from evalc.check.places import Placed
from evalc.check.tree import At, Of, Test
from evalc.diagnostics.problem import Finding
from evalc.dsl import kinds as k
from evalc.dsl.nodes import Mapping, Node, Scalar, span_of
from evalc.dsl.operands import Json, Numeral, Text, Written, leaf_of, number_at, placed_value, sets_of_tools, texts
from evalc.dsl.places import locate
from evalc.dsl.read_json import half_characters
from evalc.dsl.tree import CheckLeaf, Str
from evalc.dsl.walk import Fields
from evalc.grammar import nodes as g
from evalc.grammar.atoms import MAX_DIGITS
from evalc.grammar.nodes import Parsed, ReadCheck
from evalc.grammar.parse import RULE_TYPES, parse_rule
from evalc.model.case import ParamAssertion

PARAM_OPS: Final[tuple[ParamAssertion, ...]] = get_args(ParamAssertion)
_WITHOUT_VALUE: Final = ("exists", "notExists")
_QUANTIFIERS: Final = ("any", "every", "no")
_SOURCES: Final = ("tools", "message")
_NUMERAL: Final = Numeral({"type": "number"})
_TEXT: Final = Written(k.text())


def _parse(type_: str, rule: str) -> Parsed[ReadCheck]:
    """The parse of a rule; keys of fields in quotes are JSON."""
    parse = parse_rule(type_, rule)
    match parse.node:
        case ReadCheck(check=Test("structure", (_, ()))) if '["' in rule:
            halves = tuple(half_characters(rule, 0, len(rule)))
            return Parsed(None, halves) if halves else parse
        case _:
            return parse


def _one_path(parse: Parsed[ReadCheck]) -> str | None:
    match parse.node:
        case ReadCheck(check=Test("structure", (((path, None),), ()))):
            return str(path)
        case _:
            return None


# --- rules and places ------------------------------------------------------------------------------------------------


def is_sound_rule(type_: str, rule: str) -> bool:
    """Whether a text is a rule of a type; any text is one for types without a small language of their own."""
    return type_ not in RULE_TYPES or not _parse(type_, rule).faults


def _parsed_rule(fields: Fields, key: str) -> CheckLeaf | None:
    """The check of a rule that is a small language of its own (`min:100`, `fields:title,content`)."""
    type_, text = fields.text("type"), fields.written(key)
    if type_ is None or text is None:
        return None
    parse = _parse(type_.value, text.value)
    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    line = parse.node
    return None if line is None else CheckLeaf(span=text.span, check=line.check, places=line.places, origin=text)


def _filled(fields: Fields, key: str) -> list[Placed] | None:
    fields.forbid_empty(key)
    return texts(fields, key) or None


def _sources(fields: Fields, key: str) -> list[str] | None:
    one = fields.text(key) if isinstance(fields.node(key), Scalar) else None
    given = fields.all_texts(key) if one is None else (one,)
    for index, text in enumerate(given or ()):
        if text.value not in _SOURCES:
            finding = Finding("EV301", what=f"`{key}`", expected="`tools` or `message`", found=f"`{text.value}`")
        elif text.value in {earlier.value for earlier in (given or ())[:index]}:
            finding = Finding("EV206", what="source", name=text.value)
        else:
            continue
        fields.fault(text.span, finding)
        return None
    return [text.value for text in given or ()] or None


def _place(fields: Fields, key: str) -> Placed | None:
    """The path that `at:` names, written as the fields of `structure` are."""
    fields.require(key)
    text = fields.filled(key)
    if text is None:
        return None
    lead = "fields:"
    parse = _parse("structure", lead + text.value)
    for fault in parse.faults:
        start, end = (max(at - len(lead), 0) for at in (fault.start, fault.end))
        fields.fault(locate(fields.source, text.span, start, end), fault.finding)
    path = _one_path(parse)
    if path is None and not parse.faults:
        expected = "one place such as `items[0].title`"
        fields.fault(text.span, Finding("EV301", what=f"`{key}`", expected=expected, found=f"`{text.value}`"))
    return None if path is None else _placed_path(fields, text.value, text.span, path)


def _placed_path(fields: Fields, written: str, span: Span, path: str) -> Placed:
    """A path at its place; reports a spelling that meant another path in earlier versions."""
    if path != written.strip():
        fields.warn(span, Finding("EV436", why="path"))
    return Placed(path, g.Text(*span, path))


def _beside(other: str) -> k.Kind:
    """A number that requires another key beside it."""

    def read(fields: Fields, key: str) -> Any:
        if other not in fields:
            fields.require(other)
        return _NUMERAL.read(fields, key)

    return k.Kind(_NUMERAL.schema, read)


# --- arguments of calls ----------------------------------------------------------------------------------------------


def param_record(fields: Fields, given: Record) -> Record | None:
    """The record of the check of one parameter, whose `value` is read as the operator wants it."""
    operator: Str = given["assertion"]
    record = {**given, "assertion": operator.value}
    if operator.value in _WITHOUT_VALUE:
        return record
    if "value" not in fields:
        fields.fault(operator.span, Finding("EV414", assertion=operator.value, wants="needs a `value`"))
        return None
    value = texts(fields, "value") if operator.value == "oneOf" else _TEXT.read(fields, "value")
    return None if value is None else {**record, "value": value}


def _which(fields: Fields, key: str) -> str | int | None:
    """The call that is meant."""
    fields.require(key)
    text = fields.text(key)
    if text is None:
        return None
    if text.value in _QUANTIFIERS:
        return text.value
    if text.value.isdecimal() and int(text.value[:MAX_DIGITS]) > 0:
        return int(text.value[:MAX_DIGITS])
    expected = "`any`, `every`, `no` or a number from 1"
    fields.fault(text.span, Finding("EV301", what=f"`{key}`", expected=expected, found=f"`{text.value}`"))
    return None


def _args(fields: Fields, key: str) -> dict[Placed | None, Any] | None:
    """The tests of arguments, by their paths."""
    fields.forbid_empty(key)
    args = fields.node(key)
    if args is None:
        return None
    if not isinstance(args, Mapping):
        fields.wrong(args, f"`{key}`", "a mapping from arguments to values")
        return None
    if not args.pairs:
        fields.fault(fields.key(key), Finding("EV309", what=f"`{key}`"))
    tests = [(_argument(fields, name), _arg_test(fields, name, node)) for name, node in args.pairs]
    return None if any(path is None or test is None for path, test in tests) else dict(tests) or None


def _argument(fields: Fields, name: Scalar) -> Placed | None:
    """The path of an argument, which is a key of `args:`."""
    path = _one_path(_parse("structure", f"fields:{name.text}"))
    if path is not None:
        return _placed_path(fields, name.text, span_of(name), path)
    expected, found = "a path such as `city` or `units.temperature`", f"`{name.text}`"
    fields.fault(name, Finding("EV301", what="an argument", expected=expected, found=found))
    return None


def _arg_test(fields: Fields, name: Scalar, node: Node) -> Record | None:
    """The test of one argument: a value that it equals, or a mapping of tests."""
    what = f"the test of `{name.text}`"
    match node:
        case Mapping(pairs=()):
            fields.fault(node, Finding("EV309", what=what))
        case Mapping():
            test: Record | None = _ARGUMENT.take(fields, node, what)
            return test
        case Scalar(text="", style="plain"):
            fields.fault(name, Finding("EV309", what=what))
        case _:
            return {"equals": placed_value(fields, node)}
    return None


def _values(fields: Fields, key: str) -> list[Any] | None:
    items = fields.items(key)
    return None if items is None else [placed_value(fields, item) for item in items]


def _tested(fields: Fields, given: Record) -> Record | None:
    """The test of one argument, each of whose keys has a value; it may equal null."""
    for key, _ in [*fields.pairs]:
        if key.text in _ARGUMENT.keys:
            _ARGUMENT.keys[key.text].holds.require(fields, key.text, "")
    return None if fields.partial else {"equals": None, **given} if "equals" in fields else given


_ARGUMENT: Final = k.Shape(
    "",
    {
        "equals": k.Key(Json(k.anything()), "The value that the argument equals, of any type."),
        "contains": k.Key(Text(k.text()), "A text in it, or an item of it.", ("Par",)),
        "matches": k.Key(Text(k.text()), "A pattern that it matches.", ("^P",)),
        "one_of": k.Key(
            k.Kind({"type": ["array", "null"]}, _values),
            "The values, one of which it must equal.",
            (["EUR", "USD"],),
            into="oneOf",
        ),
        "exists": k.Key(k.FLAG, "Whether it was sent."),
        "min": k.Key(k.Kind(k.number(), number_at), "The least number that it is.", (1,)),
        "max": k.Key(k.Kind(k.number(), number_at), "The greatest number that it is.", (3,)),
    },
    title="argument",
    narrow={"minProperties": 1},
    build=_tested,
)
"""The tests of an argument of a call."""


# --- the types -------------------------------------------------------------------------------------------------------


def _judge(_fields: Fields, given: Record) -> Record | None:
    if ("minScore" in given) is not ("maxScore" in given):
        return None
    return {"dimension": Placed("", given["criteria"].place), "minScore": 1, "maxScore": 1, **given}


def _shape(
    keys: dict[str, k.Key],
    record_of: Callable[[Fields, Record], Record | None] = lambda _, given: given,
    *,
    at: bool = False,
    narrow: k.Schema | None = None,
) -> k.Shape:
    """The shape of a type; with `at`, its check can be asked of one place."""
    keys = {**keys, **_AT} if at else keys

    def build(fields: Fields, given: Record) -> CheckLeaf | None:
        type_ = fields.text("type")
        if type_ is None or not is_whole(keys, fields, given):
            return None
        place = given.pop("at", None)
        leaf = given.get("rule")
        if not isinstance(leaf, CheckLeaf):
            record = record_of(fields, given)
            leaf = None if record is None else leaf_of(type_.span, check_of({"type": type_.value, **record}))
        if leaf is None or place is None:
            return leaf
        here = place.place if leaf.origin is None else g.Text(0, 0, str(place))
        check = Of(At(str(place)), leaf.check)
        return CheckLeaf(span=leaf.span, check=check, places=(here, *leaf.places), origin=leaf.origin)

    return k.Shape("", keys, build=build, narrow=narrow)


def is_whole(keys: AnyMapping[str, k.Key], fields: Fields, given: Record) -> bool:
    """Whether all keys that are there or required have a value, which may be null where any JSON may stand."""
    for name, key in keys.items():
        if (key.into or name) in given or key.kept or not (key.required or name in fields):
            continue
        if name not in fields or not isinstance(key.holds, Json) or fields.has_hole(name) or fields.is_blank(name):
            return False
        given[key.into or name] = None
    return True


def _rule(holds: k.Kind, *examples: Any, into: str = "") -> dict[str, k.Key]:
    return {"rule": k.Key(holds, "What the check compares with.", examples, required=True, into=into)}


def _of_rule(holds: k.Kind, *examples: Any, into: str = "", at: bool = True) -> k.Shape:
    return _shape(_rule(holds, *examples, into=into), at=at)


def _of_text(*examples: str) -> k.Shape:
    return _of_rule(_TEXT, *examples, into="value")


def _of_names(*examples: list[str]) -> k.Shape:
    return _of_rule(k.Kind(_NAMES, texts), *examples, into="names", at=False)


def operator(called: str) -> k.Kind:
    """An operator that compares a parameter, which messages call `called`."""
    return k.Kind({"enum": [*PARAM_OPS]}, k.Choice(PARAM_OPS, called=called).read)


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


_PARSED: Final = Written(k.text(), _parsed_rule)
_NAMES: Final[k.Schema] = {"type": "array", "items": k.text()}
_FROM: Final = k.Kind(k.any_of(k.choice(_SOURCES), k.filled_list_of(k.choice(_SOURCES))), _sources)
_NAME: Final = Text({"type": ["string", "number", "boolean"]})
_AT: Final = {
    "at": k.Key(
        k.Kind(k.filled(), _place),
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
CHECKS: Final[AnyMapping[str, k.Shape]] = {
    "contains": _of_text("type hint"),
    "not_contains": _of_text("I don't know"),
    "icontains": _of_text("refund"),
    "contains_any": _of_rule(k.Kind(k.filled_list_of(k.text()), _filled), ["rain", "umbrella"], into="values"),
    "regex": _of_rule(_PARSED, "/^def .*:/m"),
    "equals": _of_text("42"),
    "starts_with": _of_text("Dear"),
    "ends_with": _of_text("Best regards"),
    "non_empty": _shape({}, at=True),
    "length": _of_rule(_PARSED, "min:100", "max:2000", "min:20,max:80 words"),
    "similar": _shape(
        {
            **_rule(_TEXT, into="value"),
            "threshold": k.Key(_NUMERAL, "The least likeness that passes, from 0 to 1.", (0.8,)),
        },
        at=True,
    ),
    "json": _of_rule(_PARSED, "strict", "lenient", "object", "array", "schema:answer.schema.json"),
    "structure": _of_rule(
        _PARSED, "fields:title,content", "fields:meta.title:string,items[].id:number", "headings:Summary,Risks"
    ),
    "number": _of_rule(_PARSED, "min:18", "min:0,max:1", 30),
    "count": _of_rule(_PARSED, "min:2,max:5", 3),
    "value": _of_rule(Json(k.anything()), 30, True, [1, 2], into="value"),
    "numbers_from": _of_rule(_FROM, "tools", ["tools", "message"], into="sources"),
    "quotes_from": _of_rule(_FROM, "tools", ["tools", "message"], into="sources"),
    "tools_called": _of_names(["get_weather"], []),
    "tools_acceptable": _of_rule(
        k.Kind({"type": "array", "items": k.any_of({"const": "none"}, _NAMES)}, sets_of_tools),
        [["get_weather"], ["get_weather", "get_forecast"], "none"],
        into="sets",
        at=False,
    ),
    "tools_not_called": _of_names(["delete_account"]),
    "tools_include": _of_names(["search", "search", "book"]),
    "tools_in_order": _of_names(["search", "book"]),
    "tools_only": _of_names(["search", "book"]),
    "tool_param": _shape(PARAM, param_record, narrow=value_by("op")),
    "call_has": _shape(
        {
            "tool": _TOOL,
            "which": k.Key(
                k.Kind(k.any_of({"enum": [*_QUANTIFIERS]}, {"type": "integer", "minimum": 1}), _which),
                "Which of the tool's calls is meant; by default any one.",
                ("every", 2),
            ),
            "args": k.Key(
                k.Kind({"type": "object", "minProperties": 1, "additionalProperties": _ARGUMENTS}, _args),
                "What the arguments are: each a value that it equals, or a mapping of tests.",
                ({"city": "Paris", "days": {"min": 1, "max": 3}},),
                required=True,
            ),
        }
    ),
    "no_tool_errors": _shape({}),
    "tool_count": _of_rule(_PARSED, "min:1,max:3", at=False),
    "latency": _of_rule(_PARSED, "30s", "500ms", at=False),
    "tokens": _of_rule(_PARSED, 500, at=False),
    "cost": _of_rule(_PARSED, "$0.02", at=False),
    "judge": _shape(
        {
            **_rule(_TEXT, "Is the tone kind?", into="criteria"),
            "scale": k.Key(_beside("min"), "The best score that the judge can give.", (5,), into="maxScore"),
            "min": k.Key(_beside("scale"), "The least score that passes.", (4,), into="minScore"),
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
