"""Reads one-line checks: the tree of each, a subject and a predicate, and where its texts were written.

Two lines of one shape (`contains "a" for x`, `contains "docstring" for x`) differ only in the texts of their
literals. So each shape is parsed once, its tree is copied for each line, and the places of its texts are found when
they are needed. Anything unusual (an escape, a mistake, a long line) is parsed as a whole, without shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, final

from msgspec import Struct

from evalc.check import tree as t
from evalc.check.forms import Make, Placed, bare, hole, maker, together
from evalc.check.predicates import ASKS, GIVES, PATH, PREDICATES, Kind, Role, mapped, texts_of
from evalc.diagnostics import Fault, Finding
from evalc.grammar import nodes as n
from evalc.grammar.lalr import Stumble, Tree, following, load, read
from evalc.grammar.unexpected import expected_words, not_expected, unexpected, word_at
from evalc.model.json import EVERY, path_of_key
from evalc.model.numbers import MILLISECONDS

Child: TypeAlias = Any
"""A tree or a token: the grammar says which stands where."""
Unit = t.Measured | Literal["share", "times", ""]
"""The measure of a number, so that it may be a whole one or have a sign; nothing for a number of JSON."""

MAX_LINE: Final = 100_000
"""The most characters of a check, a rule or a criterion."""


class _PlacedBlank(t.Blank, frozen=True):
    """A bare template that knows where it was written."""

    place: Any = None


class _Subject(NamedTuple):
    """The subject of a predicate: its words in messages, what it is, what it counts, and the tool that it is about.

    An `is_part` follows `has`.
    """

    words: str
    kind: Kind = "value"
    unit: Unit = ""
    is_part: bool = False
    tool: tuple[Any, ...] = ()


# --- whole lines -----------------------------------------------------------------------------------------------------


@n.remembered
def _read_with_care(text: str) -> n.Parsed[n.ReadCheck]:
    tree = read("check", "line", text)
    if isinstance(tree, Stumble):
        return n.Parsed(None, (_fault(text, tree),))
    reader = Reader(text)
    expression, *link = list[Child](tree.children)
    try:
        check = reader.check(expression, n.MAX_DEPTH)
    except n.TooDeep as stop:
        return n.parsed(None, [*reader.faults, stop.fault])
    criterion = [n.text_of(token, reader.faults) for token in link[1:]]
    if reader.faults:
        return n.parsed(None, reader.faults)
    return n.Parsed(settled(n.ReadCheck(tree.start_pos, tree.end_pos, check, (), *criterion)), ())


def settled(line: n.ReadCheck) -> n.ReadCheck:
    """The line with the places of its texts beside its check, rather than in the texts."""
    places: list[n.Atom] = []

    def settle(_role: Role, text: Any) -> Any:
        places.append(text.place)
        return str(text) if isinstance(text, str) else t.Blank(text.template, text.asks, text.scale)

    return n.ReadCheck(line.start, line.end, mapped(line.check, settle), tuple(places), line.criterion)


@final
class Reader:
    """Builds the checks of one text, and gathers its faults."""

    def __init__(self, text: str) -> None:
        self.faults: list[Fault] = []
        self.line = text

    def check(self, tree: Child, depth: int) -> t.Check:
        """The check of a tree that is nested at most `depth` levels deep."""
        children = tree.children
        if depth == 0 and tree.type in ("negation", "group", "turn"):
            raise n.TooDeep(tree.start_pos, tree.start_pos + 1)
        match tree.type:
            case "negation":
                return t.Not(self.check(children[1], depth - 1))
            case "group":
                return self.check(children[1], depth - 1)
            case "turn":
                return t.Of(t.Turn(self.ordinal(children[1])), self.check(children[2], depth - 1))
            case "all_of":
                return t.All(self._operands(children[::2], depth))
            case "any_of":
                return t.Some(self._operands(children[::2], depth))
            case label:
                *subject, clause = children
                return _SUBJECTS[label](self, subject, clause)

    def _operands(self, operands: Sequence[Child], depth: int) -> tuple[t.Check, ...]:
        parameter = ""
        for operand in operands:
            about = operand
            while about.type == "negation":
                about = about.children[1]
            if about.type == "of_argument":
                parameter = self.words(about.children[:4])
            elif parameter and about.type in ("of_response", "of_place") and not _is_about_response(about):
                finding = Finding("EV138", parameter=parameter if about.type == "of_response" else "")
                self.faults.append(Fault(operand.start_pos, operand.first.end_pos, finding))
        return tuple([self.check(operand, depth) for operand in operands])

    def asked(self, tree: Child, of: _Subject) -> t.Check:
        """The check of a subject that a tree stands for, without words such as `should` that add nothing."""
        nots, seen = 0, set[str]()
        while tree.type in ("negation", "noise"):
            word, inner = tree.children
            kind = "IS" if word.type == "HAS" else word.type
            if kind == "NOT":
                nots += 1
                if nots > n.MAX_DEPTH:
                    raise n.TooDeep(tree.start_pos, tree.start_pos + 1)
            elif kind in seen:
                self.expected("a predicate", word)
            seen.add(kind)
            tree = inner
        check = _PREDICATES[tree.type](self, tree, of)
        for _ in range(nots):
            check = t.Not(check)
        return check

    def asked_behind(self, subject: Sequence[Child], clause: Child, kind: Kind = "value", unit: Unit = "") -> t.Check:
        """The check that a clause makes of the subject before it."""
        return self.asked(clause, _Subject(self.words(subject), kind, unit))

    def test(self, tree: Child, of: _Subject, predicate: str, operand: Any = None, case: bool = False) -> t.Check:
        """A predicate of a subject that it may be asked of; `not` stands before a measure and the tools."""
        row = PREDICATES[predicate]
        if of.kind not in row.on:
            self.unasked(tree, of, row.line.partition("{")[0].strip() or "a comparison", row.on)
        test = t.Test(predicate, operand, case)
        if of.kind == "names":
            return t.Of(t.Tools(), test)
        return t.Of(t.Measure(cast("t.Measured", of.unit)), test) if of.kind == "number" else test

    def parts(self, tree: Child, _of: _Subject) -> t.Check:
        """The check of the places of one call, one result or one item."""
        children = tree.children[::2]
        checks: list[Any] = []
        for place, clause in (child.children for child in children):
            of = _Subject(self.words([place]), is_part=True)
            checks.append(t.Of(t.At(self.path(place)), self.asked(clause, of)))
        identities = [
            n.Text(child.start_pos, child.end_pos, check.step.path)
            for child, check in zip(children, checks, strict=True)
            if isinstance(check.check, t.Test) and PREDICATES[check.check.predicate].identity
        ]
        self.report_repeated(identities, "test")
        return together(checks)

    # --- what is wrong ---

    def unasked(self, tree: Child, of: _Subject, predicate: str, on: frozenset[Kind]) -> None:
        """Report a predicate that can never be asked of the subject."""
        finding = Finding("EV160", subject=of.words, given=GIVES[of.kind], predicate=predicate, asks=ASKS[on])
        self.faults.append(Fault(tree.start_pos, tree.end_pos, finding))

    def expected(self, required: str, tree: Child) -> None:
        """Report that something else is required in place of a tree."""
        self.faults.append(Fault(tree.start_pos, tree.end_pos, not_expected((required,), self.words([tree]))))

    def report_repeated(self, names: Iterable[n.Text], what: str) -> None:
        """Report repeated names."""
        seen: set[str] = set()
        for name in names:
            if name.value in seen:
                self.faults.append(Fault(name.start, name.end, Finding("EV206", what=what, name=name.value)))
            seen.add(name.value)

    def words(self, trees: Sequence[Child]) -> str:
        """The text from the first to the last of some trees."""
        return self.line[trees[0].start_pos : trees[-1].end_pos]

    # --- texts and values ---

    def text(self, token: Child) -> Any:
        """A text in quotes or a name; a bare template where a text is asked."""
        return self.scalar(token, "text")

    def tool(self, token: Child, *, in_list: bool = False) -> Any:
        """The name of a tool; reports a blank one, and words such as `was` outside of quotes and lists."""
        name = self.scalar(token, "name")
        if (isinstance(name, str) and not name.strip()) or (not in_list and str(token) in t.NO_TOOL_NAMES):
            self.expected("the name of a tool", token)
        return name

    def scalar(self, token: Child, asks: t.Asked | None = "any") -> Any:
        """A value without members; a text knows where it was written. Reports a template if `asks` is None."""
        match token.type:
            case "NUMBER":
                return n.signed_of(token, self.faults)
            case "TRUE" | "FALSE" | "NULL":
                return _WORDS[token.type]
            case "TEMPLATE":
                return self.expected("a value", token) if asks is None else _blank(token, asks)
            case _:
                text = n.text_of(token, self.faults)
                return Placed(text.value, text)

    def value(self, tree: Child, asks: t.Asked | None = "any", depth: int = n.MAX_DEPTH) -> Any:
        """A JSON value that is nested at most `depth` levels deep; its texts know where they were written."""
        if tree.type not in ("array", "names", "object"):
            return self.scalar(tree, asks)
        if depth <= 0:
            raise n.TooDeep(tree.start_pos, tree.start_pos + 1)
        inner = tree.children[1:-1:2]
        if tree.type != "object":
            return [self.value(item, asks, depth - 1) for item in inner]
        keys = [n.text_of(pair.first, self.faults) for pair in inner]
        self.report_repeated(keys, "key")
        return {key.value: self.value(pair.children[2], asks, depth - 1) for key, pair in zip(keys, inner, strict=True)}

    def listed(self, tree: Child, asks: Literal["items", "names"], *required: str) -> Any:
        """The items of a list, or a bare template for all of it; an empty list is reported if some are required."""
        if tree.type == "TEMPLATE":
            return self.scalar(tree, asks)
        if required and len(tree.children) == 2:
            self.faults.append(Fault(tree.end_pos - 1, tree.end_pos, not_expected(required, "]")))
        return tuple(
            [self.tool(name, in_list=True) for name in tree.children[1:-1:2]] if asks == "names" else self.value(tree)
        )

    def schema(self, tree: Child) -> Any:
        """A path to a JSON Schema, or the schema itself, in which nothing is filled."""
        return self.scalar(tree) if tree.type == "STRING" else bare(self.value(tree, None))

    def path(self, token: Child) -> Any:
        """A path into a JSON value; a text in quotes is one key, whatever it holds."""
        text = n.text_of(token, self.faults)
        if text.value == "$" and token.type != "STRING":
            self.expected("a place such as `$.total`", token)
        return Placed(path_of_key(text.value) if token.type == "STRING" else path_of(text.value), text)

    def pattern(self, token: Child) -> Any:
        """A pattern with its flags, as a literal or in quotes; a bare template in its place."""
        if token.type == "TEMPLATE":
            return self.text(token), ""
        is_literal = token.type in ("REGEXP", "LITERAL")
        atom = n.literal_of(token, self.faults) if is_literal else n.pattern_of(n.text_of(token, self.faults))
        return Placed(atom.pattern, atom), atom.flags

    def field(self, tree: Child) -> tuple[str, str | None]:
        """A field that is required, with its type or None."""
        token, *type_ = tree.children
        return str(self.path(token)), _TYPES.get(type_[-1], str(type_[-1])) if type_ else None

    # --- numbers ---

    def ordinal(self, token: Child) -> int:
        """A number that counts from 1; 1 in place of another one, which is reported."""
        number = int(n.count_of(token, self.faults))
        if number < 1:
            self.expected("a number from 1", token)
        return max(number, 1)

    def number(self, tree: Child, unit: Unit) -> Any:
        """A number of what is counted, in its base unit; a bare template in its place."""
        number, mark = tree, None
        if tree.type == "TIMES_WORD":
            return 1 if tree == "once" else 2
        if tree.type == "quantity":
            number, mark = sorted(tree.children, key=lambda token: token.type not in _NUMBERS)
        required = _UNITS.get(unit, ())
        if mark is not None and mark.type not in required:
            self.expected("a number" if mark.type == "DOLLAR" else "the end", mark)
        elif mark is None and unit == "ms":
            stumble = Stumble(tree.end_pos, frozenset({"TIME_UNIT"}))
            self.faults.append(unexpected(self.line, stumble, expected_words(stumble.expected)))
        scale = 1 if mark is None or mark.type == "DOLLAR" else _scale(mark)
        is_whole = bool(unit) and not required
        if number.type == "TEMPLATE":
            return _blank(number, "whole" if is_whole else "number", scale)
        if not unit:
            return n.signed_of(number, self.faults)
        return n.count_of(number, self.faults) if is_whole else n.number_of(number, self.faults, scale=scale)

    def exactly(self, tree: Child, of: _Subject) -> t.Check:
        """A test for a number."""
        if tree.type not in _NUMBERS:
            self.expected("a number", tree)
        return self.test(tree, of, "between", self.bounds(tree, of.unit))

    def bounds(self, tree: Child, unit: Unit) -> t.Bounds:
        """The numbers that a comparison, a range or one number allows."""
        sign, *_ = children = tree.children if tree.type == "bounds" else [tree]
        numbers = [self.number(child, unit) for child in children if child.type in _NUMBERS]
        if sign.type in _SIGNS:
            return t.Bounds(**{_SIGNS[sign.type]: numbers[0]})
        return t.Bounds(*numbers[:1], *numbers[-1:])

    def times(self, tree: Child) -> t.Bounds:
        """The bounds of `once`, `at least 2 times` and so on."""
        return self.bounds(tree.children[0] if tree.type == "times" else tree, "times")


def _blank(token: Child, asks: t.Asked, scale: float = 1) -> _PlacedBlank:
    return _PlacedBlank(str(token), asks, scale, n.Text(token.start_pos, token.end_pos, str(token)))


def path_of(written: str) -> str:
    """A path in the one notation: `$.items.0.price` and `items[*].price` are `items[0].price` and `items[].price`."""
    rooted = written[1:].removeprefix(".") if written.startswith(("$.", "$[")) else written
    return _SYNONYM.sub(lambda found: found["key"] or f"[{found['index'] or ''}]", rooted)


def _scale(mark: Child) -> float:
    return 0.01 if mark == "%" else MILLISECONDS["ms" if mark.startswith(("ms", "mil")) else mark[0]]


_WORDS: Final = {"TRUE": True, "FALSE": False, "NULL": None}
_SYNONYM: Final = re.compile(r"""(?P<key>"(?:[^"\\]|\\.)*")|\.(?P<index>[0-9]{1,9})(?![\w$-])|\[\*\]""")
_NUMBERS: Final = ("NUMBER", "TEMPLATE", "quantity", "TIMES_WORD")
_UNITS: Final[Mapping[Unit, tuple[str, ...]]] = {
    "ms": ("TIME_UNIT", "DURATION"),
    "dollars": ("DOLLAR",),
    "share": ("PERCENT",),
}
_SIGNS: Final = {
    **dict.fromkeys(("GE", "AT_LEAST"), "min"),
    **dict.fromkeys(("LE", "AT_MOST"), "max"),
    **dict.fromkeys(("GT", "MORE_THAN", "OVER"), "above"),
    **dict.fromkeys(("LT", "LESS_THAN", "UNDER"), "below"),
}


