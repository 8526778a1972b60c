"""The HTML report: one self-contained file of style, data and scripts, written piece by piece.

The data are records that the scripts of the page read: bounded in size, with the secrets of eval files struck out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

import msgspec
from msgspec import UNSET, UnsetType

from evalc.base.terminal import counted
from evalc.compare.totals import significance_of_all
from evalc.model.answer import WrittenFile
from evalc.model.numbers import rounded
from evalc.model.reports import CheckStrength, Coverage, Strength, Trend
from evalc.model.result import AssertionResult, AttemptResult, CaseDetails, CaseResult, CriterionResult
from evalc.model.suite import Place, key_of
from evalc.report import (
    AuthoredCheck,
    ReportedRun,
    ReportedSuite,
    SourceLines,
    quoted,
    read_authored,
    seconds_of,
)
from evalc.report.groups import FailureGroups
from evalc.report.others import (
    PARTS,
    coverage_total,
    fault_words,
    idle_checks,
    line_words,
    reasons_not_challenged,
    untried_checks,
    weak_places,
)
from evalc.report.words import (
    failures_allowed,
    in_short,
    main_reason,
    missing_lines,
    not_met,
    significance_line,
    verdict,
    why_skipped,
)

Record = dict[str, Any]
Redact = Callable[[str], str]

LONGEST_TEXT: Final = 20_000
"""The characters of a message or a response that the page holds; what is cut says so."""

MOST_CALLS: Final = 100
"""The tool calls of a case that the page holds; the rest are counted."""

MOST_PASSED: Final = 20_000
"""The cases that passed that the page lists, and the cases of a suite whose checks it names by their lines."""

_MOST_RUNS: Final = 60
"""The runs of a suite that the page plots, the newest."""

_MOST_CASES: Final = 100
"""The weakest cases, for which the page says what they miss."""

_MOST_SURVIVORS: Final = 14
_MOST_CHECKS: Final = 100
_MOST_MISSING: Final = 200
_LONGEST_LINE: Final = 400
_LONGEST_NOTE: Final = 2_000
_LONGEST_PARAMS: Final = 5_000
_CASES_A_BLOCK: Final = 200
_MOST_LISTED: Final = 300
_AROUND: Final = 1

SCRIPTS: Final = (
    *("texts.js", "data.js", "charts.js", "summary.js", "groups.js", "agents.js", "history.js", "strength.js"),
    *("filter.js", "list.js", "differences.js", "markdown.js", "verdicts.js", "details.js", "copy.js", "print.js"),
    "main.js",
)
"""The page's scripts in the order in which they are joined: each uses only what precedes it."""


# --- the page --------------------------------------------------------------------------------------------------------


def render(run: ReportedRun) -> Iterator[bytes]:
    """The page, in pieces. It works from a `file://` URL and asks for nothing; cases are read while it is written."""
    style, script = _asset("report.css"), "\n".join(map(_asset, SCRIPTS))
    before, _, after = _asset("report.html").partition("<!-- data -->\n")
    filled = before.replace("{{script hash}}", _hash(script)).replace("{{style hash}}", _hash(style))
    yield filled.replace("{{style}}", style).replace("{{in short}}", escape(_in_short(run))).encode()
    yield _block("run", _run_record(run))
    sources, lines = _Sources(run.root, run.redact), SourceLines(run.root, run.redact, run.checks)
    groups, failed = FailureGroups(), list[Record]()
    # The lines of checks that passed are those of the compiled eval file, which takes far longer than all else.
    without_checks = SourceLines(run.root, run.redact)
    passed = _Passed(run)
    for index, suite in enumerate(run.suites):
        known = lines if suite.result.summary.total_cases <= MOST_PASSED else without_checks
        cases = (case for case in suite.cases if passed.lists(index, case))
        records = _case_records(index, suite, cases, sources, known.of_run(suite.result.timestamp), groups)
        while block := list(islice(records, _CASES_A_BLOCK)):
            yield _block("cases", block)
            failed += [record for record in block if "group" in record.get("reason", ())][: _MOST_LISTED - len(failed)]
    yield _block("counted", [{"suite": index, "durations": found} for index, found in passed.counted.items()])
    yield _block("groups", [_present({"check": each.check, "message": each.message}) for each in groups.numbered])
    yield _block("sources", sources.excerpts())
    plain = "\n".join(_without_script(run, groups, failed))
    yield after.replace("{{without script}}", plain).replace("{{script}}", script).encode()


