"""Reports checks that cannot fail, or cannot pass, whatever the agent answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from evalc.compiler import ir
from evalc.compiler.logic.implies import always, never
from evalc.compiler.logic.read_check import formula_of
from evalc.compiler.patterns import examine
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.model import checks as c
from evalc.model.checks.declaration import text_fields
from evalc.model.json import EVERY, steps
from evalc.model.numbers import shown_number


def check_vacuity(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report the checks of each case that decide nothing by themselves, and a threshold that no score is below."""
    for case in suite.cases:
        for item in case.checks:
            verdict = _verdict(item.check)
            if verdict is not None:
                from evalc.compiler.spelling import describe  # noqa: PLC0415 - for start-up: only for what is found

                code = "EV501" if verdict.passes else "EV502"
                found = Finding(code, check=f"`{describe(item.check)}`", why=verdict.why)
                problems.add(*suite.place(item.where), found, row=suite.row_of(case), at_most=suite.gravest)
        if case.threshold == 0:
            found = Finding("EV501", check="`threshold: 0`", why=_NEVER_BELOW)
            problems.add(*suite.place(case.place_of("/threshold")), found)


class _Verdict(NamedTuple):
    """The verdict that every run gives of a check, and why."""

    passes: bool
    why: str


_ALWAYS_ONE: Final = "where one part does not hold another does"
_NEVER_ALL: Final = "its parts rule each other out"
_EMPTY_TEXT: Final = "every text contains the empty text"
_NO_CHOICE: Final = "there is nothing to choose from, so it is skipped"
_BELOW_ZERO: Final = "nothing is less than 0"
_NEVER_BELOW: Final = "no score is less than 0"
_ABOVE_ONE: Final = "no similarity is more than 1, and 80 percent is 0.8"


def _verdict(check: c.Check) -> _Verdict | None:
    """The verdict on a check that needs no run; None for a check worth making."""
    if check.empty and _holds_empty_text(check):
        return _Verdict(check.empty == "passes", _EMPTY_TEXT)
    rule = _VERDICTS.get(type(check))
    return None if rule is None else rule(check)


def _holds_empty_text(check: c.Check) -> bool:
    for field in text_fields(type(check)):
        value = getattr(check, field.name)
        if not value and isinstance(value, str):
            return True
        if isinstance(value, tuple) and not all(value):
            return True
    return False


def _of_limit(check: c.Latency | c.Tokens | c.Cost) -> _Verdict | None:
    if check.max == 0 and isinstance(check, c.Latency):
        return _Verdict(False, "every answer takes some time")
    return _Verdict(False, _BELOW_ZERO) if check.max < 0 else None


def _of_similarity(check: c.Similar) -> _Verdict | None:
    if 0 < check.threshold <= 1:
        return None
    return _Verdict(False, _ABOVE_ONE) if check.threshold > 1 else _Verdict(True, _NEVER_BELOW)


def _of_judge(check: c.Judge) -> _Verdict | None:
    least, scale = check.min_score, check.max_score
    if least is None or 0 < least <= scale:
        return None
    return _Verdict(False, f"{least:g} is more than {scale:g}") if least > scale else _Verdict(True, _NEVER_BELOW)


def _of_json(check: c.Json) -> _Verdict | None:
    if check.schema is False:
        return _Verdict(False, "nothing fits the schema `false`")
    return _of_parts(check) if check.schema else None


def _of_structure(check: c.Structure) -> _Verdict | None:
    return _of_parts(check) if check.fields or check.headings else _Verdict(True, "it requires no field and no heading")


def _of_place(check: c.At) -> _Verdict | None:
    if ("every", EVERY) in steps(check.path):
        return _Verdict(False, f"`{check.path}` is every item; name one, such as `{check.path.replace(EVERY, '[0]')}`")
    return _of_parts(check)


def _of_tools(check: c.ToolsNotCalled | c.ToolsInclude | c.ToolsInOrder) -> _Verdict | None:
    return None if check.names else _Verdict(True, "it names no tool")


def _of_param(check: c.ToolParam) -> _Verdict | None:
    match check:
        case c.ToolParam(assertion="contains", value=""):
            return _Verdict(True, _EMPTY_TEXT)
        case c.ToolParam(assertion="oneOf", value=()):
            return _Verdict(False, _NO_CHOICE)
        case c.ToolParam(assertion="matches", value=str() as pattern) if "{{" not in pattern:
            return _of_pattern(pattern, "")
        case _:
            return None


def _of_pattern(pattern: str, flags: str) -> _Verdict | None:
    match examine(pattern, flags).always:
        case "matches":
            return _Verdict(True, "the pattern matches every text")
        case "fails":
            return _Verdict(False, "the pattern matches no text")
        case None:
            return None


def _of_numbers(check: c.Number | c.Count) -> _Verdict | None:
    """Whether the bounds leave nothing; any value may be no number, or no array, so none passes by itself."""
    least, most = check.min, check.max
    if least is not None and most is not None and least > most:
        return _Verdict(False, f"{shown_number(least)} is more than {shown_number(most)}")
    return _Verdict(False, _BELOW_ZERO) if isinstance(check, c.Count) and most is not None and most < 0 else None


def _of_bounds(check: c.Length | c.ToolCount) -> _Verdict | None:
    if check.min is not None and check.max is not None and check.min > check.max:
        return _Verdict(False, f"{check.min} is more than {check.max}")
    if check.max is not None:
        return _Verdict(False, _BELOW_ZERO) if check.max < 0 else None
    return None if check.min and check.min > 0 else _Verdict(True, "there are never fewer than 0")


def _of_parts(check: c.Check) -> _Verdict | None:
    """The verdict on a check with parts, by logic; the reason is that of the part which settles it, if one does."""
    formula = formula_of(check)
    passes = always(formula)
    if not passes and not never(formula):
        return None
    reasons = (verdict.why for verdict in map(_verdict, _leaves(check)) if verdict is not None)
    return _Verdict(passes, next(reasons, _ALWAYS_ONE if passes else _NEVER_ALL))


def _leaves(check: c.Check) -> Iterator[c.Check]:
    match check:
        case c.AnyOf() | c.AllOf():
            for operand in check.checks:
                yield from _leaves(operand)
        case c.Not() | c.At() | c.InTurn():
            yield from _leaves(check.check)
        case c.Json() | c.Structure():
            pass
        case _:
            yield check


_VERDICTS: Final[dict[type, Callable[[Any], _Verdict | None]]] = {
    c.ContainsAny: lambda check: None if check.values else _Verdict(True, _NO_CHOICE),
    c.Regex: lambda check: _of_pattern(check.pattern, check.flags),
    c.Length: _of_bounds,
    c.ToolCount: _of_bounds,
    c.Number: _of_numbers,
    c.Count: _of_numbers,
    c.Json: _of_json,
    c.Structure: _of_structure,
    c.Similar: _of_similarity,
    c.ToolsNotCalled: _of_tools,
    c.ToolsInclude: _of_tools,
    c.ToolsInOrder: _of_tools,
    c.ToolsAcceptable: lambda check: None if check.sets else _Verdict(False, "no set of tools is acceptable"),
    c.ToolParam: _of_param,
    c.Latency: _of_limit,
    c.Tokens: _of_limit,
    c.Cost: _of_limit,
    c.Judge: _of_judge,
    c.At: _of_place,
    c.InTurn: lambda check: _verdict(check.check),
    c.AnyOf: _of_parts,
    c.AllOf: _of_parts,
    c.Not: _of_parts,
}
"""The rule for each kind of check whose verdict may be known before a run."""
