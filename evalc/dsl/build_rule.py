"""Builds checks written as `{type, rule}`: the record that each `type:` and its rule are together."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from typing import Any, Final, NamedTuple, assert_never, get_args

import msgspec

from evalc.base.source import Span
from evalc.check.forms import Record, check_of
from evalc.check.places import Placed, bare
from evalc.check.predicates import texts_of
from evalc.check.tree import NO_TOOL, At, Check, Of, Test
from evalc.diagnostics.problem import Finding
from evalc.dsl import kinds as k
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.places import locate
from evalc.dsl.read_json import half_characters
from evalc.dsl.tree import CheckLeaf, Num, Str
from evalc.dsl.walk import Fields, described, is_null
from evalc.grammar.atoms import MAX_DIGITS
from evalc.grammar.nodes import Parsed, ReadCheck, Text
from evalc.grammar.parse import RULE_TYPES, parse_rule
from evalc.model.case import ParamAssertion

_QUOTED_KEY: Final = re.compile(r'(?<!\.)\["(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"\](?=[\s,:.\[]|\Z)')
"""`["a.b"]`, as paths of the case model have it."""


def parse_fields(text: str) -> Parsed[ReadCheck]:
    """The parse of a `structure` rule. Keys in quotes are read as plain keys of their length, so that places hold."""
    if '["' not in text or not text.lstrip().startswith("fields"):
        return parse_rule("structure", text)
    halves = tuple(half for key in _QUOTED_KEY.finditer(text) for half in half_characters(text, *key.span()))
    if halves:
        return Parsed(None, halves)
    quoted: dict[str, str] = {}

    def plain(key: re.Match[str]) -> str:
        before = text[key.start() - 1 : key.start()]
        begins = not before or before in ",:" or before.isspace()
        name = ("k" if begins else ".k") + str(len(quoted)).rjust(len(key[0]) - (1 if begins else 2), "_")
        quoted[name] = key[0]
        return name

    parse = parse_rule("structure", _QUOTED_KEY.sub(plain, text))
    match parse.node:
        case ReadCheck(check=Test("structure", (fields, headings))) as line:
            whole = tuple((_written(path, quoted), type_) for path, type_ in fields)
            check = Test("structure", (whole, headings))
            return Parsed(msgspec.structs.replace(line, check=check), parse.faults)
        case _:
            return parse


def _written(path: str, quoted: AnyMapping[str, str]) -> str:
    for name, key in quoted.items():
        path = path.replace(name, key)
    return path


PARAM_OPS: Final[tuple[ParamAssertion, ...]] = get_args(ParamAssertion)
_OPERATOR: Final = k.Choice(PARAM_OPS, called="operator")


def build_rule(fields: Fields, type_: Str) -> CheckLeaf | None:
    """The check of one of the `CHECK_TYPES`; what is wrong with its rule is reported."""
    kind = _TYPES[type_.value]
    has_place = kind.of_response and "at" in fields
    place = _place(fields) if has_place else None
    if type_.value in RULE_TYPES:
        leaf = _parsed_rule(fields, type_)
    else:
        record = kind.build(fields, type_)
        leaf = None if record is None else leaf_of(type_.span, {"type": type_.value, **record})
    if leaf is None or not has_place:
        return leaf
    if place is None:
        return None
    here = Text(0, 0, str(place)) if leaf.origin is not None else place.place
    check = Of(At(str(place)), leaf.check)
    return CheckLeaf(span=leaf.span, check=check, places=(here, *leaf.places), origin=leaf.origin)


def leaf_of(span: Span, record: Record) -> CheckLeaf:
    """The check of a record whose texts know where they were written."""
    return plain_leaf(span, check_of(bare(record)), check_of(record))


def plain_leaf(span: Span, check: Check, placed: Check) -> CheckLeaf:
    """The leaf of a check; `placed` is the same, its texts knowing where they were written."""
    places = tuple(getattr(text, "place", _NOWHERE) for _, text in texts_of(placed))
    return CheckLeaf(span=span, check=check, places=places)


_NOWHERE: Final = Text(0, 0, "")


def keys_of(type_: str) -> tuple[str, ...]:
    """The keys beside `type:` that a check of this type has."""
    kind = _TYPES[type_]
    return (*kind.keys, *(("at",) if kind.of_response else ()))


def is_sound_rule(type_: str, rule: str) -> bool:
    """Whether a text is a rule of a type; of those without a small language of their own any text is."""
    return type_ not in RULE_TYPES or not _parse(type_, rule).faults


def _place(fields: Fields) -> Placed | None:
    """The path that `at:` names, written as the fields of `structure` are; what is wrong with it is reported."""
    fields.require("at")
    text = fields.filled("at")
    if text is None:
        return None
    lead = "fields:"
    parse = parse_fields(lead + text.value.removeprefix("$."))
    for fault in parse.faults:
        start, end = (max(at - len(lead), 0) for at in (fault.start, fault.end))
        fields.fault(locate(fields.source, text.span, start, end), fault.finding)
    path = _one_path(parse)
    if path is not None:
        return Placed(path, Text(*text.span, path))
    if not parse.faults:
        expected = "one place such as `items[0].title`"
        fields.fault(text.span, Finding("EV301", what="`at`", expected=expected, found=f"`{text.value}`"))
    return None


def _one_path(parse: Parsed[ReadCheck]) -> str | None:
    match parse.node:
        case ReadCheck(check=Test("structure", (((path, None),), ()))):
            return str(path)
        case _:
            return None


# --- rules as they are in the file -----------------------------------------------------------------------------------


def placed(text: Str) -> Placed:
    """A text that knows where it was written; the offsets count from the start of the source."""
    return Placed(text.value, Text(*text.span, text.value))


def placed_value(fields: Fields, node: Node) -> Any:
    """A JSON value whose texts know where they were written."""
    match node:
        case Scalar():
            value = fields.value(node)
            return placed(Str(node.text, span_of(node))) if isinstance(value, str) else value
        case Sequence(items=items):
            return [placed_value(fields, item) for item in items]
        case Mapping(pairs=pairs):
            return {key.text: placed_value(fields, item) for key, item in pairs}
        case _:
            assert_never(node)


_Build = Callable[[Fields, Str], Record | None]


def _bare(_fields: Fields, _type: Str) -> Record | None:
    return {}


def _text(key: str) -> _Build:
    def build(fields: Fields, _: Str) -> Record | None:
        rule = fields.written("rule")
        return None if rule is None else {key: placed(rule)}

    return build


def _list(key: str, *, filled: bool = False) -> _Build:
    def build(fields: Fields, _: Str) -> Record | None:
        if filled:
            fields.forbid_empty("rule")
        fields.require("rule")
        texts = fields.all_texts("rule")
        return None if texts is None or (filled and not texts) else {key: [*map(placed, texts)]}

    return build


def _parsed_rule(fields: Fields, type_: Str) -> CheckLeaf | None:
    """The types whose rule is a small language of its own (`min:100`, `fields:title,content`)."""
    text = fields.written("rule")
    if text is None:
        return None
    parse = _parse(type_.value, text.value)
    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    line = parse.node
    return None if line is None else CheckLeaf(span=text.span, check=line.check, places=line.places, origin=text)


def _parse(type_: str, rule: str) -> Parsed[ReadCheck]:
    return parse_fields(rule) if type_ == "structure" else parse_rule(type_, rule)


def _similar(fields: Fields, _: Str) -> Record | None:
    rule, threshold = fields.written("rule"), _numeral(fields, "threshold")
    if rule is None or (threshold is None and "threshold" in fields):
        return None
    return {"value": placed(rule), **({} if threshold is None else {"threshold": limit_of(threshold)})}


def _judge(fields: Fields, _: Str) -> Record | None:
    for key, other in (("min", "scale"), ("scale", "min")):
        if other in fields and key not in fields:
            fields.require(key)
    rule, least, scale = fields.written("rule"), _numeral(fields, "min"), _numeral(fields, "scale")
    if rule is None or (least is None) is not (scale is None):
        return None
    lowest, top = (1, 1) if least is None or scale is None else (limit_of(least), limit_of(scale))
    question = placed(rule)
    return {"dimension": Placed("", question.place), "criteria": question, "minScore": lowest, "maxScore": top}


def _numeral(fields: Fields, key: str) -> Num | None:
    if key in fields:
        fields.require(key)
    number: Num | None = k.NUMBER.read(fields, key)
    return number


def limit_of(number: Num) -> int | float:
    """A limit, the same however it was written: `1.0` is 1."""
    return int(number.value) if number.value == int(number.value) else number.value


def _value(fields: Fields, _: Str) -> Record | None:
    node = next((value for key, value in fields.pairs if key.text == "rule"), None)
    if node is None or (isinstance(node, Scalar) and not node.text and is_null(node)):
        fields.require("rule")
        return None
    return None if fields.has_hole("rule") else {"value": placed_value(fields, node)}


def _sources(fields: Fields, _: Str) -> Record | None:
    fields.require("rule")
    one = fields.text("rule") if isinstance(fields.node("rule"), Scalar) else None
    texts = fields.all_texts("rule") if one is None else (one,)
    if not texts:
        return None
    for index, text in enumerate(texts):
        finding = None
        if text.value not in _SOURCES:
            finding = Finding("EV301", what="`rule`", expected="`tools` or `message`", found=f"`{text.value}`")
        elif text.value in {earlier.value for earlier in texts[:index]}:
            finding = Finding("EV206", what="source", name=text.value)
        if finding is not None:
            fields.fault(text.span, finding)
            return None
    return {"sources": [text.value for text in texts]}


_SOURCES: Final = ("tools", "message")


# --- checks of the calls of tools ------------------------------------------------------------------------------------


def _acceptable(fields: Fields, _: Str) -> Record | None:
    fields.require("rule")
    return acceptable(fields, "rule")


def acceptable(fields: Fields, key: str) -> Record | None:
    """The sets of tools of a list, one of which has to be the one called."""
    items = fields.items(key)
    if items is None:
        return None
    sets = [names for names in (_tool_set(fields, item) for item in items) if names is not None]
    return None if len(sets) != len(items) else {"sets": sets}


def _tool_set(fields: Fields, item: Node) -> list[str] | None:
    if isinstance(item, Scalar) and item.text == "none":
        return [Placed(NO_TOOL, Text(*span_of(item), item.text))]
    if isinstance(item, Sequence):
        names = fields.together(item.items, "the name of a tool")
        return None if names is None else [*map(placed, names)] or [Placed(NO_TOOL, Text(*span_of(item), ""))]
    expected = "a list of tools, or `none`"
    fields.fault(item, Finding("EV301", what="a tool set", expected=expected, found=described(item)))
    return None


def _tool_param(fields: Fields, _: Str) -> Record | None:
    for key in ("tool", "param", "op"):
        fields.require(key)
    return param_check(fields, fields.text("tool"), fields.text("param"), _OPERATOR.read(fields, "op"))


def param_check(fields: Fields, tool: Str | None, param: Str | None, op: Str | None) -> Record | None:
    """The check of one tool parameter, its `value` taken from the fields as the operator wants it."""
    if tool is None or param is None or op is None:
        return None
    record = {"tool": placed(tool), "paramName": placed(param), "assertion": op.value}
    if op.value in ("exists", "notExists"):
        return record
    if "value" not in fields:
        fields.fault(op.span, Finding("EV414", assertion=op.value, wants="needs a `value`"))
        return None
    if op.value == "oneOf":
        values = fields.all_texts("value")
        return None if values is None else {**record, "value": [*map(placed, values)]}
    text = fields.written("value")
    return None if text is None else {**record, "value": placed(text)}


def _call_has(fields: Fields, _: Str) -> Record | None:
    for key in ("tool", "args"):
        fields.require(key)
    fields.forbid_empty("args")
    tool, which, args = fields.text("tool"), _which(fields), fields.node("args")
    if tool is None or which is None or args is None:
        return None
    if not isinstance(args, Mapping):
        found = described(args)
        fields.fault(args, Finding("EV301", what="`args`", expected="a mapping from arguments to values", found=found))
        return None
    if not args.pairs:
        fields.fault(fields.key("args"), Finding("EV309", what="`args`"))
        return None
    tests = [(_argument(fields, name), _arg_test(fields, name.text, node)) for name, node in args.pairs]
    if any(path is None or test is None for path, test in tests):
        return None
    return {"tool": placed(tool), "which": which, "args": dict(tests)}


def _argument(fields: Fields, name: Scalar) -> Placed | None:
    """The path of an argument, which is a key of `args:`."""
    path = _one_path(parse_fields(f"fields:{name.text}"))
    if path is not None:
        return Placed(path, Text(*span_of(name), path))
    expected, found = "a path such as `city` or `units.temperature`", f"`{name.text}`"
    fields.fault(name, Finding("EV301", what="an argument", expected=expected, found=found))
    return None


def _which(fields: Fields) -> str | int | None:
    """The call that is meant; `any` by default."""
    if "which" in fields:
        fields.require("which")
    text = fields.text("which")
    if text is None:
        return None if "which" in fields else "any"
    if text.value in ("any", "every", "no"):
        return text.value
    if text.value.isdecimal() and int(text.value[:MAX_DIGITS]) > 0:
        return int(text.value[:MAX_DIGITS])
    expected = "`any`, `every`, `no` or a number from 1"
    fields.fault(text.span, Finding("EV301", what="`which`", expected=expected, found=f"`{text.value}`"))
    return None


def _arg_test(fields: Fields, path: str, node: Node) -> Record | None:
    """The test of one argument: a value that it equals, or a mapping of tests."""
    if not isinstance(node, Mapping):
        return {"equals": placed_value(fields, node)}
    inner = fields.inside(node, TEST, f"the test of `{path}`")
    contains, matches = inner.text("contains"), inner.text("matches")
    one_of, exists = inner.items("one_of"), (k.FLAG.read(inner, "exists") or False) if "exists" in inner else None
    least, most = _numeral(inner, "min"), _numeral(inner, "max")
    fields.partial |= inner.partial
    if not node.pairs:
        fields.fault(node, Finding("EV309", what=f"the test of `{path}`"))
    if inner.partial or not node.pairs:
        return None
    equals = inner.node("equals")
    test = {
        "contains": None if contains is None else placed(contains),
        "matches": None if matches is None else placed(matches),
        "oneOf": None if one_of is None else [placed_value(inner, item) for item in one_of],
        "exists": exists,
        "min": None if least is None else limit_of(least),
        "max": None if most is None else limit_of(most),
    }
    given = {key: value for key, value in test.items() if value is not None}
    if "equals" in inner:
        given["equals"] = None if equals is None else placed_value(inner, equals)
    return given


# --- the types -------------------------------------------------------------------------------------------------------


class _Type(NamedTuple):
    """How a type is written: what makes its record, its keys, and whether `at:` goes with it."""

    build: _Build
    keys: tuple[str, ...] = ("rule",)
    of_response: bool = True


_TEXT: Final = _Type(_text("value"))
_PARSED: Final = _Type(_bare)
_NAMES: Final = _Type(_list("names"), of_response=False)
_LIMIT: Final = _Type(_bare, of_response=False)
_TYPES: Final[dict[str, _Type]] = {
    "contains": _TEXT,
    "not_contains": _TEXT,
    "icontains": _TEXT,
    "contains_any": _Type(_list("values", filled=True)),
    "regex": _PARSED,
    "equals": _TEXT,
    "starts_with": _TEXT,
    "ends_with": _TEXT,
    "non_empty": _Type(_bare, ()),
    "length": _PARSED,
    "similar": _Type(_similar, ("rule", "threshold")),
    "json": _PARSED,
    "structure": _PARSED,
    "number": _PARSED,
    "count": _PARSED,
    "value": _Type(_value),
    "numbers_from": _Type(_sources),
    "quotes_from": _Type(_sources),
    "tools_called": _NAMES,
    "tools_acceptable": _Type(_acceptable, of_response=False),
    "tools_not_called": _NAMES,
    "tools_include": _NAMES,
    "tools_in_order": _NAMES,
    "tools_only": _NAMES,
    "tool_param": _Type(_tool_param, ("tool", "param", "op", "value"), of_response=False),
    "call_has": _Type(_call_has, ("tool", "which", "args"), of_response=False),
    "no_tool_errors": _Type(_bare, (), of_response=False),
    "tool_count": _LIMIT,
    "latency": _LIMIT,
    "tokens": _LIMIT,
    "cost": _LIMIT,
    "judge": _Type(_judge, ("rule", "scale", "min"), of_response=False),
}
CHECK_TYPES: Final = tuple(_TYPES)
"""Every `type:` that a check can have."""
TEXT_TYPES: Final = frozenset(
    type_ for type_, kind in _TYPES.items() if kind is _TEXT or type_ in {"regex", "contains_any", "similar", "judge"}
)
"""Those whose rule is a text, or may be one."""


# --- the keys --------------------------------------------------------------------------------------------------------

_PLAIN: Final[k.Schema] = {"type": ["string", "number", "boolean", "array", "null"]}
TEST: Final = k.Shape(
    "",
    {
        "equals": k.Key(k.ANYTHING, "The value that the argument equals, of any type."),
        "contains": k.Key(k.TEXT, "A text in it, or an item of it.", ("Par",)),
        "matches": k.Key(k.TEXT, "A pattern that it matches.", ("^P",)),
        "one_of": k.Key(
            k.Kind({"type": ["array", "null"]}), "The values, one of which it must equal.", (["EUR", "USD"],)
        ),
        "exists": k.Key(k.FLAG, "Whether it was sent."),
        "min": k.Key(k.NUMBER, "The least number that it is.", (1,)),
        "max": k.Key(k.NUMBER, "The greatest number that it is.", (3,)),
    },
    title="argument",
    narrow={"minProperties": 1},
)
"""The tests of an argument of a call."""
CHECK: Final[dict[str, k.Key]] = {
    "type": k.Key(k.Kind({"type": "string"}), "What is checked."),
    "rule": k.Key(k.TEXT, "What the check compares with."),
    "criterion": k.Key(k.TEXT, "The criterion that the check counts for.", ("clarity",)),
    "weight": k.Key(
        k.Kind(k.number(minimum=0)), "How often the check counts within its criterion; by default 1.", (2,)
    ),
    "at": k.Key(k.FILLED, "The place of a JSON response that is looked at; by default the whole.", ("items[0].title",)),
    "use": k.Key(k.NAME, "The named rule whose checks are used here.", ("no_cop_outs",)),
    "any_of": k.Key(k.Kind(k.filled_list_of(k.ref("checkWithin"))), "Checks, at least one of which must pass."),
    "all_of": k.Key(k.Kind(k.filled_list_of(k.ref("checkWithin"))), "Checks that have to hold all."),
    "not": k.Key(
        k.Kind(k.any_of(k.ref("checkWithin"), k.filled_list_of(k.ref("checkWithin")))), "A check that may not hold."
    ),
    "tool": k.Key(
        k.Kind({"type": ["string", "number", "boolean"]}), "The tool whose first call is looked at.", ("get_weather",)
    ),
    "param": k.Key(k.Kind({"type": ["string", "number", "boolean"]}), "The parameter of that call.", ("city",)),
    "op": k.Key(k.Kind({"enum": [*PARAM_OPS]}), "How the parameter is compared."),
    "value": k.Key(
        k.Kind(k.any_of(k.TEXT.schema, k.list_of(k.TEXT.schema))),
        "What the parameter is compared with; a list for `oneOf`.",
    ),
    "which": k.Key(
        k.Kind(k.any_of({"enum": ["any", "every", "no"]}, {"type": "integer", "minimum": 1})),
        "Which of the tool's calls is meant; by default any one.",
        ("every", 2),
    ),
    "args": k.Key(
        k.Kind({"type": "object", "minProperties": 1, "additionalProperties": k.any_of(_PLAIN, TEST.definition())}),
        "What the arguments are: each a value that it equals, or a mapping of tests.",
        ({"city": "Paris", "days": {"min": 1, "max": 3}},),
    ),
    "threshold": k.Key(k.Kind({"type": "number"}), "The least likeness that passes, from 0 to 1.", (0.8,)),
    "min": k.Key(k.Kind({"type": "number"}), "The least score that passes.", (4,)),
    "scale": k.Key(k.Kind({"type": "number"}), "The best score that the judge can give.", (5,)),
}
"""The keys of checks in their mapping form."""
