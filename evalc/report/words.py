"""Marks, counts, reasons, gates, classes and comparisons, as all reports write them, and texts made safe to show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Literal, NamedTuple, final

import msgspec
from msgspec import UNSET

from evalc.base.terminal import (
    Color,
    Screen,
    cells,
    counted,
    cut_in_middle,
    first_of,
    padded,
    painted,
    shortened,
    visible,
    wrapped,
)
from evalc.model.numbers import outward, rounded, shown_confidence
from evalc.model.result import (
    AssertionResult,
    CaseResult,
    ClassSummary,
    Difference,
    GateResult,
    MissingSuite,
    Rate,
    RateEstimate,
    RunSummary,
    Significance,
    SkippedCase,
    Status,
    SuiteResult,
    Summary,
    TextFinding,
    in_lines,
)
from evalc.model.suite import Place, Selected
from evalc.report import ReportedRun

_MOST_MISSING: Final = 10
"""The missing cases of a suite, and the missing suites, that reports name; JSON has all."""

_MANY: Final = 1_000_000


# --- writing on a screen ---------------------------------------------------------------------------------------------


class Symbols(NamedTuple):
    """The characters that summaries and tables are drawn with."""

    arrow: str
    warning: str
    title: str
    rule: str
    dash: str
    full: str
    empty: str
    ellipsis: str


_UNICODE: Final = Symbols("→", "⚠", "═", "─", "—", "█", "░", "…")
_ASCII: Final = Symbols("->", "!", "=", "-", "-", "#", ".", "...")
_MARKS: Final[Mapping[Status, tuple[str, str, Color]]] = {
    "passed": ("✓", "+", "green"),
    "failed": ("✗", "x", "red"),
    "error": ("!", "!", "red"),
    "unverified": ("?", "?", "yellow"),
    "expected-failure": ("⊘", "~", "yellow"),
    "unexpected-pass": ("✘", "X", "red"),
}
"""How a case may have ended, with the mark for it, the mark in ASCII, and the colour."""


_GAP: Final = "  "
_NARROWEST_WORDS: Final = 24
_NARROWEST_NAME: Final = 12

Cell = str | tuple[str, Color]
"""A cell of a table, which may have a colour."""


@final
class Writer:
    """Writes for a screen, in what it can show: symbols and colours."""

    def __init__(self, screen: Screen) -> None:
        self.width = screen.width
        self.symbols = _UNICODE if screen.unicode else _ASCII
        self._screen = screen

    def painted(self, text: str, color: Color) -> str:
        """The text in a colour, where the screen has colours."""
        return painted(text, color, on=self._screen.color)

    def by_status(self, text: str, status: Status) -> str:
        """The text in the colour of what ended so."""
        return self.painted(text, _MARKS[status][2])

    def mark(self, status: Status) -> str:
        """The mark of what ended so, without its colour."""
        in_unicode, in_ascii, _ = _MARKS[status]
        return in_unicode if self._screen.unicode else in_ascii

    def title(self, text: str) -> str:
        """The line above a table or a suite."""
        return self.painted(f"{self.symbols.title * 3} {text}", "bold")

    def warning(self, text: str, color: Color = "yellow") -> str:
        """A line that warns."""
        return self.painted(f"  {self.symbols.warning} {visible(text)}", color)

    def shortened(self, text: str, width: int) -> str:
        """The text, made safe, and cut where it takes more columns."""
        return shortened(visible(text), width, self.symbols.ellipsis)

    def wrapped(self, text: str, margin: str = "", hanging: str | None = None) -> Iterator[str]:
        """The text, made safe, in lines that the screen has room for, broken between words."""
        return wrapped(visible(text), self.width, margin, hanging)

    def beside(self, sign: str, text: str, status: Status, margin: str = _GAP) -> Iterator[str]:
        """The text, wrapped beside a sign that alone has the colour of the status."""
        before = f"{margin}{sign} "
        first, *more = self.wrapped(text, before)
        yield from (f"{margin}{self.by_status(sign, status)} {first.removeprefix(before)}", *more)

    def table(
        self, rows: Sequence[Sequence[Cell]], *, right: Collection[int] = (), names: Sequence[int] = (0,)
    ) -> Iterator[str]:
        """Rows of as many cells each, the heading first; `right` numbers the columns that are set to the right.

        On a narrow screen the words in the last column are wrapped, beside their rows or below them, and those in
        the columns `names` are cut in their middle.
        """
        texts = [[visible(cell if isinstance(cell, str) else cell[0]) for cell in row] for row in rows]
        *widths, last = [max(map(cells, column)) for column in zip(*texts, strict=True)]
        room = self.width - sum(len(_GAP) + width for width in widths) - len(_GAP)
        is_below = room < min(last, _NARROWEST_WORDS) and len(widths) not in right
        lacking = last - room if len(widths) in right else -room if is_below else 0
        while lacking > 0 and widths[widest := max(names, key=widths.__getitem__)] > _NARROWEST_NAME:
            widths[widest] -= 1
            lacking -= 1
        for number, (row, of) in enumerate(zip(rows, texts, strict=True)):
            line = "".join(
                f"{_GAP}{self._cell(cell, text, width, right=column in right)}"
                for column, (cell, text, width) in enumerate(zip(row, of, widths, strict=False))
            )
            words = of[-1].rjust(last) if len(widths) in right else of[-1]
            beside = sum(len(_GAP) + width for width in widths) + len(_GAP)
            if is_below:
                lines = [line.rstrip(), *(wrapped(words, self.width, _GAP * 3) if words else ())]
            else:
                first, *more = wrapped(words, self.width - beside)
                shown = first if isinstance(row[-1], str) else self.painted(first, row[-1][1])
                lines = [f"{line}{_GAP}{shown}".rstrip(), *(f"{'':{beside}}{each}" for each in more)]
            yield from lines if number else (self.painted(each, "bold") for each in lines)

    def _cell(self, cell: Cell, text: str, width: int, *, right: bool) -> str:
        short = cut_in_middle(text, width, self.symbols.ellipsis)
        space = " " * (width - cells(short))
        shown = short if isinstance(cell, str) else self.painted(short, cell[1])
        return space + shown if right else shown + space

    def in_short(self, text: str) -> str:
        """The text, made safe, as far as it has room on one line that may be long."""
        return in_short(text, self.symbols.ellipsis)


# --- numbers and choices of cases ------------------------------------------------------------------------------------


def milliseconds(duration: float) -> str:
    """A time in whole milliseconds, as the contract's summary has it."""
    return f"{duration:.0f}ms"


