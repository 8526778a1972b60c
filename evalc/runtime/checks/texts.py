"""Checks of the response's text: contains and its kin, equals, starts_with, non_empty, length.

The texts of `contains`, `not_contains`, `icontains`, `contains_any`, `equals` and `starts_with` may hold tokens
(contract, Token Locations).
"""

from __future__ import annotations

from typing import Final, Literal

from evalc.ecma.regexp import PatternError, RegexpError, RegexpTimeout, compile_pattern, test_async
from evalc.ecma.text import length_of, trim
from evalc.ecma.tokens import Unresolved, resolve
from evalc.model import checks as c
from evalc.model.result import TextFinding
from evalc.runtime.checks.verdict import (
    PASSED,
    Evidence,
    Note,
    Verdict,
    broken,
    failed,
    passed_with,
    skipped,
    unresolved_notes,
)
from evalc.runtime.checks.wording import SHOWN, listed, quoted, shown

_LONGEST_FINDING: Final = 1_000
_EMPTY_GROUP: Final = Verdict(
    outcome="skipped",
    message="the group is empty",
    notes=(Note("a group of alternatives is empty", "skipped"),),
)


def contains(check: c.Contains, evidence: Evidence) -> Verdict:
    """Contract, 4. responseContains."""
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    if value in evidence.response:
        return passed_with(value, check.value)
    return failed(f"expected {quoted(value)} in response but not found", _finding("missing", value))


def not_contains(check: c.NotContains, evidence: Evidence) -> Verdict:
    """Contract, 6. responseNotContains."""
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    if value not in evidence.response:
        return PASSED
    return failed(f'found "{shown(value)}" in response', _finding("forbidden", value))


def icontains(check: c.IContains, evidence: Evidence) -> Verdict:
    """The value and the response, both case-folded."""
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    if value.casefold() in evidence.response.casefold():
        return passed_with(value, check.value)
    message = f"expected {quoted(value)} in response, ignoring case, but not found"
    return failed(message, _finding("missing", value))


def contains_any(check: c.ContainsAny, evidence: Evidence) -> Verdict:
    """Contract, 5. responseContainsAny: unresolved members leave the group, and an empty group is skipped."""
    values, unresolved = resolved_members(check.values, evidence)
    if not values:
        return skipped(unresolved) if unresolved else _EMPTY_GROUP
    if any(value in evidence.response for value in values):
        empty = next((written for written in check.values if written), "")
        verdict = passed_with("" if "" in values else "x", empty)
    else:
        verdict = failed(f"expected one of {listed(values)} in response but found none")
    return with_dropped(verdict, unresolved)


def equals(check: c.Equals, evidence: Evidence) -> Verdict:
    """The whole response, to the character."""
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    if value == evidence.response:
        return PASSED
    message = f"expected response to equal {quoted(value)} but got {quoted(evidence.response)}"
    return failed(message, _finding("differs", value))


def starts_with(check: c.StartsWith, evidence: Evidence) -> Verdict:
    """The beginning of the response, to the character."""
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    if evidence.response.startswith(value):
        return passed_with(value, check.value)
    message = f"expected response to start with {quoted(value)} but got {quoted(evidence.response)}"
    return failed(message, _finding("differs", value))


def ends_with(check: c.EndsWith, evidence: Evidence) -> Verdict:
    """The end of the response, to the character."""
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    if evidence.response.endswith(value):
        return passed_with(value, check.value)
    return failed(f"expected response to end with {quoted(value)} but got {quoted(_end_of(evidence.response))}")


def _finding(kind: Literal["missing", "forbidden", "differs"], text: str) -> TextFinding | None:
    """The finding about a text; None of one too long to be sought again by a report."""
    return TextFinding(kind=kind, text=text) if len(text) <= _LONGEST_FINDING else None


def _end_of(text: str) -> str:
    """As much of the end of a text as a message shows."""
    return text if len(text) <= SHOWN else f"…{text[1 - SHOWN :]}"


def non_empty(evidence: Evidence) -> Verdict:
    """Contract, 4. responseNonEmpty."""
    if trim(evidence.response):
        return PASSED
    what = "is only white space" if evidence.response else "is empty"
    return failed(f"expected a response but it {what}")


def length(check: c.Length, evidence: Evidence) -> Verdict:
    """The response's length in the check's unit, both bounds inclusive."""
    return within(length_of(evidence.response, check.unit), check.min, check.max, check.unit)


def within(count: int, lowest: int | None, highest: int | None, things: str) -> Verdict:
    """Whether a count of `things` lies in its bounds."""
    if lowest is not None and count < lowest:
        return failed(f"expected at least {lowest} {things} but got {count}")
    if highest is not None and count > highest:
        return failed(f"expected at most {highest} {things} but got {count}")
    return PASSED


def resolved_members(values: tuple[str, ...], evidence: Evidence) -> tuple[list[str], tuple[str, ...]]:
    """The members of a group with their tokens filled, and the unresolved tokens of those that leave it."""
    kept: list[str] = []
    unresolved: list[str] = []
    for value in values:
        member = resolve(value, evidence.seed, evidence.snapshot)
        if isinstance(member, Unresolved):
            unresolved += member.tokens
        else:
            kept.append(member)
    return kept, tuple(unresolved)


def with_dropped(verdict: Verdict, unresolved: tuple[str, ...]) -> Verdict:
    """The verdict on what is left of a group, and the tokens of what left it."""
    if not unresolved:
        return verdict
    return Verdict(
        outcome=verdict.outcome,
        message=verdict.message,
        skipped_tokens=unresolved,
        score=verdict.score,
        notes=unresolved_notes(unresolved, "checked without it"),
    )


async def regex(check: c.Regex, evidence: Evidence) -> Verdict:
    """Contract, 7. responseMatches."""
    return await matches(check.pattern, check.flags, evidence.response, "response")


async def matches(pattern: str, flags: str, text: str, name: str) -> Verdict:
    """`new RegExp(pattern, flags).test(text)`; `name` is what messages call the text."""
    try:
        found = await test_async(compile_pattern(pattern, flags), text)
    except RegexpTimeout as error:
        return broken(f"/{shown(pattern)}/{flags} ran longer than {error.timeout:g} s")
    except PatternError as error:
        return broken(f"/{shown(pattern)}/{flags} is not a regular expression: {shown(str(error))}")
    except RegexpError as error:
        return broken(f"/{shown(pattern)}/{flags} gave no answer: {shown(str(error))}")
    if found:
        return PASSED
    return failed(f"expected {name} to match /{shown(pattern)}/{flags} but got {quoted(text)}")