def _block(holds: str, data: object) -> bytes:
    return b'<script type="application/json" data-holds="%b">%b</script>\n' % (holds.encode(), in_html(data))


def in_html(record: object) -> bytes:
    """The record as JSON that is safe in a script element: nothing in it can end the element.

    Half a surrogate pair stays one, written as an escape; UTF-8 could not hold it.
    """
    try:
        encoded = msgspec.json.encode(record)
    except UnicodeEncodeError:
        encoded = json.dumps(msgspec.to_builtins(record)).encode()
    escaped = encoded.replace(b"<", b"\\u003c")
    return escaped.replace("\u2028".encode(), b"\\u2028").replace("\u2029".encode(), b"\\u2029")


def _in_short(run: ReportedRun) -> str:
    return f"{run.summary.passed} of {counted(run.summary.total_cases, 'case')} passed"


def _without_script(run: ReportedRun, groups: FailureGroups, failed: Sequence[Record]) -> Iterator[str]:
    """The page for readers without scripts, as lines of HTML: the verdict, the suites, reasons and failed cases."""

    def shown(text: str) -> str:
        return escape(in_short(text))

    def reason(check: str | None, message: str) -> str:
        return f"{'' if check is None else f'<code>{shown(check)}</code> '}{shown(message)}"

    status, why = verdict(run) if run.exit_code is not None else ("", _in_short(run))
    yield f"<h1>{shown(', '.join(dict.fromkeys(result.agent_endpoint for result in run.results)))}</h1>"
    yield f'<p class="{status}"><b class="big">{status.capitalize()}</b> {shown(why)}</p>'
    yield from ("<ul>", *(f"<li>{shown(note)}</li>" for note in (*not_met(run), *_warnings(run))), "</ul>")
    yield "<h2>Suites</h2>\n<ul>"
    for result in run.results:
        score = "" if result.summary.score is None else f", score {rounded(result.summary.score)}"
        counts = f"{result.summary.passed} of {counted(result.summary.total_cases, 'case')} passed{score}"
        yield f"<li><b>{shown(run.title_of(result))}</b> {counts}</li>"
    yield "</ul>"
    if largest := sorted(groups.numbered, key=lambda group: -group.cases)[:_MOST_LISTED]:
        yield "<h2>Reasons</h2>\n<ul>"
        yield from (f"<li><b>{group.cases}</b> {reason(group.check, group.message)}</li>" for group in largest)
        yield "</ul>"
    if failed:
        yield "<h2>Cases that did not pass</h2>\n<ul>"
        for record in failed:
            check, message = record["reason"].get("check"), record["reason"]["message"]
            text = message if isinstance(message, str) else message["text"]
            yield f"<li><b>{shown(record['id'])}</b> {reason(check, text)}</li>"
        more = run.summary.failed - len(failed)
        yield f"<li>and {more} more</li></ul>" if more else "</ul>"
    yield "<p>Answers, search and filters need scripts, which are off here.</p>"


@cache
def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The source expression by which the page's policy allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@final
class _Passed:
    """Decides which cases that passed the page lists, and keeps the durations, in milliseconds, of the others.

    It lists all of them where they are compared: with a baseline, between agents or variants of a prompt.
    """

    def __init__(self, run: ReportedRun) -> None:
        self.counted: dict[int, list[float]] = {}  # by the index of the suite
        compares = run.several_agents or any(suite.baseline for suite in run.suites)
        self._room = math.inf if compares else MOST_PASSED

    def lists(self, suite: int, case: CaseResult) -> bool:
        """Whether the page lists the case of that suite: each that did not simply pass, and others up to a limit."""
        if case.status != "passed" or case.flaky or case.variant:
            return True
        self._room -= 1
        if self._room >= 0:
            return True
        self.counted.setdefault(suite, []).append(case.duration_ms)
        return False


