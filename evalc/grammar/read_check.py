"""Reads a check on one line: the tree that it means, and the places of its texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast, final

from evalc.base.durations import MILLISECONDS
from evalc.check.forms import together
from evalc.check.predicates import PREDICATES, Kind, Role, mapped
from evalc.check.tree import (
    OF_TEXT,
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
    Step,
    Test,
    Tools,
    Turn,
    Which,
)
from evalc.diagnostics.problem import Fault, Finding
from evalc.grammar.atoms import count_of, end_of, literal_of, number_of, pattern_of, signed_of, start_of, text_of
from evalc.grammar.lalr import Stumble, read
from evalc.grammar.nodes import LONGEST_REMEMBERED, REMEMBERED, Atom, Parsed, ReadCheck, Text, parsed
from evalc.grammar.unexpected import not_expected, spoken, unexpected, unknown_check, word_at
from evalc.model.json import path_of_key

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token, Tree

    Child = Tree | Token
    Children = list[Child]

MAX_DEPTH: Final = 50
"""How deep parentheses, `not` and the values of an argument may nest."""
_DEEP: Final = frozenset(("negation", "group", "turn", "noise"))


class _TooDeep(Exception):
    """A check is nested too deep; holds its tree."""


@final
class _Written(str):
    """A text of a line, and where it stands."""

    __slots__ = ("atom",)

    atom: Atom


def written(atom: Atom, value: str) -> str:
    """A text that knows its place."""
    text = _Written(value)
    text.atom = atom
    return text


def check_line(text: str) -> Parsed[ReadCheck]:
    """A whole one-line check, read with care."""
    tree = read("checks", "line", text)
    if isinstance(tree, Stumble):
        return Parsed(None, (_fault(text, tree),))
    build = CheckBuilder()
    try:
        check = build.check(tree.children[0], MAX_DEPTH)
    except _TooDeep as stop:
        (deep,) = stop.args
        build.faults.append(Fault(start_of(deep), start_of(deep) + 1, Finding("EV139", what="depth", limit=MAX_DEPTH)))
        return parsed(None, build.faults)
    criterion = text_of(cast("Token", tree.children[-1]), build.faults) if len(tree.children) > 1 else None
    plain, places = without_places(check)
    return parsed(ReadCheck(start_of(tree), end_of(tree), plain, places, criterion), build.faults)


def without_places(check: Check) -> tuple[Check, tuple[Atom, ...]]:
    """A check whose texts know their places, as plain texts and the places in the order of `texts_of`."""
    places: list[Atom] = []

    def keep(_: object, text: str | Blank) -> str | Blank:
        written = text.template if isinstance(text, Blank) else text
        if not isinstance(written, _Written):  # a text that nobody wrote has the place of the one after it
            places.append(Text(0, 0, written))
            return text
        places.append(written.atom)
        plain = str.__str__(written)
        return Blank(plain, text.asks, text.scale) if isinstance(text, Blank) else plain

    return mapped(check, keep), tuple(places)


# --- what is wrong ---------------------------------------------------------------------------------------------------

_CALL: Final = re.compile(r"\s*\(")
_BARE_WORD: Final = re.compile(r"[A-Za-z_][\w-]*(?=\s*\Z)")
_VALUE_STARTS: Final = frozenset(("STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LSQB", "LBRACE"))


def _fault(text: str, stumble: Stumble) -> Fault:
    word = word_at(text, stumble.at)
    expected = stumble.expected
    for joined, other in (("or", "AND"), ("and", "OR")):
        if word == joined and other in expected:
            return Fault(stumble.at, stumble.at + len(joined), Finding("EV137", word=joined))
    bare = _BARE_WORD.search(text, 0, stumble.at) if expected == {"ASSIGN"} else None
    if bare is not None:
        return Fault(bare.start(), bare.end(), not_expected(("a value",), bare.group()))
    if word is not None and "TURN" in expected:
        end = stumble.at + len(word)
        return Fault(stumble.at, end, unknown_check(word, called=_CALL.match(text, end) is not None))
    return unexpected(text, stumble, spoken(expected))


# --- what a subject is -----------------------------------------------------------------------------------------------

_SPOKEN_KINDS: Final[dict[str, str]] = {
    "value": "a text or a JSON value",
    "number": "a number",
    "names": "the names of the tools called",
    "call": "a call",
}


@final
class CheckBuilder:
    """Builds the check of one text. The label of a tree is a key of `_BUILDERS`."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def check(self, tree: Child, depth: int) -> Check:
        """The check of a tree that is nested at most `depth` levels deep."""
        tree = cast("Tree", tree)
        if depth == 0 and tree.data in _DEEP:
            raise _TooDeep(tree)
        children = tree.children
        match tree.data:
            case "negation":
                return Not(self.check(children[1], depth - 1))
            case "group":
                return self.check(children[1], depth - 1)
            case "noise":
                return self.check(children[-1], depth - 1)
            case "turn":
                return Of(Turn(self.first_count(children[1])), self.check(children[2], depth - 1))
            case "all_of":
                return All(self._operands(children[::2], depth))
            case "any_of":
                return Some(self._operands(children[::2], depth))
            case label:
                return _BUILDERS[label](self, children, depth)

    def _operands(self, operands: Children, depth: int) -> tuple[Check, ...]:
        parameter = ""
        for operand in operands:
            bare = _without_not(operand)
            if parameter and bare.data in _OF_RESPONSE:
                first = _first_word(bare).type
                finding = Finding("EV138", parameter=parameter if first in _VERBS_OF_ARGUMENTS else "")
                self.faults.append(Fault(start_of(operand), _first_word(operand).end_pos or 0, finding))
            elif bare.data == "of_argument":
                parameter = f"tool {bare.children[1]}.{bare.children[3]}"
        return tuple([self.check(operand, depth) for operand in operands])

    # --- parts ---

    def text(self, token: Child) -> Any:
        """A text in quotes or a bare name; a template becomes a blank for a text."""
        token = cast("Token", token)
        if token.type == "TEMPLATE":
            return self.blank(token, "text")
        atom = text_of(token, self.faults)
        return written(atom, atom.value)

    def blank(self, token: Child, asks: Asked, scale: float = 1) -> Blank:
        """A bare template."""
        token = cast("Token", token)
        start = token.start_pos or 0
        return Blank(written(Text(start, start + len(token), str(token)), str(token)), asks, scale)

    def path(self, token: Child) -> str:
        """A path into a JSON value in its one notation; a text in quotes is one key, whatever it holds."""
        token = cast("Token", token)
        atom = text_of(token, self.faults)
        if token.type == "STRING":
            return written(atom, path_of_key(atom.value))
        return written(atom, plain_path(atom.value))

    def pattern(self, token: Child) -> tuple[Any, str]:
        """A pattern and its flags."""
        token = cast("Token", token)
        if token.type == "TEMPLATE":
            return self.blank(token, "text"), ""
        atom = literal_of(token, self.faults) if token.type == "REGEXP" else pattern_of(text_of(token, self.faults))
        return written(atom, atom.pattern), atom.flags

    def count(self, token: Child) -> int:
        """A whole number."""
        return int(count_of(cast("Token", token), self.faults).value)

    def first_count(self, token: Child) -> int:
        """A number that counts from 1; 1 in place of another one, which is reported."""
        number = self.count(token)
        if number < 1:
            finding = Finding("EV131", expected=("a number from 1",), found=str(token), names=())
            self.faults.append(Fault(start_of(token), end_of(token), finding))
        return max(number, 1)

    # --- values ---

    def value(self, value: Child, depth: int, asks: Asked = "any") -> Any:
        """A JSON value that is nested at most `depth` levels deep."""
        if isinstance(value, str):
            match value.type:
                case "STRING" | "NAME":
                    return self.text(value)
                case "TEMPLATE":
                    return self.blank(value, asks)
                case "NUMBER":
                    return signed_of(value, self.faults)
                case word:
                    return _WORDS[word]
        if depth <= 0:
            raise _TooDeep(value)
        if value.data == "array":
            return [self.value(item, depth - 1) for item in value.children[1:-1:2]]
        pairs = [cast("Tree", pair).children for pair in value.children[1:-1:2]]
        keys = [text_of(cast("Token", pair[0]), self.faults) for pair in pairs]
        self.report_repeated(keys, "key")
        return {key.value: self.value(pair[2], depth - 1) for key, pair in zip(keys, pairs, strict=True)}

    def values(self, node: Child, depth: int) -> Any:
        """The members of a list of values, with brackets or without."""
        if isinstance(node, str):
            return self.blank(node, "list")
        inner = node.children[1:-1:2] if node.data == "array" else node.children[::2]
        return tuple(self.value(item, depth) for item in inner)

    def names(self, node: Child) -> Any:
        """The members of a list of names."""
        node = cast("Tree", node)
        first = cast("Token", node.children[0])
        if first.type == "TEMPLATE":
            return self.blank(first, "list")
        inner = node.children[1:-1:2] if first.type == "LSQB" else node.children[::2]
        return tuple(map(self.text, inner))

    def report_repeated(self, names: Iterable[Text], what: str) -> None:
        """Report repeated names."""
        seen: set[str] = set()
        for name in names:
            if name.value in seen:
                self.faults.append(Fault(name.start, name.end, Finding("EV206", what=what, name=name.value)))
            seen.add(name.value)

    # --- numbers ---

    def number(self, tree: Child, of: Measured | None) -> Any:
        """A number as the measure asks for it, in its base unit; without one any number of JSON."""
        tokens = cast("list[Token]", cast("Tree", tree).children)
        dollar = tokens[0].type == "DOLLAR"
        digits, *units = tokens[1:] if dollar else tokens
        unit = units[0] if units else None
        wanted = _UNIT_OF.get(of or "", None)
        if dollar and of != "dollars":
            self._not_here(tokens[0], _asked(of))
        if unit is not None and unit.type != wanted:
            self._not_here(unit, _asked(of))
        elif of == "ms" and unit is None:
            self._missing_unit(digits)
        return self.digits(digits, of, unit)

    def digits(self, token: Token, of: Measured | None, unit: Token | None = None) -> Any:
        """The number that a token is, or the blank that one fills."""
        scale = MILLISECONDS[str(unit)] if unit is not None and unit.type == "TIME_UNIT" and of == "ms" else 1
        if token.type == "TEMPLATE":
            return self.blank(token, "whole" if of in _COUNTED else "number", scale)
        if of is None:
            return signed_of(token, self.faults)
        counted = of in _COUNTED
        return (count_of(token, self.faults) if counted else number_of(token, self.faults, scale=scale)).value

    def _missing_unit(self, digits: Token) -> None:
        end = digits.end_pos or 0
        self.faults.append(Fault(end, end, Finding("EV131", expected=("ms", "s", "m"), found="", names=())))

    def _not_here(self, token: Token, expected: str) -> None:
        finding = Finding("EV131", expected=(expected,), found=str(token), names=())
        self.faults.append(Fault(token.start_pos or 0, token.end_pos or 0, finding))

    def bounds(self, tree: Child, of: Measured | None = None) -> Bounds:
        """The bounds that a comparison or a range sets; a number by itself is exactly that one."""
        children = cast("Tree", tree).children
        kinds = [child.type if isinstance(child, str) else child.data for child in children]
        numbers = [self.number(child, of) for child, kind in zip(children, kinds, strict=True) if kind == "number"]
        if len(numbers) == 2:
            return Bounds(numbers[0], numbers[1])
        (number,) = numbers
        return Bounds(**dict.fromkeys(_BOUND_OF.get(kinds[0], ("min", "max")), number))

    def limit(self, tree: Child, of: Measured) -> Check:
        """What a limit asks of a measure."""
        first = cast("Tree", tree).children[0]
        test = Test("between", self.bounds(tree, of))
        return Not(test) if isinstance(first, str) and first.type == "NE" else test

    # --- subjects ---

    def fits(self, check: Check, kind: Kind, subject: Child, name: str) -> Check:
        """The check, if its predicates can be asked of a subject; else that is reported."""
        match check:
            case Test(predicate) if kind not in PREDICATES[predicate].on:
                begins = PREDICATES[predicate].line.replace("{}", "").strip() or "a comparison"
                asked = " or ".join(_SPOKEN_KINDS[each] for each in sorted(PREDICATES[predicate].on))
                finding = Finding("EV160", subject=name, is_=_SPOKEN_KINDS[kind], predicate=begins, asks=asked)
                self.faults.append(Fault(start_of(subject), end_of(subject), finding))
            case Not(inner):
                self.fits(inner, kind, subject, name)
            case _:
                pass
        return check


