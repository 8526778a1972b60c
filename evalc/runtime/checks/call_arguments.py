"""Checks of the arguments of a tool's calls: of any call, of every one, of the Nth, of none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, final

import msgspec

from evalc.ecma.values import to_string
from evalc.model import checks as c
from evalc.model.answer import ToolCall
from evalc.model.json import MISSING, is_number, is_same, to_json, values_at
from evalc.runtime.checks.texts import matches
from evalc.runtime.checks.token_values import resolved_text, resolved_value, with_texts
from evalc.runtime.checks.verdict import NOT_APPLICABLE, PASSED, Evidence, Verdict, broken, failed, skipped
from evalc.runtime.checks.wording import number, quoted, shown

_MOST_SHOWN: Final = 3


async def call_has(check: c.CallHas, evidence: Evidence) -> Verdict:
    """Look at the calls of one tool; those that a case expects by several checks of `any` are different ones."""
    calls = [call for call in evidence.tool_calls if call.name == check.tool]
    tool = quoted(check.tool)
    try:
        need = await _Need.of(check, evidence, calls)
        if need.open is not None and not _is_decided(check.which, need.reasons):
            return need.open
        if check.which == "any":
            return await _any_call(check, evidence, calls, need)
    except _Undecided as undecided:
        return undecided.verdict
    match check.which:
        case "no":
            fitting = next((index for index, reason in enumerate(need.reasons) if reason is None), None)
            if fitting is None:
                return PASSED
            return failed(f"expected no call of {tool} with {need.words} but call {fitting + 1} has that")
        case "every":
            if not calls:
                return NOT_APPLICABLE
            other = next(((index, reason) for index, reason in enumerate(need.reasons) if reason is not None), None)
            if other is None:
                return PASSED
            return failed(f"expected every call of {tool} with {need.words} but in call {other[0] + 1} {other[1]}")
        case nth:
            if len(calls) < int(nth):
                return failed(f"expected call {nth} of {tool} but {_so_many(len(calls))}")
            reason = need.reasons[int(nth) - 1]
            if reason is None:
                return PASSED
            return failed(f"expected call {nth} of {tool} with {need.words} but {reason}")


def _is_decided(which: str | int, reasons: Sequence[str | None]) -> bool:
    """Whether the calls that are certainly not the required one decide the check, whatever the others are."""
    match which:
        case "any" | "no":
            return bool(reasons) and None not in reasons
        case "every":
            return any(reasons)
        case nth:
            return len(reasons) < int(nth) or reasons[int(nth) - 1] is not None


async def _any_call(check: c.CallHas, evidence: Evidence, calls: Sequence[ToolCall], need: _Need) -> Verdict:
    tool = quoted(check.tool)
    if all(reason is not None for reason in need.reasons):
        found = "; ".join(f"in call {n} {reason}" for n, reason in enumerate(need.reasons[:_MOST_SHOWN], 1))
        return failed(f"expected a call of {tool} with {need.words} but {found or 'it was not called'}")
    rivals = _rivals(check, evidence)
    fits = [need.fits if rival is check else await _calls_taken(rival, evidence, calls) for rival in rivals]
    served = matched(fits)
    if all(index in served for index, rival in enumerate(rivals) if rival is check):
        return PASSED
    return failed(
        f"expected a call of {tool} with {need.words} for itself, but other checks take each of the calls that have "
        f"that: {_so_many(len(calls))}"
    )


async def _calls_taken(rival: c.CallHas, evidence: Evidence, calls: Sequence[ToolCall]) -> tuple[int, ...]:
    """The calls that another check could take for itself: none if it cannot be decided, which its own verdict says."""
    try:
        need = await _Need.of(rival, evidence, calls)
        return need.fits if need.open is None else ()
    except _Undecided:
        return ()


def _rivals(check: c.CallHas, evidence: Evidence) -> list[c.CallHas]:
    """The checks of the case that each take a call of this tool for themselves, in their order.

    A check within a composition takes none, so it does not compete with any other.
    """
    found: Sequence[c.Check] = () if evidence.case is None else evidence.case.expect.checks or ()
    if evidence.turn is not None:
        found = [each.check for each in found if isinstance(each, c.InTurn) and each.turn == evidence.turn]
    return [each for each in found if isinstance(each, c.CallHas) and (each.tool, each.which) == (check.tool, "any")]


def matched(fits: Sequence[Sequence[int]]) -> set[int]:
    """Of expectations and the calls that fit each, those that get a call of their own: as many as possible.

    Of two that want the last call the first gets it, where that leaves as many matched.
    """
    taken: dict[int, int] = {}  # calls, and by whom each is taken
    given: dict[int, int] = {}  # the same the other way round
    for expectation in range(len(fits)):
        asked_by: dict[int, int] = {}
        queue = [expectation]
        free = None
        for each in queue:  # who has a call that this one could have may take another one
            for call in fits[each]:
                if call not in asked_by:
                    asked_by[call] = each
                    if call not in taken:
                        free = call
                        break
                    queue.append(taken[call])
            if free is not None:
                break
        while free is not None:
            each = asked_by[free]
            before = given.get(each)
            taken[free], given[each] = each, free
            free = before
    return set(given)


def _so_many(calls: int) -> str:
    return "it was not called" if not calls else "it was called once" if calls == 1 else f"it was called {calls} times"


# --- one call --------------------------------------------------------------------------------------------------------


@final
class _Undecided(Exception):
    """Whether a call has the arguments is unknown; holds the verdict that says why."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict


