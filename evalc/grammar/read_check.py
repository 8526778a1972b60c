"""Reads one-line checks: the tree of each, a subject and a predicate, and where its texts were written.

Two lines of one shape (`contains "a" for x`, `contains "docstring" for x`) have one tree but for the texts of their
literals. So each shape is parsed once, its tree is made anew for each line, and the places of its texts are found when
somebody asks. What is odd in any way (an escape, a mistake, a long line) is read with care, as if there were no shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast, final, overload

import msgspec

from evalc.base.durations import MILLISECONDS
from evalc.check.forms import together
from evalc.check.predicates import PREDICATES, Kind, Role, mapped
from evalc.check.tree import (
    NO_TOOL,
    All,
    Argument,
    Asked,
    At,
    Blank,
    Bounds,
    Call,
    Check,
    Failure,
    Items,
    Measure,
    Measured,
    Node,
    Not,
    Of,
    Result,
    Some,
    Test,
    Tools,
    Turn,
    Which,
)
from evalc.diagnostics.problem import Fault, Finding
from evalc.grammar.atoms import count_of, end_of, literal_of, number_of, pattern_of, signed_of, start_of, text_of
from evalc.grammar.lalr import Stumble, Tree, following, load, read
from evalc.grammar.nodes import LONGEST_REMEMBERED, REMEMBERED, Atom, Parsed, ReadCheck, Text, parsed
from evalc.grammar.unexpected import expected_words, not_expected, unexpected, word_at
from evalc.model.json import path_of_key

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token

    Child = Tree | Token
    Children = list[Child]

MAX_DEPTH: Final = 50
"""How deep parentheses, `not` and values may nest."""


class _Said(str):
    """A text of a check that knows where it was written."""

    __slots__ = ("atom",)

    atom: Atom


class _SaidBlank(Blank, frozen=True):
    """A bare template that knows where it was written."""

    atom: Any = None


def said(value: str, atom: Atom) -> _Said:
    """A text that knows where it was written."""
    text = _Said(value)
    text.atom = atom
    return text


class _TooDeep(Exception):
    """A check is nested too deep; holds its tree."""


Unit = Measured | Literal["share", "times", ""]
"""The measure of a number, so that it may be a whole one or have a sign; nothing for a number of JSON."""


class _Subject(NamedTuple):
    """Return what a predicate is asked of: its words in messages, what it is, and what it counts.

    An `is_part` follows `has`.
    """

    words: str
    kind: Kind = "value"
    unit: Unit = ""
    is_part: bool = False


# --- whole lines -----------------------------------------------------------------------------------------------------


class _Reading(NamedTuple):
    """A line whose texts know where they were written."""

    start: int
    end: int
    check: Check
    criterion: Text | None


def _read_with_care(text: str) -> Parsed[ReadCheck]:
    reading, faults = _reading(text)
    return Parsed(None if reading is None else settled(*reading), faults)


_remembered = lru_cache(REMEMBERED)(_read_with_care)


def _reading(text: str) -> tuple[_Reading | None, tuple[Fault, ...]]:
    tree = read("check", "line", text)
    if isinstance(tree, Stumble):
        return None, (_fault(text, tree),)
    reader = Reader(text)
    try:
        check = reader.check(tree.children[0], MAX_DEPTH)
    except _TooDeep as stop:
        (deep,) = stop.args
        reader.faults.append(Fault(start_of(deep), start_of(deep) + 1, Finding("EV139", what="depth", limit=MAX_DEPTH)))
        return parsed(None, reader.faults)
    criterion = text_of(cast("Token", tree.children[-1]), reader.faults) if len(tree.children) > 1 else None
    return parsed(_Reading(start_of(tree), end_of(tree), check, criterion), reader.faults)


def settled(start: int, end: int, check: Check, criterion: Text | None = None) -> ReadCheck:
    """The line of a check whose texts know where they were written."""
    places: list[Atom] = []
    return ReadCheck(start, end, _plain(check, places), tuple(places), criterion)


def _plain(check: Check, places: list[Atom]) -> Check:
    def settle(_role: Role, text: Any) -> Any:
        places.append(text.atom)
        return str(text) if isinstance(text, str) else Blank(text.template, text.asks, text.scale)

    return mapped(check, settle)


# --- subjects --------------------------------------------------------------------------------------------------------

_MEASURES: Final[Mapping[str, Measured]] = {
    "CHARS": "chars",
    "LENGTH": "chars",
    "WORDS": "words",
    "LINES": "lines",
    "BYTES": "bytes",
    "SENTENCES": "sentences",
    "TOKENS": "tokens",
    "COUNT": "items",
    "ERRORS": "errors",
    "LATENCY": "ms",
    "COST": "dollars",
}
_RESPONSE: Final = _Subject("the response")
_NEEDS_RESPONSE: Final = frozenset(("of_response", "of_place", "of_path"))
_HAS_A_SUBJECT: Final = frozenset(("judge", "TOKENS"))
"""Return what begins a check of the response that nobody reads as one of a parameter."""


@final
class Reader:
    """Builds the checks of one text, and gathers its faults."""

    def __init__(self, text: str) -> None:
        self.faults: list[Fault] = []
        self._text = text

    def check(self, tree: Child, depth: int) -> Check:
        """The check of a tree that is nested at most `depth` levels deep."""
        tree = cast("Tree", tree)
        children = tree.children
        if depth == 0 and tree.data in ("negation", "group", "turn"):
            raise _TooDeep(tree)
        match tree.data:
            case "negation":
                return Not(self.check(children[1], depth - 1))
            case "group":
                return self.check(children[1], depth - 1)
            case "turn":
                return Of(Turn(self.ordinal(children[1])), self.check(children[2], depth - 1))
            case "all_of":
                return All(self._operands(children[::2], depth))
            case "any_of":
                return Some(self._operands(children[::2], depth))
            case label:
                return _SUBJECTS[label](self, children)

    def _operands(self, operands: Children, depth: int) -> tuple[Check, ...]:
        parameter = ""
        for operand in operands:
            bare = cast("Tree", operand)
            while bare.data == "negation":
                bare = cast("Tree", bare.children[1])
            if bare.data == "of_argument":
                parameter = self.words(bare.children[:4])
            elif parameter and bare.data in _NEEDS_RESPONSE and not _HAS_A_SUBJECT & {_label(bare), _first(bare).type}:
                of_both = bare.data == "of_response"
                finding = Finding("EV138", parameter=parameter if of_both else "")
                self.faults.append(Fault(start_of(operand), end_of(_first(operand)), finding))
        return tuple([self.check(operand, depth) for operand in operands])

    def words(self, children: Children) -> str:
        """Return what is written from the first to the last of some trees."""
        return self._text[start_of(children[0]) : end_of(children[-1])]

    def ordinal(self, token: Child) -> int:
        """A number that counts from 1; 1 in place of another one, which is reported."""
        number = int(count_of(cast("Token", token), self.faults).value)
        if number < 1:
            self.expected("a number from 1", token)
        return max(number, 1)

    def text(self, token: Child) -> Any:
        """A text in quotes or a name; a bare template where a text is asked."""
        return self.scalar(token, "text")

    def scalar(self, token: Child, asks: Asked = "any") -> Any:
        """A value without members; a text knows where it was written."""
        token = cast("Token", token)
        match token.type:
            case "NUMBER":
                return signed_of(token, self.faults)
            case "TRUE" | "FALSE" | "NULL":
                return _WORDS[token.type]
            case "TEMPLATE":
                return _blank(token, asks)
            case _:
                atom = text_of(token, self.faults)
                return said(atom.value, atom)

    def path(self, token: Child) -> Any:
        """A path into a JSON value; a text in quotes is one key, whatever it holds."""
        token = cast("Token", token)
        atom = text_of(token, self.faults)
        return said(path_of_key(atom.value) if token.type == "STRING" else _path(atom.value), atom)

    # --- the words around a predicate ---

    def asked(self, tree: Child, of: _Subject) -> Check:
        """Return what is asked of a subject, without the words that say nothing by themselves."""
        tree = cast("Tree", tree)
        nots, seen = 0, set[str]()
        while tree.data in ("negation", "noise"):
            word = cast("Token", tree.children[0])
            kind = "IS" if word.type == "HAS" else word.type
            if kind == "NOT":
                nots += 1
                if nots > MAX_DEPTH:
                    raise _TooDeep(tree)
            elif kind in seen:
                self.expected("a predicate", word)
            seen.add(kind)
            tree = cast("Tree", tree.children[1])
        check = _PREDICATES[tree.data](self, tree.children, of)
        for _ in range(nots):
            check = Not(check)
        return check

    def test(self, children: Children, of: _Subject, predicate: str, operand: Any = None, case: bool = False) -> Check:
        """A predicate of a subject that it may be asked of."""
        row = PREDICATES[predicate]
        if of.kind not in row.on:
            self.unasked(children, of, row.line.partition("{")[0].strip() or "a comparison", row.on)
        return Test(predicate, operand, case)

    def unasked(self, children: Children, of: _Subject, predicate: str, on: frozenset[Kind]) -> None:
        """Report what a subject can never be asked."""
        finding = Finding("EV160", subject=of.words, given=_GIVES[of.kind], predicate=predicate, asks=_ASKS[on])
        self.faults.append(Fault(start_of(children[0]), end_of(children[-1]), finding))

    def same(self, value: Child, modifier: bool, of: _Subject) -> Check:
        """Return what is exactly a value: a text in quotes by its text, any other as JSON; of a measure, a number."""
        if of.unit:
            return self.exactly(value, of)
        if isinstance(value, Tree) and value.data == "quantity":
            self.number(value, of.unit)
            return Test("is")
        operand = self.value(value, "text" if modifier else "any")
        if isinstance(operand, _Said) or modifier:
            return self.test([value], of, "equals", operand, modifier)
        return self.test([value], of, "is", operand)

    # --- numbers ---

    def number(self, tree: Child, unit: Unit) -> Any:
        """A number of what is counted, in its base unit; a bare template in its place."""
        number, mark = _number_and_mark(tree)
        required = _MARKS.get(unit, ())
        if mark is not None and mark.type not in required:
            self.expected("a number" if mark.type == "DOLLAR" else "the end", mark)
        elif mark is None and unit == "ms":
            stumble = Stumble(end_of(tree), frozenset({"TIME_UNIT"}))
            self.faults.append(unexpected(self._text, stumble, expected_words(stumble.expected)))
        scale = 1 if mark is None or mark.type == "DOLLAR" else _scale(mark)
        is_whole = bool(unit) and not required
        if number.type == "TEMPLATE":
            return _blank(number, "whole" if is_whole else "number", scale)
        if not unit:
            return signed_of(number, self.faults)
        return count_of(number, self.faults).value if is_whole else number_of(number, self.faults, scale=scale).value

    def exactly(self, tree: Child, of: _Subject) -> Check:
        """A number that is exactly one."""
        if (isinstance(tree, Tree) and tree.data != "quantity") or (
            not isinstance(tree, Tree) and not _is_number(tree)
        ):
            self.expected("a number", tree)
            return Test("between", Bounds())
        number = self.number(tree, of.unit)
        return Test("between", Bounds(number, number))

    def bounds(self, tree: Child, unit: Unit) -> Bounds:
        """The numbers that a comparison, a range or one number allows."""
        if not isinstance(tree, Tree) or tree.data != "bounds":
            number = self.number(tree, unit)
            return Bounds(number, number)
        children = tree.children
        numbers = [self.number(child, unit) for child in children if isinstance(child, Tree) or _is_number(child)]
        sign = _first(tree).type
        if len(numbers) == 2:
            return Bounds(*numbers)
        return Bounds(numbers[0], numbers[0]) if sign == "EXACTLY" else Bounds(**{_SIGNS[sign]: numbers[0]})

    def times(self, tree: Tree) -> Bounds:
        """How often something happens: `once`, `at least 2 times`."""
        first, *rest = tree.children
        last = cast("Token", tree.children[-1])
        if last.type == "TIMES":
            return self.bounds(first, "times")
        number = 1 if last == "once" else 2
        return Bounds(**{_SIGNS[cast("Token", first).type]: number}) if rest else Bounds(number, number)

    # --- values ---

    def value(self, tree: Child, asks: Asked = "any", depth: int = MAX_DEPTH) -> Any:
        """A JSON value that is nested at most `depth` levels deep; its texts know where they were written."""
        if not isinstance(tree, Tree):
            return self.scalar(tree, asks)
        if depth <= 0:
            raise _TooDeep(tree)
        inner = tree.children[1:-1:2]
        if tree.data == "array":
            return [self.value(item, asks, depth - 1) for item in inner]
        pairs = [cast("Tree", pair).children for pair in inner]
        keys = [text_of(cast("Token", pair[0]), self.faults) for pair in pairs]
        self.report_repeated(keys, "key")
        return {key.value: self.value(pair[2], asks, depth - 1) for key, pair in zip(keys, pairs, strict=True)}

    def values(self, tree: Child, *, may_be_empty: bool = False) -> Any:
        """The values of a list, or a bare template for all of it."""
        if not isinstance(tree, Tree):
            return self.scalar(tree, "list")
        if len(tree.children) == 2 and not may_be_empty:
            end = end_of(tree) - 1
            self.faults.append(Fault(end, end + 1, not_expected(("a value",), "]")))
        return tuple(self.value(tree))

    def names(self, tree: Child, *, may_be_empty: bool = True) -> Any:
        """The names of a list, or a bare template for all of it."""
        if not isinstance(tree, Tree):
            return self.scalar(tree, "list")
        if len(tree.children) == 2 and not may_be_empty:
            end = end_of(tree) - 1
            self.faults.append(Fault(end, end + 1, not_expected(("a name", "a text in quotes"), "]")))
        return tuple([self.text(name) for name in tree.children[1:-1:2]])

    def schema(self, tree: Child) -> Any:
        """A path to a JSON Schema, or the schema itself, in which nothing is filled."""
        value = self.value(tree)
        return value if isinstance(value, str) else self._literal(value, tree)

    def _literal(self, value: Any, tree: Child) -> Any:
        match value:
            case str():
                return str(value)
            case list():
                return [self._literal(item, tree) for item in value]
            case dict():
                return {key: self._literal(item, tree) for key, item in value.items()}
            case Blank():
                start = cast("_SaidBlank", value).atom.start
                finding = not_expected(("a value",), value.template)
                self.faults.append(Fault(start, start + len(value.template), finding))
                return None
            case _:
                return value

    def report_repeated(self, names: Iterable[Text], what: str) -> None:
        """Report repeated names."""
        seen: set[str] = set()
        for name in names:
            if name.value in seen:
                self.faults.append(Fault(name.start, name.end, Finding("EV206", what=what, name=name.value)))
            seen.add(name.value)

    def pattern(self, token: Child) -> Any:
        """A pattern with its flags, as a literal or in quotes; a bare template in its place."""
        token = cast("Token", token)
        if token.type == "TEMPLATE":
            return self.text(token), ""
        atom = (
            literal_of(token, self.faults)
            if token.type in ("REGEXP", "LITERAL")
            else pattern_of(text_of(token, self.faults))
        )
        return said(atom.pattern, atom), atom.flags

    def fields(self, trees: Children) -> tuple[tuple[str, str | None], ...]:
        """Fields that are required, each with its type or None."""
        return tuple([self._field(cast("list[Token]", cast("Tree", tree).children)) for tree in trees])

    def _field(self, tokens: list[Token]) -> tuple[str, str | None]:
        name = text_of(tokens[0], self.faults).value
        path = path_of_key(name) if tokens[0].type == "STRING" else name
        return path, str(tokens[-1]) if len(tokens) > 1 else None

    def expected(self, required: str, tree: Child) -> None:
        """Report what should stand in the place of a tree."""
        self.faults.append(Fault(start_of(tree), end_of(tree), not_expected((required,), self.words([tree]))))

    def report_list(self, tree: Child) -> None:
        """Report a list where one value is sought: nobody could show whether any of its items or all are meant."""
        start, end = start_of(tree), end_of(tree)
        one, each = (f"{self._text[:start]}{word} of {self._text[start:]}" for word in ("any", "all"))
        self.faults.append(Fault(start, end, Finding("EV162", any=one, all=each)))

    # --- arguments of calls and fields of items ---

    def parts(self, tree: Child) -> Check:
        """Return what is asked of the places of one call, one result or one item."""
        children = cast("list[Tree]", cast("Tree", tree).children[::2])
        checks = [self._part(child.children) for child in children]
        identities = [
            Text(start_of(child), end_of(child), check.step.path)
            for child, check in zip(children, checks, strict=True)
            if isinstance(check.check, Test) and PREDICATES[check.check.predicate].identity
        ]
        self.report_repeated(identities, "test")
        return together(checks)

    def _part(self, children: Children) -> Any:
        return Of(At(self.path(children[0])), self.asked(children[1], _Subject(self.words(children[:1]), is_part=True)))


def _blank(token: Token, asks: Asked, scale: float = 1) -> _SaidBlank:
    start = token.start_pos
    return _SaidBlank(str(token), asks, scale, Text(start, start + len(token), str(token)))


def _first(tree: Child) -> Token:
    while isinstance(tree, Tree):
        tree = tree.children[0]
    return tree


def _label(about: Tree) -> str:
    """The label of the predicate that a check of the response is."""
    last = about.children[-1]
    return last.data if isinstance(last, Tree) else ""


def _path(written: str) -> str:
    """A path in the one notation: `$.items.0.price` and `items[*].price` are `items[0].price` and `items[].price`."""
    rooted = written[1:].removeprefix(".") if written.startswith(("$.", "$[")) else written
    return _NUMBERED.sub(r"[\1]", rooted).replace("[*]", "[]")


def _number_and_mark(tree: Child) -> tuple[Token, Token | None]:
    """The number or template of a quantity, and its unit or sign."""
    if not isinstance(tree, Tree):
        return tree, None
    first, last = cast("list[Token]", tree.children)
    return (first, last) if _is_number(first) else (last, first)


def _is_number(token: Child) -> bool:
    return not isinstance(token, Tree) and token.type in ("NUMBER", "TEMPLATE")


def _scale(mark: Token) -> float:
    return 0.01 if mark == "%" else MILLISECONDS["ms" if mark == "ms" or mark.startswith("mil") else mark[0]]


_WORDS: Final = {"TRUE": True, "FALSE": False, "NULL": None}
_NUMBERED: Final = re.compile(r"\.([0-9]{1,9})(?![\w$-])")
_MARKS: Final[Mapping[Unit, tuple[str, ...]]] = {
    "ms": ("TIME_UNIT", "DURATION"),
    "dollars": ("DOLLAR",),
    "share": ("PERCENT",),
}
_SIGNS: Final = {
    "GE": "min",
    "AT_LEAST": "min",
    "LE": "max",
    "AT_MOST": "max",
    "GT": "above",
    "MORE_THAN": "above",
    "OVER": "above",
    "LT": "below",
    "LESS_THAN": "below",
    "UNDER": "below",
}
_GIVES: Final[Mapping[Kind, str]] = {
    "value": "is a value",
    "number": "is a number",
    "names": "is about the tools called",
    "call": "is a call",
}
_ASKS: Final[Mapping[frozenset[Kind], str]] = {
    frozenset({"value"}): "a text or a list",
    frozenset({"value", "number"}): "a value or a number",
    frozenset({"names"}): "which tools were called",
    frozenset({"call"}): "a call",
}


def _of_response(read: Reader, children: Children) -> Check:
    if len(children) == 1:
        return read.asked(children[0], _RESPONSE)
    return read.asked(Tree("noise", children), _RESPONSE)


def _of_place(read: Reader, children: Children) -> Check:
    *subject, path, clause = children
    return _at(read, path, subject, clause)


def _at(read: Reader, path: Child, subject: Children, clause: Child) -> Check:
    place = read.path(path)
    check = read.asked(clause, _Subject(read.words([*subject, path])))
    return Of(Items(str(place), "every"), check) if "[*]" in str(path) else Of(At(place), check)


def _of_argument(read: Reader, children: Children) -> Check:
    *subject, clause = children
    step = Call(read.text(children[1]), "first")
    return _outside(step, Argument(read.text(children[3])), check=read.asked(clause, _Subject(read.words(subject))))


def _outside(*steps: Any, check: Check) -> Check:
    """A check behind steps that `not` stands before; that an argument is not there is the argument's own check."""
    if isinstance(check, Not) and check.check != Test("exists"):
        return Not(_outside(*steps, check=check.check))
    for step in reversed(steps):
        check = Of(step, check)
    return check