_BOUND_OF: Final[dict[str, tuple[str, ...]]] = {
    "GE": ("min",),
    "AT_LEAST": ("min",),
    "LE": ("max",),
    "AT_MOST": ("max",),
    "GT": ("above",),
    "MORE_THAN": ("above",),
    "LT": ("below",),
    "LESS_THAN": ("below",),
}
_UNIT_OF: Final = {"ms": "TIME_UNIT"}
_COUNTED: Final = (OF_TEXT - {"tokens"}) | {
    "items",
    "calls",
    "errors",
    "tokens",
    "total_tokens",
    "input_tokens",
    "output_tokens",
}
_WORDS: Final = {"TRUE": True, "FALSE": False, "NULL": None}


def _asked(of: Measured | None) -> str:
    return "a time such as `2s`" if of == "ms" else "a number"


_INDEX: Final = re.compile(r"\.(\d{1,9})(?=[.\[]|\Z)")


def plain_path(path: str) -> str:
    """A path in its one notation: `$.items.0.price` and `$.items[0].price` are `items[0].price`."""
    if path.startswith("$"):
        path = path[1:].removeprefix(".") if path[1:2] in (".", "[") else path
    path = path.replace("[*]", "[]")
    return _INDEX.sub(r"[\1]", path)


def _without_not(operand: Child) -> Tree:
    """An operand without the `not` that precedes it."""
    tree = cast("Tree", operand)
    while tree.data == "negation":
        tree = cast("Tree", tree.children[1])
    return tree