# --- subjects --------------------------------------------------------------------------------------------------------

_RESPONSE: Final = _Subject("the response")


def _is_about_response(about: Child) -> bool:
    """Whether a check without a subject is clearly about the response, and not about the parameter before it."""
    clause = about.children[-1]
    while clause.type == "noise":
        clause = clause.children[-1]
    return bool(clause.type == "judge" or about.first.type == "TOKENS")


def odd_readings(text: str) -> Sequence[Fault]:
    """The parts of a check that read otherwise than they are taken: halves of `and` and `or`, places, arguments."""
    found: list[Fault] = []
    # A search for words is ten times as fast as a pattern, and hardly a line has any of these.
    if ("and" in text or "or" in text or "&&" in text or "||" in text) and _JOINED.search(text):
        found += unclear_halves(text)
    if ("tool" in text or "least" in text or "most" in text or "[*]" in text) and _MISREAD.search(text):
        found += misread(text)
    if "latency" in text or "time" in text or "cost" in text or "tokens" in text:
        found += exact_limits(text)
    return found


def exact_limits(text: str) -> Iterator[Fault]:
    """The numbers right behind `latency`, `cost` or tokens, which only a limit has; nothing may cost nothing."""
    if not _EXACT.search(text):
        return
    tokens = following(load("check"), "line", text).tokens
    for measure, *rest in (tokens[at : at + 5] for at, token in enumerate(tokens) if token.type in _LIMITED):
        types = "".join(f"{token.type} " for token in rest)
        found = _LIMIT.match(types)
        limit = rest[: found[0].count(" ")] if found else ()
        if limit and float(next(token for token in limit if token.type == "NUMBER")):
            start, end = limit[0].start_pos, limit[-1].end_pos
            yield Fault(start, end, Finding("EV440", measure=str(measure), limit=text[start:end]))