def _of_calls(read: Reader, children: Children) -> Check:
    which = _WHICH[cast("Token", children[0]).type]
    return _calls(read, which, children[3], children)


def _of_nth_call(read: Reader, children: Children) -> Check:
    return _calls(read, read.ordinal(children[1]), children[3], children)


def _calls(read: Reader, which: Which | int, tool: Child, children: Children) -> Check:
    of = _Subject(read.words(children[:-1]), "call")
    return Of(Call(read.text(tool), which), read.asked(children[-1], of))


def _of_items(read: Reader, children: Children) -> Check:
    items = Items(f"{read.path(children[3])}[]", _WHICH[cast("Token", children[0]).type])
    last = cast("Tree", children[-1])
    if last.data == "parts":
        return Of(items, read.parts(last))
    return Of(items, read.asked(last, _Subject(read.words(children[:-1]))))


def _of_star_items(read: Reader, children: Children) -> Check:
    which = _WHICH[cast("Token", children[0]).type]
    check = read.asked(children[2], _Subject(read.words(children[:2])))
    return Of(Items(str(read.path(children[1])), which), check)


def _of_tools(read: Reader, children: Children) -> Check:
    check = read.asked(children[1], _Subject(read.words(children[:1]), "names"))
    match check:
        case Not(Test("called", names)):
            return Of(Tools(), Test("not_called", names))
        case _:
            return _outside(Tools(), check=check)


