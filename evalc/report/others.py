"""The output of `evalc history`, `coverage`, `plan` and `challenge` on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from math import ceil
from statistics import fmean
from typing import Final, NamedTuple, TypeVar

from msgspec.structs import replace

from evalc.base.terminal import Screen, cells, counted, first_of, in_common, padded, visible
from evalc.model.numbers import percent, rounded, shown_confidence
from evalc.model.reports import (
    CaseStrength,
    ChallengerCount,
    CheckStrength,
    Coverage,
    CriterionStrength,
    GatePlan,
    History,
    HistoryEntry,
    Kind,
    NoisePlan,
    Plan,
    Strength,
    SuitePlan,
    SuiteStrength,
    Survivor,
    ToolCoverage,
    Trend,
    TurnStrength,
)
from evalc.model.result import Status
from evalc.model.suite import key_of
from evalc.report.words import Writer

# --- history ---------------------------------------------------------------------------------------------------------

_BARS: Final = "▁▂▃▄▅▆▇█"
_DIGITS: Final = "0123456789"
_LONGEST_LINE: Final = 40
_SHORTEST_ID: Final = 8
_MEASURES: Final = ("passed", "", "score", "cost", "notes")


def history_lines(
    history: History, screen: Screen, *, names: Mapping[str, str], most: int, by_suite: bool = False
) -> Iterator[str]:
    """A table of the runs, the newest first, and the courses, without line ends; `names` are what the runs are called.

    There is a line for each agent of a run, or `by_suite` for each result of a suite; at most so many.
    """
    writer = Writer(screen)
    found: dict[tuple[str, ...], list[HistoryEntry]] = {}
    has_suites = by_suite and len({key_of(entry) for entry in history.entries}) > 1
    for entry in history.entries:
        suite = (key_of(entry).short(),) if has_suites else ()
        found.setdefault((entry.run, entry.agent_endpoint, *suite), []).append(entry)
    shown = list(islice(found.items(), most))
    is_one_year = len({entries[0].timestamp[:4] for _, entries in shown}) == 1
    head = ("run", "when (UTC)", "agent", *(("suite",) if has_suites else ()))
    rows = [
        (names.get(run, run), entries[0].timestamp[5 if is_one_year else 0 : 16].replace("T", " "), *named)
        for (run, *named), entries in shown
    ]
    yield from _runs_table(head, rows, [_measures(entries) for _, entries in shown], writer)
    if len(found) > most:
        yield f"  and {len(found) - most} more; `--limit` lists more"
    for trend in history.trends if by_suite else ():
        if len(trend.points) > 1:
            yield ""
            yield from _trend(trend, writer, screen)
    if not by_suite:
        yield from _courses(history.trends, writer, screen)


def _runs_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], measures: Sequence[Sequence[str]], writer: Writer
) -> Iterator[str]:
    """A column for each measure that a run has; on a narrow screen one for all of them."""
    there = [index for index in range(len(_MEASURES)) if any(each[index] for each in measures)]
    titles = [_MEASURES[index] for index in there]
    right = range(len(head), len(head) + len(there) - (titles[-1] == "notes"))
    names = range(head.index("agent"), len(head))
    table = [(*row, *(each[index] for index in there)) for row, each in zip(rows, measures, strict=True)]
    lines = list(writer.table([(*head, *titles), *table], right=right, names=names))
    if any(cells(line) > writer.width for line in lines[1:]):
        table = [(*row, ", ".join(filter(None, each))) for row, each in zip(rows, measures, strict=True)]
        lines = list(writer.table([(*head, "passed"), *table], names=names))
    yield from lines


def _measures(entries: Sequence[HistoryEntry]) -> tuple[str, ...]:
    """Passes of the results of a run, their share, the score, the cost, and notes."""
    passed, total = sum(each.passed for each in entries), sum(each.total_cases for each in entries)
    scores = [each.score for each in entries if each.score is not None]
    costs = [each.estimated_cost_usd for each in entries if each.estimated_cost_usd is not None]
    errors = sum(each.errors for each in entries)
    notes = [counted(errors, "error")] if errors else []
    notes += ["part of the cases"] if any(each.partial for each in entries) else []
    notes += ["rescored"] if any(each.rescored for each in entries) else []
    return (
        f"{passed}/{total}",
        percent(passed / total) if total else "",
        rounded(fmean(scores)) if scores else "",
        f"${sum(costs):.3g}" if costs else "",
        ", ".join(notes),
    )


def _courses(trends: Sequence[Trend], writer: Writer, screen: Screen) -> Iterator[str]:
    """The pass rates of the suites whose results have changed, a line each."""
    several = [trend for trend in trends if len(trend.points) > 1]
    moved = [trend for trend in several if len({point.pass_rate for point in trend.points[-_LONGEST_LINE:]}) > 1]
    rows = []
    for trend in moved:
        rates = [point.pass_rate for point in trend.points[-_LONGEST_LINE:]]
        last = next(rate for rate in reversed(rates) if rate is not None)
        rows.append((key_of(trend).short(trend.agent_endpoint), sparkline(rates, screen), percent(last)))
    if rows:
        yield ""
        yield from writer.table([("suite", "passed, by run", "now"), *rows], right=(2,))
    if several:
        yield ""
        alike = len(several) - len(moved)
        same = f"{counted(alike, 'suite')} passed the same share in each run. " if alike else ""
        yield from writer.wrapped(f"{same}`evalc history SUITE` shows a suite by its criteria.")


def short_names(runs: Sequence[str]) -> Mapping[str, str]:
    """For each run the beginning of its name that no other has, at least eight characters."""
    ordered = sorted(set(runs))
    shared = dict.fromkeys(ordered, 0)
    for one, other in pairwise(ordered):
        common = in_common(one, other)
        shared[one], shared[other] = max(shared[one], common), common
    return {run: run[: max(_SHORTEST_ID, common + 1)] for run, common in shared.items()}


def _trend(trend: Trend, writer: Writer, screen: Screen) -> Iterator[str]:
    """The newest runs of the suite, from left to right; the scale is from 0 to 1."""
    points = trend.points[-_LONGEST_LINE:]
    courses = [("passed", [point.pass_rate for point in points]), ("score", [point.score for point in points])]
    courses += [(name, [point.criteria.get(name) for point in points]) for name in trend.criteria]
    room = writer.width - min(len(points), _LONGEST_LINE) - len("          ")
    shown = [
        (writer.shortened(name, room), values) for name, values in courses if any(value is not None for value in values)
    ]
    width = max((cells(name) for name, _ in shown), default=0)
    runs = (
        f"the last {len(points)} of {len(trend.points)} runs"
        if len(points) < len(trend.points)
        else f"{len(points)} runs"
    )
    title = writer.wrapped(f"{key_of(trend).short(trend.agent_endpoint)}, {runs}")
    yield from (writer.painted(line, "bold") for line in title)
    for name, values in shown:
        last = next(value for value in reversed(values) if value is not None)
        yield f"  {padded(name, width)}  {sparkline(values, screen)}  {rounded(last)}"


def sparkline(values: Sequence[float | None], screen: Screen) -> str:
    """A character a value, from 0 to 1; a blank for none. On an ASCII screen, tenths."""
    steps = _BARS if screen.unicode else _DIGITS
    return "".join(
        " " if value is None else steps[min(int(min(max(value, 0), 1) * len(steps)), len(steps) - 1)]
        for value in values
    )


# --- coverage --------------------------------------------------------------------------------------------------------

_MOST_MISSING: Final = 20
PARTS: Final[Mapping[Kind, str]] = {
    "tools": "tools that a case expects to be called",
    "arguments": "arguments that a case checks",
    "toolPairs": "pairs of tools with similar descriptions that an ambiguous case tells apart",
    "seedValues": "seed values that a check reads",
    "criteria": "criteria that something scores",
    "prompts": "prompts that a case renders and whose outcome it checks",
    "promptBranches": "branches of prompts that a case renders",
}
"""The unit of each kind of part, in words that follow a number."""


def coverage_lines(coverage: Coverage, screen: Screen) -> Iterator[str]:
    """The share of all parts, then a line for each kind with what it lacks, and a table of the tools."""
    writer = Writer(screen)
    first, *more = writer.wrapped(coverage_total(coverage))
    yield from (writer.painted(first, "bold"), *more)
    if coverage.parts:
        yield ""
    for part in coverage.parts:
        status: Status = "passed" if part.covered == part.total else "failed"
        yield from writer.beside(writer.mark(status), f"{part.covered} of {part.total} {PARTS[part.kind]}", status)
        if part.missing:
            yield from writer.wrapped(f"not {first_of(part.missing, _MOST_MISSING)}", "    ")
        if len(part.missing) > _MOST_MISSING:
            yield "    `--json` lists them all"
    if coverage.tools:
        yield ""
        yield from writer.table([("tool", "cases", "arguments checked"), *map(_tool, coverage.tools)], right=(1,))


def coverage_total(coverage: Coverage) -> str:
    """The share of all parts, or why there is none."""
    if coverage.unknown:
        return (
            "no total: without a tool registry, the tools that no case calls are unknown; name one with `--tools FILE` "
            "(for an agent without tools, a file with `[]`)"
        )
    if coverage.coverage is None:
        return "there is nothing to cover: no tools, no seed manifest, no criteria and no prompts"
    return f"coverage {rounded(coverage.coverage)}: cases test {coverage.covered} of {coverage.total} parts"


def _tool(tool: ToolCoverage) -> tuple[str, str, str]:
    checked = [name for name, cases in tool.arguments.items() if cases]
    return tool.name, str(tool.cases), ", ".join(checked) or "-"


# --- plan ------------------------------------------------------------------------------------------------------------


_FALL: Final = 0.1
"""The fall of the pass rate that a plan says how to catch."""


def plan_lines(plan: Plan, screen: Screen) -> Iterator[str]:
    """A table of what the suites can show, what their gates need, how to catch more, and how all of that is known."""
    writer = Writer(screen)
    yield writer.painted(f"What these cases can show, at {shown_confidence(plan.confidence)} confidence", "bold")
    yield ""
    yield from writer.wrapped("The smallest fall of the pass rate, in points, that four of five runs show:")
    yield ""
    heading = ("suite", "cases", "now", *(f"with {times}x" for times in (2, 4)), "cost")
    rows = [(key_of(suite).short(), *_numbers(suite)) for suite in plan.suites]
    yield from writer.table([heading, *rows], right=range(1, len(heading)))
    yield ""
    changed = sorted({suite.options[0].changed for suite in plan.suites if suite.options[0].changed is not None})
    if changed:
        at_least = counted(changed[0], "case") if len(changed) == 1 else f"{changed[0]} to {changed[-1]} cases"
        yield from writer.wrapped(f"No fall shows before {at_least} got worse, and more if others got better.")
    for suite in plan.suites:
        if suite.gate is not None:
            yield from writer.wrapped(f"{key_of(suite).short()}: {_gate(suite.gate, suite.cases)}")
    yield from _to_catch(plan, writer)
    yield ""
    for noise, suites in _by_noise(plan).items():
        of = "" if len(suites) == len(plan.suites) else f" of {', '.join(key_of(suite).short() for suite in suites)}"
        yield from writer.wrapped(f"Noise{of}: {_noise(noise)}")
    costs = "No earlier run says what a case costs." if plan.costs_of is None else "Costs are those of the latest run."
    yield from writer.wrapped(costs)


def _numbers(suite: SuitePlan) -> tuple[str, ...]:
    """The cells of a suite: its cases and attempts, the falls that show, and the cost."""
    attempts = "" if suite.attempts == suite.cases else f" x {suite.attempts / suite.cases:.3g}"
    falls = ("none" if each.likely is None else str(ceil(100 * each.likely - 1e-6)) for each in suite.options)
    cost = suite.options[0].cost_usd
    return f"{suite.cases}{attempts}", *falls, "-" if cost is None else f"${cost:.3g}"


def _to_catch(plan: Plan, writer: Writer) -> Iterator[str]:
    """How many cases the suites lack to show a fall of ten points, as far as the plan knows."""
    more = []
    for suite in plan.suites:
        enough = next((each.cases for each in suite.options if (each.likely or 1) <= _FALL), None)
        if enough is None:
            more.append(f"more than {suite.options[-1].cases - suite.cases} to {key_of(suite).short()}")
        elif enough > suite.cases:
            more.append(f"{enough - suite.cases} or fewer to {key_of(suite).short()}")
    if more:
        yield from writer.wrapped(f"To show a fall of 10 points, add {', '.join(more)}.")


def _by_noise(plan: Plan) -> Mapping[NoisePlan, list[SuitePlan]]:
    found: dict[NoisePlan, list[SuitePlan]] = {}
    for suite in plan.suites:
        found.setdefault(suite.noise, []).append(suite)
    return found


def _gate(gate: GatePlan, cases: int) -> str:
    if gate.confidence is None and gate.holds_from is not None:
        return f"its gate, a pass rate of {gate.limit:g}, needs {gate.holds_from} of {cases} passes."
    sure = "" if gate.confidence is None else f" at {shown_confidence(gate.confidence)}"
    holds = "cannot be met" if gate.holds_from is None else f"is met from {gate.holds_from} of {cases} passes on"
    fails = "cannot be missed" if gate.fails_to is None else f"is missed up to {gate.fails_to}"
    return f"its gate, a pass rate of {gate.limit:g}{sure}, {holds} and {fails}."


def _noise(noise: NoisePlan) -> str:
    """How much the verdicts vary by themselves, and how that is known."""
    varies = f"{percent(noise.flips)} of the verdicts change between two runs of the same agent"
    match noise.source:
        case "attempts":
            return f"{varies}, as {noise.of} attempts of an earlier run show; {percent(noise.passes)} pass."
        case "runs":
            return f"{varies}, as {noise.of} verdicts of earlier runs show; {percent(noise.passes)} pass."
        case "assumed":
            why = "this is assumed, since there are too few earlier runs: each case passes nine times in ten"
            return f"{varies}; {why}. `evalc run --repeat 5` measures it."


# --- challenge -------------------------------------------------------------------------------------------------------

T = TypeVar("T", ChallengerCount, TurnStrength)

_MOST_CASES: Final = 20
_MOST_SURVIVORS: Final = 6
_MOST_CHECKS: Final = 20
_WIDEST_LINE: Final = 48


class Missed(NamedTuple):
    """A fault that a case misses, or several cases of one place: the first of them, and how many there are."""

    survivor: Survivor
    times: int


class WeakPlace(NamedTuple):
    """A case that misses a fault, or the rows of a table that do: the first of them, and how many there are.

    The counts are those of all of them.
    """

    case: CaseStrength
    cases: int
    missed: Sequence[Missed]


def weak_places(strength: Strength) -> list[WeakPlace]:
    """The places of cases that miss a fault, the weakest first. The rows of a table are at one place."""
    places: dict[object, list[CaseStrength]] = {}
    for case in strength.cases:
        places.setdefault(case.place or (key_of(case), case.id), []).append(case)
    weak = [_weak_place(cases) for cases in places.values() if any(case.survivors for case in cases)]
    return sorted(weak, key=lambda place: place.case.killed / max(place.case.mutants, 1))


def _weak_place(cases: Sequence[CaseStrength]) -> WeakPlace:
    found: dict[object, list[Survivor]] = {}
    for survivor in (each for case in cases for each in case.survivors):
        of_rows = len(cases) > 1
        same = (survivor.line if survivor.proved else None) if of_rows else survivor.difference
        found.setdefault((survivor.challenger, survivor.turn, same), []).append(survivor)
    of_all = replace(
        cases[0],
        mutants=sum(case.mutants for case in cases),
        killed=sum(case.killed for case in cases),
        challengers=_summed(case.challengers for case in cases),
        turns=_summed(case.turns for case in cases),
    )
    return WeakPlace(of_all, len(cases), [Missed(each[0], len(each)) for each in found.values()])


def _summed(counts: Iterable[Iterable[T]]) -> tuple[T, ...]:
    """The counts of several cases, those of the same kind of fault, or of the same turn, as one."""
    sums: dict[T, T] = {}
    for each in chain.from_iterable(counts):
        same = replace(each, mutants=0, killed=0)
        before = sums.get(same, same)
        sums[same] = replace(each, mutants=before.mutants + each.mutants, killed=before.killed + each.killed)
    return tuple(sums.values())


def idle_checks(strength: Strength) -> list[CheckStrength]:
    """The checks that noticed nothing, though faults changed what they look at."""
    return [check for check in strength.checks if check.mutants and not check.killed]


def untried_checks(strength: Strength) -> list[CheckStrength]:
    """The checks that no fault reached."""
    return [check for check in strength.checks if not check.mutants]


def reasons_not_challenged(strength: Strength) -> Mapping[str, int]:
    """Why cases were not challenged, each reason with the number of its cases."""
    return Counter(each.reason for each in strength.not_challenged)


def strength_lines(strength: Strength, screen: Screen, *, verbose: bool = False) -> Iterator[str]:
    """The strength, how often each kind of fault is noticed, the lines that would notice more, and idle checks.

    If it is `verbose`, with each fault that is missed.
    """
    writer = Writer(screen)
    first, *more = writer.wrapped(_closing(strength))
    yield from (writer.painted(first, "bold"), *more)
    yield from _paragraph("Faults noticed", _by_frequency(strength.challengers, writer), writer)
    if len(strength.suites) > 1:
        yield from _paragraph("Suites", writer.table([_OF_SUITES, *map(_suite_strength, strength.suites)]), writer)
    weak = weak_places(strength)
    title, below = ("Faults missed", _faults) if verbose else ("Lines that would notice more", _lines_to_add)
    yield from _paragraph(title, _weakest(weak, below, writer), writer)
    if strength.criteria:
        yield from _paragraph("Criteria", writer.table([_OF_CRITERIA, *map(_criterion, strength.criteria)]), writer)
    yield from _paragraph("Checks that noticed nothing", _listed(idle_checks(strength), writer), writer)
    untried = untried_checks(strength)
    if verbose:
        why = "Checks that were not tried, since no fault changes what they look at"
        yield from _paragraph(why, _listed(untried, writer), writer)
    yield ""
    if untried and not verbose:
        are = "check was" if len(untried) == 1 else "checks were"
        yield from writer.wrapped(f"{len(untried)} {are} not tried, since no fault changes what they look at")
    for reason, cases in reasons_not_challenged(strength).items():
        yield from writer.wrapped(f"{counted(cases, 'case')} not challenged: {reason}")
    for warning in strength.warnings:
        yield from writer.wrapped(f"warning: {warning}")
    if any(survivor.proved for case in strength.cases for survivor in case.survivors):
        yield from writer.wrapped("`--fix` adds the proved lines, which every recorded answer passes")
    yield from () if verbose else writer.wrapped("`-v` shows each fault that was missed")


_OF_SUITES: Final = ("suite", "strength", "noticed")
_OF_CRITERIA: Final = ("criterion", "suite", "noticed by its checks")
_OFTEN: Final = 2 / 3


def _paragraph(title: str, lines: Iterable[str], writer: Writer) -> Iterator[str]:
    """The lines below a title; nothing if there are none."""
    for number, line in enumerate(lines):
        if not number:
            yield ""
            yield from (writer.painted(each, "bold") for each in writer.wrapped(title))
        yield line


def _by_frequency(kinds: Sequence[ChallengerCount], writer: Writer) -> Iterator[str]:
    """The kinds of faults, those first that are always noticed."""
    groups: dict[str, list[str]] = {"always": [], "mostly": [], "seldom": [], "never": []}
    for each in kinds:
        share = each.killed / max(each.mutants, 1)
        often = "always" if share == 1 else "mostly" if share >= _OFTEN else "seldom" if share else "never"
        counts = f" {each.killed} of {each.mutants}" if often in {"mostly", "seldom"} else f" {each.mutants}"
        groups[often].append(f"{each.name}{counts}")
    for often, found in groups.items():
        if found:
            yield from writer.wrapped(", ".join(found), f"  {often:<6}  ", " " * 10)


def _suite_strength(suite: SuiteStrength) -> tuple[str, str, str]:
    strength = "-" if suite.strength is None else rounded(suite.strength)
    return key_of(suite).short(), strength, f"{suite.killed} of {suite.mutants}"


def _weakest(
    weak: Sequence[WeakPlace], below: Callable[[Sequence[Missed], Writer], Iterator[str]], writer: Writer
) -> Iterator[str]:
    """The cases that miss faults, how much their checks notice, and where they are; `below` each is more of them."""
    for case, cases, missed in weak[:_MOST_CASES]:
        where = "" if case.place is None else f"  {case.place}"
        more = f" and {counted(cases - 1, 'more case')}" if cases > 1 else ""
        words = f"{case.id}{more}: {case.killed} of {case.mutants} noticed{_by_turn(case)}{where}"
        yield from writer.wrapped(words, "  ", "    ")
        yield from below(missed, writer)
    if len(weak) > _MOST_CASES:
        yield f"  and {counted(len(weak) - _MOST_CASES, 'more case')}; `--json` lists them all"


def _lines_to_add(missed: Sequence[Missed], writer: Writer) -> Iterator[str]:
    """The lines that would notice the faults, and how many each would."""
    counts: dict[tuple[str, str], int] = {}
    without = 0
    for survivor, times in missed:
        if survivor.line is None:
            without += times
        else:
            note = "" if not survivor.wording else ", fixes the wording"
            key = survivor.line, note if survivor.proved else ", unproved"
            counts[key] = counts.get(key, 0) + times
    width = max((cells(visible(line)) for line, _ in counts), default=0)
    for (line, note), times in list(counts.items())[:_MOST_SURVIVORS]:
        beside = padded(visible(line), min(width, _WIDEST_LINE))
        yield from writer.wrapped(f"{beside}  {counted(times, 'fault')}{note}", "    ", "      ")
    if len(counts) > _MOST_SURVIVORS:
        yield f"    and {counted(len(counts) - _MOST_SURVIVORS, 'more line')}"
    if without:
        yield from writer.wrapped(f"no line was found for {counted(without, 'fault')}", "    ")


def _faults(missed: Sequence[Missed], writer: Writer) -> Iterator[str]:
    """The faults, each with a line that would notice it."""
    for survivor, times in missed[:_MOST_SURVIVORS]:
        often = f" ({times} times)" if times > 1 else ""
        yield from writer.wrapped(f"{fault_words(survivor)}: {survivor.difference}{often}", "    ", "      ")
        if survivor.line is not None:
            yield from writer.wrapped(f"{line_words(survivor)}: {survivor.line}", "      ", "        ")
    if len(missed) > _MOST_SURVIVORS:
        yield f"    and {len(missed) - _MOST_SURVIVORS} more"


def _by_turn(case: CaseStrength) -> str:
    turns = [f"turn {each.turn}: {each.killed} of {each.mutants}" for each in case.turns]
    return f" ({', '.join(turns)})" if len(turns) > 1 else ""


def fault_words(survivor: Survivor) -> str:
    """The fault, with the turn that has it."""
    return survivor.challenger if survivor.turn is None else f"{survivor.challenger} in turn {survivor.turn}"


def line_words(survivor: Survivor) -> str:
    """The words before the line of a survivor: whether it is proved, and whether it fixes a wording."""
    if not survivor.proved:
        return "unproved"
    return "would notice it, and fixes the wording" if survivor.wording else "would notice it"


def _criterion(each: CriterionStrength) -> tuple[str, str, str]:
    return each.name, key_of(each).short(), f"{each.killed} of {each.mutants}"


def _listed(checks: Sequence[CheckStrength], writer: Writer) -> Iterator[str]:
    for check in checks[:_MOST_CHECKS]:
        where = f"{check.id} {check.at}" if check.place is None else str(check.place)
        yield from writer.wrapped(f"{where}: {check.check}", "  ", "    ")
    if len(checks) > _MOST_CHECKS:
        yield f"  and {len(checks) - _MOST_CHECKS} more; `--json` lists them all"


def _closing(strength: Strength) -> str:
    if strength.strength is None:
        return "nothing was challenged"
    undecided = f"; {strength.undecided} more could not be decided" if strength.undecided else ""
    noticed = f"{strength.killed} of {strength.mutants} faults noticed"
    return f"strength {rounded(strength.strength)}: {noticed} in {counted(len(strength.cases), 'case')}{undecided}"
