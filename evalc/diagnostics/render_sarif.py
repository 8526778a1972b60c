"""Renders problems as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from evalc import __version__
from evalc.base.annotations import SCHEMA, artifact_location, message_text, sound
from evalc.base.source import Source
from evalc.diagnostics.explain import explain, split_docstring
from evalc.diagnostics.fixes import edit_for
from evalc.diagnostics.problem import Finding, Problem


def render_sarif(problems: Sequence[Problem]) -> str:
    """One run with all problems, and a rule for each of their codes; a JSON document with a line end, in ASCII."""
    rules = sorted({type(problem.finding) for problem in problems}, key=lambda finding: finding.code)
    index = {finding.code: at for at, finding in enumerate(rules)}
    times: Counter[str] = Counter()
    run = {
        "tool": {"driver": {"name": "evalc", "version": __version__, "rules": [_rule(finding) for finding in rules]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, index[problem.code], times) for problem in problems],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(finding: type[Finding]) -> dict[str, Any]:
    parts = split_docstring(finding)
    return {
        "id": finding.code,
        "name": finding.__name__,
        "shortDescription": {"text": parts.summary},
        "fullDescription": {"text": " ".join(parts.why.split()) or parts.summary},
        "help": {"text": explain(finding), "markdown": _markdown(finding)},
        "defaultConfiguration": {"level": finding.severity},
    }


def _markdown(finding: type[Finding]) -> str:
    parts = split_docstring(finding)
    blocks = [f"**{parts.summary}**", parts.why]
    for title, text in (("Example", parts.example), ("Cure", parts.cure)):
        if text:
            blocks.append(f"{title}:\n\n````\n{text}````")
    return "\n\n".join(filter(None, blocks))


def _result(problem: Problem, rule_index: int, times: Counter[str]) -> dict[str, Any]:
    location = artifact_location(problem.source.name)
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule_index,
        "level": problem.severity,
        "message": {"text": _message(problem)},
        "locations": [
            {"physicalLocation": {"artifactLocation": location, "region": _region(problem.source, *problem.span)}}
        ],
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(problem, location["uri"], times)},
    }
    edit = edit_for(problem)
    if edit is not None:
        replacement = {
            "deletedRegion": _region(problem.source, edit.start, edit.end),
            "insertedContent": {"text": sound(edit.text)},
        }
        result["fixes"] = [{"artifactChanges": [{"artifactLocation": location, "replacements": [replacement]}]}]
    return result


def _message(problem: Problem) -> str:
    """What was found and what to do about it."""
    finding = problem.finding
    return message_text("\n".join(filter(None, (finding.message(), finding.label(), problem.note, finding.help()))))


def _region(source: Source, start: int, end: int) -> dict[str, int]:
    first, last = source.position(start), source.position(end)
    return {
        "startLine": first.line,
        "startColumn": first.column,
        "endLine": last.line,
        "endColumn": last.column,
    }


def _fingerprint(problem: Problem, uri: str, times: Counter[str]) -> str:
    """The same for the same problem after lines above it have come or gone: its line's text, not its number."""
    line = problem.source.line(problem.start.line).strip()
    content = f"{problem.code}\n{uri}\n{line}"
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    times[digest] += 1
    return f"{digest}:{times[digest]}"
