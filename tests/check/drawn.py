"""Draws answers, subjects and predicates: each as it is written on a line, and as the reference understands it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.check import reference
from tests.check.reference import (
    ABSENT,
    CANNOT,
    ENGLISH,
    GERMAN,
    MARKDOWN,
    NOTHING,
    SCHEMAS,
    UNSURE,
    UNVERIFIED,
    Answer,
    Ask,
    Outcome,
    Range,
    Thing,
    ToolCalled,
    asked,
    negated,
)

TOOLS = ("book", "pay", "search")
KEYS = ("a", "b", "city", "items", "total")
TEXTS = (
    *("", " ", "a", "A", "ab", "b a", "5", "15", "true", "null", "[1]", "Straße", "STRASSE", "timeout"),
    *("timeout after 3s", "One. Two! Three?", "first\nsecond", "2024-02-29", "2024-02-29T12:00:00Z", "a@b.example"),
    *("https://example.com/a", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", 'It is "5" of 15', '{"a": 5}', "😀 ok"),
    *(ENGLISH, GERMAN, UNSURE, *MARKDOWN.values()),
)
NEEDLES = ("a", "A", "b", "5", "15", "true", "timeout", "straße", "ab", "One")
NUMBERS = (0, 1, 2, 5, 5.0, 15, -2, 0.5, 123_456_789_012_345, 2**53, 2**53 + 1)
OPERANDS = (0, 1, 2, 5, 5.0, 15, -2, 0.5, 123_456_789_012_345)
"""The numbers of lines, which hold none that a float would round."""
DIGITS = (0, 1, 2, 3, 5, 15)
QUOTE = json.dumps


Line = tuple[str, Callable[[Answer], Outcome]]
"""A check on one line, and what the reference says of an answer."""


# --- answers ---------------------------------------------------------------------------------------------------------


def value(draw: Random, depth: int = 2, numbers: Sequence[Any] = NUMBERS) -> Any:
    """A JSON value with few texts, numbers and keys, so that operands often meet them."""
    kind = draw.randrange(8 if depth else 4)
    if kind < 2:
        return draw.choice(TEXTS)
    if kind == 2:
        return draw.choice(numbers)
    if kind == 3:
        return draw.choice((True, False, None))
    if kind < 6:
        return listed(draw, depth - 1, numbers)
    return {key: value(draw, depth - 1, numbers) for key in draw.sample(KEYS, draw.randrange(4))}


def listed(draw: Random, depth: int, numbers: Sequence[Any] = NUMBERS) -> list[Any]:
    """A list: of numbers, of texts, of objects, or of anything."""
    size = draw.randrange(4)
    kind = draw.randrange(4)
    if kind == 0:
        return [draw.choice(numbers) for _ in range(size)]
    if kind == 1:
        return [draw.choice(TEXTS) for _ in range(size)]
    if kind == 2:
        return [{"a": draw.choice(numbers), "b": draw.choice(NEEDLES)} for _ in range(size)]
    return [value(draw, depth, numbers) for _ in range(size)]


def called(draw: Random) -> ToolCalled:
    arguments = {key: value(draw, 1) for key in draw.sample(KEYS, draw.randrange(1, 4))}
    if draw.randrange(3) == 0:
        return ToolCalled(draw.choice(TOOLS), arguments, error=draw.choice(TEXTS))
    return ToolCalled(draw.choice(TOOLS), arguments, result=value(draw))


def document(draw: Random) -> str:
    """A text, or JSON, in prose or by itself."""
    kind = draw.randrange(6)
    if kind < 2:
        return draw.choice(TEXTS)
    if kind == 2:
        return f"So:\n```json\n{json.dumps(value(draw))}\n```"
    if kind == 3:
        return json.dumps(value(draw), ensure_ascii=False)
    places = {key: value(draw) for key in KEYS}
    return json.dumps(places | {"items": listed(draw, 1)}, ensure_ascii=False)


def answer(draw: Random, *, turns: int = 0) -> Answer:
    return Answer(
        document(draw),
        [called(draw) for _ in range(draw.choice((0, 1, 2, 4)))],
        message=draw.choice(TEXTS),
        milliseconds=draw.choice((0, 500, 1999, 2000, 61_000)),
        dollars=draw.choice((0, 0.01, 0.02, 1)),
        tokens=draw.choice((None, (2, 5), (0, 15))),
        turns=[answer(draw) for _ in range(turns)],
        files={name: document(draw) for name in FILES if draw.randrange(4)},
    )


# --- predicates ------------------------------------------------------------------------------------------------------


@dataclass
class Clause:
    """Return what is written behind a subject, and what the reference asks.

    Attributes:
        words: the predicate, in any of its forms.
        ask: what it says of a thing.
        after_is: whether it stands only after `is`.
        in_part: whether it may stand in a part after `has`.
        is_contracts: whether it is a field of the contract for an argument, unless it is denied.
    """

    words: str
    ask: Ask
    after_is: bool = False
    in_part: bool = True
    is_contracts: bool = False


def literal(draw: Random, depth: int = 1) -> Any:
    """A value as a line has it."""
    found = value(draw, depth, OPERANDS)
    return draw.choice(NEEDLES) if isinstance(found, str) else found


def cased(draw: Random) -> tuple[str, bool]:
    fold = draw.randrange(3) == 0
    return " ignoring case" if fold else "", fold


def several(draw: Random, drawn: Callable[[Random], Any] = literal) -> list[Any]:
    return [drawn(draw) for _ in range(draw.randrange(1, 4))]


def bounds(draw: Random, numbers: Sequence[Any], spell: Callable[[Any], str] = str) -> tuple[str, Range]:
    """Bounds in one of their forms."""
    one, other = sorted(draw.sample(sorted(set(numbers)), 2))
    return draw.choice(
        (
            (f"{draw.choice(('>=', 'at least'))} {spell(one)}", Range(min=one)),
            (f"{draw.choice(('<=', 'at most'))} {spell(other)}", Range(max=other)),
            (f"{draw.choice(('>', 'more than', 'over'))} {spell(one)}", Range(above=one)),
            (f"{draw.choice(('<', 'less than', 'under'))} {spell(other)}", Range(below=other)),
            (f"between {spell(one)} and {spell(other)}", Range(one, other)),
            (f"{spell(one)}..{spell(other)}", Range(one, other)),
        )
    )


def _clause(predicate: str, words: str, *operands: Any, fold: bool = False, **rest: Any) -> Clause:
    return Clause(words, lambda thing: asked(thing, predicate, *operands, fold=fold), **rest)


def _denied(clause: Clause) -> Clause:
    ask = clause.ask
    clause.ask = lambda thing: negated(ask(thing))
    return clause


def equals(draw: Random) -> Clause:
    text, (words, fold) = draw.choice((*NEEDLES, *TEXTS)), cased(draw)
    sign = draw.choice(("equals", "==", "=", "!=", "is"))
    clause = _clause("equals", f"{sign} {QUOTE(text)}{words}", text, fold=fold, is_contracts=sign != "!=" and not fold)
    return _denied(clause) if sign == "!=" else clause


def is_value(draw: Random) -> Clause:
    found = literal(draw)
    while isinstance(found, str):
        found = literal(draw)
    sign = draw.choice(("equals", "==", "=", "!=", "is"))
    clause = _clause("is", f"{sign} {json.dumps(found)}", found)
    return _denied(clause) if sign == "!=" else clause


def one_of(draw: Random) -> Clause:
    values, (words, fold) = several(draw), cased(draw)
    are_texts = all(isinstance(each, str) for each in values)
    text = f"{draw.choice(('one of', 'in'))} {json.dumps(values)}{words}"
    return _clause("one_of", text, values, fold=fold, is_contracts=are_texts and not fold)


def contains(draw: Random) -> Clause:
    found, (words, fold) = literal(draw, 0), cased(draw)
    verb = draw.choice(("contains", "includes", "mentions"))
    text = f"{verb} {json.dumps(found, ensure_ascii=False)}{words}"
    return _clause("contains", text, found, fold=fold, is_contracts=isinstance(found, str) and not fold)


def contains_any(draw: Random) -> Clause:
    values, (words, fold) = several(draw), cased(draw)
    kind = draw.choice(("any", "none"))
    text = f"contains {kind} of {json.dumps(values, ensure_ascii=False)}{words}"
    clause = _clause("contains_any", text, values, fold=fold)
    return _denied(clause) if kind == "none" else clause


def contains_all(draw: Random) -> Clause:
    values, (words, fold) = several(draw), cased(draw)
    text = f"contains all of {json.dumps(values, ensure_ascii=False)}{words}"
    return _clause("contains_all", text, values, fold=fold)


def occurs(draw: Random) -> Clause:
    needle, (words, fold) = draw.choice(NEEDLES), cased(draw)
    often, times = draw.choice(
        (
            (" 2 times", Range(2, 2)),
            (" once", Range(1, 1)),
            (" at least 2 times", Range(min=2)),
            (" < 2 times", Range(below=2)),
        )
    )
    return _clause("occurs", f"contains {QUOTE(needle, ensure_ascii=False)}{words}{often}", needle, times, fold=fold)


def matches(draw: Random) -> Clause:
    pattern, flags = draw.choice(("^a", "5$", "^[a-z ]+$", r"\d{2}", "time(out)?", "^$")), draw.choice(("", "i"))
    return _clause("matches", f"matches /{pattern}/{flags}", pattern, flags, is_contracts=flags == "")


def starts_with(draw: Random) -> Clause:
    text, (words, fold) = draw.choice(NEEDLES), cased(draw)
    return _clause("starts_with", f"starts with {QUOTE(text)}{words}", text, fold=fold)


def ends_with(draw: Random) -> Clause:
    text, (words, fold) = draw.choice(NEEDLES), cased(draw)
    return _clause("ends_with", f"ends with {QUOTE(text)}{words}", text, fold=fold)


def similar(draw: Random) -> Clause:
    text, threshold = draw.choice(TEXTS), draw.choice((0.8, 0.5, 0.1))
    words = "" if threshold == 0.8 else f" >= {threshold}"
    return _clause("similar", f"similar to {QUOTE(text)}{words}", text, threshold)


def between(draw: Random) -> Clause:
    words, numbers = bounds(draw, OPERANDS)
    return _clause("between", words, numbers)


def within(draw: Random) -> Clause:
    distance, number = draw.choice((0, 0.5, 1, 2)), draw.choice(OPERANDS)
    return _clause("within", f"within {distance} of {number}", distance, number)


def exists(draw: Random) -> Clause:
    words = draw.choice(("exists", "exists", "is missing", "not exists"))
    clause = _clause("exists", words.removeprefix("is "), after_is=words == "is missing")
    return clause if words == "exists" else _denied(clause)


def empty(_: Random) -> Clause:
    return _clause("empty", "empty", after_is=True)


def non_empty(_: Random) -> Clause:
    return _clause("non_empty", "non-empty")


def is_a(draw: Random) -> Clause:
    name = draw.choice(("text", "string", "number", "integer", "boolean", "list", "array", "object"))
    return _clause("is_a", draw.choice((name, f"{'an' if name[0] in 'aio' else 'a'} {name}")), name, after_is=True)


def format_(draw: Random) -> Clause:
    name = draw.choice(tuple(reference.FORMATS))
    return _clause("format", f"{'an' if name == 'email' else 'a'} {name}", name, after_is=True)


def sorted_(draw: Random) -> Clause:
    descending, by = draw.choice((True, False)), draw.choice((None, "a", "b"))
    words = f"sorted{' descending' if descending else ''}{f' by {by}' if by else ''}"
    return _clause("sorted", words, descending, by, after_is=True)


def unique(_: Random) -> Clause:
    return _clause("unique", "unique", after_is=True)


def json_(draw: Random) -> Clause:
    mode, schema = draw.choice(("strict", "lenient", "object", "array")), draw.choice(("", *SCHEMAS))
    if mode == "strict" and schema and draw.randrange(2):
        return _clause("json", f"matches schema {schema}", mode, schema)
    words = f"json{'' if mode == 'strict' else ' ' + mode}{f' matching {schema}' if schema else ''}"
    return _clause("json", words, mode, schema)


def structure(draw: Random) -> Clause:
    if draw.randrange(4) == 0:
        return _clause("structure", 'has headings "risks"', [], ["risks"], in_part=False)
    paths = ("a", "b", "items[].a", "items[0]", "city.a")
    fields = [
        (path, draw.choice((None, "number", "string", "array"))) for path in draw.sample(paths, draw.choice((1, 2)))
    ]
    words = ", ".join(path if type_ is None else f"{path} as {type_}" for path, type_ in fields)
    return _clause("structure", f"has fields {words}", fields, [], in_part=False)


def markdown(draw: Random) -> Clause:
    part, language = draw.choice(
        (
            ("table", None),
            ("list", None),
            ("link", None),
            ("heading", None),
            ("code block", None),
            ("code block", "python"),
            ("code block", "go"),
        )
    )
    words = f"has a {part}{f' in {language}' if language else ''}"
    return _clause("markdown", words, part, language, in_part=False)


def language(draw: Random) -> Clause:
    name = draw.choice(("English", "German"))
    return _clause("language", f"in {name}", name, after_is=True)


def grounded(predicate: str) -> Callable[[Random], Clause]:
    def drawn(draw: Random) -> Clause:
        names = draw.choice((["tools"], ["message"], ["tools", "message"]))
        words = f"{predicate.removesuffix('_from')} from {', '.join(names)}"
        return _clause(predicate, words, names, in_part=False)

    return drawn


def judge(draw: Random) -> Clause:
    least, scale = draw.choice(((1, 1), (2, 4), (3, 4), (0.5, 1)))
    words = "" if least == scale == 1 else f" >= {least}/{scale}"
    return _clause("judge", f'judge "Is it there?"{words}', least, scale)


def check(draw: Random) -> Clause:
    args = [draw.choice(NEEDLES) for _ in range(2)]
    words, numbers = bounds(draw, (0, 0.5, 1)) if draw.randrange(2) else ("", None)
    called = f"{'share' if numbers else 'has_all'}({', '.join(map(QUOTE, args))})"
    return _clause("check", f"check {called} {words}".strip(), args, numbers)


Draw = Callable[[Random], Clause]

OF_VALUES: dict[str, Draw] = {
    "equals": equals,
    "is": is_value,
    "one_of": one_of,
    "contains": contains,
    "contains_any": contains_any,
    "contains_all": contains_all,
    "occurs": occurs,
    "matches": matches,
    "starts_with": starts_with,
    "ends_with": ends_with,
    "similar": similar,
    "between": between,
    "within": within,
    "exists": exists,
    "empty": empty,
    "non_empty": non_empty,
    "is_a": is_a,
    "format": format_,
    "sorted": sorted_,
    "unique": unique,
    "json": json_,
    "structure": structure,
    "markdown": markdown,
    "language": language,
    "numbers_from": grounded("numbers_from"),
    "quotes_from": grounded("quotes_from"),
    "judge": judge,
    "check": check,
}
"""Return what draws each predicate of a value."""


# --- numbers ---------------------------------------------------------------------------------------------------------


def compared(draw: Random, numbers: Sequence[Any], spell: Callable[[Any], str]) -> Clause:
    """Bounds, or a number by itself."""
    if draw.randrange(3):
        words, allowed = bounds(draw, numbers, spell)
        return _clause("between", words, allowed)
    one = draw.choice(numbers)
    sign = draw.choice(("==", "equals", "", "!="))
    clause = _clause("between", f"{sign} {spell(one)}".strip(), Range(one, one))
    return _denied(clause) if sign == "!=" else clause


def near(draw: Random, numbers: Sequence[Any], spell: Callable[[Any], str]) -> Clause:
    distance, number = draw.choice(numbers), draw.choice(numbers)
    return _clause("within", f"within {spell(distance)} of {spell(number)}", distance, number)


def among(draw: Random, numbers: Sequence[Any], _: Callable[[Any], str]) -> Clause:
    values = several(draw, lambda draw: draw.choice(numbers))
    return _clause("one_of", f"{draw.choice(('one of', 'in'))} {json.dumps(values)}", values)


OF_NUMBERS = {"between": compared, "within": near, "one_of": among}
"""Return what draws each predicate of a number that was measured; a number that it equals is `between`."""


def measure(of: str, predicate: str) -> Draw:
    """A measure of a value."""

    def drawn(draw: Random) -> Clause:
        test = OF_NUMBERS[predicate](draw, DIGITS, str)
        name = {"items": "count", "chars": "length"}.get(of, of)
        forms = [f"{name} {test.words}"]
        if of != "items" and predicate == "between":
            forms.append(f"length {test.words} {of}")

        def ask(thing: Thing) -> Outcome:
            if thing.value is NOTHING:
                return CANNOT
            return reference.number_test(reference.measured(thing, of), test.ask, thing.answer)

        return Clause(draw.choice(forms), ask)

    return drawn


MEASURES = ("chars", "words", "lines", "bytes", "sentences", "items")
OF_MEASURES: dict[str, Draw] = {
    f"{of} {predicate}": measure(of, predicate)
    for of in MEASURES
    for predicate in (OF_NUMBERS if of in ("words", "items") else ("between",))
}
"""Return what draws each measure of a value."""


def _spelled(of: str, draw: Random) -> tuple[str, Sequence[Any], Callable[[Any], str]]:
    """How a measure of a run is written, the numbers that it is compared with, and how they are."""
    match of:
        case "ms":
            if draw.randrange(2):
                return "latency", (500, 2000), lambda n: f"{n}ms"
            return "latency", (1000, 2000, 60_000), lambda n: f"{n // 1000}s"
        case "dollars":
            return "cost", (0, 0.01, 0.02, 1), lambda n: f"${n}" if draw.randrange(2) else str(n)
        case "calls":
            return "tool count", DIGITS, str
        case "errors":
            return "tool errors", DIGITS, str
        case _:
            return of.replace("_", " "), (0, 2, 5, 7, 15), str


def of_run(of: str, predicate: str) -> Callable[[Random], Line]:
    """A check of a measure of the run."""

    def drawn(draw: Random) -> Line:
        name, numbers, spell = _spelled(of, draw)
        test = OF_NUMBERS[predicate](draw, numbers, spell)
        denial, noise = draw.choice(("", "", "not ")), draw.choice(("", "", "is ", "should be "))

        def ask(answer: Answer) -> Outcome:
            found = reference.of_run(answer, of)
            outcome = UNVERIFIED if found is NOTHING else reference.number_test(found, test.ask, answer)
            return negated(outcome) if denial else outcome

        return f"{denial}{name} {noise}{test.words}", ask

    return drawn


RUN = ("ms", "dollars", "calls", "errors", "total_tokens", "input_tokens", "output_tokens")
"""The measures of a run; its `tokens` need a vocabulary that is not the reference's."""

