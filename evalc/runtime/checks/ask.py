"""Asks a subject for one predicate: which of its values is compared, with the tokens of the operand filled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Final, NamedTuple

import msgspec

from evalc import extras
from evalc.base.errors import UsageError
from evalc.check.holds import HOLDS, in_all, in_any
from evalc.check.predicates import Role, mapped
from evalc.check.tree import Blank, Bounds, Call, Test
from evalc.check.values import CannotAsk, text_of
from evalc.ecma.regexp import PatternError, RegexpError, RegexpTimeout, compile_pattern, test_async
from evalc.ecma.tokens import Unresolved, find_tokens, resolve, walk
from evalc.ecma.values import UNDEFINED
from evalc.model.json import MISSING, is_number
from evalc.model.result import TextFinding
from evalc.runtime.checks import calls, words
from evalc.runtime.checks.custom import custom
from evalc.runtime.checks.grounding import numbers_from, quotes_from
from evalc.runtime.checks.json_checks import is_json, structure
from evalc.runtime.checks.json_text import NotJson, parse
from evalc.runtime.checks.judged import judged
from evalc.runtime.checks.similarity import similar
from evalc.runtime.checks.subjects import TOO_DEEP, json_of
from evalc.runtime.checks.verdict import (
    PASSED,
    Evidence,
    Found,
    Note,
    Verdict,
    View,
    broken,
    failed,
    passed_by_nothing,
    skipped,
    unasked,
    unresolved_notes,
)
from evalc.runtime.checks.wording import shown

_LONGEST_FINDING: Final = 1_000
_EMPTY_GROUP: Final = Verdict(
    outcome="skipped",
    message="the group is empty",
    notes=(Note("a group of alternatives is empty", "skipped"),),
)


def tested(test: Test, view: View, *, negated: bool) -> Verdict | Awaitable[Verdict]:
    """The verdict on a predicate of a subject; it is awaited only where something has to be waited for."""
    if view.fault is not None and not _asks_of_nothing(test, view, negated):
        return view.fault
    filled = _filled(test, view)
    if isinstance(filled, Verdict):
        return filled
    try:
        found = _found(filled.test, view)
    except CannotAsk as error:
        return _cannot(error, view)
    except RecursionError:
        return broken(TOO_DEEP)
    if isawaitable(found):
        return _later(found, filled, test, view, negated)
    return _verdict(found, filled, test, view, negated)


async def _later(found: Awaitable[Found], filled: _Filled, test: Test, view: View, negated: bool) -> Verdict:
    return _verdict(await found, filled, test, view, negated)


def _verdict(found: Found, filled: _Filled, written: Test, view: View, negated: bool) -> Verdict:
    test = filled.test
    if isinstance(found, Verdict):
        verdict = _negated(found, test, view) if negated else found
    elif (found is True) is negated:
        if isinstance(found, str):
            message = f"{shown(view.name)}: {found}" if view.name and view.kind != "names" else found
        else:
            message = words.failure(test, view, negated=negated)
        verdict = failed(message, _finding(test, view, negated))
    elif found is True and _is_of_nothing(test) and (text := next(filter(None, _members(written)), "")):
        verdict = passed_by_nothing(text)
    else:
        verdict = PASSED
    if not filled.dropped:
        return verdict
    notes = unresolved_notes(filled.dropped, "checked without it")
    return msgspec.structs.replace(verdict, skipped_tokens=filled.dropped, notes=notes, finding=None, verifies=True)


def _negated(verdict: Verdict, test: Test, view: View) -> Verdict:
    """The negation of a verdict that a predicate gave itself: what is not known stays so."""
    if verdict.outcome == "passed":
        return Verdict(outcome="failed", message=words.failure(test, view, negated=True), notes=verdict.notes)
    return msgspec.structs.replace(PASSED, notes=verdict.notes) if verdict.outcome == "failed" else verdict


def _cannot(error: CannotAsk, view: View) -> Verdict:
    """The value is of a type that cannot be asked; of a response that is no JSON it is said why it is none."""
    if view.kind == "response" and isinstance(fault := json_of(view.value), Verdict):
        return fault
    return unasked(words.cannot_ask(error, view))


def _asks_of_nothing(test: Test, view: View, negated: bool) -> bool:
    """Whether a check can be asked where nothing is: that something is there, and what a field of the contract says.

    To the contract an argument that was not sent is the text `undefined`; that is not so under `not`.
    """
    if view.value is not MISSING:
        return False
    if test.predicate == "exists":
        return True
    if view.kind != "argument" or negated or test.ignoring_case:
        return False
    if test.predicate == "matches":
        return not test.operand[1]
    return test.predicate in ("equals", "contains", "one_of") and not _literals(test)


def _members(test: Test) -> tuple[Any, ...]:
    return tuple(test.operand) if isinstance(test.operand, tuple | list) else (test.operand,)


def _literals(test: Test) -> bool:
    return not all(isinstance(member, str) for member in _members(test))


def _is_of_nothing(test: Test) -> bool:
    """Whether a test compares with a text that its tokens made empty, and so holds of every text."""
    match test.predicate:
        case "contains" | "starts_with" | "ends_with":
            return bool(test.operand == "")
        case "contains_any":
            return "" in test.operand
        case "contains_all":
            return all(member == "" for member in test.operand)
        case _:
            return False


def _finding(test: Test, view: View, negated: bool) -> TextFinding | None:
    """The mark of reports in a response: a text that is missing, is forbidden, or differs.

    There is none about a text too long to be sought again by a report.
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


