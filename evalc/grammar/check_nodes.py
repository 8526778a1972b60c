"""From the parse tree of a one-line check to its nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, cast

from evalc.diagnostics.catalogue.names import DuplicateName
from evalc.diagnostics.catalogue.syntax_grammar import (
    BeyondLimit,
    MixedAndOr,
    ResponseNeeded,
    Unexpected,
    unknown_check,
)
from evalc.diagnostics.problem import Fault
from evalc.grammar.atoms import (
    count_of,
    duration_of,
    end_of,
    field_of,
    literal_of,
    number_of,
    path_of,
    pattern_of,
    signed_of,
    start_of,
    text_of,
)
from evalc.grammar.lalr import Stumble
from evalc.grammar.lark_tables import read
from evalc.grammar.nodes import (
    AllOf,
    AnyOf,
    Argument,
    Array,
    At,
    Check,
    CheckLine,
    Constant,
    Contains,
    ContainsAny,
    Cost,
    Custom,
    Equals,
    Json,
    JsonMode,
    Judge,
    Latency,
    Length,
    Matches,
    Member,
    NonEmpty,
    Not,
    NoToolErrors,
    Number,
    Object,
    ParamOp,
    Regexp,
    Similar,
    StartsWith,
    Structure,
    Text,
    Tokens,
    ToolCount,
    ToolParam,
    ToolsAcceptable,
    ToolsCalled,
    ToolsNotCalled,
    Unit,
    Value,
)
from evalc.grammar.parsed import Parsed, parsed
from evalc.grammar.unexpected import spoken, unexpected, word_at

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token, Tree

MAX_DEPTH: Final = 50
"""How deep parentheses, `not` and the values of an argument may nest."""

_PLACE_CHECK_STARTS: Final = frozenset(
    ("NOT", "CONTAINS", "MATCHES", "LENGTH", "JSON", "HAS", "EQUALS", "STARTS", "NON_EMPTY", "SIMILAR", "CHECK")
)
_RESPONSE_CHECK_STARTS: Final = _PLACE_CHECK_STARTS | {"AT"}
_RUN_CHECK_STARTS: Final = frozenset(("TOOL", "TOOLS", "NO", "LATENCY", "TOKENS", "COST", "JUDGE"))
CHECK_STARTS: Final = _RESPONSE_CHECK_STARTS | _RUN_CHECK_STARTS | {"LPAR", "RESPONSE"}
"""The terminals that a check can begin with."""
_VALUE_STARTS: Final = frozenset(("STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LSQB", "LBRACE"))
_BARE_WORD: Final = re.compile(r"[A-Za-z_][\w-]*(?=\s*\Z)")
_CALL: Final = re.compile(r"\s*\(")
_NESTING: Final = frozenset(("negation", "group", "response", "at"))
_KNOWN_WORDS: Final = frozenset(start.lower().replace("_", "-") for start in (*CHECK_STARTS, "AND", "OR", "FOR"))


class _TooDeep(Exception):
    """A check is nested too deep; holds its tree."""


def check_line(text: str) -> Parsed[CheckLine]:
    """A whole one-line check."""
    tree = read("check", "line", text)
    if isinstance(tree, Stumble):
        return Parsed(None, (_fault(text, tree),))
    faults: list[Fault] = []
    try:
        check = _check(tree.children[0], faults, MAX_DEPTH)
    except _TooDeep as stop:
        (deep,) = stop.args
        faults.append(Fault(start_of(deep), start_of(deep) + 1, BeyondLimit(what="depth", limit=MAX_DEPTH)))
        return parsed(None, faults)
    criterion = text_of(cast("Token", tree.children[-1]), faults) if len(tree.children) > 1 else None
    return parsed(CheckLine(start=start_of(tree), end=end_of(tree), check=check, criterion=criterion), faults)


# --- what is wrong -------------------------------------------------------------------------------------------------


def _fault(text: str, stumble: Stumble) -> Fault:
    word = word_at(text, stumble.at)
    expected = stumble.expected
    if word == "or" and "AND" in expected:
        return Fault(stumble.at, stumble.at + 2, MixedAndOr(word="or"))
    if word == "and" and "OR" in expected:
        return Fault(stumble.at, stumble.at + 3, MixedAndOr(word="and"))
    if expected >= _VALUE_STARTS:
        return unexpected(text, stumble, ("a value", *spoken(expected - _VALUE_STARTS)))
    bare = _BARE_WORD.search(text, 0, stumble.at) if expected == {"ASSIGN"} else None
    if bare is not None:
        return Fault(bare.start(), bare.end(), Unexpected(expected=("a value",), found=bare.group()))
    if "CONTAINS" not in expected or "EXISTS" in expected:
        return unexpected(text, stumble, spoken(expected))
    if word is not None and word not in _KNOWN_WORDS:
        end = stumble.at + len(word)
        return Fault(stumble.at, end, unknown_check(word, called=_CALL.match(text, end) is not None))
    return unexpected(text, stumble, _spoken_checks(expected))


def _spoken_checks(expected: frozenset[str]) -> tuple[str, ...]:
    """What was expected where a check may begin: `a check`, not the list of them all."""
    if "TOOL" in expected:
        return ("a check", *spoken(expected - CHECK_STARTS))
    return ("a check of the response", *spoken(expected - _RESPONSE_CHECK_STARTS))


# --- compositions --------------------------------------------------------------------------------------------------


def _check(tree: Tree | Token, faults: list[Fault], depth: int) -> Check:
    """The check of a tree that is nested at most `depth` levels deep."""
    tree = cast("Tree", tree)
    if depth == 0 and tree.data in _NESTING:
        raise _TooDeep(tree)
    children = tree.children
    match tree.data:
        case "negation":
            check = _check(children[1], faults, depth - 1)
            return Not(start=start_of(tree), end=end_of(tree), check=check)
        case "group" | "response":
            return _check(children[1], faults, depth - 1)
        case "at":
            path = path_of(cast("Token", children[1]), faults)
            check = _check(children[2], faults, depth - 1)
            return At(start=start_of(tree), end=end_of(tree), path=path, check=check)
        case "all_of" | "any_of" as kind:
            composition = AllOf if kind == "all_of" else AnyOf
            checks = _chain(children[::2], faults, depth)
            return composition(start=start_of(tree), end=end_of(tree), checks=checks)
        case "custom":
            return _custom(tree, faults)
        case kind:
            return _SIMPLE_CHECKS[kind](cast("list[Token]", children), start_of(tree), end_of(tree), faults)


def _chain(operands: list[Tree | Token], faults: list[Fault], depth: int) -> tuple[Check, ...]:
    after_tool = False
    for operand in operands:
        kind = _kind(operand)
        if after_tool and (kind == "at" or kind in _TEXT_CHECKS):
            faults.append(Fault(start_of(operand), _first_word_end(operand), ResponseNeeded()))
        after_tool = after_tool or kind == "tool_param"
    return tuple(_check(operand, faults, depth) for operand in operands)


def _kind(operand: Tree | Token) -> str:
    """What an operand is, whatever `not` stands before it."""
    tree = cast("Tree", operand)
    while tree.data == "negation":
        tree = cast("Tree", tree.children[1])
    return tree.data


def _first_word_end(tree: Tree | Token) -> int:
    while not isinstance(tree, str):
        tree = tree.children[0]
    return tree.end_pos or 0


# --- checks of the response ----------------------------------------------------------------------------------------


def _contains(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Contains(start=start, end=end, text=text_of(tokens[1], faults), ignore_case=len(tokens) > 2)


def _contains_any(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return ContainsAny(start=start, end=end, texts=_texts(tokens[3], faults))


def _matches(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Matches(start=start, end=end, regexp=_regexp(tokens[1], faults))


def _length(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    unit = str(tokens[-1]) if tokens[-1].type == "UNIT" else "chars"
    least, most = _bounds(tokens[1:], faults)
    return Length(start=start, end=end, min=least, max=most, unit=cast("Unit", unit))


def _json(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    mode, schema = "strict", None
    for token in tokens[1:]:
        if token.type == "JSON_MODE":
            mode = str(token)
        elif token.type == "STRING":
            schema = text_of(token, faults)
    return Json(start=start, end=end, mode=cast("JsonMode", mode), schema=schema)


def _has_fields(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    fields = tuple(field_of(cast("Tree", field), faults) for field in tokens[2::2])
    return Structure(start=start, end=end, fields=fields)


def _has_headings(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Structure(start=start, end=end, headings=tuple(text_of(heading, faults) for heading in tokens[2::2]))


def _equals(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Equals(start=start, end=end, text=text_of(tokens[1], faults))


def _starts_with(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return StartsWith(start=start, end=end, text=text_of(tokens[2], faults))


def _non_empty(_tokens: list[Token], start: int, end: int, _faults: list[Fault]) -> Check:
    return NonEmpty(start=start, end=end)


def _similar(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    threshold = None
    if len(tokens) > 3:
        threshold = number_of(tokens[4], faults, scale=0.01 if len(tokens) > 5 else 1)
        threshold = Number(start=threshold.start, end=end, value=threshold.value)
    return Similar(start=start, end=end, text=text_of(tokens[2], faults), threshold=threshold)


# --- checks of packages --------------------------------------------------------------------------------------------


def _custom(tree: Tree, faults: list[Fault]) -> Check:
    name, arguments = cast("Token", tree.children[1]), tree.children[3:-1:2]
    read = tuple(_argument(argument, faults) for argument in arguments)
    _report_repeated((argument.name for argument in read if argument.name is not None), "argument", faults)
    return Custom(start=start_of(tree), end=end_of(tree), name=text_of(name, faults), arguments=read)


def _argument(tree: Tree | Token, faults: list[Fault]) -> Argument:
    start, end = start_of(tree), end_of(tree)
    if isinstance(tree, str) or tree.data != "named":
        return Argument(start=start, end=end, value=_value(tree, faults, MAX_DEPTH))
    name, _, value = tree.children
    return Argument(
        start=start, end=end, name=text_of(cast("Token", name), faults), value=_value(value, faults, MAX_DEPTH)
    )


def _value(tree: Tree | Token, faults: list[Fault], depth: int) -> Value:
    """The value of a tree that is nested at most `depth` levels deep."""
    start, end = start_of(tree), end_of(tree)
    if isinstance(tree, str):
        return _scalar(tree, faults)
    if depth <= 0:
        raise _TooDeep(tree)
    inner = tree.children[1:-1:2]
    if tree.data == "array":
        return Array(start=start, end=end, items=tuple(_value(item, faults, depth - 1) for item in inner))
    members = tuple(_member(cast("Tree", pair), faults, depth - 1) for pair in inner)
    _report_repeated((member.key for member in members), "key", faults)
    return Object(start=start, end=end, members=members)


def _member(tree: Tree, faults: list[Fault], depth: int) -> Member:
    key, _, value = tree.children
    read = _value(value, faults, depth)
    return Member(start=start_of(tree), end=end_of(tree), key=text_of(cast("Token", key), faults), value=read)


_WORDS: Final = {"TRUE": True, "FALSE": False, "NULL": None}


def _scalar(token: Token, faults: list[Fault]) -> Value:
    if token.type == "STRING":
        return text_of(token, faults)
    start, end = start_of(token), end_of(token)
    if token.type == "NUMBER":
        return Constant(start=start, end=end, value=signed_of(token, faults))
    return Constant(start=start, end=end, value=_WORDS[token.type])


def _report_repeated(names: Iterable[Text], what: str, faults: list[Fault]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.value in seen:
            faults.append(Fault(name.start, name.end, DuplicateName(what=what, name=name.value)))
        seen.add(name.value)


# --- checks of the run ---------------------------------------------------------------------------------------------


def _tools_called(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return ToolsCalled(start=start, end=end, names=_texts(tokens[2], faults))


def _tools_acceptable(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    sets = tuple(_texts(names, faults) for names in tokens[4:-1:2])
    return ToolsAcceptable(start=start, end=end, sets=sets)


def _tools_not_called(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return ToolsNotCalled(start=start, end=end, names=_texts(tokens[3], faults))


def _tool_count(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    least, most = _bounds(tokens[2:], faults)
    return ToolCount(start=start, end=end, min=least, max=most)


_PARAM_OPS: Final[dict[str, ParamOp]] = {
    "EQUALS": "equals",
    "CONTAINS": "contains",
    "ONE": "oneOf",
    "MATCHES": "matches",
    "EXISTS": "exists",
}


def _tool_param(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    test = tokens[4:]
    negated = test[0].type == "NOT"
    if negated:
        test = test[1:]
    op = _PARAM_OPS[test[0].type]
    if negated and op == "exists":
        op, negated = "notExists", False
    check = ToolParam(
        start=start,
        end=end,
        tool=text_of(tokens[1], faults),
        param=text_of(tokens[3], faults),
        op=op,
        value=text_of(test[1], faults) if op in ("equals", "contains") else None,
        values=_texts(test[2], faults) if op == "oneOf" else (),
        regexp=_regexp(test[1], faults) if op == "matches" else None,
    )
    return Not(start=start, end=end, check=check) if negated else check


def _no_tool_errors(_tokens: list[Token], start: int, end: int, _faults: list[Fault]) -> Check:
    return NoToolErrors(start=start, end=end)


def _latency(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Latency(start=start, end=end, max=duration_of(tokens[2], tokens[3], faults))


def _tokens(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Tokens(start=start, end=end, max=count_of(tokens[2], faults))


def _cost(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Cost(start=start, end=end, max=number_of(tokens[-1], faults))


def _judge(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    least, scale = (number_of(tokens[3], faults), number_of(tokens[5], faults)) if len(tokens) > 2 else (None, None)
    return Judge(start=start, end=end, question=text_of(tokens[1], faults), min=least, scale=scale)


# --- their parts ---------------------------------------------------------------------------------------------------


def _texts(tree: Tree | Token, faults: list[Fault]) -> tuple[Text, ...]:
    """The members of a list in brackets; `none` has no members."""
    if isinstance(tree, str):
        return ()
    return tuple(text_of(cast("Token", member), faults) for member in tree.children[1:-1:2])


def _regexp(token: Token, faults: list[Fault]) -> Regexp:
    return literal_of(token, faults) if token.type == "REGEXP" else pattern_of(text_of(token, faults))


def _bounds(tokens: list[Token], faults: list[Fault]) -> tuple[Number | None, Number | None]:
    """The least and the most that `A..B` or a comparison allows."""
    match tokens[0].type:
        case "GE":
            return count_of(tokens[1], faults), None
        case "LE":
            return None, count_of(tokens[1], faults)
        case "EQ":
            exactly = count_of(tokens[1], faults)
            return exactly, exactly
        case _:
            return count_of(tokens[0], faults), count_of(tokens[2], faults)


_Reading = Callable[[list["Token"], int, int, list[Fault]], Check]

_TEXT_CHECKS: Final[dict[str, _Reading]] = {
    "contains": _contains,
    "contains_any": _contains_any,
    "matches": _matches,
    "length": _length,
    "json": _json,
    "has_fields": _has_fields,
    "has_headings": _has_headings,
    "equals": _equals,
    "starts_with": _starts_with,
    "non_empty": _non_empty,
    "similar": _similar,
}
_RUN_CHECKS: Final[dict[str, _Reading]] = {
    "tools_called": _tools_called,
    "tools_acceptable": _tools_acceptable,
    "tools_not_called": _tools_not_called,
    "tool_count": _tool_count,
    "tool_param": _tool_param,
    "no_tool_errors": _no_tool_errors,
    "latency": _latency,
    "tokens": _tokens,
    "cost": _cost,
    "judge": _judge,
}
_SIMPLE_CHECKS: Final = _TEXT_CHECKS | _RUN_CHECKS
"""The rules of the grammar that are a check by themselves, and how each becomes its node."""
