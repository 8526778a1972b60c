"""Words for what a comparison found, the same in every report."""

from __future__ import annotations

from evalc.model.comparison import Difference, Significance
from evalc.report.numbers import counted

_MANY = 1_000_000


def significance_line(found: Significance) -> str:
    """The verdict on the changed verdicts of cases, as `inconclusive: 5 of 200 cases regressed, 6 newly pass (...)`."""
    left_out = f"; {found.errors} left out that ended in error" if found.errors else ""
    if found.verdict == "unchanged":
        return f"unchanged: no verdict of {counted(found.pairs, 'case')} changed{left_out}"
    counts = (
        f"{found.regressed or 'none'} of {counted(found.pairs, 'case')} regressed, {_newly_pass(found.newly_passed)}"
    )
    test = f"(McNemar's exact test, {_p_value(found.p_value)})"
    settled = f"; {more_cases(found.more_cases)}" if found.verdict == "inconclusive" else ""
    return f"{found.verdict}: {counts} {test}{left_out}{settled}"


def difference_words(found: Difference) -> str:
    """A difference, its interval and the verdict, as `+0.04 (95 % interval +0.01 to +0.07) better`."""
    if found.verdict == "unchanged":
        return found.verdict
    settled = f"; {more_cases(found.more_cases)}" if found.verdict == "inconclusive" else ""
    drawn = "" if found.clusters is None else f", {found.clusters} groups of cases"
    interval = f"95 % interval {_signed(found.low)} to {_signed(found.high)}{drawn}"
    return f"{_signed(found.difference)} ({interval}) {found.verdict}{settled}"


def more_cases(count: int | None) -> str:
    """How many cases would settle what is inconclusive."""
    if count is None:
        return "no number of cases would settle it"
    if count > _MANY:
        return f"more than {_MANY:,} more cases would settle it"
    return f"about {_two_digits(count):,} more {'case' if count == 1 else 'cases'} would settle it"


def _two_digits(count: int) -> int:
    """The count as far as an estimate is worth: 17060 is 17000."""
    return round(count, 2 - len(str(count)))


def _p_value(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.3g}"


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"


def _newly_pass(count: int) -> str:
    return f"{count or 'none'} newly {'passes' if count <= 1 else 'pass'}"
