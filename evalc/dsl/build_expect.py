"""Builds the checks of an `expect:` block, which uses the JSON's own field names."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final, get_args

from evalc.check.contract import ASSERT_BY_NOTHING, KEYS, PAIRS, bounded, check_in
from evalc.check.forms import Record, check_of
from evalc.diagnostics import Finding, Fix
from evalc.dsl import kinds as k
from evalc.dsl import operands as o
from evalc.dsl.build_rule import PARAM, operator, param_record, value_by
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, Stretch
from evalc.dsl.quoting import quoted_line
from evalc.dsl.tree import CheckJson, CheckLeaf, CheckTree
from evalc.dsl.walk import Fields, described
from evalc.grammar import nodes as g
from evalc.grammar.read_check import read_check
from evalc.model.case import FieldType

_Built = tuple[CheckLeaf | CheckJson, ...]
_NAMES: Final = {key: name for name, key in KEYS.items()}


def build_expect(fields: Fields, key: str) -> tuple[CheckTree, ...]:
    """The checks of a case's `expect:`, in the order in which they are written."""
    return () if _is_a_line(fields) else EXPECT.read(fields, key) or ()


def _is_a_line(fields: Fields) -> bool:
    """Whether there is a check on one line, which belongs into `validate:`; it is reported."""
    node = fields.node("expect")
    if not isinstance(node, Scalar) or read_check(node.text).faults:
        return False
    text = fields.source.text
    corrected = f"validate: [{quoted_line(text[node.start : node.end])}]"
    fix = Fix.of(text, fields.key("expect").start, node.end, corrected)
    found = described(node)
    finding = Finding("EV301", fix=fix, what="`expect`", expected="a mapping", found=found, corrected=corrected)
    fields.fault(node, finding)
    return True


# --- what fields hold ------------------------------------------------------------------------------------------------


def _leaf(at: Stretch, key: str, value: Any, places: o.Places) -> CheckLeaf:
    """The check that a value of a field means."""
    return CheckLeaf(at, check=check_in(_NAMES[key], value), places=tuple(places))


def _one(schema: k.Schema, take: o.Take, sentence: str) -> k.Key:
    """A field that is one check; most assert nothing by `false`, 0 and an empty list."""

    def build(fields: Fields, key: str) -> _Built:
        node, places = fields.node(key), o.Places()
        value = None if node is None else take(fields, node, f"`{key}`", places)
        if value or (value is not None and _NAMES[key] in ASSERT_BY_NOTHING):
            return (_leaf(fields.key(key).at, key, value, places),)
        if value is not None:
            _warn_of_nothing(fields, key, value)
        return ()

    return k.Key(k.Kind(schema, build), sentence)


def _each(item: k.Schema, take: o.Take, called: str, sentence: str) -> k.Key:
    """A field that is a list with a check for each item; messages put `called` before its key."""

    def build(fields: Fields, key: str) -> _Built:
        items = fields.items(key)
        if items is not None and not items:
            _warn_of_nothing(fields, key, [])
        taken = ((node, places := o.Places(), take(fields, node, f"{called} `{key}`", places)) for node in items or ())
        return tuple(
            value if isinstance(value, CheckLeaf | CheckJson) else _leaf(node.at, key, value, places)
            for node, places, value in taken
            if value is not None
        )

    return k.Key(k.Kind(k.list_of(item), build), sentence)


def _warn_of_nothing(fields: Fields, key: str, value: Any) -> None:
    nothing = {bool: "`false`", list: "an empty list"}.get(type(value), "0")
    fields.warn(fields.key(key), Finding("EV501", check=f"`{key}`", why=f"{nothing} asserts nothing"))


def _group(fields: Fields, node: Node, what: str, places: o.Places) -> Any:
    if not isinstance(node, Sequence):
        return fields.wrong(node, what, "a list of texts")
    return o.take_list(o.take_text, "a synonym")(fields, node, what, places)


def _bound(fields: Fields, key: str) -> _Built:
    """The two fields of a range, which are one check; it is built for the lower one, or the only one."""
    low, high = next(pair for pair in PAIRS if key in pair)
    if key == high and low in fields:
        return ()
    given = ((name, k.WHOLE.read(fields, name)) for name in (low, high))
    checks = [check_in(_NAMES[name], int(number.value)) for name, number in given if number is not None]
    if not checks:
        return ()
    return (CheckLeaf(fields.key(key).at, check=reduce(bounded, checks)),)


def _pattern(fields: Fields, key: str) -> _Built:
    text = fields.text(key)
    return () if text is None else (_leaf(text.at, key, text.value, [g.Text(*text.span, text.value)]),)