def _first_word(tree: Child) -> Token:
    while not isinstance(tree, str):
        tree = tree.children[0]
    return tree


_VERBS_OF_ARGUMENTS: Final = frozenset(("EQUALS", "CONTAINS", "MATCHES"))
"""The words that a check of the response may begin with, and that of an argument has behind its name."""


# --- a memo of shapes ------------------------------------------------------------------------------------------------

_LONGEST: Final = 300
"""The most characters of a line that is looked at for its shape; so short, it cannot nest too deep for recursion."""
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
"""Makes a part of a tree, given the texts of a line's literals."""


def read_check(text: str) -> Parsed[ReadCheck]:
    """A whole one-line check. Lines that differ in their literals share a parse.

    `contains "a" for x` and `contains "docstring" for x` are one check, but for the texts of their literals and for the
    places of everything. So each shape is parsed once; what is odd in any way (an escape, a mistake, a long line) is
    read with care, as if there were no shapes.
    """
    if len(text) > _LONGEST:
        return _remembered(text) if len(text) <= LONGEST_REMEMBERED else check_line(text)
    pieces = _LITERAL.split(text)  # the literals are every second piece
    texts: list[str] = []
    for at in range(1, len(pieces), 2):
        literal = pieces[at]
        texts.append(literal[1:-1])
        pieces[at] = _STAND_INS[literal[0]]
    shape = _shape_of("".join(pieces))
    return _remembered(text) if shape is None else Parsed(shape.line(text, texts), ())


