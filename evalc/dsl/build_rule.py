"""Builds checks written as `{type, rule}`: what each `type:` makes of its rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, assert_never, cast, get_args

import msgspec

from evalc.base.source import Span
from evalc.diagnostics.problem import Finding
from evalc.dsl import kinds as k
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.places import locate
from evalc.dsl.read_json import half_characters
from evalc.dsl.tree import CheckLeaf, Num, Str
from evalc.dsl.walk import Fields, described, is_null
from evalc.grammar.atoms import MAX_DIGITS
from evalc.grammar.check_nodes import similar
from evalc.grammar.nodes import Atom, CheckLine, Parsed, PatternAtom, Text
from evalc.grammar.parse import RULE_TYPES, parse_rule
from evalc.model import checks as c
from evalc.model.checks.declaration import Declared, by_type
from evalc.model.json import pointer_step

_QUOTED_KEY: Final = re.compile(r'(?<!\.)\["(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"\](?=[\s,:.\[]|\Z)')
"""`["a.b"]`, as paths of the case model have it."""


def parse_fields(text: str) -> Parsed[CheckLine]:
    """The parse of a `structure` rule. Keys in quotes are read as plain keys of their length, so that places hold."""
    if '["' not in text or not text.lstrip().startswith("fields"):
        return parse_rule("structure", text)
    halves = tuple(half for key in _QUOTED_KEY.finditer(text) for half in half_characters(text, *key.span()))
    if halves:
        return Parsed(None, halves)
    parse = parse_rule("structure", _QUOTED_KEY.sub(_plain_key, text))
    line = parse.node
    if line is None or not isinstance(line.check, c.Structure):
        return parse
    places = (line.atoms[f"/fields/{index}/path"] for index in range(len(line.check.fields)))
    fields = tuple(
        msgspec.structs.replace(field, path=text[place.start : place.end])
        for field, place in zip(line.check.fields, places, strict=True)
    )
    return Parsed(msgspec.structs.replace(line, check=c.Structure(fields=fields)), parse.faults)


def _plain_key(quoted: re.Match[str]) -> str:
    """A key without quotes as long as one with them; after another step, with a dot before it."""
    before = quoted.string[quoted.start() - 1 : quoted.start()]
    begins = not before or before in ",:" or before.isspace()
    return ("k" if begins else ".") + "k" * (len(quoted[0]) - 1)


PARAM_OPS: Final[tuple[c.ParamAssertion, ...]] = get_args(c.ParamAssertion)
_OPERATOR: Final = k.Choice(PARAM_OPS, called="operator")


def build_rule(fields: Fields, type_: Str) -> CheckLeaf | None:
    """The check of one of the `CHECK_TYPES`; what is wrong with its rule is reported."""
    leaf = _BUILDERS[type_.value](fields, type_)
    return leaf if leaf is None or "at" not in fields else _at(fields, leaf)


def sound_check(type_: Str, rule: Str) -> CheckLeaf | None:
    """The check that a type and a text for its `rule:` are together; None if that is not all, or not right."""
    name = type_.value
    if _BUILDERS.get(name) is _text_check:
        return of_text(_KINDS[name], rule, type_.span)
    parse = parse_rule(name, rule.value) if name in RULE_TYPES else None
    if parse is None or parse.node is None or parse.faults:
        return None
    return CheckLeaf(span=rule.span, check=parse.node.check, atoms=parse.node.atoms, origin=rule)


def keys_of(type_: str) -> tuple[str, ...]:
    """The keys beside `type:` that a check of this type has."""
    kind = _KINDS[type_]
    own = ("rule",) if kind.__struct_fields__ else ()
    return (*_OWN_KEYS.get(type_, own), *(("at",) if kind.of_response else ()))


def is_sound_rule(type_: str, rule: str) -> bool:
    """Whether a text is a rule of a type; of those without a small language of their own any text is."""
    return type_ not in RULE_TYPES or not _parse(type_, rule).faults


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
        case CheckLine(check=c.Structure(fields=(c.RequiredField(path=path, type=None),))):
            atoms = {f"/check{pointer}": atom for pointer, atom in leaf.atoms.items()}
            return CheckLeaf(span=leaf.span, check=c.At(path=path, check=leaf.check), atoms=atoms, origin=leaf.origin)
        case None:
            return None
    fields.fault(
        text.span, Finding("EV301", what="`at`", expected="one place such as `items[0].title`", found=f"`{text.value}`")
    )
    return None


# --- checks of texts, as they are in the file ------------------------------------------------------------------------


def atom(text: Str) -> Text:
    """A text of the file as the grammar's own; its offsets count from the start of the source."""
    return Text(*text.span, text.value)


def _pattern_atom(text: Str) -> PatternAtom:
    return PatternAtom(*text.span, text.value, 0, False)


