"""Reports checks whose outcome is certain: those that cannot fail or pass, contradict others, or follow from them.

So it does with answers of stubs that no call gets.

It also points to lines that mean something else than in earlier versions, where the case itself shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from math import inf
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, final

from evalc.check import tree as t
from evalc.check.values import text_of
from evalc.compiler import ir
from evalc.compiler.examine import examine
from evalc.diagnostics import Diagnostics, Finding
from evalc.ecma import find_tokens
from evalc.model.case import StubAnswer
from evalc.model.json import EVERY, includes, pointer_step, steps
from evalc.model.numbers import shown_number


def check_vacuity(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report the checks of each case that decide nothing by themselves, and a threshold that no score is below."""
    for case in suite.cases:
        others: list[t.Check] = []
        for index, item in enumerate(case.checks):
            verdict = _verdict(item.check)
            if verdict is not None and _is_share(item.check) and (case.partial or _is_linked(case, index)):
                continue  # the least score may be lacking; of a criterion, the score counts
            if type(item.check) not in _OF_THE_RESPONSE:
                others.append(item.check)
            if verdict is not None:
                from evalc.grammar.write_check import describe  # noqa: PLC0415 - for start-up: only for what is found

                code = "EV501" if verdict.passes else "EV502"
                found = Finding(code, check=f"`{describe(item.check)}`", why=verdict.why)
                problems.add(*suite.place(item.where), found, row=suite.row_of(case), at_most=suite.gravest)
        if others and not case.partial and any(map(_is_of_first_call, others)):
            _check_calls(suite, case, problems)
        if case.stub_answers:
            _check_stubs(suite, case, case.stub_answers, problems)
        if case.threshold == 0:
            found = Finding("EV501", check="`threshold: 0`", why=_BELOW_ZERO)
            problems.add(*suite.place(case.place_of("/threshold")), found)


def _is_share(check: t.Check) -> bool:
    """Whether a judge scores something of which no least score is asked."""
    match check:
        case t.Test("judge", (_, _, _, least)):
            return least is None
        case _:
            return False


def _is_linked(case: ir.Case, index: int) -> bool:
    return any(link.criterion is not None and index in link.checks for link in case.links)


def _check_stubs(
    suite: ir.Suite, case: ir.Case, stubs: Mapping[str, Sequence[StubAnswer]], problems: Diagnostics
) -> None:
    """Report the answers of stubs that no call gets, since an earlier one answers each call that they are for."""
    for tool, answers in stubs.items():
        for index, answer in enumerate(answers):
            earlier = next((each for each in answers[:index] if includes(answer.when or {}, each.when or {})), None)
            if earlier is not None:
                found = Finding("EV429", tool=tool, when="" if earlier.when is None else text_of(earlier.when))
                problems.add(*suite.place(case.place_of(f"/stubAnswers/{pointer_step(tool)}/{index}")), found)


_OF_THE_RESPONSE: Final = (t.Test, t.Not)
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
        asked, turn = there_is(call), call[0] if isinstance(call[0], t.Turn) else None
        is_whole = turn is not None and case.user is None and not case.follow_ups  # the only turn has all calls
        enough = (asked, negation(asked), *((there_is(call[1:]),) if is_whole else ()))
        if not any(implies(other, each) for other in formulas for each in enough):
            found = Finding("EV427", tool=call[-1].tool, turn=0 if turn is None or is_whole else turn.number)
            problems.add(*suite.place(item.where), found, row=suite.row_of(case), at_most="warning")


def _is_of_first_call(check: t.Check) -> bool:
    """Whether a check asks for something of the first call of a tool; one which rules something out is a guard."""
    match check:
        case t.Test():
            return False
        case t.Of(t.Call(_, which), t.Of(_, inner)):
            return which == "first" and not isinstance(inner, t.Not)
        case t.Of(t.Turn(), inner):
            return _is_of_first_call(inner)
        case t.All(checks) | t.Some(checks):
            return any(map(_is_of_first_call, checks))
        case _:
            return False


class _Verdict(NamedTuple):
    """The verdict that every run gives of a check, and why."""

    passes: bool
    why: str


_OF_TEXTS: Final = (
    "contains",
    "contains_any",
    "contains_all",
    "occurs",
    "starts_with",
    "ends_with",
    "matches",
    "similar",
)
_BELOW_ZERO: Final = "no score is less than 0"