class _Filled(NamedTuple):
    """A test with its tokens filled; `dropped` are the tokens of the members that left their group."""

    test: Test
    dropped: tuple[str, ...] = ()


_GROUPS: Final = {
    "contains_any": (in_any, "contains"),
    "contains_all": (in_all, "contains"),
    "one_of": (in_any, "equals"),
}
"""The predicates of several values: how these are joined, and the predicate of each."""
_OF_TEXT: Final = frozenset({"equals", "contains", "starts_with", "ends_with", "matches"})
"""The predicates whose operand a contract file may lack, or have as a list."""


def _filled(test: Test, view: View) -> _Filled | Verdict:
    """Fill the tokens; a test that has nothing left to compare with is skipped."""
    operand = test.operand[0] if test.predicate == "matches" else test.operand
    is_contracts = view.kind == "argument" and test.predicate in _OF_TEXT
    if is_contracts and (operand is None or isinstance(operand, tuple)):
        return broken(f"{shown(view.name)} {test.predicate}: the value to compare with must be one text")
    if test.predicate in _GROUPS:
        return _filled_group(test, view)
    if not _has_token(test.operand):
        return _Filled(test)
    unresolved: list[str] = []

    def resolved(role: Role, text: str | Blank) -> Any:
        if role.no_tokens_in or role.names or isinstance(text, Blank):
            return text
        return _resolved(text, view.evidence, unresolved, as_value=test.predicate == "is")

    filled: Any = mapped(test, resolved, Call("") if view.in_call else None)
    if unresolved:
        return skipped(tuple(unresolved))
    try:
        operand = _with_numbers(filled.operand, test.predicate == "within")
        return _Filled(msgspec.structs.replace(test, operand=operand))
    except NotJson:
        return broken(f"{words.in_words(test.operand)} does not name a number")


def _filled_group(test: Test, view: View) -> _Filled | Verdict:
    """The group without the members that cannot be filled."""
    if test.operand is None:
        return broken(f"{shown(view.name)} oneOf: there is no list to look in")
    kept: list[Any] = []
    dropped: list[str] = []
    for member in _members(test):
        before = len(dropped)
        found = _resolved(member, view.evidence, dropped) if isinstance(member, str) else member
        if len(dropped) == before:
            kept.append(found)
    if not kept and (dropped or test.predicate != "one_of"):
        return skipped(tuple(dropped)) if dropped else _EMPTY_GROUP
    operand = tuple(kept)
    return _Filled(test if operand == test.operand else msgspec.structs.replace(test, operand=operand), tuple(dropped))


def _has_token(operand: Any) -> bool:
    match operand:
        case str():
            return "{{" in operand
        case dict():
            return any(map(_has_token, operand.values()))
        case tuple() | list():
            return any(map(_has_token, operand))
        case Bounds():
            return any(isinstance(getattr(operand, name), str) for name in operand.__struct_fields__)
        case _:
            return False


