"""Input of reports: a run whose cases are read anew, the runs it is compared with, the source lines behind it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, Self, final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from evalc.base.files import read_limited
from evalc.base.terminal import in_common, visible
from evalc.model.json import values_at
from evalc.model.reports import Coverage, Strength, Trend
from evalc.model.result import (
    AssertionResult,
    CaseResult,
    GateResult,
    MissingSuite,
    RunSummary,
    SkippedCase,
    SuiteComparison,
    SuiteResult,
    TextFinding,
)
from evalc.model.suite import KnownSuites, Place, Selected, key_of


class AuthoredCheck(NamedTuple):
    """A check of a case: its line, filled, and where it was authored, if that is known."""

    line: str
    place: Place | None


ChecksOf = Callable[[str, str], Mapping[str, AuthoredCheck]]
"""The checks and described criteria of a case, by their JSON pointers, of a file and an id."""


def no_checks(_file: str, _id: str) -> Mapping[str, AuthoredCheck]:
    """Nothing is known of any case."""
    return {}


Address = Callable[[Place], str | None]
"""The address of a place on the code host, for links; None if it is not known."""


def no_address(_place: Place) -> None:
    """No address is known."""


# --- a run -----------------------------------------------------------------------------------------------------------


@final
class ReportedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite as the report shows it."""

    result: SuiteResult  # its totals; its cases are not used
    cases: Iterable[CaseResult]  # the cases in source order, read one at a time, as often as there are reports to write
    skipped: Iterable[SkippedCase] = ()  # the cases that were not run, read in the same way
    # the cases of the run that it is compared with, by id; empty if none is at hand
    baseline: Mapping[str, CaseResult] = {}

    @classmethod
    def of(cls, result: SuiteResult) -> Self:
        """A result that has its cases in it."""
        return cls(result=result, cases=result.cases, skipped=result.skipped)


