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
from evalc.diagnostics.catalogue import Entry
from evalc.diagnostics.problem import Problem


def render_sarif(problems: Sequence[Problem]) -> str:
    """One run with all problems, and a rule for each of their codes; a JSON document with a line end, in ASCII."""
    rules = sorted({problem.code: problem.finding.entry for problem in problems}.items())
    index = {code: at for at, (code, _) in enumerate(rules)}
    times: Counter[str] = Counter()
    run = {
        "tool": {"driver": {"name": "evalc", "version": __version__, "rules": [_rule(entry) for _, entry in rules]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, index[problem.code], times) for problem in problems],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.code,
        "name": entry.name,
        "shortDescription": {"text": entry.summary},
        "fullDescription": {"text": " ".join(entry.why.split()) or entry.summary},
        "help": {"text": entry.explanation(), "markdown": _markdown(entry)},
        "defaultConfiguration": {"level": entry.severity},
    }


def _markdown(entry: Entry) -> str:
    blocks = [f"**{entry.summary}**", entry.why]
    for title, text in (("Example", entry.example), ("Cure", entry.cure)):
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
    fix = problem.fix
    if fix is not None and fix.is_safe:
        replacement = {
            "deletedRegion": _region(problem.source, fix.edit.start, fix.edit.end),
            "insertedContent": {"text": sound(fix.edit.text)},
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