class _Need(msgspec.Struct, frozen=True, kw_only=True):
    """The required call, and why each call is not it; None for a call that is.

    Where tokens name nothing, a call without a reason may or may not be it; `open` is the verdict then.
    """

    words: str
    reasons: tuple[str | None, ...]
    open: Verdict | None = None

    @property
    def fits(self) -> tuple[int, ...]:
        return tuple(index for index, reason in enumerate(self.reasons) if reason is None)

    @classmethod
    async def of(cls, check: c.CallHas, evidence: Evidence, calls: Sequence[ToolCall]) -> _Need:
        """
        Raises:
            _Undecided: a pattern cannot be matched.
        """
        unresolved: list[str] = []
        args: dict[str, c.ArgTest] = {}
        for path, test in check.args.items():
            before = len(unresolved)
            resolved = _resolved(test, evidence, unresolved)
            if len(unresolved) == before:
                args[path] = resolved
        named = [(path or "the whole", args.get(path, test)) for path, test in check.args.items()]
        words = shown(", ".join(f"{name} {each}" for name, test in named for each in _words(test)))
        reasons = [await _why_not(call, args) for call in calls]
        verdict = skipped(tuple(unresolved)) if unresolved else None
        return cls(words=words or "any arguments", reasons=tuple(reasons), open=verdict)


async def _why_not(call: ToolCall, args: dict[str, c.ArgTest]) -> str | None:
    for path, test in args.items():
        values = [value for value in values_at(call.params, path) if value is not MISSING]
        if test.exists is not None and bool(values) is not test.exists:
            return f"{shown(path)} {'was sent' if values else 'is missing'}"
        if test == c.ArgTest(exists=test.exists):
            continue
        if not values:
            return f"{shown(path)} is missing"
        if not any([await _holds(value, test) for value in values]):
            return f"{shown(path)} is {shown(', '.join(to_json(value).decode() for value in values))}"
    return None


async def _holds(value: Any, test: c.ArgTest) -> bool:
    """Whether one value is what the test wants."""
    return (
        (test.equals is msgspec.UNSET or is_same(value, test.equals))
        and (test.one_of is None or any(is_same(value, each) for each in test.one_of))
        and (test.contains is None or _contains(value, test.contains))
        and (test.min is None or (is_number(value) and value >= test.min))
        and (test.max is None or (is_number(value) and value <= test.max))
        and (test.matches is None or await _matches(value, test.matches))
    )


async def _matches(value: Any, pattern: str) -> bool:
    verdict = await matches(pattern, "", to_string(value), "it")
    if verdict.outcome == "error":
        raise _Undecided(broken(verdict.message or ""))
    return verdict.outcome == "passed"


def _contains(value: Any, text: str) -> bool:
    if isinstance(value, list):
        return text in value
    return text in to_string(value) if not isinstance(value, dict) else text in value


def _words(test: c.ArgTest) -> Iterator[str]:
    if test.equals is not msgspec.UNSET:
        yield to_json(test.equals).decode()
    if test.contains is not None:
        yield f"containing {quoted(test.contains)}"
    if test.matches is not None:
        yield f"matching /{shown(test.matches)}/"
    if test.one_of is not None:
        yield f"one of {to_json(test.one_of).decode()}"
    if test.min is not None:
        yield f">= {number(test.min)}"
    if test.max is not None:
        yield f"<= {number(test.max)}"
    if test.exists is not None:
        yield "sent" if test.exists else "not sent"


# --- tokens ----------------------------------------------------------------------------------------------------------


def _resolved(test: c.ArgTest, evidence: Evidence, unresolved: list[str]) -> c.ArgTest:
    def text_of(text: str) -> str:
        return resolved_text(text, evidence, unresolved)

    def value_of(text: str) -> Any:
        return resolved_value(text, evidence, unresolved)

    return msgspec.structs.replace(
        test,
        equals=with_texts(test.equals, value_of),
        one_of=None if test.one_of is None else tuple(with_texts(test.one_of, value_of)),
        contains=with_texts(test.contains, text_of),
        matches=with_texts(test.matches, text_of),
    )
