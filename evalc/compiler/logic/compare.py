"""Compares the checks of one case: which contradict others, repeat them or follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Final, final

import msgspec

from evalc.base.source import Span
from evalc.check.contract import single_values
from evalc.check.tree import Call, Check, Measure, Of, Test, Tools, Turn
from evalc.compiler import ir
from evalc.compiler.logic.formula import Either, Every, Formula, facts_of, formula_of, negation, there_is
from evalc.compiler.logic.implies import Spoken, always, group_of, implies, is_asked, never
from evalc.diagnostics import Diagnostics, Finding, Severity
from evalc.dsl.nodes import InSource
from evalc.grammar.write_check import describe

_Found = tuple[ir.Where, Finding]
_MOST_FACTS: Final = 200
"""How many facts of a case are compared."""


def compared(suite: ir.Suite, case: ir.Case, problems: Diagnostics) -> dict[ir.Where, Finding]:
    """Report the contradictions of a case; what is redundant in it, by the places of the checks."""
    said = list(_in_written_order(suite, case))
    related = _related(said)
    if not related:
        return {}
    once, repeated = _distinct(said)
    deciding = [said for said in once if said in related and not always(said.formula) and not never(said.formula)]
    near = {said: [other for other in deciding if other in related[said]] for said in deciding}
    contradictions = list(_contradictions(suite, near))
    for where, finding in contradictions:
        at_most: Severity = "warning" if finding.fields["unless"] else suite.gravest
        problems.add(*suite.place(where), finding, row=suite.row_of(case), at_most=at_most)
    found = list(_repetitions(suite, repeated))
    if not contradictions:  # from a contradiction everything would follow
        found += _redundant(suite, near)
    return dict(found)


@final
class _Said(msgspec.Struct, frozen=True, eq=False):
    """A check of a case, what it asserts, the criteria that it counts for, and the fields that it fills alone."""

    item: ir.Check
    formula: Formula
    criteria: frozenset[str | None]
    fields: frozenset[str]


_Near = dict[_Said, list[_Said]]
"""The checks in the order in which they were written, each with those that bear on it."""


def _related(checks: Sequence[_Said]) -> dict[_Said, set[_Said]]:
    """The checks that bear on each other: only those that speak of the same are compared."""
    related: dict[_Said, set[_Said]] = {}
    for (said, spoken), (other, spoken_too) in combinations([(said, Spoken.of(said.formula)) for said in checks], 2):
        if spoken.touches(spoken_too):
            related.setdefault(said, set()).add(other)
            related.setdefault(other, set()).add(said)
    return related


def _contradictions(suite: ir.Suite, near: _Near) -> Iterator[_Found]:
    """The checks that cannot all pass, each reported at the last of them."""
    reported: set[_Said] = set()
    order = list(near)
    for said, others in near.items():
        against = _witnesses(said, negation(said.formula), others)
        if not against:
            continue
        *earlier, last = sorted([said, *against], key=order.index)
        if last not in reported:
            reported.add(last)
            unless = _unless(said, against)
            yield last.item.where, Finding("EV503", check=_shown(last), others=_others(suite, earlier), unless=unless)


def _unless(said: _Said, against: list[_Said]) -> str:
    """Where neither is asked, so that the case can pass all the same; empty if another one asks that both are."""
    group = group_of(said.formula)
    last = None if group is None else group[-1]
    if isinstance(last, Measure):
        return f"the agent does not {'say whether its calls failed' if last.of == 'errors' else 'report its tokens'}"
    if group is None or any(implies(other.formula, there_is(group)) for other in against):
        return ""
    return f"`{last.tool}` is not called" if isinstance(last, Call) else "the list is empty"


def _repetitions(suite: ir.Suite, repeated: list[tuple[_Said, _Said]]) -> Iterator[_Found]:
    for said, earlier in repeated:
        if said.item.where != earlier.item.where and said.fields.isdisjoint(earlier.fields):
            yield said.item.where, Finding("EV504", check=_shown(said), line=suite.line(earlier.item.where))


def _redundant(suite: ir.Suite, near: _Near) -> Iterator[_Found]:
    """The checks that the others imply, the last first: of two that say the same the earlier one stays."""
    dropped: set[_Said] = set()
    for said in reversed(near):
        if _is_guard(said.item.check) or _takes_a_call(said.item.check):
            continue
        others = [other for other in near[said] if other not in dropped]
        if not others:
            continue
        if (call := group_of(said.formula)) and isinstance(call[-1], Call) and call[-1].which == "first":
            not_asked = negation(there_is(call))
            ruling_out = next((other for other in others if implies(other.formula, not_asked)), None)
            if ruling_out is not None:
                other = _others(suite, [ruling_out])
                yield said.item.where, Finding("EV506", check=_shown(said), tool=call[-1].tool, other=other)
                continue
        same = [other for other in others if other.criteria == said.criteria]
        if implying := _witnesses(said, said.formula, same):
            dropped.add(said)
            yield said.item.where, Finding("EV505", check=_shown(said), others=_others(suite, implying))


def _witnesses(said: _Said, target: Formula, others: Iterable[_Said]) -> list[_Said]:
    """The other checks that prove the target, a formula of what this one asserts; none if they do not."""
    if not others or not is_asked(target):
        return []
    return _proving(target, [other for other in others if said.fields.isdisjoint(other.fields)])


def _proving(target: Formula, others: list[_Said]) -> list[_Said]:
    for other in others:
        if implies(other.formula, target):
            return [other]
    match target:
        case Either():
            return next(filter(None, (_proving(part, others) for part in target.parts)), [])
        case Every():
            proofs = [_proving(part, others) for part in target.parts]
            return list(dict.fromkeys(chain.from_iterable(proofs))) if all(proofs) else []
        case _:
            return []


# --- the checks of a case --------------------------------------------------------------------------------------------


def _in_written_order(suite: ir.Suite, case: ir.Case) -> Iterator[_Said]:
    """The checks as they were written, up to the number of facts that are compared."""
    criteria = _criteria(case)
    placed: Iterable[tuple[int, ir.Check]] = enumerate(case.checks)
    if not suite.from_json:  # JSON pointers keep the canonical order
        placed = sorted(placed, key=lambda entry: _place(entry[1].where))
    facts = 0
    for index, item in placed:
        formula = formula_of(item.check)
        facts += len(facts_of(formula))
        if facts > _MOST_FACTS:
            return
        yield _Said(item, formula, criteria.get(index, _UNLINKED), frozenset(_fields(item.check)))


_UNLINKED: Final[frozenset[str | None]] = frozenset({None})


def _place(where: ir.Where) -> tuple[bool, int]:
    """Sort key: checks of included files come first."""
    if isinstance(where, ir.Located):
        return False, where.span.start
    if isinstance(where, str):
        return True, 0
    return True, where.start if isinstance(where, Span) else InSource(where).start


def _criteria(case: ir.Case) -> dict[int, frozenset[str | None]]:
    found: dict[int, frozenset[str | None]] = {}
    for link in case.links:
        for index in link.checks:
            found[index] = found.get(index, frozenset()) | {link.criterion}
    return found


def _distinct(checks: Iterable[_Said]) -> tuple[list[_Said], list[tuple[_Said, _Said]]]:
    """The checks that are said for the first time, and the others, each with the first one."""
    first: dict[tuple[ir.Where, frozenset[str | None]], _Said] = {}
    repeated: list[tuple[_Said, _Said]] = []
    for said in checks:
        # As it is written: 1 is not true, which are equal in Python.
        key = said.item.where if _takes_a_call(said.item.check) else repr(said.item.check)
        earlier = first.setdefault((key, said.criteria), said)
        if earlier is not said:
            repeated.append((said, earlier))
    return list(first.values()), repeated


def _takes_a_call(check: Check) -> bool:
    """Whether the check takes a call for itself, so that the same one again asks for another call, in a turn too."""
    match check:
        case Of(Turn(), inner):
            return _takes_a_call(inner)
        case Of(Call(_, "any")):
            return True
        case _:
            return False


def _is_guard(check: Check) -> bool:
    match check:
        case Test("non_empty") | Of(Tools(), Test("not_called")):
            return True
        case _:
            return False


def _fields(check: Check) -> Iterable[str]:
    """The fields that the check fills and that can hold one value: a second one is an error of its own."""
    match check:
        case Of(Tools(), Test("called" | "acceptable")):
            return ("tools",)
        case Of(Measure(of), Test("between") as test):
            return single_values(Of(Measure(of), test)).values()
        case _:
            return ()


# --- words -----------------------------------------------------------------------------------------------------------


def _shown(said: _Said) -> str:
    return f"`{describe(said.item.check)}`"


def _others(suite: ir.Suite, others: list[_Said]) -> str:
    return " and ".join(f"{_shown(other)} on line {suite.line(other.item.where)}" for other in others)