@final
class ReportedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as reports show it."""

    run_id: str  # the id that its suites share
    folder: str  # where its result files are, for the reader; empty if nothing was run
    suites: tuple[ReportedSuite, ...]  # their totals, and cases that can be iterated several times
    summary: RunSummary  # the totals of all suites
    root: Path  # the folder that the places in results are relative to
    exit_code: int | None = None  # how the run ended, as `evalc run` exits; None if that is not known
    gates: tuple[GateResult, ...] = ()  # the verdicts on the gates of the run as a whole
    below: tuple[str, ...] = ()  # the suites whose score does not meet their threshold, in words
    selected: Selected | None = None  # which of all cases were chosen; None if it was all of them
    missing: tuple[MissingSuite, ...] = ()  # the suites of the baseline that it should have had
    warnings: tuple[str, ...] = ()  # those that belong to no suite
    trends: tuple[Trend, ...] = ()  # the courses of its suites over all runs, for the formats that plot them
    # which faulty answers its checks notice, where it was challenged, for the HTML report
    strength: Strength | None = None
    coverage: Coverage | None = None  # what its cases look at, for the HTML report
    # strikes secrets out of what is quoted from eval files; results have none any more
    redact: Callable[[str], str] = str
    # the checks of a case of an eval file, given the file and the id of the case: results have only those that fail
    checks: ChecksOf = no_checks
    comparisons: tuple[SuiteComparison, ...] = ()  # its suites beside those of the baseline, where that is a saved run
    address: Address = no_address  # of places in eval files

    @property
    def results(self) -> tuple[SuiteResult, ...]:
        """The totals of its suites."""
        return tuple(suite.result for suite in self.suites)

    @property
    def several_agents(self) -> bool:
        """Whether the suites are of more than one agent."""
        return len({result.agent_endpoint for result in self.results}) > 1

    @property
    def all_gates(self) -> tuple[GateResult, ...]:
        """The verdicts on the gates of its suites and its own."""
        return (*(gate for result in self.results for gate in result.gates or ()), *self.gates)

    def not_passed(self) -> Iterator[tuple[SuiteResult, CaseResult]]:
        """The cases that did not pass, each with its suite."""
        return ((suite.result, case) for suite in self.suites for case in suite.cases if not case.passed)

    def all_warnings(self) -> Iterator[str]:
        """The warnings of each suite with its name, then those of the run."""
        for result in self.results:
            yield from (f"{self.name_of(result)}: {text}" for text in (*result.staleness_warnings, *result.warnings))
        yield from self.warnings

    def name_of(self, suite: SuiteResult) -> str:
        """`SUITE.TIER`, and the agent behind it if the run has several, so that each suite has a name of its own."""
        name = str(key_of(suite))
        return f"{name} ({suite.agent_endpoint})" if self.several_agents else name

    def title_of(self, suite: SuiteResult) -> str:
        """The suite in sentences: `SUITE (TIER)`, with its agent where the run has several."""
        return key_of(suite).title(suite.agent_endpoint if self.several_agents else None)


def beside(suites: Sequence[ReportedSuite], baseline: Sequence[ReportedSuite] = ()) -> tuple[ReportedSuite, ...]:
    """The suites, each with its cases of the baseline, where that has the suite: of the same agent if it can be."""
    known = KnownSuites.named_by(reported.result for reported in (*suites, *baseline))

    def before(suite: SuiteResult) -> Mapping[str, CaseResult]:
        key = known.key_of(suite)
        same = [past for past in baseline if key is not None and known.key_of(past.result) == key]
        same.sort(key=lambda past: past.result.agent_endpoint != suite.agent_endpoint)
        return {case.id: case for case in same[0].cases} if same else {}

    return tuple(replace(suite, baseline=before(suite.result)) for suite in suites)


# --- lines of eval files ---------------------------------------------------------------------------------------------

_LONGEST_LINE: Final = 300
_LONGEST_STRUCK: Final = 20_000
"""Of how much of a line secrets are struck out before it is cut: half of one would not be found any more."""
_LARGEST_FILE: Final = 16_000_000
_KINDS: Final = frozenset({".yaml", ".yml", ".json", ".jsonl", ".csv", ".md"})


class Authored(NamedTuple):
    """The lines of an eval file, and when it was last written, in seconds since 1970."""

    lines: list[str]
    written: float


@final
class SourceLines:
    """Reads each file once, when the first of its lines is asked for; which may be read, `read_authored` says.

    Names in places start from the folder `root`. `redact` strikes secrets out of a line; `checks` are those of a case.
    """

    def __init__(self, root: Path, redact: Callable[[str], str] = str, checks: ChecksOf = no_checks) -> None:
        self._root = root.resolve()
        self._checks = checks
        self._redact = redact
        self._read: dict[str, Authored | None] = {}
        self._until = math.inf

    def of_run(self, began: str) -> SourceLines:
        """These lines for a run that began then, in ISO 8601: files that are newer may have said something else."""
        lines = copy(self)  # with the same files read
        lines._until = seconds_of(began)
        return lines

    def line(self, place: Place) -> str | None:
        """The line of the place; None if it is gone, or the file is newer than the run."""
        authored = self._authored(place.file)
        if authored is None or not 1 <= place.line <= len(authored.lines):
            return None
        return quoted(authored.lines[place.line - 1], self._redact)

    def check_of(self, case: CaseResult, assertion: AssertionResult) -> AuthoredCheck | None:
        """The check behind an assertion; None if neither its result says it nor the file, or the file is newer."""
        if assertion.line is not None:
            return AuthoredCheck(assertion.line, assertion.place)
        return self._authored_check(case, assertion.at)

    def question_of(self, case: CaseResult, index: int) -> str | None:
        """The description of one of the case's criteria, by which a judge scores it; None where `check_of` is None."""
        described = self._authored_check(case, f"/criteria/{index}")
        return None if described is None else described.line

    def _authored_check(self, case: CaseResult, at: str) -> AuthoredCheck | None:
        if case.place is UNSET or self._authored(case.place.file) is None:
            return None
        check = self._checks(case.place.file, case.id).get(at)
        return None if check is None else check._replace(line=self._redact(check.line))

    def _authored(self, file: str) -> Authored | None:
        if file not in self._read:
            self._read[file] = read_authored(self._root, file)
        authored = self._read[file]
        return None if authored is None or authored.written > self._until else authored


def read_authored(root: Path, name: str) -> Authored | None:
    """The eval file of that name; None if there is none that can be read.

    A result file may come from anyone and name any file: only eval files within the folder `root` are read.
    """
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root) or path.suffix.lower() not in _KINDS or not path.is_file():
            return None
        status = path.stat()
        return Authored(read_limited(path, _LARGEST_FILE).decode("utf-8-sig").split("\n"), status.st_mtime)
    except (OSError, ValueError):  # not there any more, not UTF-8, a name that no file can have
        return None