@final
class _Sources:
    """Collects places, and reads the files below `root` when all are known; which may be read, `read_authored` says."""

    def __init__(self, root: Path, redact: Redact) -> None:
        self._root = root.resolve()
        self._redact = redact
        self._numbers: dict[str, set[int]] = defaultdict(set)
        self._earliest: dict[str, str] = {}

    def want(self, place: Place, timestamp: str) -> None:
        """Ask for the line of the place and those around it; `timestamp` is when the run began, in ISO 8601."""
        self._numbers[place.file].update(range(max(place.line - _AROUND, 1), place.line + _AROUND + 1))
        self._earliest[place.file] = min(timestamp, self._earliest.get(place.file, timestamp))

    def excerpts(self) -> dict[str, Record]:
        """The lines of the files by their numbers, and whether a file is newer than the run, and may have changed.

        Files that cannot be read are left out.
        """
        found: dict[str, Record] = {}
        for name, numbers in sorted(self._numbers.items()):
            authored = read_authored(self._root, name)
            if authored is not None:
                there = [number for number in sorted(numbers) if number <= len(authored.lines)]
                found[name] = {
                    "changed": authored.written > seconds_of(self._earliest[name]),
                    "lines": {number: quoted(authored.lines[number - 1], self._redact) for number in there},
                }
        return found


# --- the run ---------------------------------------------------------------------------------------------------------


def _run_record(run: ReportedRun) -> Record:
    return {
        "suites": [
            msgspec.structs.replace(result, suite=key_of(result).name, cases=(), skipped=()) for result in run.results
        ],
        # Null where it is not known how the run ended.
        "verdict": None if run.exit_code is None else verdict(run),
        "significance": _significance(run),
        "gates": tuple(not_met(run)),
        "warnings": tuple(_warnings(run)),
        "history": [_trend(trend) for trend in run.trends],
        "strength": None if run.strength is None else _strength(run.strength, run.redact),
        "coverage": None if run.coverage is None else _coverage(run.coverage, run.redact),
    }


def _significance(run: ReportedRun) -> Record | None:
    """The significance of the changes since the baseline in words, of each suite and of all; None without one."""
    found = [result.significance or None for result in run.results]
    compared = [each for each in found if each is not None]
    if not compared:
        return None
    return {
        "whole": significance_line(significance_of_all(compared)),
        "suites": [None if each is None else significance_line(each) for each in found],
    }


def _warnings(run: ReportedRun) -> Iterator[str]:
    """The notes that gates are met though cases failed, what is missing, and the warnings of the run."""
    for result in run.results:
        if (note := failures_allowed(result)) is not None:
            yield f"{run.title_of(result)}: {note}"
    if (note := failures_allowed(run)) is not None:
        yield note
    yield from missing_lines(run)
    yield from run.warnings


def _trend(trend: Trend) -> Record:
    """As much of the course of a suite as the page plots, out of so many runs."""
    newest = msgspec.structs.replace(trend, points=trend.points[-_MOST_RUNS:])
    return {**msgspec.to_builtins(newest), "of": len(trend.points)}


def _strength(strength: Strength, redact: Redact) -> Record:
    """As much of the strength as the page shows: the weakest cases with what survives them, and idle checks."""
    weak, idle, reasons = weak_places(strength), idle_checks(strength), reasons_not_challenged(strength)
    untried = untried_checks(strength)
    cases = [
        {
            "id": case.id,
            "suite": case.suite,
            "tier": case.tier,
            "mutants": case.mutants,
            "killed": case.killed,
            "challengers": case.challengers,
            "more": rows - 1,
            "survivors": [
                {
                    "fault": fault_words(each),
                    "difference": _short(each.difference, redact),
                    "times": times,
                    "line": None if each.line is None else _short(each.line, redact),
                    "words": line_words(each),
                }
                for each, times in missed[:_MOST_SURVIVORS]
            ],
            "survivorsOf": len(missed),
        }
        for case, rows, missed in weak[:_MOST_CASES]
    ]
    return {
        "strength": strength.strength,
        "mutants": strength.mutants,
        "killed": strength.killed,
        "undecided": strength.undecided,
        "challengers": strength.challengers,
        "suites": [
            {
                "title": key_of(suite).title(),
                "killed": suite.killed,
                "mutants": suite.mutants,
                "strength": suite.strength,
            }
            for suite in strength.suites
        ],
        "cases": cases,
        "casesOf": len(weak),
        "idle": [_idle(check, redact) for check in idle[:_MOST_CHECKS]],
        "idleOf": len(idle),
        "untried": [_idle(check, redact) for check in untried[:_MOST_CHECKS]],
        "untriedOf": len(untried),
        "notes": [
            *(f"{cases} not challenged: {_short(reason, redact)}" for reason, cases in reasons.items()),
            *(_short(warning, redact) for warning in strength.warnings),
        ],
    }


