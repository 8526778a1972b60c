"""Makes checks of the parse trees of one-line checks, and records the places of their texts."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, cast, final

from evalc.diagnostics.problem import Fault, Finding
from evalc.grammar.atoms import (
    count_of,
    duration_of,
    end_of,
    literal_of,
    number_of,
    pattern_of,
    signed_of,
    start_of,
    text_of,
)
from evalc.grammar.lalr import Stumble, read
from evalc.grammar.nodes import Atom, CheckLine, Parsed, PatternAtom, Text, parsed
from evalc.grammar.unexpected import not_expected, spoken, unexpected, unknown_check, word_at
from evalc.model import checks as c
from evalc.model.checks.declaration import Declared, beginnings, by_type, members, text_fields, type_name
from evalc.model.json import path_of_key, pointer_step

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token, Tree

    Children = list[Tree | Token]

MAX_DEPTH: Final = 50
"""How deep parentheses, `not` and the values of an argument may nest."""

_KINDS: Final = by_type(c.Check)


def _starts(kinds: Iterable[type[Declared]]) -> frozenset[str]:
    """The terminals that lines with checks of these kinds begin with."""
    words = (line.partition(" ")[0] for kind in kinds for line in beginnings(kind))
    return frozenset(word.upper().replace("-", "_") for word in words)


_VALUE_CHECK_STARTS: Final = frozenset(("EQ", "GE", "LE", "NUMBER", "COUNT"))
_RESPONSE_CHECK_STARTS: Final = _starts(kind for kind in _KINDS.values() if kind.of_response) | {"AT", "NOT"}
CHECK_STARTS: Final = _starts(_KINDS.values()) | {"LPAR", "RESPONSE"}
"""The terminals that a check can begin with."""
_VALUE_STARTS: Final = frozenset(("STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LSQB", "LBRACE"))
_BARE_WORD: Final = re.compile(r"[A-Za-z_][\w-]*(?=\s*\Z)")
_CALL: Final = re.compile(r"\s*\(")
_NESTING: Final = frozenset(("negation", "group", "response", "at", "turn"))
_KNOWN_WORDS: Final = frozenset(start.lower().replace("_", "-") for start in (*CHECK_STARTS, "AND", "OR", "FOR"))


class _TooDeep(Exception):
    """A check is nested too deep; holds its tree."""


def check_line(text: str) -> Parsed[CheckLine]:
    """A whole one-line check."""
    tree = read("check", "line", text)
    if isinstance(tree, Stumble):
        return Parsed(None, (_fault(text, tree),))
    build = CheckBuilder()
    try:
        check = build.check(tree.children[0], "", MAX_DEPTH)
    except _TooDeep as stop:
        (deep,) = stop.args
        build.faults.append(Fault(start_of(deep), start_of(deep) + 1, Finding("EV139", what="depth", limit=MAX_DEPTH)))
        return parsed(None, build.faults)
    criterion = text_of(cast("Token", tree.children[-1]), build.faults) if len(tree.children) > 1 else None
    line = CheckLine(start=start_of(tree), end=end_of(tree), check=check, atoms=build.atoms, criterion=criterion)
    return parsed(line, build.faults)


# --- what is wrong ---------------------------------------------------------------------------------------------------


def _fault(text: str, stumble: Stumble) -> Fault:
    word = word_at(text, stumble.at)
    expected = stumble.expected
    if word == "or" and "AND" in expected:
        return Fault(stumble.at, stumble.at + 2, Finding("EV137", word="or"))
    if word == "and" and "OR" in expected:
        return Fault(stumble.at, stumble.at + 3, Finding("EV137", word="and"))
    if expected >= _VALUE_STARTS:
        return unexpected(text, stumble, ("a value", *spoken(expected - _VALUE_STARTS)))
    bare = _BARE_WORD.search(text, 0, stumble.at) if expected == {"ASSIGN"} else None
    if bare is not None:
        return Fault(bare.start(), bare.end(), not_expected(("a value",), bare.group()))
    if "CONTAINS" not in expected or "EXISTS" in expected:
        return unexpected(text, stumble, spoken(expected))
    if word is not None and word not in _KNOWN_WORDS:
        end = stumble.at + len(word)
        return Fault(stumble.at, end, unknown_check(word, called=_CALL.match(text, end) is not None))
    return unexpected(text, stumble, _spoken_checks(expected))


def _spoken_checks(expected: frozenset[str]) -> tuple[str, ...]:
    """The expected words, `a check` in place of the list of all of them."""
    if "TOOL" in expected:
        return ("a check", *spoken(expected - CHECK_STARTS))
    return ("a check of the response", *spoken(expected - _RESPONSE_CHECK_STARTS - _VALUE_CHECK_STARTS))


# --- the check -------------------------------------------------------------------------------------------------------


@final
class CheckBuilder:
    """Builds the check of one text, and keeps the places of its texts.

    The label of a tree is the type of its check, or one of `_BUILDERS`; `at` is the check's pointer.
    """

    def __init__(self) -> None:
        self.atoms: dict[str, Atom] = {}
        self.faults: list[Fault] = []

    def check(self, tree: Tree | Token, at: str, depth: int) -> c.Check:
        """The check of a tree that is nested at most `depth` levels deep."""
        tree = cast("Tree", tree)
        if depth == 0 and tree.data in _NESTING:
            raise _TooDeep(tree)
        children = tree.children
        match tree.data:
            case "negation":
                return c.Not(check=self.check(children[1], f"{at}/check", depth - 1))
            case "group" | "response":
                return self.check(children[1], at, depth - 1)
            case "at":
                path = self.path(children[1], f"{at}/path")
                return c.At(path=path, check=self.check(children[2], f"{at}/check", depth - 1))
            case "turn":
                number = self.first_count(children[1])
                return c.InTurn(turn=number, check=self.check(children[2], f"{at}/check", depth - 1))
            case "all_of":
                return c.AllOf(checks=self._operands(children[::2], at, depth))
            case "any_of":
                return c.AnyOf(checks=self._operands(children[::2], at, depth))
            case label:
                by_hand = _BUILDERS.get(label)
                return self._of_texts(_KINDS[label], children, at) if by_hand is None else by_hand(self, children, at)

    def _operands(self, operands: Children, at: str, depth: int) -> tuple[c.Check, ...]:
        parameter = ""
        for operand in operands:
            bare = _without_not(operand)
            if parameter and bare.data in _OF_RESPONSE:
                of_both = _first_word(bare).type in _VERBS_OF_PARAMETERS
                finding = Finding("EV138", parameter=parameter if of_both else "")
                self.faults.append(Fault(start_of(operand), _first_word(operand).end_pos or 0, finding))
            elif bare.data == "tool_param":
                parameter = f"tool {bare.children[1]}.{bare.children[3]}"
        checks = (self.check(operand, f"{at}/checks/{index}", depth) for index, operand in enumerate(operands))
        return tuple(checks)

    def _of_texts(self, kind: type[Declared], children: Children, at: str) -> c.Check:
        """A check whose fields are the texts of its line, or lists of them, in their order."""
        values = [child for child in children if not isinstance(child, str) or child.type in _TEXTS]
        given = {
            field.name: self.texts(value, f"{at}/{field.key}")
            for field, value in zip(text_fields(kind), values, strict=True)
        }
        return cast("c.Check", kind(**given))

    # --- parts ---

    def text(self, token: Tree | Token, at: str) -> str:
        """A text; its place is kept under its pointer."""
        atom = self.atoms[at] = text_of(cast("Token", token), self.faults)
        return atom.value

    def texts(self, value: Tree | Token, at: str) -> Any:
        """A text, or the members of a list in brackets."""
        if isinstance(value, str):
            return self.text(value, at)
        return tuple(self.text(item, f"{at}/{index}") for index, item in enumerate(value.children[1:-1:2]))

    def path(self, token: Tree | Token, at: str) -> str:
        """A path into a JSON value; a text in quotes is one key, whatever it holds."""
        path = self.text(token, at)
        return path_of_key(path) if cast("Token", token).type == "STRING" else path

    def fields(self, trees: Children, at: str) -> tuple[c.RequiredField, ...]:
        """Required fields, with their types if they have one."""
        return tuple(self._field(cast("Tree", tree), f"{at}/{index}") for index, tree in enumerate(trees))

    def _field(self, tree: Tree, at: str) -> c.RequiredField:
        last = cast("Token", tree.children[-1])
        type_ = cast("c.FieldType", str(last)) if last.type == "FIELD_TYPE" else None
        return c.RequiredField(path=self.path(tree.children[0], f"{at}/path"), type=type_)

    def pattern(self, token: Tree | Token, at: str) -> PatternAtom:
        """A pattern, as a literal or in quotes; its place is kept."""
        token = cast("Token", token)
        atom = literal_of(token, self.faults) if token.type == "REGEXP" else pattern_of(text_of(token, self.faults))
        self.atoms[at] = atom
        return atom

    def plain_pattern(self, token: Tree | Token, at: str) -> str:
        """A pattern where flags are not allowed."""
        atom = self.pattern(token, at)
        if atom.flags:
            self.faults.append(
                Fault(atom.end - len(atom.flags), atom.end, Finding("EV135", flag=atom.flags, why="argument"))
            )
        return atom.pattern

    def count(self, token: Tree | Token) -> int:
        """A whole number."""
        return int(count_of(cast("Token", token), self.faults).value)

    def first_count(self, token: Tree | Token) -> int:
        """A number that counts from 1; 1 in place of another one, which is reported."""
        number = self.count(token)
        if number < 1:
            self.faults.append(Fault(start_of(token), end_of(token), not_expected(("a number from 1",), str(token))))
        return max(number, 1)

    def number(self, token: Tree | Token, *, scale: float = 1) -> int | float:
        """A number."""
        return number_of(cast("Token", token), self.faults, scale=scale).value

    def bounds(self, tokens: Children) -> tuple[int | None, int | None]:
        """The least and the most that `A..B` or a comparison allows."""
        match cast("Token", tokens[0]).type:
            case "GE":
                return self.count(tokens[1]), None
            case "LE":
                return None, self.count(tokens[1])
            case "EQ":
                exactly = self.count(tokens[1])
                return exactly, exactly
            case _:
                return self.count(tokens[0]), self.count(tokens[2])

    def duration(self, token: Tree | Token, unit: Tree | Token) -> int | float:
        """A duration in milliseconds."""
        return duration_of(cast("Token", token), cast("Token", unit), self.faults).value

    # --- arguments of a package's check ---

    def argument(self, value: Tree | Token, at: str, depth: int) -> Any:
        """A JSON value that is nested at most `depth` levels deep; the places of its texts are kept."""
        if isinstance(value, str):
            return self._scalar(value, at)
        if depth <= 0:
            raise _TooDeep(value)
        inner = value.children[1:-1:2]
        if value.data == "array":
            return [self.argument(item, f"{at}/{index}", depth - 1) for index, item in enumerate(inner)]
        pairs = [cast("Tree", pair).children for pair in inner]
        keys = [text_of(cast("Token", pair[0]), self.faults) for pair in pairs]
        self.report_repeated(keys, "key")
        return {
            key.value: self.argument(pair[2], f"{at}/{pointer_step(key.value)}", depth - 1)
            for key, pair in zip(keys, pairs, strict=True)
        }

    def _scalar(self, token: Token, at: str) -> Any:
        match token.type:
            case "STRING":
                return self.text(token, at)
            case "NUMBER":
                return signed_of(token, self.faults)
            case word:
                return _WORDS[word]

    def report_repeated(self, names: Iterable[Text], what: str) -> None:
        """Report repeated names."""
        seen: set[str] = set()
        for name in names:
            if name.value in seen:
                self.faults.append(Fault(name.start, name.end, Finding("EV206", what=what, name=name.value)))
            seen.add(name.value)


def _without_not(operand: Tree | Token) -> Tree:
    """An operand without the `not` that precedes it."""
    tree = cast("Tree", operand)
    while tree.data == "negation":
        tree = cast("Tree", tree.children[1])
    return tree


def _first_word(tree: Tree | Token) -> Token:
    while not isinstance(tree, str):
        tree = tree.children[0]
    return tree


_TEXTS: Final = frozenset(("STRING", "NAME"))
_WORDS: Final = {"TRUE": True, "FALSE": False, "NULL": None}
_OF_RESPONSE: Final = frozenset(
    ("at", "has_fields", "has_headings", *(type_name(kind) for kind in members(c.TextCheck | c.JsonCheck)), "grounded")
)
"""The labels of checks that need `response` after a check of a tool's parameter."""
_VERBS_OF_PARAMETERS: Final = frozenset(("EQUALS", "CONTAINS", "MATCHES"))
"""The words that such a check may begin with, and that of a parameter has behind its name."""


