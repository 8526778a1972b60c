"""Words that the project does not use: in names, docstrings, comments and pages."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

NAMES = {
    "bench": "judges",
    "slip": "typo",
    "slips": "typos",
    "tell": "report, show, say",
    "telling": "reporting",
    "tells": "reports, shows, says",
    "told": "reported, shown, reasons, notes",
    "wanted": "selected, expected, required",
}
"""Parts of names, and what to write in their place."""

PROSE = {
    r"\b(told|tells?|telling)\b": "report, show, say, know, distinguish",
    r"\bslips?\b": "typo",
    r"\bwanted\b": "selected, expected, required",
    r"\b(come|came|comes) upon\b": "find",
    r"\ba (case|test|file|line|row|message|question|folder|room|turn|second|attempt|run|suite) a [a-z]+": "per",
    r"\bones? that\b": "name it",
    r"\bsuch as (is|are)\b": "name it",
    r"\bnothing but\b": "only",
    r"\b(what|that) (is|are) none\b(?! of)": "an invalid ...",
}
"""Phrases in docstrings, comments and pages, and what to write in their place."""

FIRST = re.compile(r'\s*[rR]?"""\s*(What|Which|That|Who|Whether (?:what|who)(?:ever)?)\b')
"""Beginnings of docstrings that are neither a verb nor a noun of the domain."""

TEST = re.compile(r"test_(what|which|there|so|that)_")
"""Beginnings of names of tests that do not say what holds."""

FOLDERS = ("benchmarks", "evalc", "pages", "scripts", "tests")

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_BLOCK = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_GENERATED = "specs/diagnostics.md"
_OWN = Path(__file__).relative_to(ROOT).as_posix()


def _in_code(file: Path) -> Iterator[str]:
    before = tokenize.NEWLINE
    with file.open("rb") as opened:
        for token in tokenize.tokenize(opened.readline):
            if token.type == tokenize.NAME:
                if TEST.match(token.string):
                    yield f"{token.string} (say what holds)"
                if token.string != "tell":  # a method of files
                    yield from (
                        f"{token.string} (write {NAMES[part]})" for part in _parts(token.string) if part in NAMES
                    )
            is_docstring = token.type == tokenize.STRING and before in _BEFORE_DOCSTRINGS
            if token.type == tokenize.COMMENT or is_docstring:
                yield from _in_prose(token.string)
            if is_docstring and (found := FIRST.match(token.string)):
                yield f"{found[0].strip()} (begin with a verb or a noun)"
            if token.type not in {tokenize.COMMENT, tokenize.NL}:
                before = token.type


_BEFORE_DOCSTRINGS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


@cache
def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PART.findall(name))


def _in_prose(text: str) -> Iterator[str]:
    for pattern, better in PROSE.items():
        yield from (f"{found[0]} (write {better})" for found in re.finditer(pattern, text))


def offenders(folder: str) -> Iterator[str]:
    if folder != "pages":
        for file in sorted((ROOT / folder).rglob("*.py")):
            if (name := file.relative_to(ROOT).as_posix()) != _OWN:
                yield from (f"{name}: {each}" for each in _in_code(file))
        return
    for file in sorted(
        path for pattern in ("*.md", "docs/**/*.md", "specs/*.md", "examples/*.md") for path in ROOT.glob(pattern)
    ):
        if (name := file.relative_to(ROOT).as_posix()) != _GENERATED:
            yield from (f"{name}: {each}" for each in _in_prose(_BLOCK.sub("", file.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("folder", FOLDERS)
def test_words_of_our_own_are_not_used(folder: str) -> None:
    assert list(offenders(folder)) == []


def test_each_kind_of_offence_is_found(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text('"""What is told."""\n\nwanted_slips = 1  # nothing but one that counts\n')
    assert [each.partition(" (")[0] for each in _in_code(file)] == [
        "told",
        '"""What',
        "wanted_slips",
        "wanted_slips",
        "one that",
        "nothing but",
    ]