def _types(fields: Fields, node: Node, what: str, _places: o.Places) -> dict[str, str] | None:
    pairs = fields.pairs_of(node, what)
    if pairs is None:
        return None
    given = k.Shape(what, {name.text: _OF_TYPE for name, _ in pairs}).take(fields, node, what)
    return {name: type_.value for name, type_ in given.items()} or None


def _json(fields: Fields, node: Node, what: str, _places: o.Places) -> Any:
    if not isinstance(node, Mapping):
        return fields.wrong(node, what, "a mapping")
    return CheckJson((node.pairs[0][0] if node.pairs else node).at, node=node)


def _param(fields: Fields, given: Record, by_key: o.Keys, places: o.Places) -> CheckLeaf | None:
    record = param_record(fields, given, by_key, places)
    if record is None:
        return None
    return CheckLeaf(fields.anchor.at, check=check_of({"type": "tool_param", **record}), places=tuple(places))


# --- the fields ------------------------------------------------------------------------------------------------------

_TEXTS: Final[k.Schema] = {"type": "array", "items": k.text()}
_BOUND: Final = k.Kind(k.whole(), _bound)
_OF_TYPE: Final = k.Key(k.Choice(get_args(FieldType), called="type"))
TOOL_PARAM: Final = o.Operands(
    "an entry of `toolParams`",
    {
        "tool": PARAM["tool"]._replace(sentence="The name of the tool."),
        "paramName": PARAM["param"]._replace(sentence="The name of the parameter.", into=""),
        "assertion": PARAM["op"]._replace(holds=operator("parameter assertion"), into=""),
        "value": PARAM["value"]._replace(sentence="What it is compared with: a text, or a list for `oneOf`."),
    },
    _param,
    title="parameter of a tool",
    narrow=value_by("assertion"),
)


def _flag(sentence: str) -> k.Key:
    return _one(k.flag(), o.of_kind(k.FLAG), sentence)


def _limit(sentence: str) -> k.Key:
    return _one(k.number(), o.take_number, sentence)


def _texts(sentence: str) -> k.Key:
    return _each(k.text(), o.take_text, "an item of", sentence)


def _names(sentence: str) -> k.Key:
    return _one(k.list_of(k.text()), o.take_texts, sentence)


EXPECT: Final = k.Shape(
    "`expect`",
    {
        "toolsCalled": _names("Exactly these tools were called, in this order; an empty list says that none was."),
        "toolsAcceptable": _one(
            k.list_of(k.any_of({"const": "none"}, _TEXTS)),
            o.take_sets,
            "The tools that were called are one of these sets; `__none__` alone is the empty set.",
        ),
        "toolsNotCalled": _names("None of these tools was called."),
        "toolParams": _each(
            TOOL_PARAM.definition(), TOOL_PARAM.taken, "", "Parameters of tool calls have these values."
        ),
        "noToolErrors": _flag("No call of a tool failed."),
        "responseNonEmpty": _flag("The response holds more than white space."),
        "responseContains": _texts("The response contains each of the texts."),
        "responseContainsAny": _each(
            _TEXTS, _group, "a group of", "The response contains at least one text of each group."
        ),
        "responseNotContains": _texts("The response contains none of the texts."),
        "responseMatches": _texts("The response matches each of the patterns, as ECMAScript matches."),
        "maxLatencyMs": _limit("The answer took at most this many milliseconds."),
        "maxTokens": _limit("The response has at most this many tokens."),
        "minLength": k.Key(_BOUND, "The response has at least this many characters."),
        "maxLength": k.Key(_BOUND, "The response has at most this many characters."),
        "jsonValid": _flag("The response is JSON."),
        "requiredKeys": _one(
            k.list_of(k.text()),
            lambda fields, node, what, _: o.take_texts(fields, node, what, []),
            "The response is a JSON object with these keys.",
        ),
        "typeChecks": _one(
            k.anything(), _types, "The response is a JSON object whose keys have values of these types."
        ),
        "minToolCalls": k.Key(_BOUND, "The agent made at least this many tool calls."),
        "maxToolCalls": k.Key(_BOUND, "The agent made at most this many tool calls."),
        "maxCost": _limit("The answer cost at most this many US dollars."),
        "regexPattern": k.Key(k.Kind(k.text(), _pattern), "The response matches the pattern, as ECMAScript matches."),
        "copOutPhrases": _texts("The response contains none of the texts, ignoring case."),
        "checks": _each(k.ref("Check"), _json, "an entry of", "Checks that the contract has no field for."),
    },
    name="expect",
    build=lambda _, given: tuple(CheckTree(leaf.at, body=leaf) for leaves in given.values() for leaf in leaves),
)
"""The fields that `expect:` may have in YAML, which are the JSON's."""