# --- checks that are more than their texts ---------------------------------------------------------------------------


def _regex(build: CheckBuilder, children: Children, at: str) -> c.Check:
    atom = build.pattern(children[1], f"{at}/pattern")
    return c.Regex(pattern=atom.pattern, flags=atom.flags)


def _length(build: CheckBuilder, children: Children, _at: str) -> c.Check:
    least, most = build.bounds(children[1:])
    return c.Length(min=least, max=most, unit=unit_of(children[-1]))


def unit_of(token: Tree | Token) -> c.LengthUnit:
    """The unit that a token is; characters if it is not a unit."""
    token = cast("Token", token)
    return cast("c.LengthUnit", same(token)) if token.type == "UNIT" else "chars"


def same(word: str) -> str:
    """The one object of a word: JSON leaves out a field that *is* its default, and not an equal object."""
    return sys.intern(str(word))


def _json(build: CheckBuilder, children: Children, at: str) -> c.Check:
    mode: c.JsonMode = "strict"
    for token in cast("list[Token]", children[1:]):
        if token.type == "JSON_MODE":
            mode = cast("c.JsonMode", same(token))
        elif token.type == "STRING":
            build.text(token, f"{at}/schema")
    return c.Json(mode=mode)


def _number(build: CheckBuilder, children: Children, at: str) -> c.Check:
    """Bounds of any numbers; what is exactly one number is within the bounds of that."""
    match [cast("Token", child).type for child in children]:
        case ["GE", _]:
            return c.Number(min=build.argument(children[1], at, MAX_DEPTH))
        case ["LE", _]:
            return c.Number(max=build.argument(children[1], at, MAX_DEPTH))
        case ["EQ", _]:
            exactly = build.argument(children[1], at, MAX_DEPTH)
            return c.Number(min=exactly, max=exactly)
        case _:
            least, most = (build.argument(child, at, MAX_DEPTH) for child in children[::2])
            return c.Number(min=least, max=most)


