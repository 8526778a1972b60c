"""Writes what `evalc challenge` found, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evalc.base.terminal import counted, visible
from evalc.model.reports import CaseStrength, CheckStrength, Strength
from evalc.model.suite import key_of

_MOST_CASES: Final = 20
_MOST_SURVIVORS: Final = 6
_MOST_CHECKS: Final = 20


def weak_cases(strength: Strength) -> list[CaseStrength]:
    """The cases that miss a fault, the weakest first."""
    return sorted((case for case in strength.cases if case.survivors), key=lambda case: case.strength or 0.0)


def idle_checks(strength: Strength) -> list[CheckStrength]:
    """The checks that noticed nothing."""
    return [check for check in strength.checks if not check.killed]


def reasons_not_challenged(strength: Strength) -> Mapping[str, int]:
    """Why cases were not challenged, each reason with the number of its cases."""
    return Counter(each.reason for each in strength.not_challenged)


def strength_lines(strength: Strength) -> Iterator[str]:
    """The report: each kind of fault, the weakest cases with what they missed, the checks that noticed nothing."""
    yield from _by_challenger(strength)
    yield from _cases(weak_cases(strength))
    yield from _criteria(strength)
    yield from _idle_checks(idle_checks(strength))
    yield from _not_challenged(strength)
    yield _closing(strength)


def _by_challenger(strength: Strength) -> Iterator[str]:
    if not strength.challengers:
        return
    yield "Faults noticed:"
    width = max(len(each.name) for each in strength.challengers)
    for each in strength.challengers:
        yield f"  {each.name:<{width}}  {each.killed} of {each.mutants}"
    yield ""


def _cases(weak: Sequence[CaseStrength]) -> Iterator[str]:
    if not weak:
        return
    yield "Faults missed:"
    for case in weak[:_MOST_CASES]:
        where = "" if case.place is None else f"  {visible(str(case.place))}"
        yield f"  {visible(case.id)}: {case.killed} of {case.mutants} noticed{where}"
        for survivor in case.survivors[:_MOST_SURVIVORS]:
            yield f"    {survivor.challenger}: {visible(survivor.difference)}"
            if survivor.line is not None:
                yield f"      would notice it: {visible(survivor.line)}"
        if len(case.survivors) > _MOST_SURVIVORS:
            yield f"    and {len(case.survivors) - _MOST_SURVIVORS} more"
    if len(weak) > _MOST_CASES:
        yield f"  and {counted(len(weak) - _MOST_CASES, 'more case')}; `--json` lists them all"
    yield ""


def _criteria(strength: Strength) -> Iterator[str]:
    if not strength.criteria:
        return
    yield "Criteria:"
    for each in strength.criteria:
        suite = visible(key_of(each).title())
        yield f"  {visible(each.name)}: its checks noticed {each.killed} of {each.mutants} in {suite}"
    yield ""


def _idle_checks(idle: Sequence[CheckStrength]) -> Iterator[str]:
    if not idle:
        return
    yield "Checks that noticed nothing:"
    for check in idle[:_MOST_CHECKS]:
        where = f"{visible(check.id)} {check.at}" if check.place is None else visible(str(check.place))
        yield f"  {where}: {visible(check.check)}"
    if len(idle) > _MOST_CHECKS:
        yield f"  and {len(idle) - _MOST_CHECKS} more; `--json` lists them all"
    yield ""


def _not_challenged(strength: Strength) -> Iterator[str]:
    for reason, cases in reasons_not_challenged(strength).items():
        yield f"{counted(cases, 'case')} not challenged: {visible(reason)}"
    for warning in strength.warnings:
        yield f"warning: {visible(warning)}"


def _closing(strength: Strength) -> str:
    if strength.strength is None:
        return "nothing was challenged"
    undecided = f"; {strength.undecided} more could not be decided" if strength.undecided else ""
    noticed = f"{strength.killed} of {strength.mutants} faults noticed"
    return f"strength {strength.strength:.2f}: {noticed} in {counted(len(strength.cases), 'case')}{undecided}"