_remembered = lru_cache(REMEMBERED)(check_line)


@final
class _Places(Sequence[Atom]):
    """The places of the texts of a check, read with care the first time that somebody asks."""

    __slots__ = ("_known", "_size", "_text")

    def __init__(self, text: str, size: int) -> None:
        self._text = text
        self._size = size
        self._known: Sequence[Atom] | None = None

    def __getitem__(self, index: Any) -> Any:
        if self._known is None:
            line = check_line(self._text).node
            self._known = () if line is None else line.places
        return self._known[index]

    def __len__(self) -> int:
        return self._size


@final
class _Shape:
    """The common part of the checks of a shape; `moving` says which text of the check each literal is."""

    def __init__(self, line: ReadCheck, moving: dict[int, int], *, has_quoted_criterion: bool) -> None:
        self._line = line
        self._has_quoted_criterion = has_quoted_criterion
        self._make = _maker(line.check, moving)

    def line(self, text: str, texts: list[str]) -> ReadCheck:
        """The check of this shape with the texts of other literals."""
        shape = self._line
        end = len(text.rstrip())
        criterion = shape.criterion
        if criterion is not None:  # it is last
            value = texts[-1] if self._has_quoted_criterion else criterion.value
            quotes = 2 if self._has_quoted_criterion else 0
            criterion = Text(end - len(value) - quotes, end, value)
        return ReadCheck(shape.start, end, self._make(texts), _Places(text, len(shape.places)), criterion)


@lru_cache(1_024)
def _shape_of(text: str) -> _Shape | None:
    """The shape of a text; None if it has a fault, or if a placeholder is not a literal of its own."""
    line = None if "\\" in text else check_line(text).node
    if line is None:
        return None
    starts = {place.start: index for index, place in enumerate(line.places)}
    criterion = -1 if line.criterion is None else line.criterion.start
    moving: dict[int, int] = {}
    quoted = False
    for number, literal in enumerate(_LITERAL.finditer(text)):
        start = literal.start()
        if literal[0] not in _STAND_INS.values():  # beside it, a text was taken for a literal that is part of another
            return None
        if start == criterion:
            quoted = True
        elif start in starts:
            moving[starts[start]] = number
        else:
            return None
    return _Shape(line, moving, has_quoted_criterion=quoted)


def _maker(check: Check, moving: dict[int, int]) -> _Make:
    """A function that makes a check anew, with the texts of other literals."""
    count = -1

    def marked(role: Role, text: str | Blank) -> str | Blank:
        nonlocal count
        count += 1
        return text if count not in moving else _Moved(text, moving[count], role)  # type: ignore[arg-type]

    return _made(mapped(check, marked))


@final
class _Moved(str):
    """A text that a literal moves: the number of the literal, and whether it is the one key of a path."""

    __slots__ = ("is_path", "number")

    number: int
    is_path: bool

    def __new__(cls, text: str, number: int, role: Role) -> _Moved:
        """The text, marked."""
        moved = super().__new__(cls, text)
        moved.number = number
        moved.is_path = role.names == "path"
        return moved


