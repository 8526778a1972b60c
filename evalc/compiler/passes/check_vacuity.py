"""From the IR to checks that cannot fail, cannot pass, contradict each other, or say what another one says."""

from __future__ import annotations

from collections.abc import Iterator

from evalc.compiler import ir
from evalc.compiler.describe import describe
from evalc.diagnostics.catalogue.vacuity import CannotFail, CannotPass, Contradiction, Repeated
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.ecma.regexp import PatternError, matches_everything, matches_nothing, parse
from evalc.model import checks as c


def check_vacuity(suite: ir.Suite, problems: Diagnostics) -> None:
    """Report the checks of each case that tell nothing."""
    for case in suite.cases:
        for item in case.checks:
            for finding in _alone(item.check):
                problems.add(suite.source, suite.locate(item.where), finding)
        for where, finding in _together(suite, case):
            problems.add(suite.source, suite.locate(where), finding)


def _alone(check: c.Check) -> Iterator[Finding]:
    """What is wrong with a check by itself."""
    shown = f"`{describe(check)}`"
    match check:
        case c.Contains(value="") | c.IContains(value="") | c.StartsWith(value=""):
            yield CannotFail(check=shown, why="every text contains the empty text")
        case c.NotContains(value=""):
            yield CannotPass(check=shown, why="every text contains the empty text")
        case c.ContainsAny(values=values) if "" in values:
            yield CannotFail(check=shown, why="every text contains the empty text")
        case c.ContainsAny(values=()):
            yield CannotPass(check=shown, why="there is nothing to choose from")
        case c.ToolsNotCalled(names=()):
            yield CannotFail(check=shown, why="it names no tool")
        case c.ToolsAcceptable(sets=()):
            yield CannotPass(check=shown, why="no set of tools is acceptable")
        case c.Regex():
            yield from _pattern(check, shown)
        case c.Length() | c.ToolCount():
            yield from _bounds(check, shown)
        case c.Latency(max=0) | c.Tokens(max=0) | c.Cost(max=0):
            yield CannotFail(check=shown, why="a limit of 0 asserts nothing in the contract")
        case _:
            pass


def _pattern(check: c.Regex, shown: str) -> Iterator[Finding]:
    try:
        pattern = parse(check.pattern, check.flags)
    except PatternError:
        return  # reported where the pattern was read
    if matches_everything(pattern):
        yield CannotFail(check=shown, why="the pattern matches every text")
    elif matches_nothing(pattern):
        yield CannotPass(check=shown, why="the pattern matches no text")


def _bounds(check: c.Length | c.ToolCount, shown: str) -> Iterator[Finding]:
    if check.min is not None and check.max is not None and check.min > check.max:
        yield CannotPass(check=shown, why=f"{check.min} is more than {check.max}")
    elif not check.min and check.max is None:
        yield CannotFail(check=shown, why="there are never fewer than 0")


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