def unclear_halves(text: str) -> Iterator[Fault]:
    """The halves of `and` and `or` that ask the response, but read as if they asked the subject before them."""
    tree = read("check", "line", text)
    if isinstance(tree, Tree):
        yield from _unclear(tree.children[0], text, "", "")


class _Half(NamedTuple):
    """A half of `and` or `or`: its subject's rule, the turn it is of, what it is asked, and whether that is denied."""

    about: Child
    turn: Child
    predicate: Child
    subject: Sequence[Child]
    is_denied: bool

    @classmethod
    def of(cls, about: Child) -> _Half:
        turn, is_denied = None, False
        while about.type in ("negation", "turn"):
            turn, is_denied = about if about.type == "turn" else turn, is_denied or about.type == "negation"
            about = about.children[-1]
        *subject, predicate = about.children
        while predicate.type in ("negation", "noise", "returns", "fails_with"):
            subject = predicate.children[:-1] if predicate.type in ("returns", "fails_with") else subject
            is_denied |= predicate.type == "negation"
            predicate = predicate.children[-1]
        return cls(about, turn, predicate, subject, is_denied)

    @property
    def counted(self) -> Sequence[Child]:
        """The words of what a number of it counts, if it counts anything."""
        match self.about.type, self.predicate:
            case "of_response", Tree(type="size") as size:
                return size.children[-1:]
            case "of_response", Tree(type="measured") as measured:
                return measured.children[:1]
            case "of_run", _:
                return self.subject
            case "of_tool", Tree(type="how_often", children=[called, _]):
                return [*self.subject, called]
        return ()


