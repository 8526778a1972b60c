"""Reports checks that cannot fail, or cannot pass, whatever the agent answers, and those that no call need be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Final, NamedTuple

from evalc.check.tree import All, Argument, At, Bounds, Call, Check, Measure, Not, Of, Some, Test, Tools, Turn, within
from evalc.compiler import ir
from evalc.compiler.patterns import examine
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.ecma.tokens import find_tokens
from evalc.model.json import EVERY, steps
from evalc.model.numbers import shown_number


def check_vacuity(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report the checks of each case that decide nothing by themselves, and a threshold that no score is below."""
    for case in suite.cases:
        others: list[Check] = []
        for item in case.checks:
            verdict = _verdict(item.check)
            if type(item.check) not in _OF_THE_RESPONSE:
                others.append(item.check)
            if verdict is not None:
                from evalc.grammar.write_check import describe  # noqa: PLC0415 - for start-up: only for what is found

                code = "EV501" if verdict.passes else "EV502"
                found = Finding(code, check=f"`{describe(item.check)}`", why=verdict.why)
                problems.add(*suite.place(item.where), found, row=suite.row_of(case), at_most=suite.gravest)
        if others and not case.partial and any(map(_is_of_first_call, others)):
            _check_calls(suite, case, problems)
        if case.threshold == 0:
            found = Finding("EV501", check="`threshold: 0`", why=_BELOW_ZERO)
            problems.add(*suite.place(case.place_of("/threshold")), found)


_OF_THE_RESPONSE: Final = (Test, Not)
"""The kinds of checks that most cases have alone: of the response, or the denial of something."""


def _check_calls(suite: ir.Suite, case: ir.Case, problems: Diagnostics) -> None:
    """Report the first check of each call that nothing asks for, or rules out: without a call it is skipped."""
    from evalc.compiler.logic.formula import formula_of, negation, there_is  # noqa: PLC0415 - for start-up
    from evalc.compiler.logic.implies import group_of, implies  # noqa: PLC0415 - as above

    formulas = [formula_of(item.check) for item in case.checks]
    reported: set[Any] = set()
    for item, formula in zip(case.checks, formulas, strict=True):
        is_asked = _is_of_first_call(item.check) and _verdict(item.check) is None
        call = group_of(formula) if is_asked else None
        if call is None or call in reported:
            continue
        reported.add(call)
        asked = there_is(call)
        if not any(implies(other, asked) or implies(other, negation(asked)) for other in formulas):
            found = Finding("EV427", tool=call[-1].tool)
            problems.add(*suite.place(item.where), found, row=suite.row_of(case), at_most="warning")


def _is_of_first_call(check: Check) -> bool:
    """Whether a check asks for something of the first call of a tool; one which rules something out is a guard."""
    match check:
        case Test():
            return False
        case Of(Call(_, which), Of(_, inner)):
            return which == "first" and not isinstance(inner, Not)
        case Of(Turn(), inner):
            return _is_of_first_call(inner)
        case All(checks) | Some(checks):
            return any(map(_is_of_first_call, checks))
        case _:
            return False


class _Verdict(NamedTuple):
    """The verdict that every run gives of a check, and why."""

    passes: bool
    why: str


_OF_TEXTS: Final = ("contains", "contains_any", "starts_with", "ends_with", "matches", "similar")
_BELOW_ZERO: Final = "no score is less than 0"
_EMPTY_GROUP: Final = "there is nothing to choose from, so it is skipped"


def _verdict(check: Check) -> _Verdict | None:
    """The verdict on a check that needs no run; None for a check worth making."""
    test = check.check if type(check) is Not else check
    if type(test) is Test:
        rule = _VERDICTS.get(test.predicate)
        verdict = None if rule is None else rule(test.operand)
        return verdict if verdict is None or test is check else _of_parts(check)
    match check:
        case Of(Turn(), inner):
            return _verdict(inner)
        case Of(Call(_, "first"), Of(Argument(), Test(predicate))) if predicate in _OF_TEXTS:
            return _of_parts(check)  # an argument that was not sent is a text to fields of the contract alone
        case Of(Measure(of), Test("between", Bounds() as bounds)):
            return _of_measure(of, bounds)
        case Of(Measure() | Tools(), Test()) | Of(Call(_, "first"), Of(Argument(), Test())):
            return _of_leaf(check)
        case Of(At(path)) if ("every", EVERY) in steps(path):
            why = f"`{path}` is every item; name one, such as `{path.replace(EVERY, '[0]')}`"
            return _Verdict(False, why)
        case _:
            return _of_parts(check)


