"""The JUnit XML report, which CI systems read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from msgspec import UNSET

from evalc.base.terminal import visible
from evalc.model.numbers import rounded
from evalc.model.result import PASSING, CaseResult, GateResult, MissingSuite, SkippedCase, Status, SuiteResult, Summary
from evalc.report import ReportedRun, ReportedSuite, transcript
from evalc.report.words import (
    failures_allowed,
    gate_line,
    legible,
    main_reason,
    missing_suite,
    place_of,
    reasons_in_full,
)

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even as a reference."""

_LONGEST_RESPONSE: Final = 10_000
_LONGEST_DETAIL: Final = 2_000
_MOST_REASONS: Final = 20

_COUNTS: Final[dict[str, Callable[[Summary], int]]] = {
    "tests": lambda summary: summary.total_cases + summary.skipped,
    "failures": lambda summary: summary.failed - summary.errors,
    "errors": lambda summary: summary.errors,
    "skipped": lambda summary: summary.skipped + summary.unverified + summary.expected_failures,
}
"""Counts in the attributes of a test suite."""

_VERDICTS: Final[dict[Status, str]] = {
    "failed": "failure",
    "unexpected-pass": "failure",
    "error": "error",
    "unverified": "skipped",
    "expected-failure": "skipped",
}
"""The element that says how a case ended; nothing for a case that passed."""


def render(run: ReportedRun, *, strict: bool = False) -> Iterator[bytes]:
    """The document, in UTF-8 and a case at a time: what counts come first is in the summaries.

    `failures` are cases that failed, timed out or passed unexpectedly, and gates and the like that were not met, which
    have a suite of their own behind the others; `errors` are cases whose agent or check broke;
    `skipped` those that were not run, that verified nothing, and whose failure is expected.

    A `strict` document leaves out what Jenkins' xUnit plugin refuses a file for: how many were skipped in all, and of a
    case its place and its properties.
    """
    counts = {name: count for name, count in _COUNTS.items() if not (strict and name == "skipped")}
    unmet = dict(_unmet(run))
    more = {"tests": len(unmet), "failures": len(unmet)}
    totals = {
        name: str(sum(count(result.summary) for result in run.results) + more.get(name, 0))
        for name, count in counts.items()
    }
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield _opened("testsuites", {"name": "evalc", **totals, "time": _seconds(run.summary.total_duration_ms)})
    for suite in run.suites:
        yield from _suite(suite, run.name_of(suite.result), strict=strict)
    yield from (_written(_missing(suite, run)) for suite in run.missing)
    if unmet:
        yield _written(_of_run(unmet, run))
    yield b"</testsuites>\n"


def _unmet(run: ReportedRun) -> Iterator[tuple[str, str]]:
    """The gates and the like that fail the run beside its cases, by names that stay the same, each with why."""
    for result in run.results:
        name = run.name_of(result)
        unmet = (gate for gate in result.gates or () if not gate.passed)
        yield from ((f"{name}: {_gate(gate)}", gate_line(gate)) for gate in unmet)
        if result.stopped and not result.decided:
            yield f"{name}: stopped", f"the run stopped: {result.stopped}"
    yield from ((line.partition(": threshold: ")[0] + ": threshold", line) for line in run.below)
    yield from ((_gate(gate), gate_line(gate)) for gate in run.gates if not gate.passed)


def _gate(gate: GateResult) -> str:
    return gate.gate if gate.label is UNSET else f"{gate.gate} of {gate.label}"


def _of_run(unmet: Mapping[str, str], run: ReportedRun) -> Element:
    """A suite of what fails the run although its cases may pass, for whoever reads the report and no exit code."""
    counts = {**dict.fromkeys(_COUNTS, "0"), "tests": str(len(unmet)), "failures": str(len(unmet))}
    began = run.suites[0].result.timestamp
    element = _element("testsuite", {"name": "gates", **counts, "time": _seconds(0), "timestamp": began})
    for name, why in unmet.items():
        case = SubElement(
            element, "testcase", {"classname": "gates", "name": _sound(visible(name)), "time": _seconds(0)}
        )
        SubElement(case, "failure", {"type": "gate", "message": _sound(visible(why))})
    return element


