"""Names that pages refer to, and the names that a module has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

TESTS: Final = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
"""A test on a page: its file and, if it is one of several, its name."""


@cache
def names_in(file: Path) -> frozenset[str]:
    """The functions, classes, methods (`Class.method`) and variables that a module defines."""
    return frozenset(_names(ast.parse(file.read_text(encoding="utf-8")).body))


def _names(body: list[ast.stmt], of: str = "") -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield of + name
            case ast.ClassDef(name=name):
                yield of + name
                yield from _names(node.body, f"{name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield of + name