def _of_tool(read: Reader, children: Children) -> Check:
    check = read.asked(children[2], _Subject(str(read.text(children[1])), "names"))
    tool = read.text(children[1])
    match check:
        case Not(inner):
            return (
                Of(Tools(), Test("not_called", (tool,))) if inner == Test("include") else Not(_how_often(inner, tool))
            )
        case _:
            return _how_often(check, tool)


def _how_often(check: Check, tool: Any) -> Check:
    match check:
        case Test("include"):
            return Of(Tools(), Test("include", (tool,)))
        case Test("before", (None, then)):
            return Of(Tools(), Test("before", (tool, then)))
        case Test("before", (first, None)):
            return Of(Tools(), Test("before", (first, tool)))
        case _:
            return Of(Measure("calls", tool), check)


def _of_run(read: Reader, children: Children) -> Check:
    words = cast("Tree", children[0]).children
    token = cast("Token", words[-1])
    unit = cast("Measured", "_".join(token.split())) if token.type == "USAGE_TOKENS" else _MEASURES[token.type]
    return _measured(read, "calls" if len(words) == 2 and unit == "items" else unit, words, children[1])


def _measured(read: Reader, unit: Measured, words: Children, sized: Child) -> Check:
    return _measure(unit, read.asked(sized, _Subject(read.words(words), "number", unit)))


