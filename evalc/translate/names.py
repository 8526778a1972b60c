"""The words of other tools, from `words.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

_TABLES: Final[dict[str, dict[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "words.toml").read_text(encoding="utf-8")
)
NOTES: Final = _TABLES["notes"]
"""Differences beyond the bounds."""
LINES: Final = _TABLES["lines"]
PHRASES: Final = _TABLES["phrases"]
SUBJECTS: Final = _TABLES["subjects"]
IDIOMS: Final = _TABLES["idioms"]
CONSTANTS: Final = _TABLES["constants"]
JAVASCRIPT: Final = _TABLES["javascript"]
JQ: Final = _TABLES["jq"]
MATCHERS: Final = _TABLES["matchers"]
KEYS, JOINTS = ({kind: tuple(words.split()) for kind, words in _TABLES[table].items()} for table in ("keys", "joints"))


def key(name: str) -> str:
    """A name without its case, hyphens and underscores."""
    return re.sub(r"[\W_]", "", name).lower()


@cache
def pattern(text: str) -> re.Pattern[str]:
    """A pattern, in which `<NAME>` is another one."""
    while (full := re.sub(r"(?<!\?P)<([A-Z]+)>", lambda name: _TABLES["patterns"][name[1]], text)) != text:
        text = full
    return re.compile(text)


def _by_word(table: str) -> dict[str, str]:
    return {word: meant for meant, words in _TABLES[table].items() for word in words.split()}


MEASURES, TYPES, FORMATS, OPERATORS, VERBS, UNITS, COUNTS = map(
    _by_word, ("measures", "types", "formats", "operators", "verbs", "units", "counts")
)
KINDS: Final = frozenset((*TYPES, *FORMATS, "empty", "null", "unique"))
"""The names of what a value may be."""
RUNS: Final[dict[str, tuple[Any, str]]] = {
    word: (meant.partition(" ")[0], meant.partition(" ")[2]) for word, meant in _by_word("runs").items()
}
"""Measures of the run, and the unit of a number without one; `?` is known only with a unit."""
NAMES: Final = {kind: frozenset(words.split()) for kind, words in _TABLES["names"].items()}
"""The names of the answer and of its parts."""