def quoted(line: str, redact: Callable[[str], str]) -> str:
    """A line as reports quote it: without its end, without secrets, at most 300 characters of it."""
    return redact(line.rstrip("\r")[:_LONGEST_STRUCK])[:_LONGEST_LINE]


def seconds_of(timestamp: str) -> float:
    """The time in seconds since 1970; 0 if it is not a time, so that any file counts as newer."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0


# --- what was said ---------------------------------------------------------------------------------------------------


class SaidTurn(NamedTuple):
    """A turn of a conversation: the user's message, the calls by their names, and the answer, None if none came."""

    number: int
    message: str
    calls: tuple[str, ...]
    response: str | None
    failed: bool


def said_in(case: CaseResult) -> Iterator[SaidTurn]:
    """The turns of a conversation, with the unanswered turn that ended it; none of a case that is no conversation."""
    details, number = case.details, 0
    names = iter([str(call.get("name")) for call in details.tool_calls])
    for number, turn in enumerate(details.turns or (), 1):
        failed = any(each.turn == number and each.outcome in ("failed", "error") for each in case.assertions)
        yield SaidTurn(number, turn.message, tuple(islice(names, turn.calls)), turn.response, failed)
    if details.unanswered is not UNSET:
        yield SaidTurn(number + 1, details.unanswered, (), None, failed=True)


def transcript(case: CaseResult) -> str | None:
    """The transcript as text: the response, or each turn with the user's message and the calls."""
    turns = list(said_in(case))
    if not turns:
        return case.details.response
    return "\n".join(line for turn in turns for line in _of_turn(turn))


def _of_turn(turn: SaidTurn) -> Iterator[str]:
    yield f"turn {turn.number}{' (failed)' if turn.failed else ''}"
    yield f"  user: {turn.message}"
    if turn.calls:
        yield f"  calls: {', '.join(turn.calls)}"
    if turn.response is not None:
        yield f"  agent: {turn.response}"


def message_of(case: CaseResult, turn: int | None) -> str | None:
    """The message that was sent: of a conversation that of the turn, or the last; None if the result does not say."""
    details = case.details
    turns = list(said_in(case))
    if turns:
        return turns[-1 if turn is None else min(turn, len(turns)) - 1].message
    if details.message is not UNSET:
        return details.message
    return details.messages[-1].content if details.messages else None


def response_of(case: CaseResult, turn: int | None) -> str | None:
    """The response of a turn; that of the case where it is about none."""
    turns = case.details.turns
    if turn is None or turns is UNSET or turn > len(turns):
        return case.details.response
    return turns[turn - 1].response


_LONGEST_SEARCHED: Final = 20_000
_LONGEST_ALIGNED: Final = 5_000
_LEAST_ALIKE: Final = 60.0


class Highlight(NamedTuple):
    """A stretch of a text of one line: the response, with nothing in it that a terminal would obey."""

    text: str
    start: int
    end: int


def highlight(finding: TextFinding | None, response: str | None) -> Highlight | None:
    """The part of the response that a finding is about; None if there is none to show.

    A forbidden text is found where it is, and where a text is missing, what is nearest to it.
    """
    if finding is None or not response:
        return None
    text = visible(response[:_LONGEST_SEARCHED])
    begin, end = 0, len(text)
    if finding.path is not None:
        value = _value_at(response, finding.path)
        if value is None or text.count(value) != 1:
            return None
        begin = text.index(value)
        end = begin + len(value)
    part = _part(finding, text[begin:end])
    return None if part is None else Highlight(text, begin + part[0], begin + part[1])


def _value_at(response: str, path: str) -> str | None:
    """The text of a place in a JSON response as the response writes it; None if it is not a text or not found."""
    try:
        value = next(values_at(json.loads(response), path), None)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, str) or not value:
        return None
    spellings = (json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1])
    return next((visible(written) for written in spellings if written in response), None)


def _part(finding: TextFinding, text: str) -> tuple[int, int] | None:
    sought = visible(finding.text)
    match finding.kind:
        case "forbidden":
            start = text.find(sought) if sought else -1
            return (start, start + len(sought)) if start >= 0 else None
        case "missing":
            from rapidfuzz.fuzz import partial_ratio_alignment  # noqa: PLC0415 - for start-up

            near = partial_ratio_alignment(sought, text[:_LONGEST_ALIGNED], score_cutoff=_LEAST_ALIKE)
            return None if near is None or near.dest_start == near.dest_end else (near.dest_start, near.dest_end)
        case "differs":
            common = in_common(sought, text)
            return common, common + 1
