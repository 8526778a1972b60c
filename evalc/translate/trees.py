"""Builds the checks that others' expressions mean: places, what is asked of them, and how negation goes into that."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple, final

from msgspec.structs import replace

from evalc.check import tree as t  # fmt: skip
from evalc.check.forms import together
from evalc.ecma.regexp.nodes import PatternError
from evalc.ecma.regexp.parser import parse
from evalc.grammar.read_check import read_check
from evalc.grammar.write_check import AS_TEMPLATES, NoLine, line_of
from evalc.translate import names

Root = Literal["response", "json", "item", "call"]
_OF_FUNCTIONS: Final = ("item", "call")
"""The roots inside a function: until it is known what that is of, a check is of an argument by this name."""


def none() -> Any:
    """No value, and no line: raises `NoLine`."""
    raise NoLine


def refuse_if(is_unclear: object) -> None:
    """Raise `NoLine` where no line surely says the same."""
    if is_unclear:
        raise NoLine


@final
class Place(NamedTuple):
    """A text or a JSON value that is asked: the response, its JSON, an item of a list or a call, and a path."""

    root: Root = "response"
    path: str = ""
    folded: Literal["", "any", "lower", "upper"] = ""  # whether case is ignored, or which one all letters were put into
    trimmed: bool = False  # without white space at both ends

    def member(self, key: Any) -> Place:
        """The place one step further down; a step into the response is one into its JSON."""
        step = f"[{key}]" if isinstance(key, int) else "[]" if key == "*" else f".{key}"
        refuse_if(self.folded or self.trimmed or not re.fullmatch(_STEP, step))
        return Place("json" if self.root == "response" else self.root, (self.path + step).removeprefix("."))

    def plain(self) -> Place:
        """The place, whatever its case and the white space around it."""
        return Place(self.root, self.path)

    def unfolded(self) -> tuple[Place, str]:
        """The place, and what its line says if case is ignored."""
        return (self._replace(folded=""), " ignoring case") if self.folded == "any" else (self, "")

    def cut(self) -> tuple[Place, Place]:
        """The list before the first `[]` of the path, and what is asked of each item."""
        before, _, after = self.path.partition("[]")
        return Place("json", before), Place("item", after.removeprefix("."))

    def asks(self, check: t.Check) -> t.Check:
        """The check of what is here."""
        refuse_if(self.folded or self.trimmed)
        if "[]" in self.path:
            before, after = self.cut()
            return items("every", before, after.asks(check))
        check = t.Of(t.At(self.path), check) if self.path else check
        return t.Of(t.Argument(self.root), check) if self.root in _OF_FUNCTIONS else check


_STEP: Final = r"(?a:\.[A-Za-z_][\w$-]*|\[[0-9]{0,9}\])"


def ignoring_case(of: Place | Part | t.Check) -> Place:
    """A place whose case is ignored."""
    return of._replace(folded="any") if isinstance(of, Place) and not of.folded else none()


def at(path: str) -> Place:
    """A place in the response's JSON by its path, as `at`, JSONPath or jq write it."""
    path = re.sub(r"""\[["']([\w$-]+)["']\]""", r".\1", path).replace("[*]", "[]").replace(".*", "[]")
    path = re.sub(r"\.(\d+)(?![\w$-])", r"[\1]", path)
    path = path.removeprefix("$") if path[:1] in ("$", ".", "[") else f".{path}"
    refuse_if(re.match(r"\.(?:tool_?[cC]alls|usage)\b", path))  # they are the answer's, whose text has the JSON
    return Place("json", path.removeprefix(".")) if re.fullmatch(f"{_STEP}+", path) else none()


@final
class Part(NamedTuple):
    """Anything else that an expression denotes: a literal, a size, a measure of the run, the calls."""

    kind: str
    of: Any = None
    value: Any = None
    foreign: bool = False  # of a regular expression, whether another language's classes may differ