def _measure(unit: Measured, check: Check) -> Check:
    match check:
        case Not(inner):
            return Not(_measure(unit, inner))
        case Of(Measure()):
            return check
        case _:
            return Of(Measure(unit), check)


_WHICH: Final[Mapping[str, Which]] = {"ANY": "any", "EVERY": "every", "NO": "no"}
_SUBJECTS: Final[Mapping[str, Callable[[Reader, Children], Check]]] = {
    "of_response": _of_response,
    "of_named_response": lambda read, children: read.asked(children[1], _RESPONSE),
    "of_named_place": _of_place,
    "of_place": _of_place,
    "of_path": _of_place,
    "of_argument": _of_argument,
    "of_calls": _of_calls,
    "of_nth_call": _of_nth_call,
    "of_items": _of_items,
    "of_star_items": _of_star_items,
    "of_tools": _of_tools,
    "of_tool": _of_tool,
    "no_errors": lambda _read, _children: Of(Tools(), Test("no_errors")),
    "of_run": _of_run,
}


# --- predicates ------------------------------------------------------------------------------------------------------


def _equals(read: Reader, children: Children, of: _Subject) -> Check:
    sign = cast("Token", children[0]).type
    value = children[1]
    if isinstance(value, Tree) and value.data == "sized_number":
        check = _size(read, value.children, of)
    elif sign == "EQ" and _is_number(value) and (of.unit or cast("Token", value).type == "NUMBER"):
        check = read.exactly(value, of)
    else:
        check = read.same(value, len(children) > 2, of)
    return Not(check) if sign == "NE" else check