def selected_line(selected: Selected | None, total: int) -> str:
    """`2 of 40 cases selected`; if all of them are, how many."""
    if selected is None:
        return counted(total, "case")
    return f"{selected.cases} of {counted(selected.of, 'case')} selected"


def nothing_ran(summary: RunSummary) -> str | None:
    """A warning that no case of a run was sent, or none could be checked; None if one was."""
    if not summary.suites or summary.total_cases > summary.unverified:
        return None
    if summary.unverified:
        of_all = "the only case" if summary.unverified == 1 else f"all {summary.unverified} cases"
        return f"nothing was verified: the assertions of {of_all} were skipped"
    match summary.skipped:
        case 0:
            why = "there was none to run"
        case 1:
            why = "the only case was skipped"
        case skipped:
            why = f"all {skipped} cases were skipped"
    return f"no case ran, so nothing was verified: {why}"


# --- comparisons -----------------------------------------------------------------------------------------------------


def significance_line(found: Significance) -> str:
    """The verdict on the changed verdicts of cases, as `inconclusive: 5 of 200 cases regressed, 6 newly pass (...)`."""
    left_out = f"; {found.errors} left out that ended in error" if found.errors else ""
    if found.verdict == "unchanged":
        return f"unchanged: the same verdict in {counted(found.pairs, 'case')}{left_out}"
    regressed = f"{found.regressed or 'none'} of {counted(found.pairs, 'case')} regressed"
    newly = f"{found.newly_passed or 'none'} newly {'passes' if found.newly_passed <= 1 else 'pass'}"
    tested = f"McNemar's exact test, {p_words(found.p_value)}"
    return f"{found.verdict}: {regressed}, {newly} ({tested}){left_out}{to_settle(found)}"


def p_words(p_value: float) -> str:
    """`p = 0.0312`, or that it is tiny."""
    return "p < 0.0001" if p_value < 0.0001 else f"p = {p_value:.3g}"


def difference_words(found: Difference) -> str:
    """A difference, its interval and the verdict, as `+0.04 (95 % interval +0.01 to +0.07) better`."""
    changed = found.verdict != "unchanged"
    return f"{interval_words(found)} {found.verdict}{to_settle(found)}" if changed else found.verdict