def of_text(kind: type[Declared], text: Str, span: Span) -> CheckLeaf:
    """A check whose one field is a text."""
    return CheckLeaf(span=span, check=_made(kind, value=text.value), atoms={"/value": atom(text)})


def of_pattern(text: Str) -> CheckLeaf:
    """A check that a pattern without flags matches."""
    return CheckLeaf(span=text.span, check=c.Regex(pattern=text.value), atoms={"/pattern": _pattern_atom(text)})


def of_texts(kind: type[Declared], key: str, texts: Iterable[Str], span: Span) -> CheckLeaf:
    """A check whose one field, of this key, is a list of texts."""
    values = {f"/{key}/{index}": text for index, text in enumerate(texts)}
    check = _made(kind, **{key: tuple(text.value for text in values.values())})
    return CheckLeaf(span=span, check=check, atoms={pointer: atom(text) for pointer, text in values.items()})


def _made(kind: type[Declared], **values: Any) -> c.Check:
    return cast("c.Check", kind(**values))


def _text_check(fields: Fields, type_: Str) -> CheckLeaf | None:
    rule = fields.written("rule")
    return None if rule is None else of_text(_KINDS[type_.value], rule, type_.span)


def _contains_any(fields: Fields, type_: Str) -> CheckLeaf | None:
    fields.forbid_empty("rule")
    leaf = _list_check(fields, type_)
    return None if leaf is None or not leaf.atoms else leaf


def _list_check(fields: Fields, type_: Str) -> CheckLeaf | None:
    fields.require("rule")
    texts = fields.all_texts("rule")
    if texts is None:
        return None
    kind = _KINDS[type_.value]
    return of_texts(kind, kind.__struct_fields__[0], texts, type_.span)


def _bare(_fields: Fields, type_: Str) -> CheckLeaf | None:
    return CheckLeaf(span=type_.span, check=_made(_KINDS[type_.value]))


def _parsed_rule(fields: Fields, type_: Str) -> CheckLeaf | None:
    """The types whose rule is a small language of its own (`min:100`, `fields:title,content`)."""
    text = fields.written("rule")
    if text is None:
        return None
    parse = _parse(type_.value, text.value)
    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    line = parse.node
    return None if line is None else CheckLeaf(span=text.span, check=line.check, atoms=line.atoms, origin=text)


def _parse(type_: str, rule: str) -> Parsed[CheckLine]:
    return parse_fields(rule) if type_ == "structure" else parse_rule(type_, rule)


def _similar(fields: Fields, type_: Str) -> CheckLeaf | None:
    rule, threshold = fields.written("rule"), _numeral(fields, "threshold")
    if rule is None or (threshold is None and "threshold" in fields):
        return None
    leaf = of_text(c.Similar, rule, type_.span)
    if threshold is None:
        return leaf
    return CheckLeaf(span=leaf.span, check=similar(rule.value, limit_of(threshold)), atoms=leaf.atoms)


def _judge(fields: Fields, type_: Str) -> CheckLeaf | None:
    for key, other in (("min", "scale"), ("scale", "min")):
        if other in fields and key not in fields:
            fields.require(key)
    rule, least, scale = fields.written("rule"), _numeral(fields, "min"), _numeral(fields, "scale")
    if rule is None or (least is None) is not (scale is None):
        return None
    lowest, top = (1, 1) if least is None or scale is None else (limit_of(least), limit_of(scale))
    check = c.Judge(dimension="", criteria=rule.value, min_score=lowest, max_score=top)
    return CheckLeaf(span=type_.span, check=check, atoms={"/criteria": atom(rule)})


def _numeral(fields: Fields, key: str) -> Num | None:
    if key in fields:
        fields.require(key)
    number: Num | None = k.NUMBER.read(fields, key)
    return number


def limit_of(number: Num) -> int | float:
    """A limit, the same however it was written: `1.0` is 1."""
    return int(number.value) if number.value == int(number.value) else number.value


def _value(fields: Fields, type_: Str) -> CheckLeaf | None:
    node = next((value for key, value in fields.pairs if key.text == "rule"), None)
    if node is None or (isinstance(node, Scalar) and not node.text and is_null(node)):
        fields.require("rule")
        return None
    if fields.has_hole("rule"):
        return None
    atoms: dict[str, Atom] = {}
    return CheckLeaf(span=type_.span, check=c.Value(value=json_value(fields, node, "/value", atoms)), atoms=atoms)


