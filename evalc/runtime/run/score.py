"""Scores criteria, cases, suites and runs.

Scores are rounded to twelve decimals, so that 0.1 + 0.2 compares with a threshold of 0.3 as its author means it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from evalc.check.contract import PAIRS
from evalc.compare.totals import DECIMALS, weighted_mean
from evalc.model.case import Case, CheckLink, Criterion
from evalc.model.numbers import rounded
from evalc.model.result import CriterionResult, JudgedScore, ScoredBy
from evalc.runtime.checks import Verdict

EXPECTED: Final = "/expected"
"""The pointer of the assertion that a case's `expected` makes where it is all that the case has."""

_PAIRED: Final = {f"/expect/{low}": f"/expect/{high}" for low, high in PAIRS}


class CaseScore(NamedTuple):
    """A case's score and its criteria's; None and nulls if nothing scored them."""

    score: float | None
    criteria: tuple[CriterionResult, ...]


def score_case(
    case: Case, verdicts: Mapping[str, Verdict], judged: Mapping[str, JudgedScore] | None = None
) -> CaseScore:
    """Score a case by the verdicts on its assertions, JSON pointers to verdicts, in the assertions' order.

    A criterion is scored by the checks linked to it, else by the judge, whose scores `judged` has by the criteria's
    names, else by the checks that no criterion links. Without criteria only `expected`, checked by itself, has a score.
    """
    if not case.criteria:
        alone = verdicts.get(EXPECTED)
        return CaseScore(alone.score, ()) if alone else _UNSCORED
    unlinked = _share(_unlinked(case, verdicts), verdicts)
    criteria = tuple(
        _score_judged(criterion, judged[criterion.name])
        if judged and criterion.name in judged and not criterion.checks
        else _score_criterion(criterion, unlinked, verdicts)
        for criterion in case.criteria
    )
    return CaseScore(weighted_mean((result.weight, result.score) for result in criteria), criteria)


_UNSCORED: Final = CaseScore(None, ())


def unscored(case: Case) -> CaseScore:
    """The score of a case that ended in `error`: none."""
    criteria = (CriterionResult(name=c.name, weight=c.weight, score=None, scored_by=None) for c in case.criteria or ())
    return CaseScore(None, tuple(criteria))


def _score_criterion(criterion: Criterion, unlinked: float | None, verdicts: Mapping[str, Verdict]) -> CriterionResult:
    score = _share(criterion.checks, verdicts) if criterion.checks else unlinked
    by: ScoredBy | None = None if score is None else "linked" if criterion.checks else "unlinked"
    return CriterionResult(name=criterion.name, weight=criterion.weight, score=score, scored_by=by)


def _score_judged(criterion: Criterion, judged: JudgedScore) -> CriterionResult:
    score = round(judged.score / judged.max_score, DECIMALS)
    return CriterionResult(name=criterion.name, weight=criterion.weight, score=score, scored_by="judge", judged=judged)


def _share(links: Iterable[CheckLink], verdicts: Mapping[str, Verdict]) -> float | None:
    """The weighted share of the checks that pass; one whose every assertion was skipped leaves the share."""
    return weighted_mean((link.weight, _score_link(link, verdicts)) for link in links)


def _score_link(link: CheckLink, verdicts: Mapping[str, Verdict]) -> float | None:
    """The pointers of a link pass together: the least of their scores."""
    found = (verdicts.get(pointer) for pointer in link.at)
    return min(
        (verdict.score for verdict in found if verdict and verdict.outcome in ("passed", "failed")), default=None
    )


def _unlinked(case: Case, verdicts: Mapping[str, Verdict]) -> list[CheckLink]:
    """The case's own links of unlinked checks, and one of weight 1 for each check that these do not name."""
    links = list(case.unlinked or ())
    named = {pointer for criterion in case.criteria or () for link in criterion.checks or () for pointer in link.at}
    named.update(pointer for link in links for pointer in link.at)
    left = dict.fromkeys(pointer for pointer in verdicts if pointer not in named)
    while left:
        pointer = next(iter(left))
        del left[pointer]
        other = _PAIRED.get(pointer)
        if other in left:
            del left[other]
            links.append(CheckLink(at=(pointer, other)))
        else:
            links.append(CheckLink(at=(pointer,)))
    return links


def score_run(suites: Iterable[float | None]) -> float | None:
    """The mean of the suites that have a score, each counting once."""
    return weighted_mean((1, score) for score in suites)


def below(score: float | None, threshold: float | None) -> str | None:
    """Why the score does not meet the threshold, or None. No score meets none."""
    if threshold is None:
        return None
    if score is None:
        return f"threshold: nothing was scored, and {threshold:g} is needed"
    return f"threshold: score {rounded(score, threshold)} is below {threshold:g}" if score < threshold else None
