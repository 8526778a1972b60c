"""From the criteria of paired cases to what the scores changed by: each criterion's mean, and the suite's score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import final

import msgspec

from evalc.compare.means import difference
from evalc.compare.past import ComparedCase, Pair, WeightedCriterion
from evalc.model.comparison import CriterionDifference, Difference


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """A criterion over the cases that it has a score for in both runs: by the case's number, then and now."""

    name: str
    weight: float
    scores: dict[int, tuple[float, float]]

    @property
    def before(self) -> float:
        return fmean(old for old, _ in self.scores.values())

    @property
    def after(self) -> float:
        return fmean(new for _, new in self.scores.values())

    def changes(self) -> dict[int, float]:
        return {number: new - old for number, (old, new) in self.scores.items()}


def compare_scores(
    pairs: Sequence[Pair], criteria: Sequence[WeightedCriterion]
) -> tuple[Difference | None, tuple[CriterionDifference, ...]]:
    """The difference of the suite's score and of each criterion; weights are those of the later run.

    None and nothing where the runs have no scored criterion in common.
    """
    scored = list(_scored(pairs, criteria))
    return _suite(scored), tuple(map(_criterion, scored))


def _scored(pairs: Sequence[Pair], criteria: Sequence[WeightedCriterion]) -> Iterator[_Scored]:
    by_case = [(_scores(pair.before), _scores(pair.after)) for pair in pairs]
    for criterion in criteria:
        scores = {
            number: (old[criterion.name], new[criterion.name])
            for number, (old, new) in enumerate(by_case)
            if criterion.name in old and criterion.name in new
        }
        if scores:
            yield _Scored(name=criterion.name, weight=criterion.weight, scores=scores)


def _scores(case: ComparedCase) -> dict[str, float]:
    return {criterion.name: criterion.score for criterion in case.criteria if criterion.score is not None}


def _criterion(scored: _Scored) -> CriterionDifference:
    changes = list(scored.changes().values())
    found = difference(scored.before, scored.after, changes, changed=sum(change != 0 for change in changes))
    return CriterionDifference(name=scored.name, **msgspec.structs.asdict(found))


def _suite(criteria: Sequence[_Scored]) -> Difference | None:
    """The suite's score is the weighted mean of its criteria's means, each over the cases that it scores.

    A case's contribution is what it moves that score by (its influence): for each criterion that scores it, by how
    much it changed beyond the criterion's mean, times weight x cases / cases of the criterion. The contributions'
    mean is the difference of the scores.
    """
    weights = sum(scored.weight for scored in criteria)
    if weights <= 0:
        return None
    before = sum(scored.weight * scored.before for scored in criteria) / weights
    after = sum(scored.weight * scored.after for scored in criteria) / weights
    contributions = dict.fromkeys(sorted({number for scored in criteria for number in scored.scores}), after - before)
    changed = set()
    for scored in criteria:
        mean = scored.after - scored.before
        factor = scored.weight / weights * len(contributions) / len(scored.scores)
        for number, change in scored.changes().items():
            contributions[number] += factor * (change - mean)
            if change and scored.weight:
                changed.add(number)
    return difference(before, after, list(contributions.values()), changed=len(changed))
