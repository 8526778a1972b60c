"""Promptfoo's scores as checks: where the weighted mean of assertions has to reach a threshold, enough of them hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

from evalc.check.tree import Check, Test, all_of, some_of
from evalc.extras.importers.imported import Unmappable, require
from evalc.model.json import is_number

_MOST_SCORED: Final = 12
_MOST_NAMED: Final = 60
"""How many assertions can have a threshold together, and how often the checks that say it may name them in all."""


class Scored(NamedTuple):
    """A check that adds its weight to a score, or to that of its set, where it holds."""

    check: Check
    weight: float
    is_graded: bool  # in promptfoo it may count in part
    of_set: tuple[int, float] | None = None  # the number of the set, and its weight


def members_of(assertion: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The assertions of a set, each with its metric.

    Raises:
        Unmappable: it has none, or none of them counts.
    """
    members = members_in(assertion)
    require(sum(map(weight_of, members)), "the assertions of the set have no weights")
    metric = {"metric": assertion["metric"]} if "metric" in assertion else {}
    return [{**metric, **each} for each in members]


def enough_of(scored: Sequence[Scored], threshold: float) -> tuple[dict[int, Check], Check | None, list[str]]:
    """The checks that say that enough of these hold: those that all have to, by their numbers, and another.

    With them goes how they differ from promptfoo.

    Raises:
        Unmappable: no composition says it, or only a long one.
    """
    require(0 < threshold <= 1, "promptfoo passes it always, or never")
    if len(scored) == 1 and (alone := _with_least(scored[0].check, threshold)):
        return {0: alone}, None, []
    require(len(scored) <= _MOST_SCORED, f"no composition says it of more than {_MOST_SCORED} assertions")
    indices = range(len(scored))
    sets = [frozenset(each) for size in range(len(scored) + 1) for each in combinations(indices, size)]
    reach = {each for each in sets if _score(scored, each) >= threshold}
    least = [each for each in sets if each in reach and not any(each - {one} in reach for one in each)]
    require(least, "the assertions have no weights")
    needed = frozenset.intersection(*least)
    others = [each - needed for each in least if each > needed]
    require(sum(map(len, others)) <= _MOST_NAMED, "only a long composition says it")
    some = [all_of(scored[index].check for index in sorted(each)) for each in others]
    is_in_part = any(each.is_graded for each in scored)
    why = "in promptfoo a score counts in part, here a check holds or not"
    checks = {index: scored[index].check for index in sorted(needed)}
    return checks, some_of(some) if some else None, [why] if is_in_part else []


def _score(scored: Sequence[Scored], held: frozenset[int]) -> float:
    """The score where these hold, with promptfoo's rounding: sets are added last."""
    sums: dict[tuple[int, float] | None, tuple[float, float]] = {None: (0, 0)}
    for index, each in enumerate(scored):
        reached, most = sums.get(each.of_set, (0, 0))
        sums[each.of_set] = (reached + each.weight * (index in held), most + each.weight)
    reached, most = sums.pop(None)
    for (_, weight), (share, whole) in ((key, value) for key, value in sums.items() if key):
        reached, most = reached + share / whole * weight, most + weight
    return reached / most if most else 0


def _with_least(check: Check, least: float) -> Check | None:
    """A check that is graded, with this threshold; None if it has none."""
    match check:
        case Test("judge", (named, scale, question, _)):
            return Test("judge", (named, scale, question, least))
        case Test("similar", (text, _)):
            return Test("similar", (text, least))
    return None


def members_in(assertion: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The assertions of a set.

    Raises:
        Unmappable: it has none, or they are no assertions.
    """
    given = assertion.get("assert")
    members = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    require(members and members == given, "the set holds no assertions")
    require(all(member.get("type") != "assert-set" for member in members), "promptfoo refuses a set within a set")
    return members


def weight_of(assertion: Mapping[str, Any]) -> float:
    """The weight of an assertion.

    Raises:
        Unmappable: that is no number.
    """
    weight = assertion.get("weight", 1)
    if not is_number(weight) or weight < 0:
        raise Unmappable("its weight is not a number")
    return weight