def _resolved(text: str, evidence: Evidence, unresolved: list[str], *, as_value: bool = False) -> Any:
    """The text with its tokens filled, or as a value what a single token names; `unresolved` gets those of nothing."""
    tokens = find_tokens(text) if as_value else []
    if len(tokens) == 1 and tokens[0].text == text:
        value = walk(evidence.seed if tokens[0].source == "seed" else evidence.snapshot, tokens[0].path)
        if value is not UNDEFINED and value is not None:
            return value
    found = resolve(text, evidence.seed, evidence.snapshot)
    if isinstance(found, Unresolved):
        unresolved += found.tokens
        return text
    return found


def _with_numbers(operand: Any, are_all: bool) -> Any:
    """The operand with the texts that stand where numbers are asked as these."""
    match operand:
        case Bounds():
            return Bounds(*(_number(getattr(operand, name)) for name in operand.__struct_fields__))
        case tuple():
            return tuple(_number(part) if are_all else _with_numbers(part, False) for part in operand)
        case _:
            return operand


def _number(value: Any) -> Any:
    number = parse(value) if isinstance(value, str) else value
    if value is None or is_number(number):
        return number
    raise NotJson("it is not a number")


# --- asking ----------------------------------------------------------------------------------------------------------


def _found(test: Test, view: View) -> Found | Awaitable[Found]:
    if asked := _ASKED.get(test.predicate):
        return asked(test, view)
    if group := _GROUPS.get(test.predicate):
        join, each = group
        return join(lambda expected: HOLDS[each](_compared(view, expected), expected, test.ignoring_case), test.operand)
    value = view.value
    if test.predicate in _OF_JSON:
        value = _json(view)
    elif test.predicate not in _OF_VALUE:
        value = _compared(view, test.operand)
    return HOLDS[test.predicate](value, test.operand, test.ignoring_case)


_OF_JSON: Final = frozenset({"is", "between", "within", "is_a", "sorted", "unique"})
"""The predicates that ask the JSON that a response is."""
_OF_VALUE: Final = frozenset({"empty", "non_empty", "format"})
"""The predicates that ask the text of a response, and the value of an argument."""


def _compared(view: View, expected: Any) -> Any:
    """The side of the subject that is compared: its text with a text, its JSON with anything else."""
    if view.kind in ("names", "count"):
        return view.value
    return _json(view) if not isinstance(expected, str | tuple) else view.text


def _json(view: View) -> Any:
    """The JSON value of a subject; a response without one is a text."""
    if view.kind != "response":
        return view.value
    value = json_of(view.value)
    if not isinstance(value, Verdict):
        return value
    if value.outcome == "error":
        raise RecursionError
    return view.value


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
    """Whether a text is in a language; a detector that is not sure says nothing, under `not` neither."""
    try:
        extras.refuse_missing("language")
    except UsageError as error:
        return broken(str(error))
    found = await asyncio.to_thread(extras.language.language_of, text_of(view.text))
    if found is not None:
        return bool(found == test.operand)
    note = Note(f"the language of {shown(view.name) or 'a response'} cannot be told for sure", "not checked")
    return Verdict(outcome="not_applicable", notes=(note,))


def _markdown(test: Test, view: View) -> Found:
    from evalc.check.markdown import has  # noqa: PLC0415 - for start-up: seldom asked for

    part, language = test.operand
    return has(text_of(view.text), part, language)


_ASKED: Final[Mapping[str, Callable[[Test, View], Found | Awaitable[Found]]]] = {
    "exists": lambda _, view: view.value is not MISSING,
    "matches": _matches,
    "similar": similar,
    "markdown": _markdown,
    "language": _language,
    "structure": structure,
    "json": is_json,
    "numbers_from": numbers_from,
    "quotes_from": quotes_from,
    "judge": judged,
    "check": custom,
    "no_errors": calls.no_errors,
    "fails": calls.fails,
}
"""The predicates that need more than a value: the case, the calls, a model, an engine, a schema."""