def _verdict(check: t.Check) -> _Verdict | None:
    """The verdict on a check that needs no run; None for a check worth making."""
    test = check.check if type(check) is t.Not else check
    if type(test) is t.Test:
        if test.predicate == "exists":
            return _Verdict(test is check, "there is always a response")
        verdict = _of_test(test)
        return verdict if verdict is None or test is check else _of_parts(check)
    match check:
        case t.Of(t.Turn(), t.Test("exists") | t.Not(t.Test("exists"))):
            return None  # a conversation need not come to the turn
        case t.Of(t.Turn(), inner):
            return _verdict(inner)
        case t.Of(t.Call(_, "first"), t.Of(t.Argument(), t.Test(predicate))) if predicate in _OF_TEXTS:
            return _of_parts(check)  # an argument that was not sent is a text to fields of the contract alone
        case t.Of(t.Measure(of), t.Test("between", t.Bounds() as bounds)):
            return _of_measure(of, bounds)
        case t.Of(t.Measure() | t.Tools(), t.Test()) | t.Of(t.Call(_, "first"), t.Of(t.Argument(), t.Test())):
            return _of_leaf(check)
        case t.Of(t.At(path)) if ("every", EVERY) in steps(path):
            why = f"`{path}` is every item; name one, such as `{path.replace(EVERY, '[0]')}`"
            return _Verdict(False, why)
        case _:
            return _of_parts(check)


def _of_parts(check: t.Check) -> _Verdict | None:
    """The verdict on a check with parts, by logic; the reason is that of the part which settles it, if one does."""
    from evalc.compiler.logic.formula import formula_of  # noqa: PLC0415 - for start-up
    from evalc.compiler.logic.implies import always, never  # noqa: PLC0415 - as above

    formula = formula_of(check)
    passes = always(formula)
    if not passes and not never(formula):
        return None
    reasons = (verdict.why for verdict in map(_of_leaf, t.within(check)) if verdict is not None)
    together = "where one part does not hold another does" if passes else "its parts rule each other out"
    return _Verdict(passes, next(reasons, together))


def _of_leaf(check: t.Check) -> _Verdict | None:
    match check:
        case t.Of(t.Measure(of), t.Test("between", t.Bounds() as bounds)):
            return _of_measure(of, bounds)
        case t.Of(_, t.Test() as test) | t.Of(_, t.Of(_, t.Test() as test)) | (t.Test() as test):
            return _of_test(test)
        case _:
            return None


def _of_test(test: t.Test) -> _Verdict | None:
    """The verdict on a test of whatever there is, as far as its operand gives it."""
    rule = _VERDICTS.get(test.predicate)
    return None if rule is None else rule(test.operand)


def _of_text(text: Any) -> _Verdict | None:
    return _Verdict(True, "every text contains the empty text") if text == "" else None


def _of_group(values: tuple[Any, ...]) -> _Verdict | None:
    if not values:
        return _Verdict(True, "there is nothing to choose from, so it is skipped")
    return next(filter(None, map(_of_text, values)), None)


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
    if least is None:
        return _Verdict(True, "any score passes without a least one (`min_score`)")
    return _of_score(least, scale, f"{least:g} is more than {scale:g}")


def _limits(bounds: t.Bounds) -> tuple[float, float]:
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


def _of_bounds(bounds: t.Bounds) -> _Verdict | None:
    """Whether the bounds leave nothing; any value may be no number, so none passes by itself."""
    least, most = _limits(bounds)
    return _Verdict(False, f"{shown_number(least)} is more than {shown_number(most)}") if least > most else None


def _of_measure(of: str, bounds: t.Bounds) -> _Verdict | None:
    """Nothing that is measured is less than 0; the number of items is asked of a list alone."""
    least, most = _limits(bounds)
    if least > most:
        return _of_bounds(bounds)
    if of == "ms" and bounds.max == 0:
        return _Verdict(False, "every answer takes some time")
    if most < 0 or (type(bounds.below) in _NUMBERS and bounds.below <= 0):
        return _Verdict(False, "nothing is less than 0")
    if of == "items" or bounds.above is not None or bounds.max is not None or bounds.below is not None:
        return None
    return _Verdict(True, "there are never fewer than 0") if bounds.min is None or -inf < least <= 0 else None


def _of_distance(by: Any, _: Any) -> _Verdict | None:
    return _Verdict(False, "no distance is less than 0") if type(by) in _NUMBERS and by < 0 else None


def _unless(asked: Callable[[Any], Any], passes: bool, why: str) -> Callable[[Any], _Verdict | None]:
    """The rule of a predicate that says nothing unless its operand asks for something."""
    return lambda operand: None if asked(operand) else _Verdict(passes, why)