def _idle(check: CheckStrength, redact: Redact) -> Record:
    where = f"{check.id} {check.at}" if check.place is None else str(check.place)
    return {"check": _short(check.check, redact), "where": where, "mutants": check.mutants}


def _coverage(coverage: Coverage, redact: Redact) -> Record:
    """As much of the coverage as the page shows, kind by kind in words, with the first that no case looks at."""
    parts = [
        {
            "words": PARTS[part.kind],
            "total": part.total,
            "covered": part.covered,
            "missing": [_short(name, redact) for name in part.missing[:_MOST_MISSING]],
        }
        for part in coverage.parts
    ]
    none = coverage_total(coverage) if coverage.coverage is None else None
    share = {"coverage": coverage.coverage, "total": coverage.total, "covered": coverage.covered}
    return {**share, "none": none, "parts": parts}


def _short(text: str, redact: Redact) -> str:
    """The text without secrets, and no longer than a line or two; what is cut ends in an ellipsis."""
    sound = redact(text)
    return sound if len(sound) <= _LONGEST_LINE else sound[:_LONGEST_LINE] + "…"


# --- cases -----------------------------------------------------------------------------------------------------------


def _case_records(
    index: int,
    suite: ReportedSuite,
    cases: Iterable[CaseResult],
    sources: _Sources,
    lines: SourceLines,
    groups: FailureGroups,
) -> Iterator[Record]:
    """The records of the suite with that index: these of its cases in source order, then those that were skipped.

    The places whose lines the page shows are asked for on the way.
    """
    for case in cases:
        for assertion in case.assertions:
            if assertion.place is not None:
                sources.want(assertion.place, suite.result.timestamp)
        yield {"suite": index, **_present(_case(case, suite.baseline.get(case.id), lines, groups))}
    for skipped in suite.skipped:
        yield {
            "suite": index,
            "id": skipped.id,
            "description": _cut(skipped.description, _LONGEST_NOTE),
            "status": "skipped",
            "reason": {"message": _cut(why_skipped(skipped), _LONGEST_NOTE)},
        }


def _case(case: CaseResult, before: CaseResult | None, lines: SourceLines, groups: FailureGroups) -> Record:
    details = case.details
    return {
        "id": case.id,
        "description": _cut(case.description, _LONGEST_NOTE),
        "status": case.status,
        "durationMs": case.duration_ms,
        "score": case.score,
        "reason": _reason(case, groups),
        "flaky": case.flaky or None,
        "variant": case.variant,
        "tags": case.tags,
        "place": case.place,
        "row": case.row,
        "label": case.label,
        "criteria": tuple([_with_question(each, index, case, lines) for index, each in enumerate(case.criteria)]),
        "assertions": tuple([_assertion(each, lines.check_of(case, each)) for each in case.assertions]),
        "skippedTokens": details.skipped_tokens,
        "message": _cut(details.message, LONGEST_TEXT),
        "messages": details.messages,
        "response": _cut(details.response, LONGEST_TEXT),
        "turns": _turns(details),
        "toolCalls": tuple(map(_tool_call, details.tool_calls[:MOST_CALLS])),
        "moreCalls": max(len(details.tool_calls) - MOST_CALLS, 0) or None,
        "written": tuple(map(_file, details.written or ())),
        "usage": details.usage,
        "finishReason": details.finish_reason,
        "attempts": tuple(_outcome(each, each.error, each.response) for each in case.attempts or ()),
        "baseline": None if before is None else _before(before),
    }


def _file(written: WrittenFile) -> Record:
    return _present({"path": written.path, "size": written.size, "text": _cut(written.text, LONGEST_TEXT)})