def _size(read: Reader, children: Children, of: _Subject) -> Check:
    """Bounds, and the unit of what they count: `at most 5 words`; behind `length` the unit is what is measured."""
    if len(children) == 1:
        return read.test(children, of, "between", read.bounds(children[0], of.unit))
    unit = _unit(cast("Token", children[1]))
    if of.unit not in ("", "chars", unit):
        read.expected("the end", children[1])
    return Of(Measure(unit), Test("between", read.bounds(children[0], unit)))


def _measured_clause(read: Reader, children: Children, of: _Subject) -> Check:
    measure = cast("Tree", children[0])
    token = _first(measure)
    if of.unit:
        read.unasked([measure], of, str(token), PREDICATES["contains"].on)
    return _measured(read, _MEASURES[token.type], [token], children[1])


def _unit(token: Token) -> Measured:
    word = token.rstrip("s")
    return "chars" if word.startswith("char") else cast("Measured", f"{word}s")


def _list(predicate: str) -> _Predicate:
    def build(read: Reader, children: Children, of: _Subject) -> Check:
        return read.test(children, of, predicate, read.values(children[1], may_be_empty=of.is_part), len(children) > 2)

    return build


def _contains(read: Reader, children: Children, of: _Subject) -> Check:
    value = read.value(children[1], "text")
    case, times = False, None
    for tree in cast("list[Tree]", children[2:]):
        case, times = (True, times) if tree.data == "modifier" else (case, read.times(tree))
    if isinstance(value, list):
        read.report_list(children[1])
    if times is None:
        return read.test(children, of, "contains", value, case)
    if not isinstance(value, str | Blank):
        read.expected("a text in quotes", children[1])
    return read.test(children, of, "occurs", (value, times), case)