_VERDICTS: Final[Mapping[str, Callable[[Any], _Verdict | None]]] = {
    **dict.fromkeys(("contains", "starts_with", "ends_with"), _of_text),
    **dict.fromkeys(("include", "in_order"), _unless(bool, True, "it names no tool")),
    "not_called": _unless(lambda names: any(map(str.strip, names)), True, "it names no tool"),
    "acceptable": _unless(bool, False, "no set of tools is acceptable"),
    "contains_any": _of_group,
    "contains_all": lambda values: _of_text("") if values and all(text == "" for text in values) else None,
    "occurs": lambda operand: _of_measure("times", operand[1]),
    "within": lambda operand: _of_distance(*operand),
    "before": lambda names: _Verdict(False, "no call is before itself") if names[0] == names[1] else None,
    "one_of": _unless(bool, False, "there is nothing to choose from"),
    "matches": _of_pattern,
    "between": _of_bounds,
    "json": _unless(lambda operand: operand[1] is not False, False, "nothing fits the schema `false`"),
    "structure": _unless(any, True, "it requires no field and no heading"),
    "similar": lambda operand: _of_score(operand[1], 1, "no similarity is more than 1, and 80 percent is 0.8"),
    "judge": _of_judge,
}
"""The rule for each predicate whose verdict may be known before a run."""


_MOST_COMPARED: Final = 200
"""How many checks are compared here, each with each; of more, logic compares the first."""