def interval_words(found: Difference) -> str:
    """A difference and its interval, as `+0.04 (95 % interval +0.01 to +0.07)`."""
    drawn = "" if found.clusters is None else f", {found.clusters} groups of cases"
    low, high = (
        signed if signed.startswith("-") else f"+{signed}" for signed in outward(found.low, found.high, digits=3)
    )
    interval = f"95 % interval {low} to {high}{drawn}"
    return f"{round(found.difference, 3) + 0.0:+.3f} ({interval})"


def to_settle(found: Significance | Difference) -> str:
    """How many cases would settle a verdict that is inconclusive, to stand behind it; empty for any other."""
    return f"; {more_cases(found.more_cases)}" if found.verdict == "inconclusive" else ""


def more_cases(count: int | None) -> str:
    """How many cases would settle what is inconclusive."""
    if count is None:
        return "no number of cases would settle it"
    if count > _MANY:
        return f"more than {_MANY:,} more cases would settle it"
    two_digits = round(count, 2 - len(str(count)))  # an estimate is worth no more
    return f"about {two_digits:,} more {'case' if count == 1 else 'cases'} would settle it"


# --- why a case did not pass -----------------------------------------------------------------------------------------


class Reason(NamedTuple):
    """Why a case did not simply pass, and where that was authored; `message` may quote the agent at any length.

    `check` is the line of the check that says so, `at` the JSON pointer of its assertion, `finding` what it found in
    the response, `turn` the turn of a conversation that it is about; None of what no single check says.
    """

    message: str
    place: Place | None
    check: str | None = None
    at: str | None = None
    finding: TextFinding | None = None
    turn: int | None = None

    @classmethod
    def of(cls, assertion: AssertionResult, message: str, place: Place | None = None) -> Reason:
        """The reason that an assertion gives, which was authored at the place unless it knows better."""
        at, finding, turn = assertion.at, assertion.finding, assertion.turn
        return cls(message, assertion.place or place, assertion.line, at, finding, turn)

    @property
    def words(self) -> str:
        """The check and the message on one line."""
        return self.message if self.check is None else f"{self.check}: {self.message}"

    def in_short(self, ellipsis: str = "…") -> str:
        """The words on one line of at most 400 columns, with nothing in it that a terminal would obey."""
        return in_short(self.words, ellipsis)


def reasons(case: CaseResult) -> Iterator[Reason]:
    """The case's error, placed where its assertion was authored; then every other assertion that did not hold."""
    broken = [assertion for assertion in case.assertions if assertion.outcome in ("failed", "error")]
    case_place = None if case.place is UNSET else case.place
    if case.status == "expected-failure":
        yield Reason(f"a failure is expected: {case.expected_failure}", case_place)
        return
    if case.status == "unverified":
        tokens = ", ".join(case.details.skipped_tokens)
        why = f"no value for {tokens}" if tokens else "no assertion applies to what the agent did and reported"
        yield Reason(f"nothing was checked, {why}", case_place)
    elif case.error is not UNSET:
        ending = case.decided_by
        if ending is None:
            yield Reason(in_lines(case.error, None), case_place)
        else:
            named = "" if ending.line is None else f"{ending.field}: "
            yield Reason.of(ending, case.error.replace(named, "", 1).removeprefix("repeat: "), case_place)
            broken.remove(ending)
    for each in broken:
        message = each.message or each.outcome
        yield Reason.of(each, message if each.line else f"{each.field}: {message}")


def main_reason(case: CaseResult) -> Reason | None:
    """The first of the reasons; None for a case that simply passed."""
    return next(reasons(case), None)


def place_of(case: CaseResult) -> Place | None:
    """Where a report points to: where the main reason was authored, else where the case was."""
    reason = main_reason(case)
    return reason.place if reason is not None else case.place or None


def reasons_in_full(case: CaseResult, *, most: int, longest: int) -> str:
    """The reasons in lines of their own, at most `longest` characters of each, with their places; `most` of them.

    The row that the case is made from follows.
    """
    every = reasons(case)
    lines: list[str] = []
    for reason in islice(every, most):
        lines.append(legible(reason.words, longest))
        lines += [] if reason.place is None else [f"  at {visible(str(reason.place))}"]
    more = sum(1 for _ in every)
    lines += [f"and {more} more"] if more else []
    lines += [f"row {visible(f'{case.row.file}:{case.row.line}')}"] if case.row else []
    return "\n".join(lines)