def _contains_of(read: Reader, children: Children, of: _Subject) -> Check:
    case = isinstance(children[-1], Tree) and children[-1].data == "modifier"
    values = children[2:-1] if case else children[2:]
    is_list = len(values) == 1 and (isinstance(values[0], Tree) or values[0].type == "TEMPLATE")
    operand = read.values(values[0]) if is_list else tuple([read.value(value) for value in values[::2]])
    how_many = _first(children[1]).type
    check = read.test(children, of, _OF.get(how_many, "contains_any"), operand, case)
    return Not(check) if how_many == "NONE" else check


def _affix(predicate: str) -> _Predicate:
    def build(read: Reader, children: Children, of: _Subject) -> Check:
        return read.test(children, of, predicate, read.text(children[2]), len(children) > 3)

    return build


def _matches(read: Reader, children: Children, of: _Subject) -> Check:
    return read.test(children, of, "matches", read.pattern(children[1]))


def _json(read: Reader, children: Children, of: _Subject) -> Check:
    mode, schema = "strict", None
    for child in children[1:]:
        if isinstance(child, Tree) or child.type == "STRING":
            schema = read.schema(child)
        elif child.type == "JSON_MODE":
            mode = str(child)
    return read.test(children, of, "json", (mode, schema))


def _similar(read: Reader, children: Children, of: _Subject) -> Check:
    least = read.number(children[4], "share") if len(children) > 3 else 0.8
    return read.test(children, of, "similar", (read.text(children[2]), least))


def _judge(read: Reader, children: Children, of: _Subject) -> Check:
    question = read.text(children[1])
    least, most = (
        (read.number(children[3], "share"), read.number(children[5], "share")) if len(children) > 2 else (1, 1)
    )
    return read.test(children, of, "judge", (said("", question.atom), most, question, least))


def _custom(read: Reader, children: Children, of: _Subject) -> Check:
    compared = Bounds()
    *called, last = children
    if isinstance(last, Tree):
        compared, children = read.bounds(last.children[-1], "share"), called
    args: list[Any] = []
    options: dict[str, Any] = {}
    names: list[Text] = []
    for child in children[3:-1:2]:
        if isinstance(child, Tree) and child.data == "named":
            option, _, value = child.children
            names.append(text_of(cast("Token", option), read.faults))
            options[names[-1].value] = read.value(value)
        else:
            args.append(read.value(child))
    read.report_repeated(names, "argument")
    return read.test(children, of, "check", (read.text(children[1]), tuple(args), options, compared))


def _has_fields(read: Reader, children: Children, of: _Subject) -> Check:
    return read.test(children, of, "structure", (read.fields(children[2::2]), ()))


def _has_headings(read: Reader, children: Children, of: _Subject) -> Check:
    return read.test(children, of, "structure", ((), tuple(map(read.text, children[2::2]))))


def _markdown(read: Reader, children: Children, of: _Subject) -> Check:
    part = " ".join(cast("Token", children[2]).split())
    return read.test(children, of, "markdown", (part, str(children[4]) if len(children) > 3 else None))


def _grounded(read: Reader, children: Children, of: _Subject) -> Check:
    sources = cast("list[Token]", children[2::2])
    read.report_repeated((Text(start_of(token), end_of(token), str(token)) for token in sources), "source")
    predicate = f"{cast('Token', children[0])}_from"
    return read.test(children, of, predicate, tuple(map(str, sources)))


def _word(predicate: str) -> _Predicate:
    def build(read: Reader, children: Children, of: _Subject) -> Check:
        word = str(children[-1])
        return read.test(children, of, predicate, _TYPES.get(word, word))

    return build


def _sorted(read: Reader, children: Children, of: _Subject) -> Check:
    by = str(read.path(children[-1])) if len(children) > 2 else None
    descending = len(children) > 1 and cast("Token", children[1]).type == "DESCENDING"
    return read.test(children, of, "sorted", (descending, by))


def _language(read: Reader, children: Children, of: _Subject) -> Check:
    from evalc.check.languages import LANGUAGES, language_named  # noqa: PLC0415 - for start-up

    name = " ".join(read.text(children[1]).split())
    language = language_named(name)
    if language is None:
        finding = Finding("EV161", name=name, known=tuple(LANGUAGES.values()))
        read.faults.append(Fault(start_of(children[1]), end_of(children[1]), finding))
    return read.test(children, of, "language", language)


def _missing(read: Reader, children: Children, of: _Subject) -> Check:
    exists = read.test(children, of, "exists")
    return exists if children[-1] == "present" else Not(exists)


def _plain_test(predicate: str) -> _Predicate:
    return lambda read, children, of: read.test(children, of, predicate)


def _parts(read: Reader, children: Children, _of: _Subject) -> Check:
    return read.parts(children[1])


def _returns(read: Reader, children: Children, of: _Subject) -> Check:
    returned = cast("Tree", children[1])
    if returned.data == "parts":
        return Of(Result(), read.parts(returned))
    return Of(Result(), read.asked(returned, _Subject(f"the result of {of.words}")))


def _fails(read: Reader, children: Children, of: _Subject) -> Check:
    if len(children) == 1:
        return read.test(children, of, "fails")
    return Of(Failure(), read.asked(children[2], _Subject(f"the error of {of.words}")))


def _called_before(read: Reader, children: Children, _of: _Subject) -> Check:
    other = read.text(children[2])
    return Test("before", (None, other) if cast("Token", children[1]).type == "BEFORE" else (other, None))


def _called(read: Reader, children: Children, _of: _Subject) -> Check:
    times = cast("list[Tree]", children[1:])
    return Test("between", read.times(times[0])) if times else Test("include")