def _grounded(fields: Fields, type_: Str) -> CheckLeaf | None:
    fields.require("rule")
    one = fields.text("rule") if isinstance(fields.node("rule"), Scalar) else None
    texts = fields.all_texts("rule") if one is None else (one,)
    if not texts:
        return None
    seen: list[c.Source] = []
    for text in texts:
        source = next((known for known in _SOURCES if known == text.value), None)
        if source is None:
            fields.fault(
                text.span, Finding("EV301", what="`rule`", expected="`tools` or `message`", found=f"`{text.value}`")
            )
            return None
        if source in seen:
            fields.fault(text.span, Finding("EV206", what="source", name=source))
            return None
        seen.append(source)
    kind = c.NumbersFrom if type_.value == "numbers_from" else c.QuotesFrom
    sources = tuple(seen)
    return CheckLeaf(span=type_.span, check=kind() if sources == kind().sources else kind(sources=sources))


_SOURCES: Final[tuple[c.Source, ...]] = get_args(c.Source)


# --- checks of the calls of tools ------------------------------------------------------------------------------------


def _tools_acceptable(fields: Fields, type_: Str) -> CheckLeaf | None:
    fields.require("rule")
    return acceptable(fields, "rule", type_.span)


def acceptable(fields: Fields, key: str, span: Span) -> CheckLeaf | None:
    """The check that one of the tool sets of a list is the one called."""
    items = fields.items(key)
    if items is None:
        return None
    sets = [names for names in (_tool_set(fields, item) for item in items) if names is not None]
    if len(sets) != len(items):
        return None
    atoms = {f"/sets/{at}/{index}": atom(name) for at, names in enumerate(sets) for index, name in enumerate(names)}
    check = c.ToolsAcceptable(sets=tuple(tuple(name.value for name in names) or (c.NO_TOOL,) for names in sets))
    return CheckLeaf(span=span, check=check, atoms=atoms)


def _tool_set(fields: Fields, item: Node) -> tuple[Str, ...] | None:
    if isinstance(item, Scalar) and item.text == "none":
        return ()
    if isinstance(item, Sequence):
        names = fields.together(item.items, "the name of a tool")
        if names is None:
            return None
        return () if [name.value for name in names] == [c.NO_TOOL] else names
    fields.fault(
        item, Finding("EV301", what="a tool set", expected="a list of tools, or `none`", found=described(item))
    )
    return None


_PARAM_KEYS: Final = ("tool", "param", "op", "value")


def _tool_param(fields: Fields, type_: Str) -> CheckLeaf | None:
    for key in ("tool", "param", "op"):
        fields.require(key)
    tool, param, op = fields.text("tool"), fields.text("param"), _OPERATOR.read(fields, "op")
    if tool is None or param is None or op is None:
        return None
    return param_check(fields, type_.span, tool, param, op)


def param_check(fields: Fields, span: Span, tool: Str, param: Str, op: Str) -> CheckLeaf | None:
    """The check of one tool parameter, its `value` taken from the fields as the operator wants it."""
    name = next(known for known in PARAM_OPS if known == op.value)
    atoms: dict[str, Atom] = {"/tool": atom(tool), "/paramName": atom(param)}
    value: str | tuple[str, ...] | None = None
    if name not in ("exists", "notExists"):
        if "value" not in fields:
            fields.fault(op.span, Finding("EV414", assertion=name, wants="needs a `value`"))
            return None
        if name == "oneOf":
            values = fields.all_texts("value")
            if values is None:
                return None
            atoms |= {f"/value/{index}": atom(text) for index, text in enumerate(values)}
            value = tuple(text.value for text in values)
        else:
            text = fields.written("value")
            if text is None:
                return None
            atoms["/value"] = _pattern_atom(text) if name == "matches" else atom(text)
            value = text.value
    check = c.ToolParam(tool=tool.value, param_name=param.value, assertion=name, value=value)
    return CheckLeaf(span=span, check=check, atoms=atoms)


_CALL_KEYS: Final = ("tool", "which", "args")
_WHICH: Final = ("any", "every", "no")


def _call_has(fields: Fields, type_: Str) -> CheckLeaf | None:
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
    atoms: dict[str, Atom] = {"/tool": atom(tool)}
    tests: dict[str, c.ArgTest] = {}
    for name, node in args.pairs:
        path = _path_of(fields, name)
        test = None if path is None else _arg_test(fields, path, node, atoms)
        if path is None or test is None:
            return None
        tests[path] = test
    return CheckLeaf(span=type_.span, check=c.CallHas(tool=tool.value, which=which, args=tests), atoms=atoms)


def _which(fields: Fields) -> Literal["any", "every", "no"] | int | None:
    """The call that is meant; `any` by default."""
    if "which" in fields:
        fields.require("which")
    text = fields.text("which")
    if text is None:
        return None if "which" in fields else "any"
    for word in _WHICH:
        if text.value == word:
            return word
    if text.value.isdecimal() and int(text.value[:MAX_DIGITS]) > 0:
        return int(text.value[:MAX_DIGITS])
    expected = "`any`, `every`, `no` or a number from 1"
    fields.fault(text.span, Finding("EV301", what="`which`", expected=expected, found=f"`{text.value}`"))
    return None


