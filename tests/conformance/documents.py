"""Loads the conformance cases, each under the id `file/name`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

FOLDER = Path(__file__).parents[2] / "specs" / "conformance"

Entry = dict[str, Any]


class Document(NamedTuple):
    """A file of conformance cases."""

    name: str
    cases: list[Entry]


def documents() -> Iterator[Document]:
    """Every file of conformance cases, in the order of names."""
    for path in sorted(FOLDER.glob("*.json")):
        yield Document(path.stem, json.loads(path.read_text(encoding="utf-8"))["conformance"])


def with_key(*keys: str) -> pytest.MarkDecorator:
    """A parameter `entry` for each case that has one of the keys: they say how a case is tested."""
    found = [
        pytest.param(entry, id=f"{document.name}/{entry['name']}")
        for document in documents()
        for entry in document.cases
        if any(key in entry for key in keys)
    ]
    return pytest.mark.parametrize("entry", found)
