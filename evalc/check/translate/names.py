"""The words of other tools, from `words.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

_TABLES: Final = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def key(name: str) -> str:
    """A name without its case, hyphens and underscores."""
    return re.sub(r"[\W_]", "", name).lower()


def _by_word(table: str) -> dict[str, str]:
    return {word: meant for meant, words in _TABLES[table].items() for word in words.split()}


_NAMES: Final = {meant: frozenset(words.split()) for meant, words in _TABLES["names"].items()}
RESPONSE: Final = _NAMES["response"]
JSON: Final = _NAMES["json"]
CALLS: Final = _NAMES["calls"]
CALL_NAMES: Final = _NAMES["call_names"]
NO_PATHS: Final = _NAMES["no_paths"]
"""Bare names that are too likely something else than a list in the JSON of the response."""
NOISE: Final = _NAMES["noise"]
"""Words within a verb that mean nothing."""
NO_TOOL: Final = _NAMES["no_tool"]
"""Words that are no names of tools."""
NOT_JSON: Final = _NAMES["not_json"]
"""Members that the responses of HTTP clients and frameworks have."""

RUNS: Final = {
    word: (measure[1], measure[2] or "")
    for word, meant in _by_word("runs").items()
    if (measure := re.match(r"(.*?)(?: (ms|s|\$|\?))?$", meant))
}
"""Measures of the run, and the unit of a number without one."""
MEASURES: Final = _by_word("measures")
TYPES: Final = _by_word("types")
FORMATS: Final = _by_word("formats")
OPERATORS: Final = _by_word("operators")
VERBS: Final = _by_word("verbs")
MARKS: Final = _by_word("marks")
UNITS: Final = _by_word("units")
LINES: Final[dict[str, str]] = _TABLES["lines"]
NOTES: Final[dict[str, str]] = _TABLES["notes"]
"""Differences beyond the bounds."""
