"""The pages of the documentation and their fenced blocks; names that pages refer to, and those that a module has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "README.md"
WALKED: Final = (README, ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guides").glob("*.md")))
"""Pages that a reader follows from top to bottom in a project: their files are written, their commands are run."""

PAGES: Final = (
    *WALKED,
    *sorted({*(ROOT / "docs").glob("*.md"), *(ROOT / "specs").glob("*.md")} - {*WALKED, ROOT / "docs" / "history.md"}),
)
"""Pages with examples. The history calls commands what they were called on its day."""

TESTS: Final = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
"""A test on a page: its file and, if it is one of several, its name."""


class Block(NamedTuple):
    """A fenced block of a page: ```` ```yaml fragment title="evals/weather.eval.yaml" ````."""

    page: str
    line: int
    tag: str
    """The language, and after it how complete or right the example is: `fragment`, `wrong`, `cure`."""

    title: str
    """The file that the example is; empty if it is none."""

    text: str


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page that say their language."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for match in re.finditer(r'^```([^\n`]+?)(?: title="([^"\n]+)")?\n(.*?)^```$', text, re.MULTILINE | re.DOTALL):
        yield Block(name, text.count("\n", 0, match.start()) + 1, match[1].strip(), match[2] or "", match[3])


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