def _suite(suite: ReportedSuite, name: str, *, strict: bool) -> Iterator[bytes]:
    result = suite.result
    counts = {key: str(count(result.summary)) for key, count in _COUNTS.items()}
    time = _seconds(result.summary.total_duration_ms)
    yield _opened("testsuite", {"name": name, **counts, "time": time, "timestamp": result.timestamp})
    properties = Element("properties")
    _add_properties(properties, dict(_of_suite(result)))
    yield _written(properties)
    for case in suite.cases:
        yield _written(_case(case, name, strict=strict))
    for skipped in suite.skipped:
        yield _written(_not_run(skipped, name))
    yield b"</testsuite>\n"


def _of_suite(result: SuiteResult) -> Iterator[tuple[str, str]]:
    yield "runId", result.run_id
    yield "agent", result.agent_endpoint
    if result.summary.score is not None:
        yield "score", _score(result.summary.score)
    for criterion in result.summary.criteria:
        yield f"criterion: {criterion.name}", _score(criterion.score)
    for gate in result.gates or ():
        yield f"gate: {gate.gate}", f"{'met' if gate.passed else 'not met'}: {gate_line(gate)}"
    for number, warning in enumerate((*result.staleness_warnings, *result.warnings), 1):
        yield f"warning {number}", warning
    uncounted = failures_allowed(result)
    if uncounted is not None:
        yield "gates", uncounted
    if result.went:
        yield "missing", ", ".join(result.went)


def _missing(suite: MissingSuite, run: ReportedRun) -> Element:
    """An empty suite in place of a suite of the baseline that is gone."""
    counts = dict.fromkeys(_COUNTS, "0")
    began = run.suites[0].result.timestamp
    named = {"name": str(suite.key), **counts, "time": _seconds(0), "timestamp": began}
    element = _element("testsuite", named)
    _add_properties(SubElement(element, "properties"), {"missing": missing_suite(suite)})
    return element


def _case(case: CaseResult, suite: str, *, strict: bool) -> Element:
    element = _element("testcase", {"classname": suite, "name": case.id, "time": _seconds(case.duration_ms)})
    if not strict:
        if (place := place_of(case)) is not None:
            element.set("file", _sound(place.file))
            element.set("line", str(place.line))
        _add_properties(SubElement(element, "properties"), dict(_of_case(case)))
    reason = main_reason(case)
    if reason is not None and case.status in _VERDICTS:
        kind = "timeout" if case.timed_out is True else case.status
        verdict = SubElement(element, _VERDICTS[case.status], {"type": kind, "message": _sound(reason.in_short())})
        verdict.text = _sound(reasons_in_full(case, most=_MOST_REASONS, longest=_LONGEST_DETAIL))
    if said := transcript(case):
        SubElement(element, "system-out").text = _sound(legible(said, _LONGEST_RESPONSE))
    return element


def _of_case(case: CaseResult) -> Iterator[tuple[str, str]]:
    yield "status", case.status
    yield "description", case.description
    if case.score is not None:
        yield "score", _score(case.score)
    for criterion in case.criteria:
        yield f"criterion: {criterion.name}", _score(criterion.score)
    if case.attempts is not UNSET:
        left_out = f"; {case.not_attempted} not made" if case.not_attempted else ""
        passed = sum(one.status in PASSING for one in case.attempts)
        yield "attempts", f"{passed} of {len(case.attempts)} passed{left_out}"
        yield "flaky", str(case.flaky is True).lower()
    if case.tags:
        yield "tags", ", ".join(case.tags)


def _not_run(skipped: SkippedCase, suite: str) -> Element:
    element = _element("testcase", {"classname": suite, "name": skipped.id, "time": _seconds(0)})
    kind = "archived" if skipped.archived else "stopped" if skipped.stopped is True else "skipped"
    SubElement(element, "skipped", {"type": kind, "message": _sound(visible(skipped.reason))})
    return element


def _add_properties(parent: Element, properties: Mapping[str, str]) -> None:
    for name, value in properties.items():
        SubElement(parent, "property", {"name": _sound(visible(name)), "value": _sound(visible(value))})


def _element(tag: str, attributes: Mapping[str, str]) -> Element:
    return Element(tag, {name: _sound(visible(value)) for name, value in attributes.items()})


def _opened(tag: str, attributes: Mapping[str, str]) -> bytes:
    return _written(_element(tag, attributes)).replace(b" />\n", b">\n")


def _written(element: Element) -> bytes:
    return tostring(element, encoding="unicode").encode() + b"\n"


def _sound(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _score(score: float | None) -> str:
    return "unscored" if score is None else rounded(score)