def _made(value: Any) -> _Make:
    """A function that makes a value anew; what no literal moves in is the same each time."""
    if isinstance(value, _Moved):
        number = value.number
        return (lambda texts: path_of_key(texts[number])) if value.is_path else (lambda texts: texts[number])
    if not _moves(value):
        return lambda _texts: value
    match value:
        case Node():
            kind = type(value)
            makers = [_made(getattr(value, name)) for name in value.__struct_fields__]
            return lambda texts: kind(*[make(texts) for make in makers])
        case dict():
            members = [(key, _made(item)) for key, item in value.items()]
            return lambda texts: {key: make(texts) for key, make in members}
        case _:
            into = type(value)
            items = [_made(item) for item in value]
            return lambda texts: into([make(texts) for make in items])


def _moves(value: Any) -> bool:
    match value:
        case _Moved():
            return True
        case Node():
            return any(_moves(getattr(value, name)) for name in value.__struct_fields__)
        case dict():
            return any(map(_moves, value.values()))
        case tuple() | list():
            return any(map(_moves, value))
        case _:
            return False


# --- subjects --------------------------------------------------------------------------------------------------------

_WHICH: Final[dict[str, Which]] = {"ANY": "any", "EVERY": "every", "NO": "no"}


def _which(tree: Child) -> Which:
    return _WHICH[cast("Token", cast("Tree", tree).children[0]).type]


def _subject(build: CheckBuilder, step: Step, clause: Child, depth: int, shown: Child, kind: Kind = "value") -> Check:
    """The check of a clause behind a subject."""
    check = build.check(clause, depth - 1)
    build.fits(check, kind, shown, str(shown) if isinstance(shown, str) else "it")
    return Of(step, check)


def _of_place(build: CheckBuilder, children: Children, depth: int) -> Check:
    token = cast("Token", children[-2])
    step: Step = At(build.path(token))
    if token.type == "EACH_PATH":
        step = Items(build.path(token), "every")
    return _subject(build, step, children[-1], depth, token)


def _of_argument(build: CheckBuilder, children: Children, depth: int) -> Check:
    call = Call(build.text(children[1]), "first")
    name = Argument(build.text(children[3]))
    check = build.check(children[4], depth - 1)
    negations = 0
    while isinstance(check, Not) and check != Not(Test("exists")):
        check, negations = check.check, negations + 1
    asked: Check = Of(call, Of(name, check))
    for _ in range(negations):
        asked = Not(asked)
    return asked


def _part(build: CheckBuilder, tree: Child, depth: int) -> Check:
    """A part after `has`: a place, and a test or a value that it equals."""
    place, test = cast("Tree", tree).children
    path = build.path(place)
    is_value = isinstance(test, str) or test.data in ("array", "object")
    return Of(At(path), _equals(build.value(test, MAX_DEPTH)) if is_value else build.check(test, depth - 1))


def _parts(build: CheckBuilder, tree: Child, depth: int) -> Check:
    parts = [_part(build, part, depth) for part in cast("Tree", tree).children[::2]]
    seen: set[tuple[str, str]] = set()
    for part, test in zip(parts, cast("Tree", tree).children[::2], strict=True):
        key = _tested(part)
        if key in seen:
            finding = Finding("EV206", what="test", name=key[0])
            build.faults.append(Fault(start_of(test), end_of(test), finding))
        seen.add(key)
    return together(parts)


def _tested(part: Check) -> tuple[str, str]:
    """The path of a part, and what is asked there: the same again would be a mistake."""
    match part:
        case Of(At(path), Test("between", Bounds(least, most, above, below))):
            given = [
                name for name, value in zip("<>", (most or below, least or above), strict=True) if value is not None
            ]
            return str(path), "".join(given)
        case Of(At(path), Not(Test(predicate)) | Test(predicate)):
            return str(path), "equals" if predicate == "is" else predicate
        case Of(At(path), check):
            return str(path), repr(check)
        case _:
            return "", repr(part)


def _calls(build: CheckBuilder, children: Children) -> tuple[Call, Children]:
    """Which calls a check is about, and what follows the tool's name."""
    if isinstance(children[0], str):  # `call 2 of book`
        return Call(build.text(children[3]), build.first_count(children[1])), children[4:]
    return Call(build.text(children[3]), _which(children[0])), children[4:]


def _of_calls(build: CheckBuilder, children: Children, depth: int) -> Check:
    call, rest = _calls(build, children)
    return Of(call, _parts(build, rest[-1], depth))


def _of_results(build: CheckBuilder, children: Children, depth: int) -> Check:
    call, rest = _calls(build, children)
    returned = cast("Tree", rest[-1])
    inner = _parts(build, returned, depth) if returned.data == "parts" else build.check(returned, depth - 1)
    return Of(call, Of(Result(), inner))