def is_list(path: str) -> bool:
    """Whether a place is a list by its name."""
    name = path.rpartition(".")[2]
    return bool(re.search(r"[^su]s$|List$|_list$|^(?:data|list|children|people)$", name))


# --- negation, `and`, `or` -------------------------------------------------------------------------------------------

_OTHER_WHICH: Final[dict[Any, Any]] = {"any": "no", "no": "any"}
_BOUNDS: Final = {"<": "below", "<=": "max", ">": "above", ">=": "min"}
OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_OTHER_BOUND: Final = {bound: _BOUNDS[OPPOSITE[op]] for op, bound in _BOUNDS.items()}
MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NO_ERRORS: Final = t.Of(t.Tools(), t.Test("no_errors"))
NO_CALLS: Final = t.Of(t.Tools(), t.Test("called", ()))


def negated(check: t.Check) -> t.Check:
    """The opposite of a check, of which each test that cannot be asked fails, too."""
    match check:
        case t.Not(inner):
            return inner
        case t.Some(checks) if _is_either(check):
            return t.Some(tuple(map(negated, checks)))
        case t.All(checks) | t.Some(checks):
            return joined("or" if isinstance(check, t.All) else "and", map(negated, checks))
        case t.Of(t.Items() | t.Call() as step, inner) if step.which in _OTHER_WHICH:
            return t.Of(replace(step, which=_OTHER_WHICH[step.which]), inner)
        case t.Of(t.Tools(), t.Test("include" | "not_called" as word, (tool,))):
            return t.Of(t.Tools(), t.Test("not_called" if word == "include" else "include", (tool,)))
        case t.Of(t.Tools()) if check in (NO_ERRORS, NO_CALLS):
            return measured("errors" if check == NO_ERRORS else "calls", ">=", 1)
        case t.Of(t.Measure() as step, t.Test("between", bounds)):
            return t.Of(step, t.Test("between", _opposite(bounds))) if _opposite(bounds) else t.Not(check)
        case t.Of(t.At(path), t.Test("contains", value, False)) if is_list(
            path
        ):  # `not contains` fails for part of an item
            return t.Of(t.Items(f"{path}[]", "no"), equal(value))
        case t.Of(t.At() | t.Argument() as step, inner):
            return t.Of(step, t.Test("empty") if inner == t.Test("non_empty") else negated(inner))
        case t.Test("between", t.Bounds(least, most) as bounds):
            other = t.Test("is", least) if least == most is not None else check
            return t.Test("between", _opposite(bounds)) if _opposite(bounds) else t.Not(other)
        case t.Test("empty"):
            return t.Test("non_empty")
        case t.Test("judge"):
            raise NoLine
    return t.Not(check)


def negated_if(is_negative: bool, check: t.Check) -> t.Check:
    """A check or its opposite."""
    return negated(check) if is_negative else check


def denied(of: Any, check: t.Check) -> t.Check:
    """The opposite of a check of a place; of each item where the place is in all items of a list."""
    place = of.of if isinstance(of, Part) else of
    if not isinstance(place, Place) or "[]" not in place.path:
        return negated(check)
    match check:
        case t.Of(t.Items(which="every") as step, inner):
            return t.Of(step, negated(inner))
        case t.Of():
            return negated(check)
    raise NoLine


def _opposite(bounds: t.Bounds) -> t.Bounds | None:
    given = [(name, value) for name in _OTHER_BOUND if (value := getattr(bounds, name)) is not None]
    return t.Bounds(**{_OTHER_BOUND[name]: value for name, value in given}) if len(given) == 1 else None


def either(place: Place, op: str, number: Any) -> t.Check:
    """The length of what is a text or a list: one of them cannot be asked, and fails under a negation, too."""
    return t.Some((place.asks(measured("items", op, number)), place.asks(measured("chars", op, number))))


def _is_either(check: t.Check) -> bool:
    steps = [part.step for part in t.within(check) if isinstance(part, t.Of)]
    return len(steps) == 4 and steps[1::2] == [t.Measure("items"), t.Measure("chars")] and steps[0] == steps[2]