def _path_of(fields: Fields, key: Scalar) -> str | None:
    """A path into the arguments, as `structure` writes those of fields."""
    lead = "fields:"
    parse = parse_fields(lead + key.text)
    match parse.node:
        case CheckLine(check=c.Structure(fields=(c.RequiredField(path=path, type=None),))):
            return path
        case _:
            expected = "a path such as `city` or `units.temperature`"
            fields.fault(key, Finding("EV301", what="an argument", expected=expected, found=f"`{key.text}`"))
            return None


def _arg_test(fields: Fields, path: str, node: Node, atoms: dict[str, Atom]) -> c.ArgTest | None:
    """The test of one argument: a value that it equals, or a mapping of tests."""
    at = f"/args/{pointer_step(path)}"
    if not isinstance(node, Mapping):
        return c.ArgTest(equals=json_value(fields, node, f"{at}/equals", atoms))
    inner = fields.inside(node, TEST, f"the test of `{path}`")
    contains, matches = inner.text("contains"), inner.text("matches")
    one_of, exists = inner.items("one_of"), (k.FLAG.read(inner, "exists") or False) if "exists" in inner else None
    least, most = _numeral(inner, "min"), _numeral(inner, "max")
    if contains is not None:
        atoms[f"{at}/contains"] = atom(contains)
    if matches is not None:
        atoms[f"{at}/matches"] = _pattern_atom(matches)
    fields.partial |= inner.partial
    if inner.partial or not node.pairs:
        if not node.pairs:
            fields.fault(node, Finding("EV309", what=f"the test of `{path}`"))
        return None
    equals = inner.node("equals")
    return c.ArgTest(
        equals=msgspec.UNSET if "equals" not in inner else _equal_to(inner, equals, f"{at}/equals", atoms),
        contains=None if contains is None else contains.value,
        matches=None if matches is None else matches.value,
        one_of=None
        if one_of is None
        else tuple(json_value(inner, item, f"{at}/oneOf/{index}", atoms) for index, item in enumerate(one_of)),
        exists=exists,
        min=None if least is None else limit_of(least),
        max=None if most is None else limit_of(most),
    )


def _equal_to(fields: Fields, node: Node | None, at: str, atoms: dict[str, Atom]) -> Any:
    return None if node is None else json_value(fields, node, at, atoms)


def json_value(fields: Fields, node: Node, at: str, atoms: dict[str, Atom]) -> Any:
    """A JSON value; the places of its texts go into `atoms`."""
    match node:
        case Scalar():
            value = fields.value(node)
            if isinstance(value, str):
                atoms[at] = atom(Str(node.text, span_of(node)))
            return node.text if isinstance(value, str) else value
        case Sequence(items=items):
            return [json_value(fields, item, f"{at}/{index}", atoms) for index, item in enumerate(items)]
        case Mapping(pairs=pairs):
            return {key.text: json_value(fields, item, f"{at}/{pointer_step(key.text)}", atoms) for key, item in pairs}
        case _:
            assert_never(node)


# --- the types -------------------------------------------------------------------------------------------------------


_Build = Callable[[Fields, Str], CheckLeaf | None]

_BY_HAND: Final[dict[str, _Build]] = {
    "contains_any": _contains_any,
    "similar": _similar,
    "value": _value,
    "numbers_from": _grounded,
    "quotes_from": _grounded,
    "tools_acceptable": _tools_acceptable,
    "tool_param": _tool_param,
    "call_has": _call_has,
    "judge": _judge,
    **dict.fromkeys(RULE_TYPES, _parsed_rule),
}
_OWN_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "tool_param": _PARAM_KEYS,
    "call_has": _CALL_KEYS,
    "similar": ("rule", "threshold"),
    "judge": ("rule", "scale", "min"),
}
_FORMS: Final[dict[tuple[str, ...], _Build]] = {(): _bare, ("value",): _text_check, ("names",): _list_check}
"""How the checks are built that have just these fields."""
_WITHOUT_TYPE: Final = (c.Custom, c.At, c.InTurn, c.AnyOf, c.AllOf, c.Not)
"""The checks that are written with keys of their own in place of a `type:`."""
_KINDS: Final = {type_: kind for type_, kind in by_type(c.Check).items() if kind not in _WITHOUT_TYPE}
_BUILDERS: Final = {
    type_: _BY_HAND[type_] if type_ in _BY_HAND else _FORMS[kind.__struct_fields__] for type_, kind in _KINDS.items()
}
CHECK_TYPES: Final = tuple(_KINDS)
"""Every `type:` that a check can have."""
TEXT_TYPES: Final = frozenset(
    ("regex", *(type_ for type_, build in _BUILDERS.items() if build in {_text_check, _contains_any, _similar, _judge}))
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