def _of_failures(build: CheckBuilder, children: Children, depth: int) -> Check:
    call, rest = _calls(build, children)
    return Of(call, Test("fails") if len(rest) == 1 else Of(Failure(), build.check(rest[-1], depth - 1)))


def _items(build: CheckBuilder, children: Children) -> Items:
    """The items that `every item of items` or `every items[*].price` names."""
    token = cast("Token", children[-2] if len(children) == 3 else children[3])
    path = build.path(token)
    whole = path if token.type == "EACH_PATH" else written(cast("_Written", path).atom, f"{path}[]")
    return Items(whole, _which(children[0]))


def _of_items(build: CheckBuilder, children: Children, depth: int) -> Check:
    step = _items(build, children)
    clause = cast("Tree", children[-1])
    inner = _parts(build, clause, depth) if clause.data == "parts" else build.check(clause, depth - 1)
    return Of(step, inner)


def _tools(build: CheckBuilder, children: Children, depth: int) -> Check:
    return Of(Tools(), build.check(children[-1], depth))


def _acceptable(build: CheckBuilder, children: Children, _depth: int) -> Check:
    if cast("Token", children[1]).type == "TEMPLATE":
        return Test("acceptable", build.blank(children[1], "list"))
    return Test("acceptable", tuple(_set(build, names) for names in children[2:-1:2]))


def _set(build: CheckBuilder, names: Child) -> Any:
    if isinstance(names, str):  # `none`
        return (written(text_of(names, build.faults), "__none__"),)
    found = build.names(names)
    return found or (written(Text(start_of(names), end_of(names), "[]"), "__none__"),)


def _of_names(predicate: str) -> Callable[[CheckBuilder, Children, int], Check]:
    return lambda build, children, _: Test(predicate, build.names(children[-1]))


def _of_tool(build: CheckBuilder, children: Children, _depth: int) -> Check:
    """How often, or when, a tool is called."""
    name, clause, negations = build.text(children[1]), cast("Tree", children[2]), 0
    while clause.data in ("negation", "noise"):
        negations += clause.data == "negation"
        clause = cast("Tree", clause.children[-1])
    check, denied = _called(build, name, clause)
    odd = negations % 2 == 1
    return denied if odd and denied is not None else Not(check) if odd else check


def _called(build: CheckBuilder, name: str, clause: Tree) -> tuple[Check, Check | None]:
    """What is said of the calls of a tool, and what says that it does not hold, where that is a check of its own."""
    rest = clause.children[1:]
    if clause.data == "called_beside":
        other = build.text(rest[1])
        pair = (name, other) if cast("Token", rest[0]).type == "BEFORE" else (other, name)
        return Of(Tools(), Test("before", pair)), None
    if not rest:
        return Of(Tools(), Test("include", (name,))), Of(Tools(), Test("not_called", (name,)))
    return Of(Measure("calls", name), Test("between", _times(build, rest, "calls"))), None


def _times(build: CheckBuilder, children: Children, of: Measured) -> Bounds:
    """So many times: `once`, `2 times`, `at least once`, `>= 2 times`."""
    first = children[0]
    if not isinstance(first, str):
        return build.bounds(first, of)
    match first.type:
        case "AT_LEAST":
            return Bounds(_often(children[1]))
        case "NUMBER":
            number = build.count(first)
        case "TEMPLATE":
            blank = build.blank(first, "whole")
            return Bounds(blank, blank)
        case _:
            number = _often(first)
    return Bounds(number, number)


def _often(word: Child) -> int:
    return 1 if word == "once" else 2


# --- measures --------------------------------------------------------------------------------------------------------

_MEASURES: Final[dict[str, Measured]] = {
    "length": "chars",
    "count": "items",
    "characters": "chars",
    "latency": "ms",
    "cost": "dollars",
    "total tokens": "total_tokens",
    "input tokens": "input_tokens",
    "output tokens": "output_tokens",
    "tool count": "calls",
    "tool errors": "errors",
}


def _measure(tree: Child) -> Measured:
    words = " ".join(" ".join(map(str, cast("Tree", tree).children)).split())
    return _MEASURES.get(words, cast("Measured", words))


def _of_run(build: CheckBuilder, children: Children, _depth: int) -> Check:
    of = _measure(children[0])
    test = build.limit(children[-1], of)
    return Not(Of(Measure(of), test.check)) if isinstance(test, Not) else Of(Measure(of), test)


def _measured(build: CheckBuilder, children: Children, _depth: int) -> Check:
    last = children[-1]
    unit = last if isinstance(last, str) and last.type == "UNIT" else None
    measure = next(child for child in children if not isinstance(child, str) and child.data == "measure")
    of = _measure(measure)
    if unit is not None:
        named = cast("Measured", str(unit))
        if measure.children[0] != "length" and named != of:
            build.faults.append(Fault(start_of(unit), end_of(unit), _unexpected("the end", str(unit))))
        of = named
    test = build.limit(children[-2] if unit is not None else last, of)
    return Not(Of(Measure(of), test.check)) if isinstance(test, Not) else Of(Measure(of), test)