def _of_parts(check: Check) -> _Verdict | None:
    """The verdict on a check with parts, by logic; the reason is that of the part which settles it, if one does."""
    from evalc.compiler.logic.formula import formula_of  # noqa: PLC0415 - for start-up
    from evalc.compiler.logic.implies import always, never  # noqa: PLC0415 - as above

    formula = formula_of(check)
    passes = always(formula)
    if not passes and not never(formula):
        return None
    reasons = (verdict.why for verdict in map(_of_leaf, within(check)) if verdict is not None)
    together = "where one part does not hold another does" if passes else "its parts rule each other out"
    return _Verdict(passes, next(reasons, together))


def _of_leaf(check: Check) -> _Verdict | None:
    match check:
        case Of(Measure(of), Test("between", Bounds() as bounds)):
            return _of_measure(of, bounds)
        case Of(_, Test() as test) | Of(_, Of(_, Test() as test)) | (Test() as test):
            return _verdict(test)
        case _:
            return None


def _of_text(text: Any) -> _Verdict | None:
    return _Verdict(True, "every text contains the empty text") if text == "" else None


def _of_group(values: tuple[Any, ...]) -> _Verdict | None:
    return next(filter(None, map(_of_text, values)), None) if values else _Verdict(True, _EMPTY_GROUP)


def _of_pattern(operand: tuple[Any, str]) -> _Verdict | None:
    pattern, flags = operand
    nature = None if not isinstance(pattern, str) or find_tokens(pattern) else examine(pattern, flags).always
    if nature is None:
        return None
    matches = nature == "matches"
    return _Verdict(matches, f"the pattern matches {'every' if matches else 'no'} text")


def _of_score(least: Any, most: float, too_much: str) -> _Verdict | None:
    """A score is from 0 to the most there is."""
    if least is None or 0 < least <= most:
        return None
    return _Verdict(False, too_much) if least > most else _Verdict(True, _BELOW_ZERO)


def _of_judge(operand: tuple[Any, ...]) -> _Verdict | None:
    _, scale, _, least = operand
    return None if least is None else _of_score(least, scale, f"{least:g} is more than {scale:g}")


def _limits(bounds: Bounds) -> tuple[float, float]:
    """The least and the most that bounds allow, as far as they are numbers already."""
    least, most = -inf, inf
    for lower in (bounds.min, bounds.above):
        if type(lower) in _NUMBERS:
            least = max(least, lower)
    for upper in (bounds.max, bounds.below):
        if type(upper) in _NUMBERS:
            most = min(most, upper)
    return least, most


_NUMBERS: Final = (int, float)


def _of_bounds(bounds: Bounds) -> _Verdict | None:
    """Whether the bounds leave nothing; any value may be no number, so none passes by itself."""
    least, most = _limits(bounds)
    return _Verdict(False, f"{shown_number(least)} is more than {shown_number(most)}") if least > most else None


def _of_measure(of: str, bounds: Bounds) -> _Verdict | None:
    """Nothing that is measured is less than 0; the number of items is asked of a list alone."""
    least, most = _limits(bounds)
    if least > most:
        return _of_bounds(bounds)
    if of == "ms" and bounds.max == 0:
        return _Verdict(False, "every answer takes some time")
    if most < 0:
        return _Verdict(False, "nothing is less than 0")
    if of == "items" or bounds.above is not None or bounds.max is not None or bounds.below is not None:
        return None
    return _Verdict(True, "there are never fewer than 0") if bounds.min is None or -inf < least <= 0 else None


def _unless(asked: Callable[[Any], Any], passes: bool, why: str) -> Callable[[Any], _Verdict | None]:
    """The rule of a predicate that says nothing unless its operand asks for something."""
    return lambda operand: None if asked(operand) else _Verdict(passes, why)


_VERDICTS: Final[Mapping[str, Callable[[Any], _Verdict | None]]] = {
    **dict.fromkeys(("contains", "starts_with", "ends_with"), _of_text),
    **dict.fromkeys(("include", "in_order"), _unless(bool, True, "it names no tool")),
    "not_called": _unless(lambda names: any(map(str.strip, names)), True, "it names no tool"),
    "acceptable": _unless(bool, False, "no set of tools is acceptable"),
    "contains_any": _of_group,
    "one_of": _unless(bool, False, "there is nothing to choose from"),
    "matches": _of_pattern,
    "between": _of_bounds,
    "json": _unless(lambda operand: operand[1] is not False, False, "nothing fits the schema `false`"),
    "structure": _unless(any, True, "it requires no field and no heading"),
    "similar": lambda operand: _of_score(operand[1], 1, "no similarity is more than 1, and 80 percent is 0.8"),
    "judge": _of_judge,
}
"""The rule for each predicate whose verdict may be known before a run."""