def _unclear(tree: Child, text: str, subject: str, asked: str) -> Iterator[Fault]:
    """The unclear halves of a chain behind a `subject` other than the response, and the predicates it was asked for."""
    operands = tree.children[::2] if tree.type in ("all_of", "any_of") else [tree]
    halves = [_Half.of(operand) for operand in operands]
    counted = next((words for half in halves if (words := half.counted)), ())
    is_denied = False
    for operand, half in zip(operands, halves, strict=True):
        about, turn, predicate, words, _ = half
        if about.type == "group":
            yield from _unclear(about.children[1], text, subject, asked)
        elif about.type == "of_response" and turn is None:
            what = None
            if subject and (predicate.type in _ASKING_VALUES or predicate.type == asked):
                what = subject
            elif counted and predicate.type == "bounds":
                what = text[counted[0].start_pos : counted[-1].end_pos]
            elif is_denied and operand.first in _INFINITIVES:
                what = ""
            if what is not None:
                yield Fault(operand.start_pos, operand.end_pos, Finding("EV437", subject=what))
            is_denied |= half.is_denied
        else:
            subject, asked = "", predicate.type
            if about.type in _OF_A_PART and asked != "fails":
                subject = text[(turn or about).start_pos : words[-1].end_pos]
            elif turn is not None:
                subject = text[turn.start_pos : turn.children[1].end_pos]


def misread(text: str) -> Iterator[Fault]:
    """Places that read as quantities (`at least`) or as of any item (`[*]`); arguments whose dots read as a path."""
    tokens = [token for token in following(load("check"), "line", text).tokens if token.type != "MODAL"]
    for tool, at, path in zip(("", *tokens), tokens, tokens[1:], strict=False):
        if at.type == "AT" and path.type == "PATH" and path in ("least", "most"):
            yield Fault(at.start_pos, path.end_pos, Finding("EV438", path=str(path)))
        if path.type == "PARAM" and "." in path:
            yield Fault(path.start_pos, path.end_pos, Finding("EV439", tool=str(tool), path=str(path)))
        if at.type == "STAR_PATH" and path.type == "CONTAINS" and getattr(tool, "type", "AT") not in _WHICH_ITEMS:
            yield Fault(at.start_pos, path.end_pos, Finding("EV441", path=str(at)))