def _so_many(build: CheckBuilder, children: Children, _depth: int) -> Check:
    of = cast("Measured", str(children[-1]))
    return Of(Measure(of), Test("between", build.bounds(children[-2], of)))


def _unexpected(expected: str, found: str) -> Finding:
    return Finding("EV131", expected=(expected,), found=found, names=())


# --- predicates ------------------------------------------------------------------------------------------------------


def _ignores_case(children: Children) -> bool:
    return any(not isinstance(child, str) and child.data == "modifier" for child in children)


def _equals(value: Any, *, ignoring_case: bool = False) -> Check:
    """Whether something is a value: a text is compared as one, any other as JSON."""
    is_text = isinstance(value, str)
    return Test("equals" if is_text else "is", value, ignoring_case and is_text)


def _equal(build: CheckBuilder, children: Children, _depth: int) -> Check:
    sign = cast("Token", children[0])
    value = build.value(children[1], MAX_DEPTH)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    check = (
        Test("between", Bounds(value, value))
        if sign.type == "EQ" and is_number
        else _equals(value, ignoring_case=_ignores_case(children))
    )
    return Not(check) if sign.type == "NE" else check


def _is_value(build: CheckBuilder, children: Children, _depth: int) -> Check:
    return _equals(build.value(children[0], MAX_DEPTH), ignoring_case=_ignores_case(children))


def _one_of(build: CheckBuilder, children: Children, _depth: int) -> Check:
    return Test("one_of", build.values(children[1], MAX_DEPTH), _ignores_case(children))


def _contains_of(build: CheckBuilder, children: Children, _depth: int) -> Check:
    values = build.values(children[3], MAX_DEPTH)
    kind = cast("Token", children[1]).type
    test = Test("contains_all" if kind == "ALL" else "contains_any", values, _ignores_case(children))
    return Not(test) if kind == "NONE" else test


def _contains(build: CheckBuilder, children: Children, _depth: int) -> Check:
    value, rest = build.value(children[1], MAX_DEPTH), children[2:]
    fold = _ignores_case(rest)
    rest = rest[fold:]
    if not rest:
        return Test("contains", value, fold)
    if not isinstance(value, str | Blank):
        build.faults.append(Fault(start_of(children[1]), end_of(children[1]), _unexpected("a text in quotes", "")))
    return Test("occurs", (value, _times(build, rest, "chars")), fold)


def _begins(build: CheckBuilder, children: Children, _depth: int) -> Check:
    predicate = "starts_with" if cast("Token", children[0]).type == "STARTS" else "ends_with"
    return Test(predicate, build.text(children[2]), _ignores_case(children))


def _similar(build: CheckBuilder, children: Children, _depth: int) -> Check:
    value = build.text(children[2])
    if len(children) < 4:
        return Test("similar", (value, 0.8))
    scale = 0.01 if len(children) > 5 else 1
    return Test("similar", (value, number_of(cast("Token", children[4]), build.faults, scale=scale).value))


def _within(build: CheckBuilder, children: Children, _depth: int) -> Check:
    return Test("within", (build.number(children[1], None), build.number(children[3], None)))


def _json(build: CheckBuilder, children: Children, _depth: int) -> Check:
    mode, schema = "strict", None
    for child in children[1:]:
        if not isinstance(child, str):
            schema = build.value(child, MAX_DEPTH)
        elif child.type == "JSON_MODE":
            mode = str(child)
        elif child.type == "STRING":
            schema = build.text(child)
    return Test("json", (mode, schema))


def _custom(build: CheckBuilder, children: Children, _depth: int) -> Check:
    name = build.text(children[1])
    bounds = Bounds()
    last = children[-1]
    if not isinstance(last, str) and last.data == "bounds":
        bounds, children = build.bounds(last), children[:-1]
    args: list[Any] = []
    options: dict[str, Any] = {}
    names: list[Text] = []
    for child in children[3:-1:2]:
        if isinstance(child, str) or child.data != "named":
            args.append(build.value(child, MAX_DEPTH))
        else:
            option, _, value = child.children
            names.append(text_of(cast("Token", option), build.faults))
            options[names[-1].value] = build.value(value, MAX_DEPTH)
    build.report_repeated(names, "argument")
    return Test("check", (name, tuple(args), options, bounds))


