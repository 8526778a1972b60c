"""Compares a suite in two runs. Cases are paired by their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Final, final

import msgspec

from evalc.base.terminal import counted, first_of
from evalc.compare.means import difference
from evalc.compare.totals import FEWEST_CHANGES, LEVEL, Flips, rate_of, significance_of_all, verdict_of
from evalc.model import result as r
from evalc.model.reports import ComparedCase, ComparedSuite, Pair, WeightedCriterion
from evalc.model.suite import RENEWED_BY_RUN, KnownSuites, SuiteKey, key_of


@final
class _Scored(msgspec.Struct, frozen=True, kw_only=True):
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
) -> tuple[r.Difference | None, tuple[r.CriterionDifference, ...]]:
    """The difference of the suite's score and of each criterion; weights are those of the later run.

    None and nothing if the runs have no scored criterion in common.
    """
    scored = list(_scored(pairs, criteria))
    groups = [_group(pair.after) for pair in pairs]
    return _suite(scored, groups), tuple(_criterion(each, groups) for each in scored)


def _group(case: ComparedCase) -> str:
    """The group of the case: rows of a table, and variants of a case, share the id up to an `@`."""
    return case.id.partition("@")[0]


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


def _criterion(scored: _Scored, groups: Sequence[str]) -> r.CriterionDifference:
    changes = list(scored.changes().values())
    found = difference(
        scored.before,
        scored.after,
        changes,
        changed=sum(change != 0 for change in changes),
        groups=[groups[number] for number in scored.changes()],
    )
    return r.CriterionDifference(name=scored.name, **msgspec.structs.asdict(found))


def _suite(criteria: Sequence[_Scored], groups: Sequence[str]) -> r.Difference | None:
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
    together = [groups[number] for number in contributions]
    return difference(before, after, list(contributions.values()), changed=len(changed), groups=together)


_MOST_NAMED: Final = 10

_Key = tuple[SuiteKey, str | None]
"""A suite of a run, and its agent."""

_Run = Mapping[_Key, ComparedSuite]


def compare_runs(
    before: Iterable[ComparedSuite],
    after: Iterable[ComparedSuite],
    *,
    names: tuple[str, str],
    looked_at: Callable[[SuiteKey], bool] = lambda _: False,
) -> r.RunComparison:
    """Compare the suites that two runs have in common, by name and tier; `names` are what the runs are called.

    `looked_at` says of a suite of the earlier run whether the later one looked where it was.

    Where a run has a suite of several agents, each is compared with itself, else with the only one of the other run.
    Of several results of a suite and agent in one run, the first counts.
    """
    warnings: list[str] = []
    before, after = tuple(before), tuple(after)
    named = [suite for suite in (*before, *after) if suite.suite]
    known = KnownSuites(
        ((key_of(suite), suite.tool_name) for suite in named),
        lambda key: (case.id for suite in named if key_of(suite) == key for case in suite.cases),
    )
    old, new = _by_suite(before, names[0], known, warnings), _by_suite(after, names[1], known, warnings)
    warnings += known.warnings("one of the runs", RENEWED_BY_RUN)
    pairs = {key: past for key in new if (past := _counterpart(key, old)) is not None}
    several = {key[0] for run in (old, new) for key in run if len(_of_suite(key, run)) > 1}
    compared = tuple(
        compare_suites(old[past], new[key], names=names, by_agent=key[0] in several) for key, past in pairs.items()
    )
    for key, past in pairs.items():
        warnings += _of_early_ends(_title(key, new), old[past], new[key])
        warnings += _of_cases_not_run(_title(key, new), old[past], new[key])
    return r.RunComparison(
        before=names[0],
        after=names[1],
        before_agents=_agents(before),
        after_agents=_agents(after),
        suites=compared,
        significance=significance_of_all(suite.significance for suite in compared),
        only_before=tuple(_title(key, old) for key in old if key not in pairs.values()),
        only_after=tuple(_title(key, new) for key in new if key not in pairs),
        missing=tuple(_missing(old, new, pairs, looked_at)),
        regressions=sum(len(suite.regressions) for suite in compared),
        new_passes=sum(len(suite.new_passes) for suite in compared),
        warnings=tuple(warnings),
    )


def _agents(suites: Iterable[ComparedSuite]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(suite.agent_endpoint for suite in suites if suite.agent_endpoint is not None))


def _missing(old: _Run, new: _Run, pairs: Mapping[_Key, _Key], looked_at: Callable[[SuiteKey], bool]) -> Iterator[str]:
    """The cases and suites of the earlier run that the later one should have had."""
    names: dict[str, None] = {}
    for key, past in pairs.items():
        suite = new[key]
        if suite.selected is None:
            there = {case.id for case in suite.cases} | {case.id for case in suite.skipped}
            names.update((case.id, None) for case in old[past].cases if case.id not in there)
    yield from names
    gone = dict.fromkeys(key[0] for key in old if not _of_suite(key, new))
    yield from (suite.title() for suite in gone if looked_at(suite))


def _of_cases_not_run(title: str, before: ComparedSuite, after: ComparedSuite) -> Iterator[str]:
    """Warnings about cases that one run has and did not run, as it stopped or skips them, and the other ran."""
    for which, run, other in (("later", after, before), ("earlier", before, after)):
        skipped = {case.id for case in run.skipped}
        not_run = [case.id for case in other.cases if case.id in skipped]
        if not_run and not run.decided:
            named = first_of(not_run, _MOST_NAMED)
            yield f"{title}: the {which} run did not run these cases, so they are not compared: {named}"


def _of_early_ends(title: str, *runs: ComparedSuite) -> Iterator[str]:
    """Warnings about a suite that a run with `--stop-when-sure` ended early, or some of whose cases it did."""
    cut_short = max(sum(bool(case.not_attempted) for case in run.cases) for run in runs)
    if cut_short:
        yield (
            f"{title}: {counted(cut_short, 'repeated case')} ended before the last attempt, so passing attempts, "
            "latency and cost are not compared, and scores are those of the attempts that were made"
        )
    if any(run.decided for run in runs):
        yield (
            f"{title}: a run ended as soon as its gates were decided, so chance alone gives small p-values more often "
            "than they say"
        )


def _by_suite(suites: Iterable[ComparedSuite], run: str, known: KnownSuites, warnings: list[str]) -> _Run:
    found: dict[_Key, ComparedSuite] = {}
    for suite in suites:
        key = known.key_of(suite, {case.id for case in suite.cases})
        if key is None:
            continue
        if (key, suite.agent_endpoint) in found:
            warnings.append(
                f"the run `{run}` has more than one result of the suite `{key.title()}`: the first is compared"
            )
        else:
            found[key, suite.agent_endpoint] = msgspec.structs.replace(suite, suite=key.name)
    return found


def _of_suite(key: _Key, run: _Run) -> list[_Key]:
    """The results that a run has of a suite: one for each agent."""
    return [other for other in run if other[0] == key[0]]


def _counterpart(key: _Key, run: _Run) -> _Key | None:
    """The counterpart of a suite in a run: the suite of the same agent, else the only one; None if there is none."""
    there = _of_suite(key, run)
    return key if key in run else there[0] if len(there) == 1 else None


def _title(key: _Key, run: _Run) -> str:
    suite, agent = key
    return suite.title(agent if len(_of_suite(key, run)) > 1 else None)


def compare_suites(
    before: ComparedSuite, after: ComparedSuite, *, names: tuple[str, str], by_agent: bool = False
) -> r.SuiteComparison:
    """Compare a suite with what it was.

    `names` are what the runs are called if a result does not say which it is of; `by_agent` says that its agent
    distinguishes the suite from another one.
    """
    old = {case.id: case for case in before.cases}
    new = {case.id: case for case in after.cases}
    skipped = {case.id for run in (before, after) for case in run.skipped}
    both = [Pair(old[identity], case) for identity, case in new.items() if identity in old]
    pairs = [pair for pair in both if not pair.lapsed]
    sound = [pair for pair in pairs if not pair.broken]
    whole = [] if any(pair.cut_short for pair in sound) else sound
    score, criteria = compare_scores(sound, after.summary.criteria)
    return r.SuiteComparison(
        suite=key_of(after).name,
        tool_name=after.tool_name,
        tier=after.tier,
        agent_endpoint=after.agent_endpoint if by_agent and after.agent_endpoint is not None else msgspec.UNSET,
        before_run_id=before.run_id or names[0],
        after_run_id=after.run_id or names[1],
        before=_rate(old.values()),
        after=_rate(new.values()),
        significance=_significance(pairs),
        pass_share=_pass_share(whole),
        score=score,
        criteria=criteria,
        slices=tuple(_slices(pairs)),
        latency_ms=_medians(whole, lambda case: case.duration_ms),
        cost_usd=_medians(whole, lambda case: case.cost_usd),
        regressions=_changed(pair for pair in both if pair.before.passed and (pair.lapsed or not pair.after.passed)),
        new_passes=_changed(pair for pair in pairs if pair.after.passed and not pair.before.passed),
        still_failing=_changed(
            pair
            for pair in pairs
            if not (pair.before.passed or pair.after.passed) and pair.before.error != pair.after.error
        ),
        came=tuple(identity for identity in new if identity not in old and identity not in skipped),
        went=tuple(identity for identity in old if identity not in new and identity not in skipped),
    )


def _significance(pairs: Iterable[Pair]) -> r.Significance:
    flips = Flips()
    for pair in pairs:
        flips.add(pair.before.passed, pair.after.passed, error=pair.broken)
    return flips.significance()


def _rate(cases: Iterable[ComparedCase]) -> r.Rate:
    measured = errors = passed = 0
    for case in cases:
        errors += case.broken
        measured += not case.broken
        passed += case.passed and not case.broken
    return rate_of(passed, measured, errors)


def _slices(pairs: Sequence[Pair]) -> Iterator[r.SliceComparison]:
    """The slices in both runs, each judged so strictly that of all that have not changed hardly one seems to have."""
    by_tag: dict[str, list[Pair]] = {}
    for pair in pairs:
        for tag in pair.after.tags:
            by_tag.setdefault(tag, []).append(pair)
    some = {tag: tagged for tag, tagged in by_tag.items() if len(tagged) < len(pairs)}
    tested = sum(sum(not pair.broken for pair in tagged) >= FEWEST_CHANGES for tagged in some.values())
    for tag, tagged in some.items():
        found = _significance(tagged)
        worse, better = found.regressed, found.newly_passed
        p_value = min(1.0, found.p_value * max(tested, 1))
        yield r.SliceComparison(
            tag=tag,
            before=_rate(pair.before for pair in tagged),
            after=_rate(pair.after for pair in tagged),
            p_value=p_value,
            verdict=verdict_of(better - worse, changed=worse + better, certain=p_value < LEVEL),
        )


def _pass_share(pairs: Sequence[Pair]) -> r.Difference | None:
    """The change of the share of passing attempts; None if no case is repeated."""
    if not any(pair.before.attempts or pair.after.attempts for pair in pairs):
        return None
    before = [pair.before.pass_share for pair in pairs]
    after = [pair.after.pass_share for pair in pairs]
    changes = [new - old for old, new in zip(before, after, strict=True)]
    groups = [_group(pair.after) for pair in pairs]
    changed = sum(change != 0 for change in changes)
    return difference(fmean(before), fmean(after), changes, changed=changed, groups=groups)


def _medians(pairs: Sequence[Pair], measure: Callable[[ComparedCase], float | None]) -> r.Medians:
    found = ((measure(pair.before), measure(pair.after)) for pair in pairs)
    both = [(old, new) for old, new in found if old is not None and new is not None]
    return r.Medians(
        before=median(old for old, _ in both) if both else None,
        after=median(new for _, new in both) if both else None,
        cases=len(both),
    )


def _changed(pairs: Iterable[Pair]) -> tuple[r.ChangedCase, ...]:
    return tuple(
        r.ChangedCase(id=pair.after.id, before=pair.before.why, after=_LAPSED if pair.lapsed else pair.after.why)
        for pair in pairs
    )


_LAPSED: Final = "nothing of it is verified any more"