def _count(build: CheckBuilder, children: Children, _at: str) -> c.Check:
    if len(children) == 2:
        exactly = build.count(children[1])
        return c.Count(min=exactly, max=exactly)
    least, most = build.bounds(children[1:])
    return c.Count(min=least, max=most)


def _has_headings(build: CheckBuilder, children: Children, at: str) -> c.Check:
    headings = enumerate(children[2::2])
    return c.Structure(headings=tuple(build.text(heading, f"{at}/headings/{index}") for index, heading in headings))


def _similar(build: CheckBuilder, children: Children, at: str) -> c.Check:
    value = build.text(children[2], f"{at}/value")
    if len(children) < 4:
        return c.Similar(value=value)
    return similar(value, build.number(children[4], scale=0.01 if len(children) > 5 else 1))


def similar(value: str, threshold: int | float) -> c.Similar:
    """A check of similarity; a threshold that equals the default is the default, which JSON leaves out."""
    usual = c.Similar(value=value)
    return usual if threshold == usual.threshold else c.Similar(value=value, threshold=threshold)


def _grounded(build: CheckBuilder, children: Children, _at: str) -> c.Check:
    named = [cast("Token", child) for child in children[2::2]]
    build.report_repeated((Text(start_of(token), end_of(token), str(token)) for token in named), "source")
    sources = tuple(cast("c.Source", same(token)) for token in named)
    kind = c.NumbersFrom if cast("Token", children[0]).type == "NUMBERS" else c.QuotesFrom
    return kind() if sources == kind().sources else kind(sources=sources)