def _names_are(read: Reader, children: Children, of: _Subject) -> Check:
    predicate = _OF_NAMES[cast("Token", children[0]).type]
    return read.test(children, of, predicate, read.names(children[-1], may_be_empty=predicate == "called"))


def _names_one_of(read: Reader, children: Children, of: _Subject) -> Check:
    sets = children[1]
    if not isinstance(sets, Tree):
        return read.test(children, of, "acceptable", read.scalar(sets, "list"))
    return read.test(children, of, "acceptable", tuple([_tool_set(read, names) for names in sets.children[1:-1:2]]))


def _tool_set(read: Reader, names: Child) -> Any:
    given = read.names(names) if isinstance(names, Tree) else ()
    return given or (said(NO_TOOL, Text(start_of(names), end_of(names), NO_TOOL)),)


_Predicate = Callable[[Reader, "Children", _Subject], Check]
_TYPES: Final = {"text": "string", "list": "array"}
_OF: Final = {"ALL": "contains_all"}
_OF_NAMES: Final = {"CALLED": "called", "INCLUDE": "include", "IN": "in_order", "ONLY": "only"}
_PREDICATES: Final[Mapping[str, _Predicate]] = {
    "equals": _equals,
    "same": lambda read, children, of: read.same(children[0], len(children) > 1, of),
    "bounds": lambda read, children, of: read.test(
        children, of, "between", read.bounds(Tree("bounds", children), of.unit)
    ),
    "size": _size,
    "measured": _measured_clause,
    "one_of": _list("one_of"),
    "contains": _contains,
    "contains_of": _contains_of,
    "starts_with": _affix("starts_with"),
    "ends_with": _affix("ends_with"),
    "matches": _matches,
    "json": _json,
    "similar": _similar,
    "exists": _plain_test("exists"),
    "empty": _plain_test("empty"),
    "non_empty": _plain_test("non_empty"),
    "unique": _plain_test("unique"),
    "missing": _missing,
    "within": lambda read, children, of: read.test(
        children, of, "within", (read.number(children[1], of.unit), read.number(children[3], of.unit))
    ),
    "judge": _judge,
    "custom": _custom,
    "has_fields": _has_fields,
    "has_headings": _has_headings,
    "markdown": _markdown,
    "grounded": _grounded,
    "is_a": _word("is_a"),
    "format": _word("format"),
    "sorted": _sorted,
    "language": _language,
    "of_call": _parts,
    "returns": _returns,
    "fails": _fails,
    "called": _called,
    "called_before": _called_before,
    "names_are": _names_are,
    "names_called": lambda read, children, of: read.test(children, of, "called", tuple(map(read.text, children[1::2]))),
    "names_one_of": _names_one_of,
}


# --- what is wrong ---------------------------------------------------------------------------------------------------


def _fault(text: str, stumble: Stumble) -> Fault:
    at, expected = stumble
    word = word_at(text, at)
    for joined, other in (("or", "AND"), ("and", "OR")):
        if word == joined and other in expected:
            return Fault(at, at + len(joined), Finding("EV137", word=joined))
    bare = _BARE_WORD.search(text, 0, at) if expected == {"ASSIGN"} else None
    if bare is not None:
        return Fault(bare.start(), bare.end(), not_expected(("a value",), bare.group()))
    words = expected_words(expected)
    if word not in {None, "and", "or", "for"} and "TURN" in expected:
        return Fault(at, at + len(word or ""), Finding("EV203", name=word, known=(), begins=words))
    misfit = None if text[at : at + 1] in {"", "."} else _misfit(text, at)
    return misfit or unexpected(text, stumble, words)


def _misfit(text: str, at: int) -> Fault | None:
    """The fault of a predicate behind a subject that it can never be asked of; None for any other stumble."""
    tokens = following(load("check"), "line", text[:at]).tokens
    begin = max((index + 1 for index, token in enumerate(tokens) if token.type in _BEFORE_SUBJECTS), default=0)
    subject = [token for token in tokens[begin:] if token.type not in _BESIDE_SUBJECTS]
    types = [token.type for token in subject]
    given: Kind = next((kind for word, kind in _GIVEN_BY.items() if word in types and "DOT" not in types), "value")
    if not subject:
        return None
    start, end = subject[0].start_pos, subject[-1].end_pos
    for beginning, kind in _SUBJECTS_OF_KINDS.items():
        if kind != given and not isinstance(read("check", "line", beginning + text[end:]), Stumble):
            predicate = word_at(text, at) or text[at]
            asks = _ASKS[frozenset[Kind]({kind})]
            finding = Finding("EV160", subject=text[start:end], given=_GIVES[given], predicate=predicate, asks=asks)
            return Fault(at, at + len(predicate), finding)
    return None


_BARE_WORD: Final = re.compile(r"[A-Za-z_][\w-]*(?=\s*\Z)")
_BEFORE_SUBJECTS: Final = frozenset(("AND", "OR", "LPAR"))
_BESIDE_SUBJECTS: Final = frozenset(("NOT", "MODAL", "IS"))
_MEASURED: Final = ("LATENCY", "COST", "USAGE_TOKENS", "COUNT", "ERRORS", "LENGTH", "WORDS", "LINES", "CHARS", "BYTES")
_GIVEN_BY: Final[Mapping[str, Kind]] = {
    **dict.fromkeys((*_MEASURED, "SENTENCES", "TOKENS"), "number"),
    "TOOLS": "names",
    "CALL": "call",
    "TOOL": "names",
}
_SUBJECTS_OF_KINDS: Final[Mapping[str, Kind]] = {
    "response": "value",
    "tools": "names",
    "tool t": "names",
    "any call of t": "call",
}


