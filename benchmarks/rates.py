"""Writes `benchmarks/results/rates.md`: how often gates, plans and comparisons are wrong, beside what they state.

    python -m benchmarks.rates [RUNS]

Agents are simulated whose answers vary by chance, 2,000 runs a row, with fixed seeds. What decides is evalc's own: the
gates of a run, the forecast of `--stop-when-sure`, `plan`, the summaries of repeated cases and of tags, `diff`, and in
the last rows whole runs. A row is kept if what was found is within four standard errors of what is stated.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Final, NamedTuple

import evalc
from benchmarks.check import machine
from evalc.compare.means import difference
from evalc.compare.rates import ASSUMED, PassRateTest, RegressionTest, WholeRun, likely_regression, noise_of_attempts
from evalc.compare.suites import compare_runs, compare_suites
from evalc.compare.totals import POWER, Classified, RepeatedCases, Slices
from evalc.model.case import Gates
from evalc.model.reports import ComparedCase, ComparedSuite
from evalc.model.result import LabelSummary, Status
from evalc.runtime.run.gates import WATCHED_SHARE, Measured, judge_gates

RESULTS: Final = Path(__file__).parent / "results" / "rates.md"
RUNS: Final = 2_000
ALPHA: Final = 0.05
PASSES: Final = 0.9
LIMIT: Final = 0.9
STANDARD_ERRORS: Final = 4


class Row(NamedTuple):
    """A statement and what was found: kept within `low` and `high`."""

    what: str
    stated: str
    found: float
    low: float
    high: float

    @property
    def kept(self) -> bool:
        """Whether the statement holds, as far as the simulation can show."""
        return self.low <= self.found <= self.high


def at_most(what: str, hits: int, runs: int, *, share: float = ALPHA) -> Row:
    """A statement that something happens in at most this share of the runs."""
    error = STANDARD_ERRORS * math.sqrt(share * (1 - share) / runs)
    return Row(what, f"at most {100 * share:g} %", hits / runs, 0.0, share + error)


def about(what: str, hits: int, runs: int, share: float) -> Row:
    """A statement that something happens in this share of the runs."""
    error = STANDARD_ERRORS * math.sqrt(share * (1 - share) / runs)
    return Row(what, f"{100 * share:g} %", hits / runs, share - error, share + error)


def unbiased(what: str, errors: Sequence[float]) -> Row:
    """A statement that an estimate is right on average."""
    error = STANDARD_ERRORS * stdev(errors) / math.sqrt(len(errors))
    return Row(what, "off by 0 on average", fmean(errors), -error, error)


Scenario = Callable[[random.Random, int], Iterator[Row]]


# --- gates -----------------------------------------------------------------------------------------------------------


def verdict(gates: Gates, **measured: object) -> str:
    """The verdict of the only gate."""
    usual = {"passed": 0, "total": 1, "score": None, "durations": list, "scores": list, "regressions": 0}
    (gate,) = judge_gates(gates, Measured(**{**usual, **measured}))  # type: ignore[arg-type]
    return str(gate.verdict)


def certain(what: str, verdicts: Sequence[str]) -> Iterator[Row]:
    """Whether either certain verdict is wrong too often, where the truth is just at the limit."""
    for word in ("holds", "fails"):
        yield at_most(f"{what}: {word}", verdicts.count(word), len(verdicts))


def pass_rates(rng: random.Random, runs: int) -> Iterator[Row]:
    """`min_pass_rate`, where the true rate is the limit."""
    gates = Gates(min_pass_rate=LIMIT, confidence=1 - ALPHA)
    judged = lru_cache(lambda passed: verdict(gates, passed=passed, total=100))
    verdicts = [judged(sum(rng.random() < LIMIT for _ in range(100))) for _ in range(runs)]
    yield from certain("gate `min_pass_rate: 0.9`, 100 cases, true rate 0.9", verdicts)


def scores(rng: random.Random, runs: int) -> Iterator[Row]:
    """`min_score`, where the true mean is the limit."""
    gates = Gates(min_score=0.7, confidence=1 - ALPHA)
    drawn = ([rng.betavariate(1.4, 0.6) for _ in range(80)] for _ in range(runs))
    verdicts = [verdict(gates, total=80, score=fmean(each), scores=lambda each=each: each) for each in drawn]
    yield from certain("gate `min_score: 0.7`, 80 cases, true mean 0.7", verdicts)


def recalls(rng: random.Random, runs: int) -> Iterator[Row]:
    """`recall`, where the true recall is the limit."""
    gates = Gates(recall={"refund": 0.8}, confidence=1 - ALPHA)

    def labels(right: int) -> LabelSummary | None:
        classified = Classified()
        for number in range(40):
            classified.add("refund", "refund" if number < right else "delivery")
        return classified.summary()

    judged = lru_cache(lambda right: verdict(gates, total=40, labels=labels(right)))
    verdicts = [judged(sum(rng.random() < 0.8 for _ in range(40))) for _ in range(runs)]
    yield from certain("gate `recall: {refund: 0.8}`, 40 cases, true recall 0.8", verdicts)


@lru_cache
def regressed(worse: int, better: int, *, watched: bool = False) -> bool:
    """Whether the gate on regressions fails at the end of a run."""
    gates = Gates(fail_on_regression=True, confidence=1 - ALPHA)
    return verdict(gates, regressions=worse, new_passes=better, watched=watched) == "fails"


def pair(rng: random.Random, before: Sequence[float], after: Sequence[float]) -> tuple[list[bool], list[bool]]:
    """The verdicts of two runs of cases that pass with these chances."""
    return [rng.random() < chance for chance in before], [rng.random() < chance for chance in after]


def flips(old: Sequence[bool], new: Sequence[bool]) -> tuple[int, int]:
    """How many verdicts got worse, and how many better."""
    both = list(zip(old, new, strict=True))
    return sum(was and not is_ for was, is_ in both), sum(is_ and not was for was, is_ in both)


def regressions(rng: random.Random, runs: int) -> Iterator[Row]:
    """`fail_on_regression` of an agent that has not changed."""
    for cases in (60, 200):
        chances = [PASSES] * cases
        hits = sum(regressed(*flips(*pair(rng, chances, chances))) for _ in range(runs))
        yield at_most(f"gate `fail_on_regression`, {cases} cases, the same agent twice: fails", hits, runs)


# --- runs that stop --------------------------------------------------------------------------------------------------


def stopping(rng: random.Random, runs: int) -> Iterator[Row]:
    """`--stop-when-sure`: the verdict when it stops, and that of the whole run."""
    least = math.ceil(LIMIT * 100)
    wrong = 0
    for _ in range(runs):
        passes = [rng.random() < LIMIT for _ in range(100)]
        test = PassRateTest(WholeRun(100, least, least - 1, ALPHA))
        for passed in passes:
            test.see(passed)
            if test.verdict is not None:
                break
        wrong += (test.verdict == "holds") != (sum(passes) >= least)
    yield at_most(
        "`--stop-when-sure`, gate 0.9, 100 cases, true rate 0.9: another verdict than that of all", wrong, runs
    )


def watching(rng: random.Random, runs: int) -> Iterator[Row]:
    """`--stop-when-sure` with a gate on regressions, which is looked at after each case."""
    hits = 0
    for _ in range(runs):
        old, new = pair(rng, [PASSES] * 60, [PASSES] * 60)
        test = RegressionTest(ALPHA * WATCHED_SHARE)
        early = False
        for was, is_ in zip(old, new, strict=True):
            test.see(was, is_)
            early = early or test.fails
        hits += early or regressed(*flips(old, new), watched=True)
    yield at_most("`--stop-when-sure`, gate `fail_on_regression`, 60 cases, the same agent twice: fails", hits, runs)


# --- plan ------------------------------------------------------------------------------------------------------------


def planned(rng: random.Random, runs: int) -> Iterator[Row]:
    """The fall that `plan` says to be shown four times in five, by the noise that it assumes."""
    for cases in (60, 120, 200):
        fall = likely_regression(cases, 1 - ALPHA, ASSUMED) or 0.0
        after = [PASSES - fall] * cases
        hits = sum(regressed(*flips(*pair(rng, [PASSES] * cases, after))) for _ in range(runs))
        yield about(
            f"`plan`, {cases} cases, noise as assumed: a fall of {100 * fall:.1f} % is shown", hits, runs, POWER
        )


def planned_of_attempts(rng: random.Random, runs: int) -> Iterator[Row]:
    """The same by the noise of an earlier run of five attempts a case, whose cases are of many difficulties."""
    cases, at_a_time = 100, max(runs // 100, 1)
    hits = shown = 0
    for _ in range(runs // at_a_time):
        chances = [rng.betavariate(4, 1) for _ in range(cases)]
        noise = noise_of_attempts((5, sum(rng.random() < chance for _ in range(5))) for chance in chances)
        fall = likely_regression(cases, 1 - ALPHA, noise or ASSUMED)
        if fall is None:
            continue
        after = [chance * max(1 - fall / fmean(chances), 0.0) for chance in chances]
        hits += sum(regressed(*flips(*pair(rng, chances, after))) for _ in range(at_a_time))
        shown += at_a_time
    error = STANDARD_ERRORS * math.sqrt(POWER * (1 - POWER) / (shown / at_a_time))  # each suite has a noise of its own
    what = f"`plan`, {cases} cases of many difficulties, noise of 5 attempts each: the fall is shown"
    yield Row(what, f"{100 * POWER:g} %", hits / shown, POWER - error, POWER + error)


# --- repeated cases --------------------------------------------------------------------------------------------------


def attempts(rng: random.Random, runs: int) -> Iterator[Row]:
    """pass@k and pass^k of cases of many difficulties, some of whose attempts end in error."""
    chances = [rng.betavariate(1, 2) for _ in range(20)]
    ks = (1, 2, 4, 8)
    off: dict[tuple[str, int], list[float]] = {(name, k): [] for name in ("pass@", "pass^") for k in ks}
    for _ in range(runs):
        repeated = RepeatedCases()
        for chance in chances:
            statuses: list[Status] = ["passed" if rng.random() < chance else "failed" for _ in range(10)]
            repeated.add(tuple("error" if rng.random() < 0.05 else status for status in statuses), cut_short=False)
        found = {each.k: each for each in repeated.summaries()}
        for k in ks:
            off["pass@", k].append(found[k].pass_at_k - fmean(1 - (1 - chance) ** k for chance in chances))
            off["pass^", k].append(found[k].pass_hat_k - fmean(chance**k for chance in chances))
    for (name, k), errors in off.items():
        yield unbiased(f"{name}{k} of 20 cases with 10 attempts each, 5 % of them errors", errors)


def early_attempts(rng: random.Random, runs: int) -> Iterator[Row]:
    """Attempts that end once a case is decided: no pass@k is given, since it would be biased."""
    given = 0
    for _ in range(runs):
        repeated = RepeatedCases()
        for _ in range(20):
            statuses: list[Status] = []
            while len(statuses) < 10 and statuses.count("passed") < 2:
                statuses.append("passed" if rng.random() < 0.3 else "failed")
            repeated.add(tuple(statuses), cut_short=len(statuses) < 10)
        given += bool(repeated.summaries())
    yield Row("`--stop-when-sure` with `require: 2/10`: pass@k is given", "never", given / runs, 0.0, 0.0)


# --- slices ----------------------------------------------------------------------------------------------------------


def slices(rng: random.Random, runs: int) -> Iterator[Row]:
    """The interval of a tag's rate: Wilson's is right on average over the rates that there may be."""
    for cases in (15, 60):
        covered = 0
        for _ in range(runs):
            chance, found = rng.uniform(0.5, 1), Slices()
            for number in range(cases * 2):
                tagged = number % 2 == 0
                found.add(["tag"] if tagged else [], passed=rng.random() < (chance if tagged else 0.5), error=False)
            (each,) = found.summaries(cases * 2)
            assert each.low is not None
            assert each.high is not None
            covered += each.low <= chance <= each.high
        yield about(f"interval of a tag, {cases} cases, true rates of 0.5 to 1: has the true rate", covered, runs, 0.95)


def compared_slices(rng: random.Random, runs: int) -> Iterator[Row]:
    """`diff`, eight tags of an agent that has not changed."""
    tags = {f"c{number}": (f"t{number % 8}",) for number in range(96)}
    wrong = 0
    for _ in range(runs):
        old, new = (past({identity: rng.random() < 0.7 for identity in tags}, tags) for _ in range(2))
        wrong += any(each.verdict in ("better", "worse") for each in compare_suites(old, new, names=("a", "b")).slices)
    yield at_most("`diff`, 8 tags of 12 cases, the same agent twice: any tag is better or worse", wrong, runs)


# --- diff ------------------------------------------------------------------------------------------------------------


def past(
    passed: Mapping[str, bool],
    tags: Mapping[str, tuple[str, ...]] | None = None,
    tool: str = "a",
) -> ComparedSuite:
    """A suite of a run."""
    cases = tuple(
        ComparedCase(
            id=identity,
            passed=each,
            tags=() if tags is None else tags[identity],
        )
        for identity, each in passed.items()
    )
    return ComparedSuite(tool_name=tool, tier="labeled", cases=cases)


def compared(rng: random.Random, runs: int) -> Iterator[Row]:
    """`diff`, verdicts of an agent that has not changed: a suite, and five suites together."""
    names = ("a", "b")
    for suites, cases in ((1, 60), (1, 200), (5, 12)):
        wrong = 0
        for _ in range(runs):
            sides = [
                [past({f"c{n}": rng.random() < PASSES for n in range(cases)}, tool=f"t{k}") for k in range(suites)]
                for _ in names
            ]
            wrong += compare_runs(*sides, names=names).significance.verdict in ("better", "worse")
        what = f"{cases} cases" if suites == 1 else f"{suites} suites of {cases} cases together"
        yield at_most(f"`diff`, {what}, the same agent twice: better or worse", wrong, runs)


def compared_scores(rng: random.Random, runs: int) -> Iterator[Row]:
    """`diff`, scores of an agent that has not changed; rows of a table vary together."""
    for what, groups, rows in (("30 cases", 30, 1), ("20 tables of 5 rows that vary together", 20, 5)):
        names = [f"g{group}" for group in range(groups) for _ in range(rows)]
        wrong = 0
        for _ in range(runs):
            old, new = (scored(rng, groups, rows) for _ in range(2))
            changes = [after - before for before, after in zip(old, new, strict=True)]
            found = difference(fmean(old), fmean(new), changes, changed=len(changes), groups=names)
            wrong += found.verdict in ("better", "worse")
        yield at_most(f"`diff`, score of {what}, the same agent twice: better or worse", wrong, runs)


def scored(rng: random.Random, groups: int, rows: int) -> list[float]:
    """The scores of a run, which vary group by group, where these have several rows, and case by case."""
    shifts = [rng.gauss(0, 0.15) if rows > 1 else 0.0 for _ in range(groups)]
    return [min(max(0.7 + shift + rng.gauss(0, 0.15), 0.0), 1.0) for shift in shifts for _ in range(rows)]


# --- whole runs ------------------------------------------------------------------------------------------------------


SUITE: Final = """\
suite: chance
gates: {min_pass_rate: 0.8, confidence: 95%}
eval:
  test_cases:
    - name: case
      message: "{{n}}"
      for_each: [ROWS]
      validate: ['contains "yes"']