def _custom(build: CheckBuilder, children: Children, at: str) -> c.Check:
    name = build.text(children[1], f"{at}/name")
    args: list[Any] = []
    options: dict[str, Any] = {}
    names: list[Text] = []
    for child in children[3:-1:2]:
        if isinstance(child, str) or child.data != "named":
            args.append(build.argument(child, f"{at}/args/{len(args)}", MAX_DEPTH))
        else:
            option, _, value = child.children
            names.append(text_of(cast("Token", option), build.faults))
            key = names[-1].value
            options[key] = build.argument(value, f"{at}/options/{pointer_step(key)}", MAX_DEPTH)
    build.report_repeated(names, "argument")
    return c.Custom(name=name, args=tuple(args), options=options)


def _tools_acceptable(build: CheckBuilder, children: Children, at: str) -> c.Check:
    sets = enumerate(children[4:-1:2])
    return c.ToolsAcceptable(sets=tuple(_tool_set(build, names, f"{at}/sets/{index}") for index, names in sets))


def _tool_set(build: CheckBuilder, names: Tree | Token, at: str) -> tuple[str, ...]:
    return (() if isinstance(names, str) else build.texts(names, at)) or (c.NO_TOOL,)


def _tool_count(build: CheckBuilder, children: Children, _at: str) -> c.Check:
    least, most = build.bounds(children[2:])
    return c.ToolCount(min=least, max=most)


_PARAM_OPS: Final[dict[str, c.ParamAssertion]] = {
    "EQUALS": "equals",
    "CONTAINS": "contains",
    "ONE": "oneOf",
    "MATCHES": "matches",
    "EXISTS": "exists",
}