# They begin with letters, not with `\b`, so that texts are searched for these at once; two dots follow the first tool.
_MISREAD: Final = re.compile(r"at(?<=\bat)\s+(?:least|most)\b|\A(?>[\s\S]*?tool(?<=\btool)\s)[^.]*\.[^.]*\.|\[\*\]")
_WHICH_ITEMS: Final = frozenset(("ANY", "EVERY", "NO", "OF"))
_LIMITED: Final = frozenset(("LATENCY", "COST", "TOKENS", "USAGE_TOKENS"))
_EXACT: Final = re.compile(r"(?:latency|time|cost|tokens)\s+\$?\s*[\d.]")
_LIMIT: Final = re.compile("(?:DOLLAR )?NUMBER (?:DURATION )?+(?!DOTS|AND (?:DOLLAR )?(?:NUMBER|TEMPLATE))")
_JOINED: Final = re.compile(r"and(?<=\band)\b|or(?<=\bor)\b|&&|\|\|")
_OF_A_PART: Final = frozenset(("of_place", "of_named_place", "of_items", "of_calls", "of_file", "of_file_place"))
_ASKING_VALUES: Final = frozenset(
    (
        *("same", "equals", "bounds", "one_of", "within", "exists", "missing", "empty", "non_empty", "is_a", "format"),
        *("sorted", "unique", "starts_with", "ends_with", "matches", "similar"),
    )
)
"""Predicates that a reader would apply to the value before them, rather than to the response."""
_INFINITIVES: Final = frozenset(
    ("be", "begin", "contain", "end", "equal", "exist", "have", "include", "match", "mention", "start")
)
"""Verbs that share the `must not` of the half before them, if they have no `must` of their own."""
_BuildSubject = Callable[[Reader, Sequence[Child], Child], t.Check]
"""Builds the check of a subject from the children of its rule before the clause, and the clause."""


def _of(step: Callable[..., t.Step], kind: Kind = "value") -> _BuildSubject:
    """A builder for subjects behind a step, which is made from the words of the subject."""
    return lambda read, subject, clause: t.Of(step(read, *subject), read.asked_behind(subject, clause, kind))


def _place(read: Reader, *words: Child) -> t.Step:
    place = read.path(words[-1])
    return t.Items(str(place), "every") if "[*]" in words[-1] else t.At(place)


def _calls(read: Reader, which: Child, number: Child, _: Child, tool: Child) -> t.Step:
    return t.Call(read.tool(tool), _WHICH[which.type] if which.type in _WHICH else read.ordinal(number))


def _items(read: Reader, which: Child, *words: Child) -> t.Step:
    return t.Items(f"{read.path(words[-1])}{'[]' if len(words) > 1 else ''}", _WHICH[which.type])


def _of_file(read: Reader, subject: Sequence[Child], clause: Child) -> t.Check:
    _, name, *place = subject
    check = read.asked_behind(subject, clause)
    return t.Of(t.File(read.text(name)), t.Of(_place(read, *place), check) if place else check)


def _of_argument(read: Reader, subject: Sequence[Child], clause: Child) -> t.Check:
    _, tool, _, name = subject
    return _behind(
        t.Call(read.tool(tool), "first"), t.Argument(read.text(name)), check=read.asked_behind(subject, clause)
    )


def _behind(*steps: t.Step, check: t.Check) -> t.Check:
    """A check behind steps that `not` stands before; that an argument is not there is the argument's own check."""
    if isinstance(check, t.Not) and check.check != t.Test("exists"):
        return t.Not(_behind(*steps, check=check.check))
    for step in reversed(steps):
        check = t.Of(step, check)
    return check


def _of_names(negatable: str) -> _BuildSubject:
    """Builds the check of tools; some negated predicates are predicates of their own."""

    def build(read: Reader, subject: Sequence[Child], clause: Child) -> t.Check:
        check = read.asked(clause, _Subject("", "names", tool=tuple(map(read.tool, subject[1:]))))
        match check:
            case t.Not(t.Of(t.Tools(), t.Test(predicate, names))) if predicate == negatable:
                return t.Of(t.Tools(), t.Test("not_called", names))
            case _:
                return check

    return build


def _of_measure(read: Reader, measure: Sequence[Child], sized: Child) -> t.Check:
    *words, word = measure[0].children
    unit = cast("t.Measured", "_".join(word.split())) if word.type == "USAGE_TOKENS" else _MEASURES[word.type]
    return read.asked_behind(measure, sized, "number", "calls" if words and unit == "items" else unit)


