"""Renders problems for programs: as a JSON array, as annotations of GitHub Actions, and as SARIF 2.1.0."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evalc import __version__
from evalc.base.annotations import SCHEMA, annotation, artifact_location, message_text, sound
from evalc.base.source import Source
from evalc.diagnostics.catalogue import Entry
from evalc.diagnostics.problem import Problem


def render_json(problems: Iterable[Problem]) -> str:
    """The problems as a JSON array with a line end. Lines and columns count from 1, columns in code points.

    Only ASCII is written: names and texts of files may hold lone surrogates, which UTF-8 cannot.
    """
    objects = ",\n  ".join(json.dumps(_as_object(problem)) for problem in problems)
    return f"[\n  {objects}\n]\n" if objects else "[]\n"


def _as_object(problem: Problem) -> dict[str, Any]:
    start, end = problem.start, problem.end
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.finding.message(),
        "file": problem.source.name,
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "help": _joined(_joined(problem.finding.label(), problem.note), problem.finding.help()),
        "fixable": (fix := problem.fix) is not None and fix.is_safe,
    }


def _joined(label: str, text: str) -> str:
    """Both as sentences in a row; a question keeps its mark."""
    if not (label and text):
        return label or text
    return f"{label} {text}" if label[-1] in ".?!:" else f"{label}. {text}"


# --- GitHub Actions --------------------------------------------------------------------------------------------------


def render_github(problems: Iterable[Problem]) -> str:
    """One workflow command a problem, a line each."""
    return "".join(f"{_as_command(problem)}\n" for problem in problems)


def _as_command(problem: Problem) -> str:
    start, end = problem.start, problem.end
    properties = {
        "file": Path(problem.source.name).as_posix(),
        "line": str(start.line),
        "endLine": str(end.line),
        "col": str(start.column),
        "endColumn": str(end.column),
        "title": problem.code,
    }
    return annotation(problem.severity, properties, filter(None, _command_lines(problem)))


def _command_lines(problem: Problem) -> tuple[str, ...]:
    finding = problem.finding
    return finding.message(), finding.label(), problem.note, *finding.help().split("\n")


# --- SARIF -----------------------------------------------------------------------------------------------------------


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
    """The message, and advice."""
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