def why_skipped(case: SkippedCase) -> str:
    """Why a case was not run."""
    return f"archived: {case.reason}" if case.archived else case.reason


# --- gates -----------------------------------------------------------------------------------------------------------


def gate_line(gate: GateResult) -> str:
    """A gate's measurement and limit: `pass rate 0.85, at least 0.9 is needed`; and how sure that is."""
    return _measured(gate) + _certainty(gate)


def _certainty(gate: GateResult) -> str:
    if gate.confidence is msgspec.UNSET or gate.verdict is msgspec.UNSET:
        return ""
    sure = f"at {shown_confidence(gate.confidence)}"
    if gate.verdict != "undecided":
        return f": it {gate.verdict} {sure}"
    if gate.gate == "failOnRegression":
        return f": no more than chance {sure}"
    more = gate.more_cases
    would = f"; about {counted(more, 'case')} more would decide" if isinstance(more, int) else ""
    return f": undecided {sure}{would}"


_SHARES: Final = {"minPassRate": "pass rate", "minScore": "score", "macroF1": "macro F1"}


def _measured(gate: GateResult) -> str:
    value = gate.value
    match gate.gate:
        case "maxP95Ms":
            measured = "no known time (too few answered)" if value is None else f"{value:.12g}ms"
            return f"95 % of the cases within {measured}, at most {gate.limit:.12g}ms are allowed"
        case "failOnRegression":
            missing, new = gate.missing or 0, gate.new_failures or 0
            measured = "regressions unknown" if value is None else counted(int(value) - missing - new, "regression")
            others = [f"{counted(new, 'failing case')} without a baseline"] if new else []
            others += [counted(missing, "missing case")] if missing else []
            more = f"{', ' if len(others) > 1 else ' and ' if others else ''}{' and '.join(others)}"
            return f"{measured}{more}, none is allowed"
        case name:
            share = "unknown" if value is None else rounded(value, gate.limit)
            return f"{_SHARES.get(name, f'{name} of `{gate.label}`')} {share}, at least {gate.limit:g} is needed"


def not_met(run: ReportedRun) -> Iterator[str]:
    """The gates and thresholds of the run and its suites that are not met."""
    for result in run.results:
        for gate in result.gates or ():
            if not gate.passed:
                yield f"{run.title_of(result)}: {gate_line(gate)}"
    yield from run.below
    yield from (gate_line(gate) for gate in run.gates if not gate.passed)


def verdict(run: ReportedRun) -> tuple[Literal["passed", "failed"], str]:
    """How the run ended, and why: `failed`, `3 of 40 cases failed, 1 gate is not met`."""
    summary, total = run.summary, run.summary.total_cases
    failed, missed = summary.failed - summary.errors, sum(1 for _ in not_met(run))
    if not run.exit_code:
        allowed = f", {counted(failed, 'failure')} allowed" if failed else ""
        return "passed", f"{summary.passed} of {counted(total, 'case')}{allowed}"
    parts = [
        f"{counted(summary.errors, 'case')} ended in error" if summary.errors else "",
        f"{failed} of {counted(total, 'case')} failed" if failed else "",
        f"{counted(missed, 'gate')} {'is' if missed == 1 else 'are'} not met" if missed else "",
        "the run stopped" if any(result.stopped for result in run.results) else "",
    ]
    of_none = f"{summary.unverified} of {counted(total, 'case')} verified nothing"
    return "failed", ", ".join(filter(None, parts)) or (
        of_none if 0 < summary.unverified < total else "nothing was verified"
    )


def missing_suite(suite: MissingSuite) -> str:
    """A suite of the baseline that is gone, in sentences: `b (labeled), 3 cases of evals/b.eval.yaml`."""
    file = "" if suite.file is msgspec.UNSET else f" of {suite.file}"
    return f"{suite.key.title()}, {counted(suite.cases, 'case')}{file}"


def missing_lines(run: ReportedRun) -> Iterator[str]:
    """The cases and suites of the baseline that are gone, by name: a sentence a suite."""
    for result in run.results:
        if went := result.went or ():
            yield f"{run.title_of(result)}: missing since the baseline: {first_of(went, _MOST_MISSING)}"
    if run.missing:
        named = first_of(run.missing, _MOST_MISSING, missing_suite, separator="; ")
        yield f"missing suites of the baseline: {named}"


