"""Verbs of other tools: matchers of test libraries, types of assertions, operators in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from evalc.check.languages import language_named
from evalc.check.translate import lines as ln
from evalc.check.translate import names
from evalc.check.translate.lines import Condition, NoLine, Part, Place, Test, fact, joined, negated
from evalc.check.translate.meaning import Denoted, Meaning
from evalc.check.translate.python import regex

_NEGATIONS: Final = frozenset({"not", "never", "no", "without", "cannot"})
_WITH_NO: Final = re.compile(r"\bno (longer|more|less|fewer|later|greater) than$")
_FOLDING: Final = frozenset({"contain", "containany", "containall", "containnone", "equal", "start", "end"})


def words_of(verb: str) -> tuple[str, bool]:
    """The words of a verb that mean something, run together, and whether they are negated."""
    if verb.strip() in names.OPERATORS:
        return verb.strip(), False
    if re.search(r"[^\w\s:'-]|[^\x00-\x7f]", verb):
        raise NoLine
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", verb.replace("n't", " not"))
    words = re.findall(r"[a-z0-9]+", _WITH_NO.sub(r"no\1than", apart.lower().strip()))
    negative = [word for word in words if word in _NEGATIONS]
    meant = [word for word in words if word not in names.NOISE]
    if len(negative) == 1:  # two negations are left for nobody to know
        meant.remove(negative[0])
    return "".join(meant), len(negative) == 1


def operator_of(words: str) -> str:
    """The operator that words mean."""
    meant, negative = words_of(words)
    op = names.OPERATORS.get(meant)
    if op is None:
        raise NoLine
    return ln.OPPOSITE[op] if negative else op


def with_arguments(tool: str, arguments: Any) -> Condition:
    """Ask that some call of a tool has these arguments."""
    if not isinstance(arguments, dict) or not arguments:
        raise NoLine
    tests = [Test(Place("call").member(name), ln.equal(value)) for name, value in arguments.items()]
    return ln.calls("any", tool, joined("and", tests))


class Verbs:
    """Asks one thing of a subject; `notes` gathers the rows that say what differs beyond the bounds."""

    def __init__(self, notes: set[str]) -> None:
        self.notes = notes
        self.meaning = Meaning(notes, self)

    def asked(self, subject: Denoted, verb: str, values: list[Any], *, folded: bool = False) -> Condition:
        """Read a verb about a subject, with the values that follow it."""
        meant, negative = words_of(verb)
        if not meant and not re.search(r"\b(?:is|are|be|value)\b|[Bb]e$|^\W*(?:not)?\W*$", verb):
            raise NoLine  # `has "x"`
        condition = self._asked(subject, meant or "equal" * bool(values), values, folded=folded)
        return negated(condition) if negative else condition

    def _asked(self, subject: Denoted, meant: str, values: list[Any], *, folded: bool) -> Condition:
        if meant in names.OPERATORS and len(values) == 1 and not folded:
            return self.compared(names.OPERATORS[meant], subject, values[0])
        name = names.VERBS.get(meant, "")
        if not name and meant.startswith("i") and names.VERBS.get(meant[1:]) in _FOLDING and not folded:  # `icontains`
            name, folded = names.VERBS[meant[1:]], True
        if name not in _VERBS and name not in _WORDS:
            return self._described(subject, meant, values, folded=folded)
        if name in _VERBS and not (folded and name not in _FOLDING | {"match", "oneof"}):
            return _VERBS[name](self, subject, values, folded)
        if name not in _WORDS or values or folded or (subject != Place() and name in _OF_RESPONSE):
            raise NoLine
        if name in ("exist", "missing") and subject == Place():
            raise NoLine
        if name == "empty" and subject in (Part("calls"), Part("names")):
            return fact("tools called []", "tool count >= 1")
        return Test(_place(subject), _WORDS[name])

    def compared(self, op: str, subject: Denoted, value: Any) -> Condition:
        """An operator and what it compares with."""
        if not isinstance(value, Part) or value.kind != "quantity":
            return self.meaning.compared(op, subject, value)
        if isinstance(subject, Part) and subject.kind == "run" and (value.value == "$") == (subject.value == "$"):
            return self.meaning.run(op, subject.of, value.value, value.of)
        raise NoLine

    def called(self, subject: Denoted, verb: str, values: list[Any]) -> Condition:
        """How often a tool is called, or with what."""
        if not isinstance(subject, Part) or subject.kind != "unknown":
            raise NoLine
        meant, negative = words_of(verb)
        match meant, values:
            case "called", []:
                condition = self.meaning.times(subject.of, ">=", 1)
            case "calledonce", []:
                condition = self.meaning.times(subject.of, "==", 1)
            case "calledtimes" | "callcount", [int() as number] if not isinstance(number, bool):
                condition = self.meaning.times(subject.of, "==", number)
            case "calledwith", [arguments]:
                condition = with_arguments(subject.of, arguments)
            case _:
                raise NoLine
        return negated(condition) if negative else condition

    def limits(self, subject: Denoted, limits: Mapping[str, Any]) -> Condition:
        """`{min: 1, max: 3}` and the like."""
        return joined("and", [self.compared(operator_of(str(op)), subject, value) for op, value in limits.items()])

    def _described(self, subject: Denoted, meant: str, values: list[Any], *, folded: bool) -> Condition:
        """A type, a format or a language."""
        shorter = re.sub(r"^(?:type|instance|(?:written|answers?|responds?|reply|replies|speaks?)?in|valid)", "", meant)
        bare = meant if meant in names.TYPES else shorter
        if values or folded or not isinstance(subject, Place):
            raise NoLine
        if bare in names.TYPES and subject.root != "response":
            return self.meaning.typed(subject, bare)
        if bare in names.FORMATS:
            word = names.FORMATS[bare]
            return Test(subject, ln.described(f"{'an' if word == 'email' else 'a'} {word}"))
        if len(bare) > 3 and bare != meant:
            return _language(self, subject, [bare], folded)
        raise NoLine


def _place(subject: Denoted) -> Place:
    if not isinstance(subject, Place):
        raise NoLine
    return subject


def _several(values: list[Any]) -> list[Any]:
    """Several values, in one list or after one another."""
    listed = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if len(listed) == 1 and isinstance(listed[0], str) and "," in listed[0]:
        raise NoLine  # promptfoo splits it
    if not all(isinstance(each, str | int | float | bool | None) for each in listed):
        raise NoLine
    return listed


def _one(values: list[Any]) -> Any:
    if len(values) != 1 or (isinstance(values[0], Part) and values[0].kind != "regex"):
        raise NoLine
    return values[0]


def _contain(verbs: Verbs, subject: Denoted, values: list[Any], folded: bool) -> Condition:
    value = _one(values)
    if subject == Part("names"):
        return verbs.meaning.times(value, ">=", 1)
    if isinstance(value, list | dict):
        raise NoLine  # any or all of them?
    place = _place(subject)
    if place.root == "response":
        value = value if isinstance(value, str) else ln.number_of(value)
    else:
        verbs.notes.add("item")
    if "*" in place.path and not folded:
        before, after = ln.cut(place)
        return ln.items("any", before, Test(after, ln.equal(value)))
    return Test(place, ln.contains(value, folded=folded))


def _contain_of(which: str) -> Verb:
    return lambda _verbs, subject, values, folded: Test(
        _place(subject), ln.contains_of(which, _several(values), folded=folded)
    )


def _equal(verbs: Verbs, subject: Denoted, values: list[Any], folded: bool) -> Condition:
    value = _one(values)
    if folded:
        return Test(_place(subject), ln.asked(f"equals {ln.literal(value)} ignoring case"))
    return Test(Place(), ln.equal(value)) if subject == Place() else verbs.compared("==", subject, value)


def _edge(verb: str) -> Verb:
    def edge(verbs: Verbs, subject: Denoted, values: list[Any], folded: bool) -> Condition:
        text = _one(values)
        place = _place(subject)._replace(folded="lower" if folded else "")
        return verbs.meaning.edge(place, verb, text.lower() if folded and isinstance(text, str) else text)

    return edge


def _match(verbs: Verbs, subject: Denoted, values: list[Any], folded: bool) -> Condition:
    pattern = _one(values)
    pattern = regex(pattern) if isinstance(pattern, str) else pattern
    if not isinstance(pattern, Part):
        raise NoLine
    flags = "".join(sorted({*pattern.value, *("i" * folded)}))
    return verbs.meaning.matches(subject, pattern._replace(value=flags))


def _schema(_verbs: Verbs, subject: Denoted, values: list[Any], _folded: bool) -> Condition:
    schema = _one(values) if values else None
    is_file = isinstance(schema, str) and re.fullmatch(r"[\w./-]+\.json", schema)
    if subject != Place() or not (schema is None or isinstance(schema, dict) or is_file):
        raise NoLine
    return Test(Place(), ln.asked("json" if schema is None else f"json matching {ln.literal(schema)}"))


def _one_of(_verbs: Verbs, subject: Denoted, values: list[Any], folded: bool) -> Condition:
    return Test(_place(subject), ln.asked(ln.one_of(_several(values)).text + " ignoring case" * folded))


def _between(verbs: Verbs, subject: Denoted, values: list[Any], _folded: bool) -> Condition:
    low, high = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if isinstance(subject, Place) and subject.root == "json":
        return Test(subject, ln.between(low, high))
    return joined("and", [verbs.compared(">=", subject, low), verbs.compared("<=", subject, high)])


def _length(verbs: Verbs, subject: Denoted, values: list[Any], _folded: bool) -> Condition:
    size, number = Part("size", subject), _one(values)
    return verbs.limits(size, number) if isinstance(number, dict) else verbs.compared("==", size, number)


def _property(_verbs: Verbs, subject: Denoted, values: list[Any], _folded: bool) -> Condition:
    name, *value = values
    if not isinstance(name, str) or len(value) > 1:
        raise NoLine
    return Test(_place(subject).member(name), ln.equal(value[0]) if value else ln.EXISTS)


def _judge(verbs: Verbs, subject: Denoted, values: list[Any], _folded: bool) -> Condition:
    question, *threshold = values
    if not isinstance(question, str) or len(threshold) > 1 or subject != Place():
        raise NoLine
    if not threshold:
        return fact(f"judge {ln.literal(question)}", "")
    verbs.notes.add("judge")
    tenths = round(threshold[0] * 10, 9) if isinstance(threshold[0], int | float) else -1
    if not 0 < tenths <= 10 or tenths % 1:
        raise NoLine
    return fact(f"judge {ln.literal(question)} >= {int(tenths)}/10", "")


def _language(_verbs: Verbs, subject: Denoted, values: list[Any], _folded: bool) -> Condition:
    language = language_named(str(_one(values)))
    if language is None or subject != Place():
        raise NoLine
    return Test(Place(), ln.described(f"in {language}"))


Verb = Callable[[Verbs, Denoted, list[Any], bool], Condition]
_VERBS: Final[Mapping[str, Verb]] = {
    "contain": _contain,
    "containany": _contain_of("any"),
    "containall": _contain_of("all"),
    "containnone": _contain_of("none"),
    "equal": _equal,
    "start": _edge("starts with"),
    "end": _edge("ends with"),
    "match": _match,
    "json": _schema,
    "schema": lambda verbs, subject, values, folded: _schema(verbs, subject, [_one(values)], folded),
    "oneof": _one_of,
    "between": _between,
    "length": _length,
    "close": lambda _verbs, subject, values, _folded: Test(_place(subject), ln.within(values[1], values[0])),
    "property": _property,
    "judge": _judge,
    "language": _language,
    "true": lambda verbs, subject, values, _folded: verbs.compared("==", subject, _one([*values, True])),
    "false": lambda verbs, subject, values, _folded: verbs.compared("==", subject, _one([*values, False])),
}
_WORDS: Final[Mapping[str, ln.Predicate]] = {
    "jsonobject": ln.asked("json object"),
    "jsonarray": ln.asked("json array"),
    "null": ln.described("null"),
    "missing": ln.MISSING,
    "exist": ln.EXISTS,
    "empty": ln.Predicate("is empty", "non-empty"),
    "nonempty": ln.Predicate("non-empty", "is empty"),
    "sorted": ln.described("sorted"),
    "sorteddescending": ln.described("sorted descending"),
    "unique": ln.described("unique"),
    "table": ln.asked("has a table"),
    "list": ln.asked("has a list"),
    "codeblock": ln.asked("has a code block"),
    "digit": ln.asked(r"matches /\d/"),
    "mail": ln.asked(r"matches /[^\s@]+@[^\s@]+\.[^\s@]+/"),
    "web": ln.asked(r"matches /https?:\/\/[^\s\/]/"),
}
"""Predicates without a value."""
_OF_RESPONSE: Final = frozenset({"jsonobject", "jsonarray", "table", "list", "codeblock", "digit", "mail", "web"})