"""


def whole_runs(rng: random.Random, runs: int) -> Iterator[Row]:
    """`evalc.run` with an agent that passes eight times in ten, a tenth as many: each takes a tenth of a second."""
    runs = max(runs // 10, 2)
    rows = ", ".join(f"{{id: c{number}, n: {number}}}" for number in range(60))
    source = evalc.Source("chance.eval.yaml", SUITE.replace("ROWS", rows))
    verdicts: list[str] = []
    changed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        before: evalc.Run | None = None
        for number in range(runs):
            made = evalc.run(
                source,
                agent=lambda _: "yes" if rng.random() < 0.8 else "no",
                output_dir=Path(folder) / str(number),
            )
            (gate,) = made.suites[0].gates or ()
            verdicts.append(str(gate.verdict))
            now = past({case.id: case.passed for case in made.suites[0].cases})
            if before is not None and number % 2:
                old = past({case.id: case.passed for case in before.suites[0].cases})
                changed.append(compare_suites(old, now, names=("a", "b")).significance.verdict)
            before = made
    yield from certain("whole runs, gate `min_pass_rate: 0.8`, 60 cases, true rate 0.8", verdicts)
    wrong = sum(word in ("better", "worse") for word in changed)
    yield at_most("whole runs compared in pairs, 60 cases: better or worse", wrong, max(len(changed), 1))


SCENARIOS: Final[Sequence[Scenario]] = (
    pass_rates,
    scores,
    recalls,
    regressions,
    stopping,
    watching,
    planned,
    planned_of_attempts,
    attempts,
    early_attempts,
    slices,
    compared_slices,
    compared,
    compared_scores,
    whole_runs,
)


def rows_of(scenario: Scenario, runs: int) -> list[Row]:
    """The rows of a scenario, the same each time."""
    return list(scenario(random.Random(scenario.__name__), runs))


def main(runs: int) -> int:
    """Simulate, print each row as it is known, and write the page."""
    rows: list[Row] = []
    for scenario in SCENARIOS:
        for row in rows_of(scenario, runs):
            rows.append(row)
            print(f"{'kept' if row.kept else 'NOT KEPT'}  {row.found:.4f}  {row.stated}  {row.what}", flush=True)
    lines = [
        "<!-- Written by `make bench-rates` (benchmarks/rates.py). -->",
        "# How often evalc is wrong",
        "",
        f"{datetime.now(UTC):%d %B %Y}, {machine()}; {runs:,} runs a row ({runs // 10:,} whole runs).",
        "",
        "Agents vary by chance alone, unless a row says otherwise. A row is kept if what was found is within four",
        "standard errors of what is stated.",
        "",
        "| what | stated | found | kept |",
        "|---|---|--:|---|",
        *(f"| {row.what} | {row.stated} | {_found(row)} | {'yes' if row.kept else '**no**'} |" for row in rows),
        "",
    ]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")
    return 0 if all(row.kept for row in rows) else 1


def _found(row: Row) -> str:
    return f"{row.found:+.4f}" if row.stated.startswith("off") else f"{100 * row.found:.1f} %"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
