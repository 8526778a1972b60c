"""Tests one predicate of a subject: fills the operand's tokens, and selects the value to compare."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from evalc import extras
from evalc.base.errors import UsageError
from evalc.check.predicates import HOLDS, Role, in_all, in_any, mapped
from evalc.check.texts import NotJson, has, headings, parse, parse_leniently, plain
from evalc.check.tree import Blank, Bounds, Call, Test
from evalc.check.values import CannotAsk, is_a, is_text, text_of, type_of
from evalc.ecma import UNDEFINED, Unresolved, find_tokens, resolve, walk
from evalc.ecma.regexp import compile_pattern, test_async
from evalc.ecma.regexp.nodes import PatternError, RegexpError, RegexpTimeout
from evalc.model.json import MISSING, is_number, only_key, values_at
from evalc.model.result import TextFinding
from evalc.runtime.checks import words
from evalc.runtime.checks.custom import custom
from evalc.runtime.checks.judged import judged
from evalc.runtime.checks.similarity import similar
from evalc.runtime.checks.subjects import SILENT, TOO_DEEP, cannot, errors
from evalc.runtime.checks.verdict import (
    NOT_APPLICABLE,
    PASSED,
    Evidence,
    Found,
    NoAnswer,
    Note,
    Verdict,
    View,
    broken,
    failed,
    skipped,
    unknown,
    unresolved_notes,
)
from evalc.runtime.checks.words import listed, quoted, shown

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
    return msgspec.structs.replace(verdict, skipped_tokens=dropped, notes=notes, finding=None, verifies=True)


def _verdict(found: Found, test: Test, written: Test, view: View, negated: bool) -> Verdict:
    """The verdict for an answer; `written` is the test before its tokens were filled."""
    if isinstance(found, Verdict):
        if not negated or found.outcome not in ("passed", "failed"):  # what is not known stays so
            return found
        if found.outcome == "failed":
            return msgspec.structs.replace(PASSED, notes=found.notes)
        return msgspec.structs.replace(failed(words.failure(test, view, negated=True)), notes=found.notes)
    if (found is True) is negated:
        message = found if isinstance(found, str) else words.failure(test, view, negated=negated)
        if isinstance(found, str) and view.name and view.kind != "names":
            message = f"{shown(view.name)}: {found}"
        return failed(message, _finding(test, view, negated))
    if found is True and _is_of_nothing(test) and (text := next(filter(None, _members(written)), "")):
        note = Note(f"{text} resolves to an empty text", "passed whatever the answer is")
        return msgspec.structs.replace(PASSED, verifies=False, notes=(note,))
    return PASSED


def _asks_of_nothing(test: Test, view: View, negated: bool) -> bool:
    """Whether a check can be asked of a missing value: `exists`, and what a field of the contract checks.

    To the contract, an argument that was not sent is the text `undefined`, except under `not`.
    """
    if view.value is not MISSING:
        return False
    if test.predicate == "exists":
        return True
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
    try:
        operand = _with_numbers(changed.operand, test.predicate == "within")
    except NotJson:
        raise NoAnswer(broken(f"{words.in_words(test.operand)} does not name a number")) from None
    return msgspec.structs.replace(test, operand=operand)


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
    number = parse(value) if isinstance(value, str) else value
    if value is None or is_number(number):
        return number
    raise NotJson("it is not a number")


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
    """The JSON value of a subject; a response without one is a text."""
    if view.kind != "response":
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
    if evidence.stubs is None:
        return failing is None or f"expected no failing tool call but {quoted(failing.name)} failed"
    if failing is not None and failing.name in evidence.stubs:
        found = quoted(failing.arguments or "")
        return f"expected a JSON object as arguments of {quoted(failing.name)} but got {found}"
    fact = "noToolErrors: the case has stubs, and the agent runs its tools itself"
    notes = (Note(fact, "checked by the names of the stubs"),) if evidence.tool_mode == "executed" else ()
    if failing is None:
        return msgspec.structs.replace(PASSED, notes=notes)
    message = f"expected only tools with a stub but {quoted(failing.name)} has none"
    return Verdict(outcome="failed", message=message, notes=notes)


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
            return words.not_json(error, text)
        for path, type_ in fields:
            if message := _wrong(document, path, type_):
                return message
    found = headings(text) if expected else []
    present = {heading.casefold() for heading in found}
    missing = [heading for heading in expected if plain(heading).casefold() not in present]
    return not missing or f"expected headings {listed(missing)} but found {listed(found) or 'none'}"


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
    "markdown": lambda test, view: has(text_of(view.text), *test.operand),
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