OF_RUN = {
    f"{of} {predicate}": of_run(of, predicate)
    for of in RUN
    for predicate in OF_NUMBERS
    if predicate != "one_of" or of not in ("ms", "dollars")  # whose values have units
}
"""Return what draws each predicate of each measure of a run."""


def how_often(draw: Random) -> Line:
    """`tool book called ...`."""
    tool = draw.choice(TOOLS)
    words, times = draw.choice(
        (
            ("called", Range(min=1)),
            ("not called", Range(0, 0)),
            ("called once", Range(1, 1)),
            ("called twice", Range(2, 2)),
            ("called 2 times", Range(2, 2)),
            ("called at least 2 times", Range(min=2)),
            ("called > 1 times", Range(above=1)),
            ("is called", Range(min=1)),
        )
    )
    return (
        f"tool {tool} {words}",
        lambda answer: reference.reported(times.allows(reference.of_run(answer, "calls", tool))),
    )


# --- names -----------------------------------------------------------------------------------------------------------


def names_of(draw: Random) -> list[str]:
    return [draw.choice(TOOLS) for _ in range(draw.randrange(1, 4))]


def _bracketed(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"


def _names(predicate: str, words: str) -> Callable[[Random], Line]:
    def drawn(draw: Random) -> Line:
        names = names_of(draw)
        listed = draw.choice((_bracketed(names), ", ".join(names))) if "called" in words else _bracketed(names)
        return f"tools {words} {listed}", lambda answer: reference.of_names(answer, predicate, names)

    return drawn


def acceptable(draw: Random) -> Line:
    sets = [names_of(draw) for _ in range(draw.randrange(1, 3))]
    none = draw.choice((True, False))
    line = f"tools one of [{', '.join([*map(_bracketed, sets), *(['none'] if none else [])])}]"
    return line, lambda answer: reference.of_names(answer, "acceptable", [*sets, *([[]] if none else [])])


def before(draw: Random) -> Line:
    first, then = draw.sample(TOOLS, 2)
    line = draw.choice((f"tool {first} called before {then}", f"tool {then} called after {first}"))
    return line, lambda answer: reference.of_names(answer, "before", first, then)


def no_errors(_: Random) -> Line:
    return "no tool errors", reference.no_errors


OF_NAMES = {
    "called": _names("called", "called"),
    "acceptable": acceptable,
    "not_called": _names("not_called", "not called"),
    "include": _names("include", "include"),
    "in_order": _names("in_order", "in order"),
    "only": _names("only", "only"),
    "before": before,
    "no_errors": no_errors,
}
"""Return what draws each predicate of the names of the calls."""


# --- subjects of values ----------------------------------------------------------------------------------------------


def worded(draw: Random, clause: Clause) -> tuple[str, Ask]:
    """A clause as it may stand behind a subject: with words that mean nothing, and with `not`."""
    if clause.after_is:
        words, denied = draw.choice(
            (("is {}", False), ("is not {}", True), ("should be {}", False), ("not is {}", True))
        )
    else:
        forms = [("{}", False), ("{}", False), ("not {}", True), ("should {}", False), ("does not {}", True)]
        words, denied = draw.choice(forms[:2] if clause.words.startswith("!=") else forms)
    clause.is_contracts &= not denied
    return words.format(clause.words), (lambda thing: negated(clause.ask(thing))) if denied else clause.ask


def response(draw: Random, clause: Clause) -> Line:
    words, ask = worded(draw, clause)
    prefix = draw.choice(("", "response ", "the response ", "the answer ", "output "))
    if words.startswith(("==", "=", ">", "<", "!")) or words[0].isdigit() or words[0] == "-":
        prefix = prefix or "response "
    return prefix + words, lambda answer: ask(reference.response_of(answer))


PATHS = ("a", "b.a", "city", "items[0]", "items[1].a", "items[0].b", "items", "total", "items.0.b", "city.total")


def place(draw: Random, clause: Clause) -> Line:
    words, ask = worded(draw, clause)
    path = draw.choice(PATHS)
    plain = path.replace(".0", "[0]")
    line = f"{draw.choice((f'at {path}', f'at $.{path}', f'$.{path}'))} {words}"

    def asks(answer: Answer) -> Outcome:
        whole = reference.json_in(answer.response)
        if whole is NOTHING:  # prose has no places, be they there or not
            return CANNOT
        (found,) = reference.places(whole, plain)
        return ask(reference.value_of(answer, found))

    return line, asks


FILES = ("report.md", "out/data.json")


def file(draw: Random, clause: Clause) -> Line:
    words, ask = worded(draw, clause)
    name, path = draw.choice(FILES), draw.choice(("", *PATHS))
    subject = f"{draw.choice(('file', 'the file'))} {QUOTE(name)}{f' at {path}' if path else ''}"
    return f"{subject} {words}", lambda answer: reference.file(answer, name, ask, path.replace(".0", "[0]"))


def argument(draw: Random, clause: Clause) -> Line:
    words, ask = worded(draw, clause)
    tool, name = draw.choice(TOOLS), draw.choice(KEYS)

    def asks(answer: Answer) -> Outcome:
        return reference.argument(answer, tool, name, ask, is_contracts=clause.is_contracts)

    return f"tool {tool}.{name} {words}", asks


def items(draw: Random, clause: Clause) -> Line:
    words, ask = worded(draw, clause)
    which = draw.choice(("any", "every", "no"))
    line, path = draw.choice(
        (
            (f"{which} {'items[*]' if 'has ' in words else 'item of items'} {words}", "items[]"),
            (f"{which} items[*].a {words}", "items[].a"),
            (f"{which} $.items[*].b {words}", "items[].b"),
            (f"at items[*].a {words}", "items[].a"),
        )
    )
    if line.startswith("at "):
        which = "every"
    return line, lambda answer: reference.items(answer, path, which, ask)


def parts(draw: Random, clause: Clause, keys: Sequence[str] = KEYS) -> tuple[str, Ask]:
    """One or two parts after `has`, the clause in the first; each is about a value within a thing."""
    words, ask = worded(draw, clause)
    key, other = draw.sample(keys, 2)
    written = f"{key} {words}"
    tests = [(key, ask)]
    if draw.randrange(3) == 0:
        second = exists(draw) if draw.randrange(2) else is_value(draw)
        words, also = worded(draw, second)
        written, tests = f"{written}, {other} {words}", [*tests, (other, also)]

    def together(thing: Thing) -> Outcome:
        if thing.value is NOTHING and not thing.is_prose and len(tests) > 1:
            return ABSENT
        met = []
        for path, test in tests:
            (found,) = reference.places(thing.value, path)
            one = reference.value_of(thing.answer, found)
            met.append(CANNOT if thing.is_prose else reference.asked_of(one, test))
        return met[0] if len(met) == 1 else reference.every_of(met)

    return written, together


def item_parts(draw: Random, clause: Clause) -> Line:
    words, ask = parts(draw, clause, ("a", "b"))
    which = draw.choice(("any", "every", "no"))
    return f"{which} item of items has {words}", lambda answer: reference.items(answer, "items[]", which, ask)


def _which_calls(draw: Random) -> tuple[str, str, str | int]:
    tool = draw.choice(TOOLS)
    which = draw.choice(("any", "every", "no", 1, 2))
    return f"call {which} of {tool}" if isinstance(which, int) else f"{which} call of {tool}", tool, which


def call(draw: Random, clause: Clause) -> Line:
    words, ask = parts(draw, clause)
    subject, tool, which = _which_calls(draw)

    def asks(answer: Answer) -> Outcome:
        return reference.calls(answer, tool, which, lambda call: ask(reference.value_of(answer, call.arguments)))

    return f"{subject} has {words}", asks


def any_call(draw: Random) -> tuple[str, Callable[[ToolCalled], Outcome]]:
    """A line about any call of one tool, and what the reference says of a call of it."""
    words, ask = parts(draw, draw.choice((is_value, equals, exists, between))(draw), ("a", "b"))
    return f"any call of book has {words}", lambda call: ask(reference.value_of(Answer(""), call.arguments))


def result(draw: Random, clause: Clause) -> Line:
    words, ask = worded(draw, clause)
    subject, tool, which = _which_calls(draw)

    def asks(answer: Answer) -> Outcome:
        return reference.calls(
            answer, tool, which, lambda call: reference.asked_of(reference.value_of(answer, call.result), ask)
        )

    return f"{subject} returns {words}", asks


def result_parts(draw: Random, clause: Clause) -> Line:
    words, ask = parts(draw, clause)
    subject, tool, which = _which_calls(draw)

    def asks(answer: Answer) -> Outcome:
        return reference.calls(answer, tool, which, lambda call: ask(reference.result_of(answer, call.result)))

    return f"{subject} returns {words}", asks


def failure(draw: Random, clause: Clause) -> Line:
    words, ask = worded(draw, clause)
    subject, tool, which = _which_calls(draw)

    def asks(answer: Answer) -> Outcome:
        return reference.calls(answer, tool, which, lambda call: reference.failure(answer, call, ask))

    return f"{subject} fails with {words}", asks


def turn(draw: Random, clause: Clause) -> Line:
    line, ask = draw.choice((response, place, argument))(draw, clause)
    number = draw.choice((1, 2, 3))
    return f"turn {number} {line}", lambda answer: ask(answer.turns[number - 1]) if number < 3 else CANNOT


OF_VALUE: dict[str, Callable[[Random, Clause], Line]] = {
    "response": response,
    "place": place,
    "file": file,
    "argument": argument,
    "items": items,
    "parts of items": item_parts,
    "arguments of calls": call,
    "results": result,
    "parts of results": result_parts,
    "failures": failure,
    "turn": turn,
}
"""The subjects that are a value or a text."""


HAS_PARTS = ("parts of items", "arguments of calls", "parts of results")
"""The subjects behind whose `has` or `returns` no test begins with `has` or has a comma."""


def fails(draw: Random) -> Line:
    subject, tool, which = _which_calls(draw)
    denial = draw.choice(("", "not "))

    def asks(answer: Answer) -> Outcome:
        outcome = reference.calls(answer, tool, which, lambda call: reference.reported(call.error is not None))
        return negated(outcome) if denial else outcome

    return f"{denial}{subject} fails", asks


# --- compositions ----------------------------------------------------------------------------------------------------


def denied(line: str, expected: Callable[[Answer], Outcome]) -> Line:
    """`not` in front of a whole line."""
    return f"not {line}", lambda answer: negated(expected(answer))


def any_line(draw: Random) -> Line:
    """A line of any subject, in parentheses where something may follow it."""
    kind = draw.randrange(4)
    if kind == 0:
        return draw.choice((*OF_NAMES.values(), how_often, *OF_RUN.values(), fails))(draw)
    clauses = {**OF_VALUES, **OF_MEASURES}
    subject = draw.choice(tuple(OF_VALUE.values()))
    clause = draw.choice(tuple(clauses.values()))(draw)
    while not clause.in_part or clause.is_contracts:  # whose negation is no field of the contract
        clause = draw.choice(tuple(clauses.values()))(draw)
    return subject(draw, clause)


def composed(draw: Random, depth: int = 2) -> Line:
    """Lines joined by `and` and `or`, and denied."""
    if depth == 0:
        line, ask = any_line(draw)
        return f"({line})", ask
    kind = draw.choice(("not", "and", "or"))
    if kind == "not":
        line, ask = composed(draw, depth - 1)
        return f"({draw.choice(('not ', '!'))}{line})", lambda answer: negated(ask(answer))
    several = [composed(draw, depth - 1) for _ in range(draw.choice((2, 3)))]
    joined = f" {draw.choice((kind, {'and': '&&', 'or': '||'}[kind]))} ".join(line for line, _ in several)
    whole = reference.all_of if kind == "and" else reference.some_of
    return f"({joined})", lambda answer: whole([ask(answer) for _, ask in several])
