"""Reports checks that contradict others of their case, or that the others imply.

Each finding holds for every answer of an agent whose tokens resolve. What one check says alone is `check_vacuity`'s.
A contradiction counts across criteria, because a case passes when every check does. A check that others imply is
redundant only where it counts for the same criteria as they do: a criterion's score is the share of its own checks.
`non-empty` and `tools not called` are guards: they come first and say plainly what went wrong, so they may be implied.
One that several cases share (by `defaults`, `use` or `for_each`) is redundant only where it is so in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, final

import msgspec

from evalc.base.source import Span
from evalc.compiler import ir
from evalc.compiler.logic.formulas import All, CallsTool, Fact, Formula, OfParam, Some, is_certain, negation, size
from evalc.compiler.logic.implies import always, implies, never, touches
from evalc.compiler.logic.read_check import formula_of
from evalc.compiler.patterns import examine
from evalc.diagnostics.problem import Diagnostics, Finding, Severity
from evalc.model import checks as c
from evalc.model.checks.declaration import members
from evalc.model.json import to_json

_Found = tuple[ir.Where, Finding]
_MOST_FACTS: Final = 200
_TOOLS: Final = (c.ToolsCalled, c.ToolsAcceptable)
_ONE_A_CASE: Final = (*_TOOLS, c.Latency, c.Tokens, c.Cost)
_GUARDS: Final = (c.NonEmpty, c.ToolsNotCalled)
_BY_THEMSELVES: Final = frozenset(
    (c.Latency, c.Cost, c.Tokens, c.NoToolErrors, c.Judge, c.Custom, c.NumbersFrom, c.QuotesFrom)
)
"""The kinds of checks that imply nothing of checks of another kind, and are not implied by them."""

_OF_CALLS: Final = frozenset(kind for kind in members(c.ToolCheck) if kind is not c.NoToolErrors)
"""The kinds that may imply each other, and nothing else."""


@final
class Contradictions:
    """Reports the checks of each case that contradict, repeat or imply each other; the cases come in pieces."""

    def __init__(self) -> None:
        self._redundant: dict[ir.Where, Finding] = {}
        self._deciding: set[ir.Where] = set()  # what decides something in some case

    def check(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report the contradictions within cases, and remember what is redundant in them."""
        for case in suite.cases:
            places = [item.where for item in case.checks]
            if not are_unrelated([item.check for item in case.checks]) and _may_be_related(case):
                found = _within(suite, case, problems)
                for where, finding in found.items():
                    self._redundant.setdefault(where, finding)
                places = [where for where in places if where not in found]
            self._deciding.update(places)

    def finish(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report what is redundant in all the cases that have a check from there."""
        for where, finding in self._redundant.items():
            if where not in self._deciding:
                problems.add(*suite.place(where), finding)


def _within(suite: ir.Suite, case: ir.Case, problems: Diagnostics) -> dict[ir.Where, Finding]:
    """Report the contradictions of a case; what is redundant in it, by the places of the checks."""
    once, repeated = _distinct(_in_written_order(suite, case))
    deciding = [said for said in once if not always(said.formula) and not never(said.formula)]
    contradictions = list(_contradictions(suite, deciding))
    for where, finding in contradictions:
        # A case can pass whose tool is not called.
        can_pass = finding.code == "EV503" and finding.fields["tool"]
        at_most: Severity = "warning" if can_pass else suite.gravest
        problems.add(*suite.place(where), finding, row=suite.row_of(case), at_most=at_most)
    found = list(_repetitions(suite, repeated))
    if not contradictions:  # from a contradiction everything would follow
        found += _redundant(suite, deciding)
    return dict(found)


@final
class _Said(msgspec.Struct, frozen=True, eq=False):
    """A check of a case, what it asserts, and the criteria that it counts for."""

    item: ir.Check
    formula: Formula
    criteria: frozenset[str | None]


def _contradictions(suite: ir.Suite, checks: list[_Said]) -> Iterator[_Found]:
    """The checks that cannot all pass, each reported at the last of them."""
    reported: set[_Said] = set()
    for said in checks:
        against = _witnesses(said, negation(said.formula), [other for other in checks if other is not said])
        if not against:
            continue
        *earlier, last = sorted([said, *against], key=checks.index)
        if last not in reported:
            reported.add(last)
            tool = said.formula.tool if isinstance(said.formula, OfParam) else ""
            yield last.item.where, Finding("EV503", check=_shown(last), others=_others(suite, earlier), tool=tool)


def _repetitions(suite: ir.Suite, repeated: list[tuple[_Said, _Said]]) -> Iterator[_Found]:
    for said, earlier in repeated:
        if said.item.where != earlier.item.where and not _is_asserted_twice(said.item.check, earlier.item.check):
            yield said.item.where, Finding("EV504", check=_shown(said), line=suite.line(earlier.item.where))


def _redundant(suite: ir.Suite, checks: list[_Said]) -> Iterator[_Found]:
    """The checks that the others imply, the last first: of two that say the same the earlier one stays."""
    kept = list(checks)
    for said in reversed(checks):
        if isinstance(said.item.check, _GUARDS) or _takes_a_call(said.item.check):
            continue
        others = [other for other in kept if other is not said]
        if isinstance(said.formula, OfParam):
            tool = said.formula.tool
            not_called = Fact(CallsTool(tool), False)
            ruling_out = next((other for other in others if implies(other.formula, not_called)), None)
            if ruling_out is not None:
                yield (
                    said.item.where,
                    Finding("EV506", check=_shown(said), tool=tool, other=_others(suite, [ruling_out])),
                )
                continue
        same = [other for other in others if other.criteria == said.criteria]
        if implying := _witnesses(said, said.formula, same):
            kept.remove(said)
            yield said.item.where, Finding("EV505", check=_shown(said), others=_others(suite, implying))


def _witnesses(said: _Said, target: Formula, others: Iterable[_Said]) -> list[_Said]:
    """The other checks that prove the target, a formula of what this one asserts; none if they do not."""
    if not isinstance(target, Fact | OfParam) and not is_certain(target):
        return []
    return _proving(target, [other for other in others if not _is_asserted_twice(said.item.check, other.item.check)])


def _proving(target: Formula, others: list[_Said]) -> list[_Said]:
    for other in others:
        if implies(other.formula, target):
            return [other]
    match target:
        case Some():
            return next(filter(None, (_proving(part, others) for part in target.parts)), [])
        case All():
            proofs = [_proving(part, others) for part in target.parts]
            return list(dict.fromkeys(chain.from_iterable(proofs))) if all(proofs) else []
        case _:
            return []


# --- which checks are compared ---------------------------------------------------------------------------------------


def _may_be_related(case: ir.Case) -> bool:
    """Whether there is anything to find by formulas, looked at two by two."""
    formulas = [formula_of(item.check) for item in case.checks[:_MOST_FACTS]]
    for at, formula in enumerate(formulas):
        for other in formulas[:at]:
            if touches(other, formula):
                return True
    return False


def _in_written_order(suite: ir.Suite, case: ir.Case) -> Iterator[_Said]:
    """The checks as they were written, up to the number of facts that are compared."""
    criteria = _criteria(case)
    placed: Iterable[tuple[int, ir.Check]] = enumerate(case.checks)
    if not suite.from_json:  # JSON pointers keep the canonical order
        placed = sorted(placed, key=lambda entry: _place(entry[1].where))
    facts = 0
    for index, item in placed:
        formula = formula_of(item.check)
        facts += 1 if type(formula) is Fact else size(formula)
        if facts > _MOST_FACTS:
            return
        yield _Said(item, formula, criteria.get(index, _UNLINKED))


_UNLINKED: Final[frozenset[str | None]] = frozenset({None})


def _place(where: ir.Where) -> tuple[bool, int]:
    """Sort key: checks of included files come first."""
    if isinstance(where, ir.Located):
        return False, where.span.start
    return True, where.start if isinstance(where, Span) else 0


def _criteria(case: ir.Case) -> dict[int, frozenset[str | None]]:
    found: dict[int, frozenset[str | None]] = {}
    for link in case.links:
        for index in link.checks:
            found[index] = found.get(index, frozenset()) | {link.criterion}
    return found


def _distinct(checks: Iterable[_Said]) -> tuple[list[_Said], list[tuple[_Said, _Said]]]:
    """The checks that are said for the first time, and the others, each with the first one."""
    first: dict[tuple[bytes | ir.Where, frozenset[str | None]], _Said] = {}
    repeated: list[tuple[_Said, _Said]] = []
    for said in checks:
        # As JSON, in which 1 is not true; in Python they are equal.
        key = said.item.where if _takes_a_call(said.item.check) else to_json(said.item.check)
        earlier = first.setdefault((key, said.criteria), said)
        if earlier is not said:
            repeated.append((said, earlier))
    return list(first.values()), repeated


def _takes_a_call(check: c.Check) -> bool:
    """Whether the check takes a call for itself, so that the same one again asks for another call, in a turn too."""
    check = check.check if isinstance(check, c.InTurn) else check
    return isinstance(check, c.CallHas) and check.which == "any"


def _is_asserted_twice(check: c.Check, other: c.Check) -> bool:
    """Whether both fill a field that can hold one value, which is an error of its own (EV402, EV412)."""
    if isinstance(check, _ONE_A_CASE):
        return type(check) is type(other) or (isinstance(check, _TOOLS) and isinstance(other, _TOOLS))
    if isinstance(check, c.Length) and isinstance(other, c.Length):
        return check.unit == other.unit and _share_a_bound(check, other)
    return isinstance(check, c.ToolCount) and isinstance(other, c.ToolCount) and _share_a_bound(check, other)


def _share_a_bound(one: c.Length | c.ToolCount, other: c.Length | c.ToolCount) -> bool:
    return None not in (one.min, other.min) or None not in (one.max, other.max)


# --- words -----------------------------------------------------------------------------------------------------------


def _shown(said: _Said) -> str:
    from evalc.compiler.spelling import describe  # noqa: PLC0415 - for start-up: only for what is found

    return f"`{describe(said.item.check)}`"


def _others(suite: ir.Suite, others: list[_Said]) -> str:
    return " and ".join(f"{_shown(other)} on line {suite.line(other.item.where)}" for other in others)


def are_unrelated(checks: Iterable[c.Check]) -> bool:
    """Whether no check contradicts, repeats or implies another one for certain; `False` means "not known"."""
    once: set[object] = set()
    spoken_of: list[str] = []
    length: c.Length | None = None
    for check in checks:
        kind = type(check)
        texts = _texts(check)
        if texts is None:
            if isinstance(check, c.Length):
                length = check
            elif kind not in _BY_THEMSELVES and kind not in _OF_CALLS and kind is not c.NonEmpty:
                return False
            group = _OF_CALLS if kind in _OF_CALLS else kind
            if group in once:
                return False
            once.add(group)
            continue
        for text in texts:
            for other in spoken_of:
                if text in other or other in text:
                    return False
        spoken_of += texts
    return length is None or _is_for_itself(length, spoken_of, non_empty=c.NonEmpty in once)


def _is_for_itself(length: c.Length, texts: Iterable[str], *, non_empty: bool) -> bool:
    """Whether none of the texts is too long for the most that is allowed, or brings the least that is asked for."""
    if length.unit != "chars":
        return False
    least, most = length.min or 0, length.max
    if most is None:
        return least > non_empty and all(len(text) < least for text in texts)
    return most >= 1 and all(len(text) <= most for text in texts)


def _texts(check: c.Check) -> tuple[str, ...] | None:
    """The texts: if two checks bear on each other, a text of one contains a text of the other; None if unsure."""
    match check:
        case c.Contains() | c.NotContains():
            return None if "{{" in check.value else (check.value,)
        case c.Regex():
            examined = examine(check.pattern, check.flags)
            return None if "i" in check.flags or examined.literal else examined.required or None
        case c.ContainsAny():
            return None if not check.values or any("{{" in value for value in check.values) else check.values
        case _:
            return None
