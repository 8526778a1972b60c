"""Resolves the tokens in a check's values, however deeply they are nested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evalc.ecma.tokens import Unresolved, find_tokens, resolve, walk
from evalc.ecma.values import UNDEFINED
from evalc.runtime.checks.verdict import Evidence


def resolved_text(text: str, evidence: Evidence, unresolved: list[str]) -> str:
    """The text with its tokens resolved; those that name nothing are added to `unresolved`."""
    found = resolve(text, evidence.seed, evidence.snapshot)
    if isinstance(found, Unresolved):
        unresolved += found.tokens
        return text
    return found


def resolved_value(text: str, evidence: Evidence, unresolved: list[str]) -> Any:
    """The text with its tokens resolved; a single token becomes the value itself, of any type."""
    tokens = find_tokens(text)
    if len(tokens) == 1 and tokens[0].text == text:
        value = walk(evidence.seed if tokens[0].source == "seed" else evidence.snapshot, tokens[0].path)
        if value is not UNDEFINED and value is not None:
            return value
    return resolved_text(text, evidence, unresolved)


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """A JSON value with each text in it changed; keys stay as they are."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return [with_texts(item, change) for item in value]
        case dict():
            return {key: with_texts(item, change) for key, item in value.items()}
        case _:
            return value