_MEASURES: Final[Mapping[str, t.Measured]] = {
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
_WHICH: Final[Mapping[str, t.Which]] = {"ANY": "any", "EVERY": "every", "NO": "no"}
_SUBJECTS: Final[Mapping[str, _BuildSubject]] = {
    "of_response": lambda read, words, last: read.asked(Tree("noise", [*words, last]) if words else last, _RESPONSE),
    "of_named_response": lambda read, _, clause: read.asked(clause, _RESPONSE),
    "of_named_place": _of(_place),
    "of_place": _of(_place),
    "of_file": _of_file,
    "of_file_place": _of_file,
    "of_argument": _of_argument,
    "of_calls": _of(_calls, "call"),
    "of_items": _of(_items),
    "of_tools": _of_names("called"),
    "of_tool": _of_names("include"),
    "no_errors": lambda *_: t.Of(t.Tools(), t.Test("no_errors")),
    "of_run": _of_measure,
}


# --- predicates ------------------------------------------------------------------------------------------------------

_OF_NO_CASE: Final = frozenset(("NUMBER", "TRUE", "FALSE", "NULL", "object"))
"""Values for which `ignoring case` changes nothing."""
_Build = Callable[[Reader, Child, _Subject], t.Check]
"""Builds the check of a subject from the tree of a predicate."""


def _operands(tree: Child) -> tuple[list[Child], bool]:
    """The parts of a predicate other than keywords and signs, and whether case is ignored."""
    parts = [child for child in tree.children if isinstance(child, Tree) or child.type in _OF_OPERANDS]
    operands = [part for part in parts if part.type != "modifier"]
    return operands, len(operands) < len(parts)


def _test(predicate: str, operand: Callable[..., Any]) -> _Build:
    """A builder for a predicate whose operand is made from the parts other than keywords."""

    def build(read: Reader, tree: Child, of: _Subject) -> t.Check:
        parts, case = _operands(tree)
        return read.test(tree, of, predicate, operand(read, *parts), case and parts[0].type not in _OF_NO_CASE)

    return build


def _equals(read: Reader, tree: Child, of: _Subject) -> t.Check:
    sign, value, *modifier = tree.children
    if value.type == "size":
        check = _between(read, value, of)
    elif sign.type == "EQ" and value.type == "NUMBER":
        check = read.exactly(value, of)
    else:
        check = _same(read, Tree("same", [value, *modifier]), of)
    return t.Not(check) if sign.type == "NE" else check


def _same(read: Reader, tree: Child, of: _Subject) -> t.Check:
    """The test for exactly a value: a text in quotes by its text, any other as JSON; of a measure, a number."""
    value, *modifier = tree.children
    if of.unit:
        return read.exactly(value, of)
    if value.type == "quantity":
        read.number(value, of.unit)
        return t.Test("is")
    case = bool(modifier) and value.type not in _OF_NO_CASE
    operand = read.value(value, "text" if case else "any")
    return read.test(value, of, "equals" if isinstance(operand, str) or case else "is", operand, case)


def _between(read: Reader, tree: Child, of: _Subject) -> t.Check:
    """Bounds, and the unit of what they count: `at most 5 words`; behind `length` the unit is what is measured."""
    *number, word = tree.children if tree.type == "size" else (tree,)
    if not number:
        return read.test(tree, of, "between", read.bounds(word, of.unit))
    unit = "chars" if word.startswith("char") else cast("t.Measured", f"{word.rstrip('s')}s")
    if of.unit not in ("", "chars", unit):
        read.expected("the end", word)
    return t.Of(t.Measure(unit), t.Test("between", read.bounds(number[0], unit)))


def _measured(read: Reader, tree: Child, of: _Subject) -> t.Check:
    *measure, sized = tree.children
    if of.unit:
        read.unasked(measure[0], of, str(tree.first), PREDICATES["contains"].on)
    return _of_measure(read, measure, sized)


def _contains(read: Reader, value: Child) -> Any:
    """The value to contain; reports a list, which could mean any of its items or all of them."""
    if value.type == "array":
        one, each = (
            f"{read.line[: value.start_pos]}{word} of {read.line[value.start_pos :]}" for word in ("any", "all")
        )
        read.faults.append(Fault(value.start_pos, value.end_pos, Finding("EV162", any=one, all=each)))
    return read.value(value, "text")


def _occurs(read: Reader, value: Child, times: Child) -> Any:
    contained = _contains(read, value)
    if not isinstance(contained, str | t.Blank):
        read.expected("a text in quotes", value)
    return contained, read.times(times)


def _contains_of(read: Reader, tree: Child, of: _Subject) -> t.Check:
    (how_many, *values), case = _operands(tree)
    is_list = len(values) == 1 and values[0].type in ("array", "object", "TEMPLATE")
    operand = read.listed(values[0], "items", "a value") if is_list else tuple(map(read.value, values))
    word = how_many.first.type
    check = read.test(tree, of, "contains_all" if word == "ALL" else "contains_any", operand, case)
    return t.Not(check) if word == "NONE" else check


def _one_of(read: Reader, tree: Child, of: _Subject) -> t.Check:
    (values,), case = _operands(tree)
    return read.test(tree, of, "one_of", read.listed(values, "items", *([] if of.is_part else ["a value"])), case)


def _json(read: Reader, *parts: Child) -> Any:
    mode = [str(part) for part in parts if part.type == "JSON_MODE"]
    schema = [read.schema(part) for part in parts[len(mode) :]]
    return mode[0] if mode else "strict", schema[0] if schema else None


def _judge(read: Reader, text: Child, *score: Child) -> Any:
    question = read.text(text)
    least, most = (read.number(number, "share") for number in score) if score else (1, 1)
    return Placed("", question.place), most, question, least


def _check(read: Reader, tree: Child, of: _Subject) -> t.Check:
    called = [child for child in tree.children if child.type != "compared"]
    compared = [read.bounds(child.children[-1], "share") for child in tree.children[len(called) :]]
    _, name, _, *rest, _ = called
    named = [argument.children for argument in rest[::2] if argument.type == "named"]
    args = tuple([read.value(argument) for argument in rest[::2] if argument.type != "named"])
    names = [n.text_of(option, read.faults) for option, *_ in named]
    read.report_repeated(names, "argument")
    options = {option.value: read.value(value) for option, (*_, value) in zip(names, named, strict=True)}
    return read.test(Tree("check", called), of, "check", (read.text(name), args, options, *(compared or [t.Bounds()])))


def _structure(read: Reader, *parts: Child) -> Any:
    """The fields, or the headings, that are required."""
    has_fields = parts[0].type == "field"
    return (tuple(map(read.field, parts)), ()) if has_fields else ((), tuple(map(read.text, parts)))


def _called(read: Reader, *names: Child) -> Any:
    return tuple(map(read.tool, names)) if names[0].type in ("BARE_NAME", "STRING") else read.listed(names[0], "names")


def _sources(read: Reader, *sources: Child) -> Any:
    read.report_repeated([n.text_of(source, read.faults) for source in sources], "source")
    return tuple(map(str, sources))


def _sorted(read: Reader, *parts: Child) -> Any:
    descending = parts[:1] != () and parts[0].type == "DESCENDING"
    by = [str(read.path(part)) for part in parts[descending:]]
    if by and EVERY in by[0] and parts[-1].type != "STRING":
        read.expected("one place in each item", parts[-1])
    return descending, by[0] if by else None


def _language(read: Reader, token: Child) -> Any:
    from evalc.check.languages import LANGUAGES, language_named  # noqa: PLC0415 - for start-up

    name = " ".join(read.text(token).split())
    language = language_named(name)
    if language is None:
        finding = Finding("EV161", name=name, known=tuple(LANGUAGES.values()))
        read.faults.append(Fault(token.start_pos, token.end_pos, finding))
    return language


def _missing(read: Reader, tree: Child, of: _Subject) -> t.Check:
    exists = read.test(tree, of, "exists")
    return exists if tree.children[-1] == "present" else t.Not(exists)


def _of_part(step: t.Step, words: str) -> _Build:
    """A builder for the result or the error of a call."""
    return lambda read, tree, of: t.Of(step, read.asked(tree.children[-1], _Subject(f"{words} {of.words}")))


def _how_often(read: Reader, tree: Child, of: _Subject) -> t.Check:
    _, *times = tree.children
    if times:
        return t.Of(t.Measure("calls", *of.tool), t.Test("between", read.times(times[0])))
    return t.Of(t.Tools(), t.Test("include", of.tool))


def _before(read: Reader, tree: Child, of: _Subject) -> t.Check:
    _, word, other = tree.children
    pair = *of.tool, read.tool(other)
    return t.Of(t.Tools(), t.Test("before", pair if word.type == "BEFORE" else pair[::-1]))


def _acceptable(read: Reader, sets: Child) -> Any:
    if sets.type == "TEMPLATE":
        return read.scalar(sets, "sets")
    return tuple([_tool_set(read, names) for names in sets.children[1:-1:2]])


def _tool_set(read: Reader, names: Child) -> Any:
    given = read.listed(names, "names") if names.type == "names" else ()
    return given or (Placed(t.NO_TOOL, n.Text(names.start_pos, names.end_pos, t.NO_TOOL)),)


_TYPES: Final = {"text": "string", "list": "array"}
_OF_OPERANDS: Final = frozenset(
    (
        *("STRING", "TEMPLATE", "NUMBER", "TRUE", "FALSE", "NULL", "REGEXP", "PATH", "NAME", "BARE_NAME"),
        *("LANGUAGE", "TYPE", "FORMAT", "MARKDOWN", "CODE_BLOCK", "SOURCE", "JSON_MODE", "DESCENDING"),
    )
)
"""The terminals that an operand is made from."""
_OPERANDS: Final[Mapping[str, Callable[..., Any]]] = {
    **dict.fromkeys(("exists", "empty", "non_empty", "unique", "fails"), lambda _read: None),
    **dict.fromkeys(("starts_with", "ends_with"), Reader.text),
    **dict.fromkeys(("numbers_from", "quotes_from"), _sources),
    **dict.fromkeys(
        ("include", "in_order", "only"), lambda read, names: read.listed(names, "names", "a name", "a text in quotes")
    ),
    "contains": _contains,
    "occurs": _occurs,
    "matches": Reader.pattern,
    "similar": lambda read, text, least=None: (read.text(text), 0.8 if least is None else read.number(least, "share")),
    "json": _json,
    "judge": _judge,
    "structure": _structure,
    "markdown": lambda _read, part, language=None: (" ".join(part.split()), language and str(language)),
    "is_a": lambda _read, word: _TYPES.get(word, str(word)),
    "format": lambda _read, word: str(word),
    "sorted": _sorted,
    "language": _language,
    "called": _called,
    "acceptable": _acceptable,
}
"""How the operand of each predicate is made from the parts of its line other than keywords."""
_PREDICATES: Final[Mapping[str, _Build]] = {
    **{predicate: _test(predicate, operand) for predicate, operand in _OPERANDS.items()},
    "equals": _equals,
    "same": _same,
    "bounds": _between,
    "size": _between,
    "measured": _measured,
    "within": lambda read, tree, of: read.test(
        tree, of, "within", tuple([read.number(number, of.unit) for number in tree.children[1::2]])
    ),
    "one_of": _one_of,
    "contains_of": _contains_of,
    "check": _check,
    "missing": _missing,
    "parts": Reader.parts,
    "returns": _of_part(t.Result(), "the result of"),
    "fails_with": _of_part(t.Failure(), "the error of"),
    "how_often": _how_often,
    "before": _before,
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
    words = expected_words(expected.difference(_wrong_units(text[:at].rstrip(), expected)))
    if word not in {None, "and", "or", "for"} and "TURN" in expected:
        return Fault(at, at + len(word or ""), Finding("EV203", name=word, known=(), is_line=True))
    misfit = None if text[at : at + 1] in {"", "."} else _misfit(text, at)
    return misfit or unexpected(text, stumble, words)


def _wrong_units(text: str, expected: frozenset[str]) -> Iterator[str]:
    """The units among the expected terminals that the number before them cannot have."""
    for terminal in expected & _UNIT_WORDS.keys():
        faults = _read_with_care(f"{text} {_UNIT_WORDS[terminal]}").faults
        if any(fault.start < fault.end for fault in faults):  # or it only lacks its end
            yield terminal


def _misfit(text: str, at: int) -> Fault | None:
    """The fault if the predicate can never be asked of the subject before it; None if something else is wrong."""
    tokens = following(load("check"), "line", text[:at]).tokens
    begin = max((index + 1 for index, token in enumerate(tokens) if token.type in _BEFORE_SUBJECTS), default=0)
    subject = [token for token in tokens[begin:] if token.type not in _BESIDE_SUBJECTS]
    types = {token.type for token in subject}
    given: Kind = next((kind for kind, words in _GIVEN_BY.items() if words & types and "DOT" not in types), "value")
    if not subject or text[subject[-1].end_pos - 1] in "<>=!":  # a second sign is no predicate
        return None
    start, end = subject[0].start_pos, subject[-1].end_pos
    for beginning, kind in _SUBJECTS_OF_KINDS.items():
        if kind != given and _is_a_line(beginning + text[end:]):
            of_number = f"tokens{text[end:]}"
            is_of_numbers = kind == "value" and _is_a_line(of_number) and not _read_with_care(of_number).faults
            asks = ASKS[frozenset[Kind]({kind, "number"} if is_of_numbers else {kind})]
            predicate = word_at(text, at) or text[at]
            finding = Finding("EV160", subject=text[start:end], given=GIVES[given], predicate=predicate, asks=asks)
            return Fault(at, at + len(predicate), finding)
    return None


def _is_a_line(text: str) -> bool:
    return not isinstance(read("check", "line", text), Stumble)


_UNIT_WORDS: Final = {"COUNTED": "words", "DURATION": "s", "PERCENT": "%"}
_BARE_WORD: Final = re.compile(r"[A-Za-z_][\w-]*(?=\s*\Z)")
_BEFORE_SUBJECTS: Final = frozenset(("AND", "OR", "LPAR"))
_BESIDE_SUBJECTS: Final = frozenset(("NOT", "MODAL", "IS"))
_GIVEN_BY: Final[Mapping[Kind, frozenset[str]]] = {
    "number": frozenset((*_MEASURES, "USAGE_TOKENS")),
    "names": frozenset(("TOOL", "TOOLS")),
    "call": frozenset(("CALL",)),
}
_SUBJECTS_OF_KINDS: Final[Mapping[str, Kind]] = {
    "response": "value",
    "tools": "names",
    "tool t": "names",
    "any call of t": "call",
}


# --- shapes ----------------------------------------------------------------------------------------------------------

_LONGEST: Final = 300
"""The longest text that is read by its shape; so short a text cannot nest too deep for recursion."""

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
_MARKS: Final = [*map(chr, (*range(1, 9), *range(14, 32)))]
"""Stand-ins for the texts of literals: control characters, which occur nowhere else in a line."""
_STAND_INS: Final = {quote: [f"{quote}{mark}{quote}" for mark in _MARKS] for quote in "\"'/"}


def read_check(text: str) -> n.Parsed[n.ReadCheck]:
    """A whole one-line check."""
    if len(text) > MAX_LINE:
        return n.too_long(text, MAX_LINE)
    if len(text) > _LONGEST:
        return _read_with_care(text)
    pieces = _LITERAL.split(text)  # the literals are every second piece
    if len(pieces) > 2 * len(_MARKS):
        return _read_with_care(text)
    texts: list[str] = []
    for at in range(1, len(pieces), 2):
        literal = pieces[at]
        texts.append(literal[1:-1])
        if not texts[-1].strip():  # a place may refuse a blank text
            return _read_with_care(text)
        pieces[at] = _STAND_INS[literal[0]][at // 2]
    shape = _shape_of("".join(pieces))
    if shape is None:
        return _read_with_care(text)
    line, make = shape
    end, criterion = len(text.rstrip()), line.criterion
    if criterion is not None:  # it is last
        value, quotes = (texts[-1], 2) if criterion.value in _MARKS else (criterion.value, 0)
        criterion = n.Text(end - len(value) - quotes, end, value)
    places: Any = _Places(text, len(line.places))
    check = line.check if make is None else make(texts)
    return n.Parsed(n.ReadCheck(line.start, end, check, places, criterion), ())


@final
class _Places(Struct, frozen=True, gc=False):
    """The places of the texts of a check, found when they are first needed: a sequence that is quickly made."""

    text: str
    size: int

    def __getitem__(self, index: Any) -> Any:
        line = _read_with_care(self.text).node
        return () if line is None else line.places[index]

    def __iter__(self) -> Iterator[n.Atom]:
        return iter(self[:])

    def __len__(self) -> int:
        return self.size


@lru_cache(1_024)
def _shape_of(text: str) -> tuple[n.ReadCheck, Make | None] | None:
    """The line of a text with marks, and the function that makes the checks of its other lines, if they differ.

    None if it has a fault, or if a mark is not a text of its own. Nor has a text with marks in one of several paths a
    shape: the paths could be equal, which changes the check.
    """
    line = None if "\\" in text else _read_with_care(text).node
    if line is None:
        return None
    marks, texts = {*text}.intersection(_MARKS), texts_of(line.check)
    known = {text for _, text in texts} | ({line.criterion.value} if line.criterion else set())
    places = {text for role, text in texts if role is PATH}
    if not marks <= known or (len(places) > 1 and marks & places):
        return None

    def holed(role: Role, text: Any) -> Any:
        """A hole in place of a mark; only a key in quotes is one in a path."""
        return hole(_MARKS.index(text), read=path_of_key if role is PATH else None) if text in marks else text

    return line, maker(mapped(line.check, holed))