@final
class Contradictions:
    """Reports the checks of each case that contradict, repeat or imply each other; the cases come in pieces."""

    def __init__(self) -> None:
        self._redundant: dict[ir.Where, Finding] = {}
        self._deciding: set[ir.Where] = set()  # what decides something in some case

    def check(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report the contradictions within cases, and remember what is redundant in them."""
        for case in suite.cases:
            found: dict[ir.Where, Finding] = {}
            if not are_unrelated([*map(_check_of, case.checks)]):
                from evalc.compiler.logic.compare import compared  # noqa: PLC0415 - for start-up: most are unrelated

                found = compared(suite, case, problems)
            for where, finding in found.items():
                self._redundant.setdefault(where, finding)
            places = map(_where, case.checks)
            self._deciding.update(places if not found else set(places) - found.keys())

    def finish(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report what is redundant in all the cases that have a check from there."""
        for where, finding in self._redundant.items():
            if where not in self._deciding:
                problems.add(*suite.place(where), finding)


_check_of, _where = attrgetter("check"), attrgetter("where")


def are_unrelated(checks: Sequence[t.Check]) -> bool:
    """Whether no check contradicts, repeats or implies another one for certain; `False` means "not known"."""
    topics: dict[str, Any] = {}
    spoken_of: list[str] = []
    if len(checks) > _MOST_COMPARED:
        return False
    for check in checks:
        test = check.check if type(check) is t.Not else check
        texts: tuple[str, ...] | None = None
        if type(test) is t.Test and not test.ignoring_case:
            operand = test.operand
            if test.predicate == "contains" and type(operand) is str:
                texts = (operand,)
            elif test is check and test.predicate in _SAID_OF_TEXTS:
                texts = _SAID_OF_TEXTS[test.predicate](operand)
        if texts is None:
            topic = _topic_of(check)
            if not topic or topic in topics:
                return False
            topics[topic] = check
            continue
        if not texts:
            return False
        for text in texts:
            if "{{" in text:
                return False
            for other in spoken_of:
                if text in other or other in text:
                    return False
        spoken_of += texts
    length = topics.get("length")
    return length is None or _is_for_itself(length.check.operand, spoken_of, non_empty="non_empty" in topics)


def _needed(operand: tuple[Any, str]) -> tuple[str, ...]:
    """The texts that occur in whatever a pattern matches."""
    pattern, flags = operand
    examined = examine(pattern, flags) if isinstance(pattern, str) and "i" not in flags else None
    return () if examined is None or (examined.literal and examined.literal[1] != "has") else examined.required


_SAID_OF_TEXTS: Final[Mapping[str, Callable[[Any], tuple[str, ...]]]] = {
    "contains_any": lambda values: values if all(isinstance(value, str) for value in values) else (),
    "matches": _needed,
}
"""The texts that the operands of such predicates speak of; none where that is not known."""


def _topic_of(check: t.Check) -> str:
    """The topic of a check: two that bear on each other share it. It is empty where it is not known."""
    match check:
        case t.Of(t.Measure("chars"), t.Test("between")):
            return "length"
        case t.Of(t.Measure("calls") | t.Call()) | t.Of(
            t.Tools(), t.Test("called" | "not_called" | "include" | "only")
        ):
            return "calls"
        case t.Of(t.Measure("ms" | "dollars" | "tokens" as of)):
            return of
        case t.Of(t.Tools(), t.Test("no_errors" as predicate)) | t.Test("non_empty" as predicate):
            return predicate
        case t.Test(predicate):
            from evalc.compiler.logic.formula import READ  # noqa: PLC0415 - for start-up, as above

            return "" if predicate in READ else predicate
        case _:
            return ""


def _is_for_itself(length: t.Bounds, texts: Iterable[str], *, non_empty: bool) -> bool:
    """Whether none of the texts is too long for the most that is allowed, or brings the least that is asked for."""
    least, most = length.min or 0, length.max
    if length.above is not None or length.below is not None or isinstance(least, str) or isinstance(most, str):
        return False
    if most is None:
        return bool(least > non_empty) and max(map(len, texts), default=0) < least
    return bool(most >= 1) and max(map(len, texts), default=0) <= most


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
        items: list[ir.Check] = []  # of more than the text of the response or a number of the run
        for item in case.checks:
            match item.check:
                case t.Test(predicate) if predicate != "structure":
                    pass
                case t.Not(t.Test(predicate)) if predicate not in ("structure", "between"):
                    pass
                case t.Of(t.Measure(of), t.Test()) if of != "items":
                    pass
                case _:
                    items.append(item)
        if not items:
            continue
        lists = {path for item in case.checks for path in _lists(item.check)}
        for item in items:
            source, span = suite.place(item.where)
            outside_texts = _TEXT.sub("", source.text[span.start + 1 : span.end])  # the whole line may be in quotes
            is_path = _NEW_PATH.search(source.text[span.start : span.start + 1] + outside_texts)
            why: Why | None = "path" if is_path else next(_changes(item.check, lists), None)
            if why is not None:
                problems.add(source, span, Finding("EV436", why=why))


def _lists(check: t.Check) -> Iterator[str]:
    """The places of the response that a check says are lists."""
    match check:
        case t.Of(t.At(path), t.Of(t.Measure("items")) | t.Test("sorted" | "unique") | t.Test("is_a", "array")):
            yield path
        case t.Of(t.Items(path)):
            yield path.partition("[]")[0]
        case t.Test("structure", (fields, _)):
            yield from (path for path, type_ in fields if type_ == "array")
        case _:
            for part, _ in t.parts_of(check):
                yield from _lists(part)


def _changes(check: t.Check, lists: Set[str], *, argument: bool = False, in_call: bool = False) -> Iterator[Why]:
    match check:
        case t.Test("equals" | "one_of", operand) if in_call and not argument:
            texts = operand if isinstance(operand, tuple) else (operand,)
            if any(isinstance(text, str) and _JSON_TEXT.fullmatch(text) for text in texts):
                yield "quoted"
        case t.Of(t.At(path), inner) if path in lists and not in_call:
            yield from _of_list(inner)
        case t.Not(inner):
            if _is_unasked(inner, argument):
                yield "not"
            yield from _changes(inner, lists, argument=argument, in_call=in_call)
        case t.Of(step, inner):
            argument, in_call = argument or isinstance(step, t.Argument), in_call or isinstance(step, t.Call)
            yield from _changes(inner, lists, argument=argument, in_call=in_call)
        case _:
            for part, _ in t.parts_of(check):
                yield from _changes(part, lists, argument=argument, in_call=in_call)


def _of_list(check: t.Check) -> Iterator[Why]:
    match check:
        case t.Not(inner):
            yield from _of_list(inner)
        case t.Test("contains" | "contains_any", operand):
            values = operand if isinstance(operand, tuple) else (operand,)
            if all(isinstance(value, str) for value in values):
                yield "item"
        case t.Test("non_empty"):
            yield "empty"
        case t.Of(t.Measure(unit)) if unit in t.OF_TEXT:
            yield "length"


def _is_unasked(check: t.Check, argument: bool) -> bool:
    """Whether the negation of a check passed of an answer that cannot be asked."""
    steps, test = t.steps_of(check)
    if not isinstance(test, t.Test) or test.predicate == "exists":
        return False
    nth = any(isinstance(step, t.Call) and isinstance(step.which, int) for step in steps)
    if argument or nth or any(isinstance(step, t.At | t.Argument) for step in steps):
        return not any(isinstance(step, t.Call) and step.which in ("any", "every", "no") for step in steps)
    return test.predicate == "between" and all(step == t.Measure("items") for step in steps)