def joined(word: str, parts: Iterable[t.Check]) -> t.Check:
    """Conditions under one `and` or `or`."""
    several = tuple(parts)
    refuse_if(not several)
    if word == "and":
        return t.all_of(several)
    flat = [
        one
        for part in several
        for one in (part.checks if isinstance(part, t.Some) and not _is_either(part) else (part,))
    ]
    return flat[0] if len(flat) == 1 else t.Some(tuple(flat))


# --- quantifiers -----------------------------------------------------------------------------------------------------


def items(which: t.Which, of: Place, condition: t.Check) -> t.Check:
    """A condition of every, any or no item of a list, whose parts one item has to meet together."""
    refuse_if(of.root not in ("json", "response") or of.folded or of.trimmed or "[]" in of.path)
    several = t.conjuncts(condition)
    parts = [each.check for each in several if isinstance(each, t.Of) and each.step == t.Argument("item")]
    refuse_if(len(parts) < len(several))
    return t.Of(t.Items(f"{of.path}[]", which), together(parts))


# --- tests -----------------------------------------------------------------------------------------------------------


def compared(op: str, number: Any) -> t.Check:
    """An order or an equality of numbers."""
    refuse_if(isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number))
    return t.Test("between", t.Bounds(number, number) if op == "==" else t.Bounds(**{_BOUNDS[op]: number}))


def measured(of: t.Measured, op: str, number: Any, tool: str = "") -> t.Check:
    """A comparison of a measure."""
    return t.Of(t.Measure(of, tool), compared(op, number))


def called(predicate: str, tools: Any) -> t.Check:
    """A predicate of the names of the tools called."""
    refuse_if(not isinstance(tools, list | tuple) or not all(isinstance(tool, str) and tool for tool in tools))
    return t.Of(t.Tools(), t.Test(predicate, tuple(tools)))


def equal(value: Any) -> t.Check:
    """Equality with any JSON value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return compared("==", value)
    return t.Test("equals" if isinstance(value, str) else "is", value)


def arguments(given: Any) -> list[t.Check]:
    """Ask that arguments of a call are these."""
    refuse_if(not isinstance(given, dict) or not given)
    asked = [(Place("json").member(name), data(value)) for name, value in given.items()]
    return [at.asks(equal(value) if isinstance(value, str) else t.Test("is", value)) for at, value in asked]


def with_arguments(tool: Any, asked: list[t.Check], which: t.Which | int = "any") -> t.Check:
    """Ask that some call of a tool has these arguments, each call or none, or the call of a number."""
    return t.Of(t.Call(tool if isinstance(tool, str) else none(), which), together(asked))


def data(value: Any) -> Any:
    """The value that another one is compared with, unless it reads as a test: `{"gt": 3}`, `> 3`."""
    tests = isinstance(value, dict) and value and {*map(names.key, value)} <= {*names.OPERATORS, *names.VERBS}
    refuse_if(tests or (isinstance(value, str) and re.match(r"[<>=!]=?\s*[-$\d]", value)))
    return value


def matches(pattern: str, flags: str = "") -> t.Check:
    """A regular expression of JavaScript."""
    try:
        parse(pattern, flags)
    except PatternError:
        raise NoLine from None
    refuse_if(not pattern)
    one_line = pattern.replace("\n", r"\n").replace("\r", r"\r")
    escaped = re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|/", lambda found: found[1] or r"\/", one_line)
    return t.Test("matches", (escaped, flags))


# --- lines -----------------------------------------------------------------------------------------------------------


def read(line: str) -> t.Check:
    """The check that a line of the language is."""
    found = read_check(line).node
    return found.check if found is not None and found.criterion is None else none()


def written(check: t.Check) -> str:
    """The line of a check; it reads as just this check."""
    try:
        line = line_of(check, AS_TEMPLATES, lambda schema: schema) or none()
        line.encode()
    except (UnicodeEncodeError, TypeError, ValueError):
        raise NoLine from None
    refuse_if("{{" in line or "\n" in line or read(line) != check)
    return line
