"""From problems to SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from evalc import __version__
from evalc.diagnostics.explain import explain, split_docstring
from evalc.diagnostics.fixes import edit_for
from evalc.diagnostics.problem import Finding, Problem
from evalc.source import Source

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_PLACEHOLDER: Final = re.compile(r"\{(\d+)\}")


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
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


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
    location = _artifact(problem.source)
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
            "insertedContent": {"text": _sound(edit.text)},
        }
        result["fixes"] = [{"artifactChanges": [{"artifactLocation": location, "replacements": [replacement]}]}]
    return result


def _message(problem: Problem) -> str:
    """What was found and what to do about it; nothing in it is taken for a link or a placeholder."""
    finding = problem.finding
    text = _sound("\n".join(filter(None, (finding.message(), finding.label(), finding.help()))))
    return _PLACEHOLDER.sub(r"{{\1}}", text.replace("](", r"\]("))


def _region(source: Source, start: int, end: int) -> dict[str, int]:
    first, last = source.position(start), source.position(end)
    return {
        "startLine": first.line,
        "startColumn": first.column,
        "endLine": last.line,
        "endColumn": last.column,
    }


def _artifact(source: Source) -> dict[str, str]:
    """The file's place: relative to the working folder where it lies below, as a link is written."""
    path = Path(source.name)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    written = quote(_bytes_of(path.as_posix()), safe="/")
    return {"uri": f"file://{written}"} if path.is_absolute() else {"uri": written, "uriBaseId": "%SRCROOT%"}


def _bytes_of(name: str) -> bytes:
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:  # a name that no file has
        return name.encode("utf-8", "backslashreplace")


def _fingerprint(problem: Problem, uri: str, times: Counter[str]) -> str:
    """The same for the same problem after lines above it have come or gone: its line's text, not its number."""
    line = problem.source.line(problem.start.line).strip()
    content = f"{problem.code}\n{uri}\n{line}"
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    times[digest] += 1
    return f"{digest}:{times[digest]}"


def _sound(text: str) -> str:
    """The text without lone surrogates, which readers of JSON refuse."""
    return text.encode("utf-8", "backslashreplace").decode()
