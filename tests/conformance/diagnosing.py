"""Findings in the files of a conformance case: codes with lines and columns."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import evalc
from evalc.config.load import load_settings
from evalc.diagnostics import Diagnostics, Problem
from evalc.extras.importers import import_source

Found = dict[str, Any]


def found(entry: dict[str, Any], folder: Path) -> list[Found]:
    """The findings with the files in a folder that is the project and the working folder."""
    for name, content in entry["files"].items():
        _write(folder / name, content)
    return [_found(problem, entry["of"], folder) for problem in _problems(entry["diagnose"], entry["of"])]


def _found(problem: Problem, asked: str, folder: Path) -> Found:
    """Code, line and column, and the file if it is another."""
    file = os.path.relpath(problem.source.name, folder)
    place = {"code": problem.code, "line": problem.start.line, "column": problem.start.column}
    return place if file == asked else {**place, "file": file}


def _problems(action: str, path: str) -> Iterable[Problem]:
    match action:
        case "configuration":
            return load_settings(Path.cwd()).problems
        case "import":
            problems = Diagnostics()
            import_source(evalc.Source(path, Path(path).read_text(encoding="utf-8")), "auto", Path.cwd(), problems)
            return problems
        case _:
            return evalc.check(path)


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case str():
            path.write_text(content, encoding="utf-8", newline="")
        case {"bytes": digits}:
            path.write_bytes(bytes.fromhex(digits))
        case {"text": text, "times": times}:
            path.write_text(text * times, encoding="utf-8")
        case {"link": target}:
            path.symlink_to(target)
        case {"pipe": True}:
            os.mkfifo(path)
        case _:
            raise AssertionError(f"a file cannot hold {content!r}")
