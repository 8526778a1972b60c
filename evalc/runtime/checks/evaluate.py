"""Evaluates any check: follows its steps to its subject, and tests the predicate there.

A check holds, does not hold, or cannot be asked, which fails, and so does its negation. `and`, `or`, `any`, `every` and
`no` can be asked where the parts that can be asked decide them; a place that one of several items or calls lacks
counts as not holding there. Operands of `and` and `or` that are skipped or do not apply are left out. An operand that
ended in error makes the whole an error, unless the others decide the verdict without it.

Before a predicate is tested, the tokens of its operand are filled, and the side of the value to compare is selected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec

from evalc import extras
from evalc.base.errors import UsageError
from evalc.base.terminal import so_often
from evalc.check.predicates import HOLDS, Role, in_all, in_any, mapped
from evalc.check.texts import NotJson, has, headings, parse, parse_leniently, plain
from evalc.check.tree import (
    All,
    Blank,
    Bounds,
    Call,
    Check,
    Failure,
    Measure,
    Not,
    Of,
    Result,
    Some,
    Test,
    Tools,
    Turn,
    conjuncts,
)
from evalc.check.values import CannotAsk, is_a, is_text, text_of, type_of
from evalc.ecma import UNDEFINED, Unresolved, find_tokens, resolve, walk
from evalc.ecma.regexp import compile_pattern, test_async
from evalc.ecma.regexp.nodes import PatternError, RegexpError, RegexpTimeout
from evalc.model.answer import ToolCall
from evalc.model.json import MISSING, is_number, only_key, values_at
from evalc.model.result import TextFinding
from evalc.runtime.checks import (
    NOT_APPLICABLE,
    PASSED,
    Beside,
    Evidence,
    Found,
    NoAnswer,
    Note,
    Verdict,
    View,
    broken,
    failed,
    skipped,
    unasked,
    unknown,
    unresolved_notes,
    words,
)
from evalc.runtime.checks.custom import custom
from evalc.runtime.checks.judged import judged
from evalc.runtime.checks.similarity import similar
from evalc.runtime.checks.subjects import SILENT, TOO_DEEP, Several, cannot, errors, led_to
from evalc.runtime.checks.words import listed, quoted, shown

_MOST_SHOWN: Final = 3


def evaluate(check: Check, view: View, *, negated: bool = False) -> Coroutine[Any, Any, Verdict]:
    """Evaluate one check of a subject, which for a whole check is the response (`View.of`)."""
    while not isinstance(check, Test):  # along the steps to a test, or to checks that are joined
        if isinstance(check, Not):
            check, negated = check.check, not negated
            continue
        if isinstance(check, Of):
            step = check.step
            is_about_calls = step.of in _COUNTED if isinstance(step, Measure) else type(step) in _REPORTED
            if is_about_calls and not view.evidence.reports_calls and view.fault is None:
                return _with_calls_unknown(check, view, negated=negated)
            subject = led_to(step, view)
            if isinstance(subject, View):
                check, view = check.check, subject
                continue
            return _joined(check, view, subject, negated=negated)
        return _joined(check, view, None, negated=negated)
    is_about_calls = check.predicate in _GROUNDED and "tools" in check.operand
    if is_about_calls and not view.evidence.reports_calls and view.fault is None:
        return _with_calls_unknown(check, view, negated=negated)
    return tested(check, view, negated=negated)


_REPORTED: Final = frozenset({Tools, Call})
_COUNTED: Final = frozenset({"calls", "errors"})
"""The steps and the measures that lead to what an agent reports of its calls."""
_GROUNDED: Final = frozenset({"numbers_from", "quotes_from"})
"""The predicates that may look at what calls gave back."""


async def _with_calls_unknown(check: Check, view: View, *, negated: bool) -> Verdict:
    """The verdict on an answer that does not mention tools, which counts as calling none."""
    key = view.evidence.near_calls
    if key is not None:  # the calls are under a key that is not read: whatever the check says would be wrong
        how = "call it `toolCalls`, or map it (`agent.response.toolCalls` in the configuration)"
        return broken(f"the answer has `{shown(key)}` and no `toolCalls`: {how}")
    evidence = msgspec.structs.replace(view.evidence, reports_calls=True)
    verdict = await evaluate(check, msgspec.structs.replace(view, evidence=evidence), negated=negated)
    note = Note("the agent reports no tool calls (its answers have no `toolCalls`)", "checked as if there were none")
    return msgspec.structs.replace(verdict, notes=(*verdict.notes, note))


async def _joined(check: Of | Some | All, view: View, several: Several | None, *, negated: bool) -> Verdict:
    """The verdict on a check of several subjects, or on several checks of one."""
    if isinstance(check, Of):
        assert several is not None  # noqa: S101
        verdict = await _of_several(check, several, view.beside)
    elif view.fault is not None:
        return view.fault
    elif isinstance(check, Some):
        verdict = await _composed(check.checks, view, "passed", negated=negated)
    elif view.in_call:
        verdict = await _together(check, view)
    else:
        verdict = await _composed(check.checks, view, "failed")
    return _inverted(verdict, check) if negated else verdict


# --- compositions ----------------------------------------------------------------------------------------------------


async def _composed(
    checks: Sequence[Check], view: View, decisive: Literal["passed", "failed"], *, negated: bool = False
) -> Verdict:
    """`and`, which a failure decides, or `or`, which a pass decides."""
    met: list[Verdict] = []
    for check in checks:
        verdict = await evaluate(check, view)
        met.append(verdict)
        if verdict.outcome == decisive and verdict.asked:
            whole = failed(_reason(check, verdict), verdict.finding) if decisive == "failed" else _passed(met)
            return _with_what_was_met(whole, met)
    if error := _first(met, "error"):
        return _with_what_was_met(error, met)
    doubtful = next((each for each in zip(checks, met, strict=True) if not each[1].asked), None)
    if doubtful and decisive == "failed":
        return _with_what_was_met(unasked(_reason(*doubtful)), met)
    if met and not _first(met, "passed", "failed"):
        if _first(met, "skipped"):
            return skipped(tuple(token for verdict in met for token in verdict.skipped_tokens))
        return _with_what_was_met(NOT_APPLICABLE, met)
    if decisive == "failed":
        return _with_what_was_met(_passed(met), met)
    if doubtful and negated:
        return _with_what_was_met(unasked(_reason(*doubtful)), met)
    fail = unasked if doubtful else failed
    why = "; ".join(_reason(*each) for each in zip(checks, met, strict=True) if each[1].outcome == "failed")
    return _with_what_was_met(fail(f"expected one of {len(checks)} checks to hold but none does: {why}"), met)


def _reason(check: Check, verdict: Verdict) -> str:
    """The reason why a part does not hold, with the turn that it is about."""
    turn = check.step if isinstance(check, Of) else None
    return f"turn {turn.number}: {verdict.message}" if isinstance(turn, Turn) else verdict.message or ""


def _passed(met: Sequence[Verdict]) -> Verdict:
    return msgspec.structs.replace(PASSED, verifies=any(each.verifies for each in met if each.outcome == "passed"))


def _inverted(verdict: Verdict, check: Check) -> Verdict:
    """The verdict on the negation; a verdict on what cannot be asked or is unknown stays as it is."""
    if verdict.outcome == "passed":
        return _with_what_was_met(failed(words.holds_though(check)), (verdict,))
    return _with_what_was_met(PASSED, (verdict,)) if verdict.outcome == "failed" and verdict.asked else verdict


def _with_what_was_met(verdict: Verdict, met: Sequence[Verdict]) -> Verdict:
    """The verdict on the whole, with the unresolved tokens and the notes of the operands."""
    return msgspec.structs.replace(
        verdict,
        skipped_tokens=tuple(token for operand in met for token in operand.skipped_tokens),
        notes=tuple(dict.fromkeys(note for operand in met for note in operand.notes)),
    )


# --- items and calls -------------------------------------------------------------------------------------------------


async def _of_several(check: Of, several: Several, beside: Beside) -> Verdict:
    """The verdict on any, every or no view; known views may decide it although others are unknown."""
    if several.which == "every" and not several.views:
        return NOT_APPLICABLE
    met = [_of_one(await _together(check.check, each)) for each in several.views]
    decisive = "failed" if several.which == "every" else "passed"
    at = next((index for index, verdict in enumerate(met) if verdict.outcome == decisive and verdict.asked), None)
    if at is None:
        if error := _first(met, "error"):
            return error
        doubtful = next((index for index, verdict in enumerate(met) if not verdict.asked), None)
        if doubtful is not None:
            is_any = several.which == "any"
            return unasked(_none_of(several, met) if is_any else _in(several.views[doubtful], met[doubtful]))
        if unknown := _first(met, "skipped", "not_applicable"):
            return unknown
        return PASSED if several.which != "any" else failed(_none_of(several, met))
    if several.which == "every":
        return failed(_in(several.views[at], met[at]), met[at].finding)
    if several.which == "no":
        return failed(f"expected no such {several.noun} but {words.one_of_several(several.views[at])}")
    return await _with_a_call_of_its_own(check, met, several.views, beside)


async def _together(check: Check, view: View) -> Verdict:
    """The verdict on all parts of a check of one view: one unknown part makes the whole unknown."""
    met = [await evaluate(part, view) for part in conjuncts(check)]
    if not isinstance(check, All):
        return met[0]
    met = [_of_one(verdict) for verdict in met]
    fails = next((verdict for verdict in met if verdict.outcome == "failed" and verdict.asked), None)
    return fails or _first(met, "error", "failed", "skipped", "not_applicable") or PASSED


def _of_one(verdict: Verdict) -> Verdict:
    """The verdict on one of several items or calls, or on a part of it: a missing place counts as not holding."""
    return failed(verdict.message) if verdict.absent else verdict


def _first(met: Sequence[Verdict], *outcomes: str) -> Verdict | None:
    return next((verdict for outcome in outcomes for verdict in met if verdict.outcome == outcome), None)


def _none_of(several: Several, met: Sequence[Verdict]) -> str:
    if not several.views:
        return several.nothing
    reasons = "; ".join(_in(view, verdict) for view, verdict in zip(several.views[:_MOST_SHOWN], met, strict=False))
    article = "an" if several.noun == "item" else "a"
    return f"expected such {article} {several.noun} but {reasons}" if several.noun else reasons


def _in(view: View, verdict: Verdict) -> str:
    """The reason why a view does not hold; the parts of a call are named without the call."""
    return f"in {view.name} {verdict.message}" if view.kind == "call" else verdict.message or ""


# --- a call for each check -------------------------------------------------------------------------------------------


async def _with_a_call_of_its_own(check: Of, met: Sequence[Verdict], made: Sequence[View], beside: Beside) -> Verdict:
    """The verdict if some call fits, although other checks of the case may take every call that does."""
    rivals = _rivals(check, beside.checks)
    mine = {index for index, rival in enumerate(rivals) if rival is check}
    if not mine:
        return PASSED
    own = [at for at, verdict in enumerate(met) if verdict.outcome == "passed"]
    fits = [own if rival is check else await _that_fit(rival, made, beside) for rival in rivals]
    if mine <= matched(fits):
        return PASSED
    others = f"other checks take each of the calls that would do: it was called {so_often(len(made))}"
    return failed(f"expected a call of {quoted(made[0].value.name)} for itself, but {others}")


async def _that_fit(rival: Of, made: Sequence[View], beside: Beside) -> list[int]:
    """The calls that fit another check; none if that check cannot be decided, which its own verdict reports."""
    if id(rival) not in beside.fits:
        outcomes = [(await _together(rival.check, each)).outcome for each in made]
        is_decided = {"passed", "failed"}.issuperset(outcomes)
        beside.fits[id(rival)] = [at for at, outcome in enumerate(outcomes) if is_decided and outcome == "passed"]
    return beside.fits[id(rival)]


def _rivals(check: Of, beside: Sequence[Check]) -> list[Of]:
    """The checks of a case that each take a call of this check's tool for themselves, in their order.

    They are the lines about the arguments of any call; one within a composition takes none.
    """
    if not isinstance(check.step, Call):
        return []
    same = (each for each in beside if isinstance(each, Of) and each.step == check.step)
    return [each for each in same if not any(map(_is_about_result, conjuncts(each.check)))]


def _is_about_result(check: Check) -> bool:
    match check:
        case Not(inner):
            return _is_about_result(inner)
        case Of(Result() | Failure()) | Test("fails"):
            return True
        case _:
            return False


def matched(fits: Sequence[Sequence[int]]) -> set[int]:
    """The expectations that get a call of their own, as many as possible; `fits` are the calls that fit each.

    If two compete for the last call, the first gets it, unless fewer would then be matched.
    """
    taken: dict[int, int] = {}  # calls, and by whom each is taken
    given: dict[int, int] = {}  # the same the other way round
    for expectation in range(len(fits)):
        asked_by: dict[int, int] = {}
        queue = [expectation]
        for each in queue:  # who has a call that this one could have may take another one
            calls = [call for call in fits[each] if call not in asked_by]
            asked_by |= dict.fromkeys(calls, each)
            free = next((call for call in calls if call not in taken), None)
            if free is not None:
                break
            queue += [taken[call] for call in calls]
        while free is not None:
            each = asked_by[free]
            taken[free], given[each], free = each, free, given.get(each)
    return set(given)


_LONGEST_FINDING: Final = 1_000
_EMPTY_GROUP: Final = Verdict(
    outcome="skipped",
    message="the group is empty",
    notes=(Note("a group of alternatives is empty", "skipped"),),
)


async def tested(test: Test, view: View, *, negated: bool) -> Verdict:
    """The verdict on a predicate of a subject."""
    if view.fault is not None and not _asks_of_nothing(test, view, negated):
        return view.fault
    filled = test
    dropped: tuple[str, ...] = ()
    try:
        if view.kind == "argument":
            _refuse_other_than_text(test, view)
        if test.predicate in _GROUPS:
            filled, dropped = _filled_group(test, view)
        elif _may_hold_tokens(test.operand):
            filled = _filled(test, view)
        if (asked := _ASKED.get(filled.predicate)) is None:
            value = view.value
            if view.kind not in _ONE_SIDED:
                value = _SIDES.get(filled.predicate, _compared)(view, filled.operand)
            found: Found = HOLDS[filled.predicate](value, filled.operand, filled.ignoring_case)
        else:
            answer = asked(filled, view)
            found = answer if isinstance(answer, bool | str | Verdict) else await answer
    except NoAnswer as error:
        return error.verdict
    except CannotAsk as error:
        return cannot(error, view)
    except RecursionError:
        return broken(TOO_DEEP)
    if filled is test and found is not negated and isinstance(found, bool):
        return PASSED
    verdict = _verdict(found, filled, test, view, negated)
    if not dropped:
        return verdict
    notes = unresolved_notes(dropped, "checked without it")
    return msgspec.structs.replace(verdict, skipped_tokens=dropped, notes=(*verdict.notes, *notes), finding=None)


def _verdict(found: Found, test: Test, written: Test, view: View, negated: bool) -> Verdict:
    """The verdict for an answer; `written` is the test before its tokens were filled."""
    if isinstance(found, Verdict):
        if not negated or not found.asked or found.outcome not in ("passed", "failed"):  # what is not known stays so
            return found
        if found.outcome == "failed":
            return msgspec.structs.replace(PASSED, notes=found.notes)
        return msgspec.structs.replace(failed(words.failure(test, view, negated=True)), notes=found.notes)
    if (found is True) is negated:
        message = found if isinstance(found, str) else words.failure(test, view, negated=negated)
        if isinstance(found, str) and view.name and view.kind != "names":
            message = f"{shown(view.name)}: {found}"
        return failed(message, _finding(test, view, negated))
    if found is True and _is_of_nothing(test):
        emptied = (each for each in _members(written) if each != "" and _resolved(each, view.evidence) == "")
        if (text := next(emptied, None)) is not None:
            note = Note(f"{text} resolves to an empty text", "passed whatever the answer is")
            return msgspec.structs.replace(PASSED, verifies=False, notes=(note,))
    return PASSED


def _asks_of_nothing(test: Test, view: View, negated: bool) -> bool:
    """Whether a check can be asked of a missing value: `exists`, and what a field of the contract checks.

    To the contract, an argument that was not sent is the text `undefined`, except under `not`.
    """
    if test.predicate == "exists":
        return view.value is not None  # a file that has no text is there
    if view.value is not MISSING:
        return False
    if view.kind != "argument" or negated or test.ignoring_case:
        return False
    if test.predicate == "matches":
        return not test.operand[1]
    return test.predicate in ("equals", "contains", "one_of") and all(map(is_text, _members(test)))


def _members(test: Test) -> tuple[Any, ...]:
    return test.operand if isinstance(test.operand, tuple) else (test.operand,)


def _is_of_nothing(test: Test) -> bool:
    """Whether a test compares with a text that its tokens made empty, and so holds of every text."""
    joined = _HOLDS_OF_EMPTY.get(test.predicate)
    return joined is not None and joined(member == "" for member in _members(test))


_HOLDS_OF_EMPTY: Final[Mapping[str, Callable[[Iterable[bool]], bool]]] = {
    **dict.fromkeys(("contains", "starts_with", "ends_with", "contains_all"), all),
    "contains_any": any,
}


def _finding(test: Test, view: View, negated: bool) -> TextFinding | None:
    """The text that reports mark in a response: it is missing, forbidden or different.

    None for a text that is too long for a report to search for.
    """
    kind = _FINDINGS.get((test.predicate, negated))
    text = test.operand
    if kind is None or view.where is None or not isinstance(text, str) or len(text) > _LONGEST_FINDING:
        return None
    if test.ignoring_case and (negated or test.predicate != "contains"):
        return None
    return TextFinding(kind=kind, text=text, path=view.where or None)


_FINDINGS: Final[Mapping[tuple[str, bool], Any]] = {
    ("contains", False): "missing",
    ("contains", True): "forbidden",
    ("equals", False): "differs",
    ("starts_with", False): "differs",
}

# --- the tokens of an operand ----------------------------------------------------------------------------------------


_GROUPS: Final = {
    "contains_any": (in_any, "contains"),
    "contains_all": (in_all, "contains"),
    "one_of": (in_any, "equals"),
}
"""The predicates with several values: how the values are joined, and the predicate of each."""
_OF_TEXT: Final = frozenset({"equals", "contains", "starts_with", "ends_with", "matches"})
"""The predicates whose operand a contract file may lack, or have as a list."""


def _may_hold_tokens(operand: Any) -> bool:
    if isinstance(operand, str):
        return "{{" in operand
    if isinstance(operand, Bounds):
        return str in map(type, msgspec.structs.astuple(operand))
    return "{{" in str(operand)


def _refuse_other_than_text(test: Test, view: View) -> None:
    operand = test.operand[0] if test.predicate == "matches" else test.operand
    if test.predicate in _OF_TEXT and (operand is None or isinstance(operand, tuple)):
        raise NoAnswer(broken(f"{shown(view.name)} {test.predicate}: the value to compare with must be one text"))


def _filled(test: Test, view: View) -> Test:
    """The test with its tokens filled.

    Raises:
        NoAnswer: one of them names nothing.
    """
    unresolved: list[str] = []

    def filled(role: Role, text: str | Blank) -> Any:
        if role.no_tokens_in or role.names or isinstance(text, Blank):
            return text
        found = _resolved(text, view.evidence, as_value=test.predicate == "is")
        if isinstance(found, Unresolved):
            unresolved.extend(found.tokens)
        return found

    changed: Any = mapped(test, filled, Call("") if view.in_call else None)
    if unresolved:
        raise NoAnswer(skipped(tuple(unresolved)))
    return msgspec.structs.replace(test, operand=_with_numbers(changed.operand, test.predicate == "within"))


def _filled_group(test: Test, view: View) -> tuple[Test, tuple[str, ...]]:
    """The group without the members whose tokens cannot be resolved, and these tokens.

    Raises:
        NoAnswer: nothing is left to compare with.
    """
    if test.operand is None:
        raise NoAnswer(broken(f"{shown(view.name)} oneOf: there is no list to look in"))
    found = [_resolved(member, view.evidence) for member in _members(test)]
    kept = tuple([each for each in found if not isinstance(each, Unresolved)])
    dropped = tuple(token for each in found if isinstance(each, Unresolved) for token in each.tokens)
    if not kept and (dropped or test.predicate != "one_of"):
        raise NoAnswer(skipped(dropped) if dropped else _EMPTY_GROUP)
    return msgspec.structs.replace(test, operand=kept), dropped


def _resolved(value: Any, evidence: Evidence, *, as_value: bool = False) -> Any:
    """A text with its tokens filled, or as a value what a single token names; `Unresolved` if one names nothing."""
    if not isinstance(value, str):
        return value
    tokens = find_tokens(value) if as_value else []
    if len(tokens) == 1 and tokens[0].text == value:
        found = walk(evidence.seed if tokens[0].source == "seed" else evidence.snapshot, tokens[0].path)
        if found is not UNDEFINED and found is not None:
            return found
    return resolve(value, evidence.seed, evidence.snapshot)


def _with_numbers(operand: Any, are_all: bool) -> Any:
    """The operand with numbers in place of texts where numbers are required."""
    match operand:
        case Bounds():
            return Bounds(*map(_number, msgspec.structs.astuple(operand)))
        case tuple():
            return tuple(_number(part) if are_all else _with_numbers(part, False) for part in operand)
        case _:
            return operand


def _number(value: Any) -> Any:
    number = value
    if isinstance(value, str):
        with suppress(NotJson):
            number = parse(value)
    if value is None or is_number(number):
        return number
    raise NoAnswer(broken(f"a token names {words.in_words(value)}, where a number is needed"))


# --- asking ----------------------------------------------------------------------------------------------------------


def _compared(view: View, expected: Any) -> Any:
    """The side of the subject that is compared: its text with a text, its JSON with anything else."""
    if isinstance(expected, str | tuple):
        return view.text if view.kind == "argument" else view.value
    return _json(view, expected)


def _of_group(test: Test, view: View) -> bool:
    join, each = _GROUPS[test.predicate]
    return join(lambda expected: HOLDS[each](_compared(view, expected), expected, test.ignoring_case), test.operand)


def _json(view: View, _: Any) -> Any:
    """The JSON value of a subject; a response or a file without one is a text."""
    if not view.is_whole_text:
        return view.value
    try:
        return parse_leniently(view.value)
    except NotJson:
        return view.value


def _holding(view: View, _: Any) -> Any:
    """The value that may be empty; a response that is a number or a flag is a text, which is not."""
    value = _json(view, _)
    return view.value if isinstance(value, int | float) else value


_ONE_SIDED: Final = frozenset({"names", "count"})
"""The kinds of subjects that have no text."""
_SIDES: Final[Mapping[str, Callable[[View, Any], Any]]] = {
    **dict.fromkeys(("is", "between", "within", "is_a", "sorted", "unique"), _json),
    **dict.fromkeys(("non_empty", "format"), lambda view, _: view.value),
    "empty": _holding,
}
"""The side that is asked where it does not follow from the operand: the JSON that a response is, or its text."""


async def _matches(test: Test, view: View) -> Found:
    """Contract, 7. responseMatches: `new RegExp(pattern, flags).test(text)`."""
    pattern, flags = test.operand
    written = f"/{shown(pattern)}/{flags}"
    try:
        return await test_async(compile_pattern(pattern, flags), text_of(view.text))
    except RegexpTimeout as error:
        return broken(f"{written} ran longer than {error.timeout:g} s")
    except PatternError as error:
        return broken(f"{written} is not a regular expression: {shown(str(error))}")
    except RegexpError as error:
        return broken(f"{written} gave no answer: {shown(str(error))}")


async def _language(test: Test, view: View) -> Found:
    """Whether a text is in a language; if the detector is not sure, nothing is checked, under `not` either."""
    try:
        extras.refuse_missing("language")
    except UsageError as error:
        return broken(str(error))
    found = await asyncio.to_thread(extras.language.language_of, text_of(view.text))
    if found is None:
        raise NoAnswer(unknown(f"the language of {shown(view.name) or 'a response'} cannot be told for sure"))
    return bool(found == test.operand)


def _no_errors(_: Test, view: View) -> Found:
    """Contract, 3. noToolErrors: with stubs by their names, without execution nothing, else every call's success.

    An agent that names its calls but never says how they ended leaves nothing to check: not applicable, with a note.
    """
    evidence = view.evidence
    failing = next(iter(errors(evidence)), None)
    if not evidence.every_tool_has_a_stub:
        return failing is None or _failed(failing)
    if failing is not None and failing.name in (evidence.stubs or ()):
        if failing.arguments is None:
            return _failed(failing)
        found = quoted(failing.arguments)
        return f"expected a JSON object as arguments of {quoted(failing.name)} but got {found}"
    fact = "noToolErrors: the case has stubs, and the agent runs its tools itself"
    notes = (Note(fact, "checked by the names of the stubs"),) if evidence.tool_mode == "executed" else ()
    if failing is None:
        return msgspec.structs.replace(PASSED, notes=notes)
    message = f"expected only tools with a stub but {quoted(failing.name)} has none"
    return Verdict(outcome="failed", message=message, notes=notes)


def _failed(call: ToolCall) -> str:
    why = f": {shown(call.error)}" if call.error else ""
    return f"expected no failing tool call but {quoted(call.name)} failed{why}"


def _fails(_: Test, view: View) -> Found:
    """Whether a call failed, as the agent says; without execution nothing does."""
    if view.evidence.tool_mode == "routing":
        raise NoAnswer(NOT_APPLICABLE)
    if view.value.success is None:
        raise NoAnswer(unknown(f"fails: {SILENT}"))
    return not view.value.success or "it did not fail"


def _is_json(test: Test, view: View) -> Found | Awaitable[Found]:
    """Whether the text is JSON of the mode, and fits the schema."""
    mode, schema = test.operand
    text = text_of(view.value)
    try:
        value = parse_leniently(text) if mode == "lenient" else parse(text)
    except NotJson as error:
        return words.not_json(error, text)
    type_ = type_of(value)
    if mode in ("object", "array") and type_ != mode:
        found = {"null": "null", "array": "an array", "integer": "an integer", "object": "an object"}
        return f"expected a JSON {mode} but got {found.get(type_, f'a {type_}')}"
    if schema is None:
        return True
    # In a thread: a big response, or a pattern that needs the slow engine, must not hold up the other cases.
    return asyncio.to_thread(_fits, value, schema)


def _fits(value: Any, schema: dict[str, Any] | bool) -> Found:
    from evalc.runtime.checks.schema import fits  # noqa: PLC0415 - for start-up: slow to import

    return fits(value, schema)


def _structure(test: Test, view: View) -> Found:
    """Whether the text has every field and every heading; JSON may be in its one fenced block."""
    fields, expected = test.operand
    text = text_of(view.value)
    if fields:
        try:
            document = parse_leniently(text)
        except NotJson as error:
            raise NoAnswer(unasked(words.not_json(error, text))) from None
        for path, type_ in fields:
            if message := _wrong(document, path, type_):
                return message
    found = headings(text) if expected else []
    present = {heading.casefold() for heading in found}
    missing = [heading for heading in expected if plain(heading).casefold() not in present]
    return not missing or f"expected headings {listed(missing)} but found {listed(found) or 'none'}"


def _markdown(test: Test, view: View) -> Found:
    text = text_of(view.text)
    if test.operand[0] == "link" and len(text) > _LONGEST_WITH_LINKS:
        return broken(f"a text of {len(text):,} characters is too long to look for links in it")
    return has(text, *test.operand)


_LONGEST_WITH_LINKS: Final = 200_000
"""The characters of a text; of a hostile one, so many take seconds."""


def _wrong(document: Any, path: str, type_: Any) -> str | None:
    """Why the document lacks the field; `items[].id` asks every item, so that an empty array lacks nothing."""
    key = only_key(path)
    name = quoted(path if key is None else key)
    for value in values_at(document, path):
        if value is MISSING:
            return f"expected field {name} but it is not there"
        if type_ and not is_a(value, type_):
            return f"expected field {name} to be of type {type_} but got {type_of(value)}"
    return None


def _grounded(test: Test, view: View) -> Found:
    from evalc.runtime.checks import grounding  # noqa: PLC0415 - for start-up: its patterns take 4 ms to compile

    found: Found = getattr(grounding, test.predicate)(test, view)
    return found


_ASKED: Final[Mapping[str, Callable[[Test, View], Found | Awaitable[Found]]]] = {
    "exists": lambda _, view: view.value is not MISSING,
    "matches": _matches,
    "similar": similar,
    "markdown": _markdown,
    "language": _language,
    "structure": _structure,
    "json": _is_json,
    **dict.fromkeys(("numbers_from", "quotes_from"), _grounded),
    "judge": judged,
    "check": custom,
    "no_errors": _no_errors,
    "fails": _fails,
    **dict.fromkeys(_GROUPS, _of_group),
}
"""The predicates that need more than a value: the case, the calls, a model, an engine or a schema."""
