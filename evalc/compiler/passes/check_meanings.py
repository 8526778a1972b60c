"""Points to lines that say something else than in earlier versions, where the case itself shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final, Literal

from evalc.check.tree import OF_TEXT, Argument, At, Call, Check, Items, Measure, Not, Of, Test, parts_of, steps_of
from evalc.compiler import ir
from evalc.diagnostics.problem import Diagnostics, Finding

Why = Literal["path", "not", "item", "length", "empty", "quoted"]

_NEW_PATH: Final = re.compile(
    r"""\b(?:at\s | (?:has|fields)[\s:](?:[^'"]*,)?)\s*(?:\$[.\[] | [a-zA-Z_\[][\w.$\[\]-]*\.\d+(?![\w$-]))""",
    re.VERBOSE,
)
_TEXT: Final = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'""")
_JSON_TEXT: Final = re.compile(r"-?\d+(?:\.\d+)?|true|false|null|[\[{].*|.*\{\{.*", re.DOTALL)
"""A text that may be meant as a value: a number, a flag, a list, or with a token."""


def check_meanings(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report each line of a file in YAML once."""
    if suite.from_json:
        return
    for case in suite.cases:
        items = _that_may_have_changed(case.checks)
        if not items:
            continue
        lists = {path for item in case.checks for path in _lists(item.check)}
        for item in items:
            source, span = suite.place(item.where)
            why = _why(item.check, source.text[span.start : span.end], lists)
            if why is not None:
                problems.add(source, span, Finding("EV436", why=why))


def _why(check: Check, written: str, lists: Set[str]) -> Why | None:
    outside_texts = written[:1] + _TEXT.sub("", written[1:])  # the whole line may be in quotes
    return "path" if _NEW_PATH.search(outside_texts) else next(_changes(check, lists), None)


def _that_may_have_changed(checks: Sequence[ir.Check]) -> list[ir.Check]:
    """The checks of more than the text of the response or a number of the run."""
    found: list[ir.Check] = []
    for item in checks:
        match item.check:
            case Test(predicate) if predicate != "structure":
                pass
            case Not(Test(predicate)) if predicate not in ("structure", "between"):
                pass
            case Of(Measure(of), Test()) if of != "items":
                pass
            case _:
                found.append(item)
    return found


def _lists(check: Check) -> Iterator[str]:
    """The places of the response that a check says are lists."""
    match check:
        case Of(At(path), Of(Measure("items")) | Test("sorted" | "unique") | Test("is_a", "array")):
            yield path
        case Of(Items(path)):
            yield path.partition("[]")[0]
        case Test("structure", (fields, _)):
            yield from (path for path, type_ in fields if type_ == "array")
        case _:
            for part, _ in parts_of(check):
                yield from _lists(part)


def _changes(check: Check, lists: Set[str], *, argument: bool = False, in_call: bool = False) -> Iterator[Why]:
    match check:
        case Test("equals" | "one_of", operand) if in_call and not argument:
            texts = operand if isinstance(operand, tuple) else (operand,)
            if any(isinstance(text, str) and _JSON_TEXT.fullmatch(text) for text in texts):
                yield "quoted"
        case Of(At(path), inner) if path in lists and not in_call:
            yield from _of_list(inner)
        case Not(inner):
            if _is_unasked(inner, argument):
                yield "not"
            yield from _changes(inner, lists, argument=argument, in_call=in_call)
        case Of(step, inner):
            argument, in_call = argument or isinstance(step, Argument), in_call or isinstance(step, Call)
            yield from _changes(inner, lists, argument=argument, in_call=in_call)
        case _:
            for part, _ in parts_of(check):
                yield from _changes(part, lists, argument=argument, in_call=in_call)


def _of_list(check: Check) -> Iterator[Why]:
    match check:
        case Not(inner):
            yield from _of_list(inner)
        case Test("contains" | "contains_any", operand):
            values = operand if isinstance(operand, tuple) else (operand,)
            if all(isinstance(value, str) for value in values):
                yield "item"
        case Test("non_empty"):
            yield "empty"
        case Of(Measure(unit)) if unit in OF_TEXT:
            yield "length"
        case _:
            pass


def _is_unasked(check: Check, argument: bool) -> bool:
    """Whether the negation of a check passed of an answer that cannot be asked."""
    steps, test = steps_of(check)
    if not isinstance(test, Test) or test.predicate == "exists":
        return False
    nth = any(isinstance(step, Call) and isinstance(step.which, int) for step in steps)
    if argument or nth or any(isinstance(step, At | Argument) for step in steps):
        return not any(isinstance(step, Call) and step.which in ("any", "every", "no") for step in steps)
    return test.predicate == "between" and all(step == Measure("items") for step in steps)