def _turns(details: CaseDetails) -> tuple[Record, ...]:
    """The turns of a conversation; the case's calls are those of one turn after the other."""
    turns: list[Record] = [
        {
            "message": _cut(turn.message, LONGEST_TEXT),
            "response": _cut(turn.response, LONGEST_TEXT),
            "durationMs": turn.duration_ms,
            "calls": turn.calls,
        }
        for turn in details.turns or ()
    ]
    if details.unanswered is not UNSET:
        turns.append({"message": _cut(details.unanswered, LONGEST_TEXT), "calls": 0})
    return tuple(turns)


def _reason(case: CaseResult, groups: FailureGroups) -> Record | None:
    """Why the case did not simply pass, and in which of the groups it is."""
    why = main_reason(case)
    if why is None:
        return None
    group = None if case.passed else groups.add(case.id, why.check, why.message)
    return _present({"check": why.check, "message": _cut(why.message, _LONGEST_NOTE), "group": group})


def _assertion(assertion: AssertionResult, check: AuthoredCheck | None) -> AssertionResult | Record:
    """The assertion; if the line of its check is known, without what else would name it."""
    if check is None:
        return assertion
    return _present(
        {
            "outcome": assertion.outcome,
            "line": check.line,
            "message": assertion.message,
            "place": assertion.place,
            "judged": assertion.judged,
            "finding": assertion.finding,
            "turn": assertion.turn,
        }
    )


def _with_question(
    criterion: CriterionResult, index: int, case: CaseResult, lines: SourceLines
) -> CriterionResult | Record:
    """The criterion, and if a judge scored it, the question that it was asked, as far as that is known."""
    question = None if criterion.judged is UNSET else lines.question_of(case, index)
    return criterion if question is None else {**msgspec.to_builtins(criterion), "question": question}


def _tool_call(call: Mapping[str, Any]) -> Record:
    """A call as the results have it; calls are the agent's, and may lack anything.

    Parameters are JSON in a text, since JavaScript would round their large numbers.
    """
    success, duration_ms = call.get("success"), call.get("durationMs")
    sent = call["params"] if call.get("params") is not None else call.get("arguments")
    return _present(
        {
            "name": _cut(str(call.get("name")), _LONGEST_NOTE),
            "success": success if isinstance(success, bool) else None,
            "durationMs": duration_ms if isinstance(duration_ms, int | float) else None,
            "params": None if sent is None else _cut(_indented(sent), _LONGEST_PARAMS),
            "result": _cut(_indented(call["result"]), _LONGEST_PARAMS) if "result" in call else None,
            "error": _cut(str(call["error"]), _LONGEST_NOTE) if "error" in call else None,
        }
    )


def _indented(value: object) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=repr)
    except (RecursionError, ValueError, TypeError):  # nested too deeply, holding itself, with keys that are not texts
        return "(no JSON)"


def _before(case: CaseResult) -> Record:
    """The case in the run that this one is compared with: also what it called, but not what came back."""
    made = map(_tool_call, case.details.tool_calls[:MOST_CALLS])
    calls = tuple([{key: call[key] for key in ("name", "params") if key in call} for call in made])
    more = {"turns": _turns(case.details), "toolCalls": calls}
    return {**_outcome(case, case.why, case.details.response), **_present(more)}


def _outcome(ended: AttemptResult | CaseResult, why: str | UnsetType | None, response: str | None) -> Record:
    """How a case ended at another time: in one attempt at it, or in the run that this one is compared with."""
    return _present(
        {
            "status": ended.status,
            "durationMs": ended.duration_ms,
            "score": ended.score,
            "error": _cut(why, _LONGEST_NOTE),
            "response": _cut(response, LONGEST_TEXT),
        }
    )


def _present(fields: Record) -> Record:
    """The fields that hold something."""
    return {key: value for key, value in fields.items() if value is not None and value is not UNSET and value != ()}


def _cut(text: str | UnsetType | None, longest: int) -> str | Record | None:
    """The text; of a longer one the beginning, and how long it is."""
    if text is None or text is UNSET:
        return None
    return text if len(text) <= longest else {"text": text[:longest], "length": len(text)}
