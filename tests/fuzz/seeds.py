"""The texts that the fuzzer begins with, from the corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tests.corpus.mistakes import MISTAKES, VALID

_LINE = re.compile(r"^ *- (?:')?([a-z(][^\n:']*)'?$", re.MULTILINE)
_RULE = re.compile(r"rule: *[\"']?([^,}\"'\n]+)")
_TEMPLATE = re.compile(r"[^\n]*\{\{[^\n]*")


def write_seeds(target: str, folder: Path) -> None:
    """Write the seeds of a target as files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(sorted(set(_seeds(target)))):
        (folder / f"seed-{number}").write_text(text, encoding="utf-8")


def _seeds(target: str) -> Iterable[str]:
    files = [
        path for path in sorted(VALID.iterdir()) if path.is_file() and (path.suffix == ".json") == (target == "json")
    ]
    texts = [path.read_text(encoding="utf-8") for path in files]
    if target in ("yaml", "lines", "json"):
        names = {path.name for path in files}
        return [*texts, *(mistake.text for mistake in MISTAKES if mistake.base in names)]
    pattern = {"template": _TEMPLATE, "check": _LINE, "rule": _RULE}[target]
    pieces = [piece for text in texts for piece in pattern.findall(text)]
    return [*pieces, *(mistake.new for mistake in MISTAKES)]