def failures_allowed(of: SuiteResult | ReportedRun) -> str | None:
    """The note that cases failed though every gate is met, and why no gate minds; None if not so.

    Cases that broke are not meant: they fail a run whatever its gates say.
    """
    gates, failed = of.gates or (), of.summary.failed - of.summary.errors
    if not failed or not gates or not all(gate.passed for gate in gates):
        return None
    by_rate = any(gate.gate == "minPassRate" for gate in gates)
    why = "the pass rate allows for" if by_rate else "no gate counts"
    return f"{counted(failed, 'case')} failed, which {why}"


# --- classes ---------------------------------------------------------------------------------------------------------


MOST_CLASSES: Final = 30


_MOST_CONFUSED: Final = 10


def label_lines(summary: Summary) -> Iterator[str]:
    """The lines of a suite whose cases have labels; none of any other."""
    labels = summary.labels
    if labels is UNSET:
        return
    over = counted(labels.cases, "labelled case")
    yield f"accuracy {rate(labels.accuracy)} over {over}, macro F1 {rounded(labels.macro_f1)}"
    width = min(40, max(len(visible(each.name)) for each in labels.classes))
    for each in labels.classes[:MOST_CLASSES]:
        recall, precision, f1 = class_cells(each)
        yield f"  {visible(each.name):<{width}}  recall {recall}  precision {precision}  F1 {f1}"
    if len(labels.classes) > MOST_CLASSES:
        yield f"  and {len(labels.classes) - MOST_CLASSES} more classes"
    wrong = sorted((pair for pair in labels.confusion if pair.expected != pair.predicted), key=lambda pair: -pair.cases)
    for pair in wrong[:_MOST_CONFUSED]:
        given = "no label" if pair.predicted is None else visible(pair.predicted)
        yield f"  {visible(pair.expected)} taken for {given}: {counted(pair.cases, 'case')}"
    if len(wrong) > _MOST_CONFUSED:
        yield f"  and {len(wrong) - _MOST_CONFUSED} more pairs"


def class_cells(each: ClassSummary) -> tuple[str, str, str]:
    """A class's recall, precision and F1."""
    return rate(each.recall), rate(each.precision), rounded(each.f1)


_MOST_SLICES: Final = 5


def slice_lines(summary: Summary) -> Iterator[str]:
    """The slices with the lowest pass rates, if any case failed."""
    if summary.slices is UNSET or not summary.failed:
        return
    ordered = sorted(summary.slices, key=lambda each: 1.0 if each.rate is None else each.rate)
    shown = [(visible(each.tag), f"{each.passed}/{each.of}", rate_words(each)) for each in ordered[:_MOST_SLICES]]
    yield "by tag"
    width, counts = min(40, max(map(cells, (tag for tag, *_ in shown)))), max(len(passed) for _, passed, _ in shown)
    for tag, passed, words in shown:
        yield f"  {padded(shortened(tag, width), width)}  {passed:>{counts}}  {words}"
    if len(ordered) > _MOST_SLICES:
        yield f"  and {counted(len(ordered) - _MOST_SLICES, 'more tag')}"


def rate_words(found: Rate) -> str:
    """A pass rate with its interval and its errors: `0.45 (0.25 to 0.67), 1 error`."""
    errors = f", {counted(found.errors, 'error')}" if found.errors else ""
    return f"{rate(RateEstimate(value=found.rate, low=found.low, high=found.high, of=found.of))}{errors}"


def rate(estimate: RateEstimate) -> str:
    """A share with its interval: `0.90 (0.79 to 0.96)`; a dash where it is of none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{rounded(estimate.value)} ({' to '.join(outward(estimate.low, estimate.high))})"


_LONGEST_LINE: Final = 400
_BETWEEN_BREAKS: Final = re.compile(r"[^\n\t]+")


def legible(text: str, longest: int) -> str:
    """The text with its lines and tabs, other controls written as escapes; what is longer is cut, and says so.

    It may have lone surrogates; `longest` is how many of its characters are kept.
    """
    kept = _BETWEEN_BREAKS.sub(lambda line: visible(line[0]), text[:longest].replace("\r\n", "\n"))
    return kept if len(text) <= longest else f"{kept}… ({longest} of {len(text)} characters)"


def in_short(text: str, ellipsis: str = "…") -> str:
    """The text on one line of at most 400 columns, with nothing in it that a terminal would obey."""
    return shortened(visible(text[: _LONGEST_LINE + 1]), _LONGEST_LINE, ellipsis)