def _tool_param(build: CheckBuilder, children: Children, at: str) -> c.Check:
    test = children[4:]
    negated = cast("Token", test[0]).type == "NOT"
    if negated:
        test = test[1:]
    op = _PARAM_OPS[cast("Token", test[0]).type]
    if negated and op == "exists":
        op, negated = "notExists", False
    if negated:
        at = f"{at}/check"
    value: str | tuple[str, ...] | None = None
    if op == "oneOf":
        value = build.texts(test[2], f"{at}/value")
    elif op == "matches":
        value = build.plain_pattern(test[1], f"{at}/value")
    elif op in ("equals", "contains"):
        value = build.text(test[1], f"{at}/value")
    tool, param = build.text(children[1], f"{at}/tool"), build.text(children[3], f"{at}/paramName")
    check = c.ToolParam(tool=tool, param_name=param, assertion=op, value=value)
    return c.Not(check=check) if negated else check


_WHICH: Final[dict[str, Literal["any", "every", "no"]]] = {"ANY": "any", "EVERY": "every", "NO": "no"}


def _call_has(build: CheckBuilder, children: Children, at: str) -> c.Check:
    which = _WHICH[cast("Token", children[0]).type]
    return _of_call(build, which, children[3], children[5::2], at)


def _nth_call_has(build: CheckBuilder, children: Children, at: str) -> c.Check:
    number = build.first_count(children[1])
    return _of_call(build, number, children[3], children[5::2], at)


def _of_call(
    build: CheckBuilder, which: Literal["any", "every", "no"] | int, tool: Tree | Token, tests: Children, at: str
) -> c.Check:
    name = build.text(tool, f"{at}/tool")
    args: dict[str, dict[str, Any]] = {}
    for test in cast("list[Tree]", tests):
        token, *rest = test.children
        name_of = text_of(cast("Token", token), build.faults).value
        path = path_of_key(name_of) if cast("Token", token).type == "STRING" else name_of
        given = _arg_test(build, rest, f"{at}/args/{pointer_step(path)}")
        earlier = args.setdefault(path, {})
        if not earlier.keys().isdisjoint(given):
            build.faults.append(Fault(start_of(test), end_of(test), Finding("EV206", what="test", name=path)))
        earlier |= given
    return c.CallHas(tool=name, which=which, args={path: c.ArgTest(**given) for path, given in args.items()})


def _arg_test(build: CheckBuilder, test: Children, at: str) -> dict[str, Any]:
    """The fields of an `ArgTest` that one test fills."""
    first = test[0]
    kind = first.data if not isinstance(first, str) else first.type
    match kind:
        case "CONTAINS":
            return {"contains": build.text(test[1], f"{at}/contains")}
        case "MATCHES":
            return {"matches": build.plain_pattern(test[1], f"{at}/matches")}
        case "ONE":
            values = enumerate(test[3:-1:2])
            return {"one_of": tuple(build.argument(value, f"{at}/oneOf/{i}", MAX_DEPTH) for i, value in values)}
        case "NOT" | "EXISTS":
            return {"exists": kind == "EXISTS"}
        case "GE":
            return {"min": build.argument(test[1], at, MAX_DEPTH)}
        case "LE":
            return {"max": build.argument(test[1], at, MAX_DEPTH)}
        case "NUMBER" if len(test) > 1:
            return {"min": build.argument(first, at, MAX_DEPTH), "max": build.argument(test[2], at, MAX_DEPTH)}
        case _:
            return {"equals": build.argument(first, f"{at}/equals", MAX_DEPTH)}


def _judge(build: CheckBuilder, children: Children, at: str) -> c.Check:
    question = build.text(children[1], f"{at}/criteria")
    least, scale = (build.number(children[3]), build.number(children[5])) if len(children) > 2 else (1, 1)
    return c.Judge(dimension="", criteria=question, min_score=least, max_score=scale)


_BUILDERS: Final[dict[str, Callable[[CheckBuilder, Children, str], c.Check]]] = {
    "regex": _regex,
    "length": _length,
    "json": _json,
    "number": _number,
    "count": _count,
    "value": lambda build, children, at: c.Value(value=build.argument(children[1], f"{at}/value", MAX_DEPTH)),
    "has_fields": lambda build, children, at: c.Structure(fields=build.fields(children[2::2], f"{at}/fields")),
    "has_headings": _has_headings,
    "similar": _similar,
    "grounded": _grounded,
    "custom": _custom,
    "tools_acceptable": _tools_acceptable,
    "tool_count": _tool_count,
    "tool_param": _tool_param,
    "call_has": _call_has,
    "nth_call_has": _nth_call_has,
    "latency": lambda build, children, _at: c.Latency(max=build.duration(children[2], children[3])),
    "tokens": lambda build, children, _at: c.Tokens(max=build.count(children[2])),
    "cost": lambda build, children, _at: c.Cost(max=build.number(children[-1])),
    "judge": _judge,
}