def _judge(build: CheckBuilder, children: Children, _depth: int) -> Check:
    question = build.text(children[1])
    least, scale = 1, 1
    if len(children) > 2:
        least = number_of(cast("Token", children[3]), build.faults).value  # type: ignore[assignment]
        scale = number_of(cast("Token", children[5]), build.faults).value  # type: ignore[assignment]
    text = question.template if isinstance(question, Blank) else question
    return Test("judge", (written(cast("_Written", text).atom, ""), scale, question, least))


def _has_fields(build: CheckBuilder, children: Children, _depth: int) -> Check:
    fields = tuple(required_field(build, cast("Tree", field)) for field in children[2::2])
    names = [text_of(cast("Token", cast("Tree", field).children[0]), build.faults) for field in children[2::2]]
    build.report_repeated(names, "field")
    return Test("structure", (fields, ()))


def required_field(build: CheckBuilder, tree: Tree) -> tuple[str, str | None]:
    """A field that the structure has, and its type or None."""
    last = cast("Token", tree.children[-1])
    token = cast("Token", tree.children[0])
    name = text_of(token, build.faults).value
    path = path_of_key(name) if token.type == "STRING" else name
    return path, str(last) if last.type == "FIELD_TYPE" else None


def _markdown(build: CheckBuilder, children: Children, _depth: int) -> Check:
    part = " ".join(str(children[2]).split())
    language = text_of(cast("Token", children[4]), build.faults).value if len(children) > 3 else None
    return Test("markdown", (part, language))


def _grounded(build: CheckBuilder, children: Children, _depth: int) -> Check:
    named = [cast("Token", child) for child in children[2::2]]
    build.report_repeated((Text(start_of(token), end_of(token), str(token)) for token in named), "source")
    predicate = "numbers_from" if cast("Token", children[0]).type == "NUMBERS" else "quotes_from"
    return Test(predicate, tuple(map(str, named)))


_TYPES: Final = {"text": "string", "list": "array"}


def _sorted(build: CheckBuilder, children: Children, _depth: int) -> Check:
    words = [cast("Token", child) for child in children]
    by = str.__str__(build.path(words[-1])) if words[-1].type == "PATH" else None
    return Test("sorted", (any(word.type == "DESCENDING" for word in words), by))


def _plain(predicate: str) -> Callable[[CheckBuilder, Children, int], Check]:
    return lambda _build, _children, _depth: Test(predicate)


_BUILDERS: Final[dict[str, Callable[[CheckBuilder, Children, int], Check]]] = {
    "of_place": _of_place,
    "of_argument": _of_argument,
    "of_calls": _of_calls,
    "of_call": _of_calls,
    "of_results": _of_results,
    "of_result": _of_results,
    "of_failures": _of_failures,
    "of_failure": _of_failures,
    "of_parts": _of_items,
    "of_items": _of_items,
    "of_paths": _of_items,
    "tools": _tools,
    "of_tool": _of_tool,
    "no_tool_errors": lambda _build, _children, _depth: Of(Tools(), Test("no_errors")),
    "of_run": _of_run,
    "called": _of_names("called"),
    "acceptable": _acceptable,
    "not_called": _of_names("not_called"),
    "include": _of_names("include"),
    "in_order": _of_names("in_order"),
    "only": _of_names("only"),
    "equals": _equal,
    "is_value": _is_value,
    "between": lambda build, children, _: Test("between", build.bounds(children[0])),
    "so_many": _so_many,
    "measured": _measured,
    "one_of": _one_of,
    "contains_of": _contains_of,
    "contains": _contains,
    "begins": _begins,
    "matches": lambda build, children, _: Test("matches", build.pattern(children[1])),
    "schema": _json,
    "json": _json,
    "similar": _similar,
    "exists": _plain("exists"),
    "missing": lambda _build, _children, _depth: Not(Test("exists")),
    "non_empty": _plain("non_empty"),
    "empty": _plain("empty"),
    "within": _within,
    "custom": _custom,
    "judge": _judge,
    "has_fields": _has_fields,
    "has_headings": lambda build, children, _: Test("structure", ((), tuple(map(build.text, children[2::2])))),
    "markdown": _markdown,
    "grounded": _grounded,
    "is_a": lambda _build, children, _: Test("is_a", _TYPES.get(str(children[-1]), str(children[-1]))),
    "format": lambda _build, children, _: Test("format", str(children[-1])),
    "language": lambda _build, children, _: Test("language", str(children[-1])),
    "sorted": _sorted,
    "unique": _plain("unique"),
}

_OF_RESPONSE: Final = frozenset(_BUILDERS) - {
    *("of_argument", "of_calls", "of_call", "of_results", "of_result", "of_failures", "of_failure", "of_tool"),
    *("tools", "no_tool_errors", "of_run", "judge", "of_parts", "of_items", "of_paths"),
}
"""The labels of checks that need `response` after a check of an argument."""
