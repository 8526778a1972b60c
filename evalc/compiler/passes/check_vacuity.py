"""From the IR to checks that cannot fail, cannot pass, contradict each other, or say what another one says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evalc.compiler import ir
from evalc.compiler.describe import describe
from evalc.compiler.patterns import examine
from evalc.diagnostics.catalogue.vacuity import CannotFail, CannotPass, Contradiction, Repeated
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.model import checks as c


def check_vacuity(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report the checks of each case that tell nothing."""
    for case in suite.cases:
        for item in case.checks:
            for finding in _alone(item.check):
                problems.add(suite.source, suite.locate(item.where), finding)
        for where, finding in _together(suite, case):
            problems.add(suite.source, suite.locate(where), finding)


class _Verdict(NamedTuple):
    """What every run says of a check, and why."""

    passes: bool
    why: str


def _alone(check: c.Check) -> Iterator[Finding]:
    """What is wrong with a check by itself."""
    verdict = _verdict(check)
    if verdict is not None:
        finding = CannotFail if verdict.passes else CannotPass
        yield finding(check=f"`{describe(check)}`", why=verdict.why)


_EMPTY_TEXT = "every text contains the empty text"
_BELOW_ZERO = "nothing is less than 0"
_NEVER_BELOW = "no score is less than 0"
_ABOVE_ONE = "no similarity is more than 1, and 80 percent is 0.8"


def _verdict(check: c.Check) -> _Verdict | None:  # noqa: C901 - one arm a check
    """The verdict on a check that needs no run; None for a check worth making."""
    match check:
        case c.Contains(value="") | c.IContains(value="") | c.StartsWith(value=""):
            return _Verdict(True, _EMPTY_TEXT)
        case c.NotContains(value=""):
            return _Verdict(False, _EMPTY_TEXT)
        case c.ContainsAny(values=values) if "" in values:
            return _Verdict(True, _EMPTY_TEXT)
        case c.ContainsAny(values=()):
            return _Verdict(False, "there is nothing to choose from")
        case c.ToolsNotCalled(names=()):
            return _Verdict(True, "it names no tool")
        case c.ToolsAcceptable(sets=()):
            return _Verdict(False, "no set of tools is acceptable")
        case c.ToolParam(assertion="contains", value=""):
            return _Verdict(True, _EMPTY_TEXT)
        case c.ToolParam(assertion="oneOf", value=()):
            return _Verdict(False, "there is nothing to choose from")
        case c.ToolParam(assertion="matches", value=str() as pattern) if "{{" not in pattern:
            return _of_pattern(pattern, "")
        case c.Regex():
            return _of_pattern(check.pattern, check.flags)
        case c.Structure(fields=(), headings=()):
            return _Verdict(True, "it asks for no field and no heading")
        case c.Length() | c.ToolCount():
            return _of_bounds(check)
        case c.Latency(max=limit) | c.Tokens(max=limit) | c.Cost(max=limit) if limit <= 0:
            return _Verdict(False, _BELOW_ZERO) if limit else _Verdict(True, "a limit of 0 asserts nothing")
        case c.Similar(threshold=threshold) if not 0 < threshold <= 1:
            return _Verdict(False, _ABOVE_ONE) if threshold > 1 else _Verdict(True, _NEVER_BELOW)
        case c.Judge(min_score=int() | float() as least, max_score=scale) if not 0 < least <= scale:
            return (
                _Verdict(False, f"{least:g} is more than {scale:g}") if least > scale else _Verdict(True, _NEVER_BELOW)
            )
        case c.AnyOf(checks=checks):
            return _of_choice(checks, decisive=True)
        case c.AllOf(checks=checks):
            return _of_choice(checks, decisive=False)
        case c.Not(check=inner):
            verdict = _verdict(inner)
            return None if verdict is None else verdict._replace(passes=not verdict.passes)
        case c.At(check=inner):  # the place may be missing, so an `at` can always fail
            verdict = _verdict(inner)
            return None if verdict is None or verdict.passes else verdict
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


def _of_bounds(check: c.Length | c.ToolCount) -> _Verdict | None:
    if check.min is not None and check.max is not None and check.min > check.max:
        return _Verdict(False, f"{check.min} is more than {check.max}")
    if check.max is not None:
        return _Verdict(False, _BELOW_ZERO) if check.max < 0 else None
    return None if check.min and check.min > 0 else _Verdict(True, "there are never fewer than 0")


def _of_choice(checks: tuple[c.Check, ...], *, decisive: bool) -> _Verdict | None:
    """The verdict on `or` (one that passes is decisive) and on `and` (one that fails is)."""
    verdicts = [_verdict(check) for check in checks]
    known = [verdict for verdict in verdicts if verdict is not None]
    settled = next((verdict for verdict in known if verdict.passes is decisive), None)
    if settled is None and known and len(known) == len(verdicts):
        return known[0]
    return settled


def _together(suite: ir.Suite, case: ir.Case) -> Iterator[tuple[ir.Where, Finding]]:
    """What is wrong with checks beside each other: the same twice, or one and its opposite."""
    seen: dict[c.Check, ir.Check] = {}
    contained: dict[str, ir.Check] = {}
    for item in case.checks:
        key = _hashable(item.check)
        if key is None:
            continue
        earlier = seen.setdefault(key, item)
        if earlier is not item and earlier.where != item.where:
            line = _line(suite, earlier)
            yield item.where, Repeated(check=f"`{describe(item.check)}`", line=line)
        if isinstance(item.check, c.Contains):
            contained.setdefault(item.check.value, item)
        elif isinstance(item.check, c.NotContains):
            opposite = _containing(contained, item.check.value)
            if opposite is not None:
                other = f"`{describe(opposite.check)}`"
                finding = Contradiction(check=f"`{describe(item.check)}`", other=other, line=_line(suite, opposite))
                yield item.where, finding


def _containing(contained: dict[str, ir.Check], value: str) -> ir.Check | None:
    """The required text that contains a forbidden one."""
    if not value or "{{" in value:
        return contained.get(value)
    return next((item for text, item in contained.items() if value in text), None)


def _hashable(check: c.Check) -> c.Check | None:
    try:
        hash(check)
    except TypeError:
        return None
    return check


def _line(suite: ir.Suite, item: ir.Check) -> int:
    return suite.source.position(suite.locate(item.where).start).line