# --- shapes ----------------------------------------------------------------------------------------------------------

_LONGEST: Final = 300
"""The most characters of a text that is looked at for its shape; so short, it cannot nest too deep for recursion."""
_SHAPES_REMEMBERED: Final = 1_024

_LITERAL: Final = re.compile(
    r"""
    (
      "[^"\\]*" | '[^'\\]*'
      | /(?<=matches\ /)
        (?:
          [^/\\\[\r\n\u2028\u2029]++ | \\[^\r\n\u2028\u2029]
          | \[(?:[^\]\\\r\n\u2028\u2029] | \\[^\r\n\u2028\u2029])*\]
        )+
        /
    )
    """,
    re.VERBOSE,
)
_STAND_INS: Final = {'"': '"_"', "'": "'_'", "/": "/_/"}

_Make = Callable[[list[str]], Any]
"""Makes a part of a shape, given the texts of its literals."""


def read_check(text: str) -> Parsed[ReadCheck]:
    """A whole one-line check."""
    if len(text) > _LONGEST:
        return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _read_with_care(text)
    pieces = _LITERAL.split(text)  # the literals are every second piece
    texts: list[str] = []
    for at in range(1, len(pieces), 2):
        literal = pieces[at]
        texts.append(literal[1:-1])
        pieces[at] = _STAND_INS[literal[0]]
    shape = _shape_of("".join(pieces))
    return _remembered(text) if shape is None else Parsed(shape.line(text, texts), ())


@final
class _Shape(NamedTuple):
    """The common part of the lines of a shape: where one begins, its criterion, and how many texts its check has."""

    start: int
    make: _Make
    size: int
    criterion: Text | None
    is_quoted: bool  # whether the criterion is the last literal

    def line(self, text: str, texts: list[str]) -> ReadCheck:
        """The line of this shape with the texts of other literals."""
        end = len(text.rstrip())
        criterion = self.criterion
        if criterion is not None:  # it is last
            value = texts[-1] if self.is_quoted else criterion.value
            criterion = Text(end - len(value) - 2 * self.is_quoted, end, value)
        return ReadCheck(self.start, end, self.make(texts), _Places(text, self.size), criterion)


@final
class _Places(Sequence[Atom]):
    """The places of the texts of a check, found the first time that somebody asks."""

    __slots__ = ("_found", "_size", "_text")

    def __init__(self, text: str, size: int) -> None:
        self._text = text
        self._size = size
        self._found: Sequence[Atom] | None = None

    @overload
    def __getitem__(self, index: int) -> Atom: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Atom]: ...
    def __getitem__(self, index: int | slice) -> Atom | Sequence[Atom]:
        if self._found is None:
            line = _read_with_care(self._text).node
            self._found = () if line is None else line.places
        return self._found[index]

    def __len__(self) -> int:
        return self._size


@lru_cache(_SHAPES_REMEMBERED)
def _shape_of(text: str) -> _Shape | None:
    """The shape of a text; None if it has a fault, or if a stand-in is not a text of its own."""
    reading = None if "\\" in text else _reading(text)[0]
    if reading is None:
        return None
    places: list[Atom] = []
    check = _plain(reading.check, places)
    criterion = reading.criterion
    literals = [literal.start() for literal in _LITERAL.finditer(text)]
    is_quoted = criterion is not None and literals[-1:] == [criterion.start]
    starts = {atom.start for atom in places}
    of_check = literals[:-1] if is_quoted else literals
    if any(literal[0] not in _STAND_INS.values() for literal in _LITERAL.finditer(text)) or not starts.issuperset(
        of_check
    ):
        return None
    make = _maker(reading.check, check, {start: index for index, start in enumerate(of_check)})
    return _Shape(reading.start, make or (lambda _texts: check), len(places), criterion, is_quoted)


def _maker(known: Any, plain: Any, moving: Mapping[int, int]) -> _Make | None:
    """Makes a part of a check anew, its texts from the `moving` literals; None if nothing in it moves."""
    match known:
        case _Said():
            index = moving.get(known.atom.start) if known else None
            return None if index is None else itemgetter(index)
        case Node():
            names = plain.__struct_fields__
            made = {name: _maker(getattr(known, name), getattr(plain, name), moving) for name in names}
            makers = [(name, make) for name, make in made.items() if make is not None]
            if not makers:
                return None
            if isinstance(known, At):  # only a key in quotes moves
                path = makers[0][1]
                return lambda texts: At(path_of_key(path(texts)))
            replace = msgspec.structs.replace
            if len(makers) > 1:
                return lambda texts: replace(plain, **{name: make(texts) for name, make in makers})
            ((name, make),) = makers
            return lambda texts: replace(plain, **{name: make(texts)})
        case tuple() | list():
            into = type(known)
            items = [_maker(*pair, moving) for pair in zip(known, plain, strict=True)]
            if not any(items):
                return None
            parts = list(zip(items, plain, strict=True))
            return lambda texts: into([value if make is None else make(texts) for make, value in parts])
        case dict():
            members = {key: _maker(value, plain[key], moving) for key, value in known.items()}
            if not any(members.values()):
                return None
            return lambda texts: {key: plain[key] if make is None else make(texts) for key, make in members.items()}
        case _:
            return None
