"""Paths such as `items[0].title`, `items[].id` or `["a.b"].c`, and the steps of JSON pointers."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final, Literal

EVERY: Final = "[]"
"""The step to every item of an array."""

Kind = Literal["key", "index", "every"]
Step = tuple[Kind, str | int]

_HEX: Final = "[0-9a-fA-F]"
_PAIR: Final = rf"u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_ESCAPE: Final = rf'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F]){_HEX}{{4}}|{_PAIR})'
_QUOTED: Final = rf'"(?:[^"\\\x00-\x1f]|{_ESCAPE})*"'
_SEGMENT: Final = re.compile(rf"([^.]*?)((?:\[(?:\d*|{_QUOTED})\])*)(\.|\Z)")
_BRACKET: Final = re.compile(rf"\[(\d*|{_QUOTED})\]")


@lru_cache(maxsize=1024)
def steps(path: str) -> tuple[Step, ...]:
    """The steps of a path: keys between dots, `[0]` an index, `[]` every item, `["a.b"]` a key whatever it holds.

    A path may begin with brackets.
    """
    found: list[Step] = []
    position = 0
    while segment := _SEGMENT.match(path, position):
        key, brackets, end = segment.groups()
        if key or not brackets or position:
            found.append(("key", key))
        found += map(_in_brackets, _BRACKET.findall(brackets))
        if not end:
            break
        position = segment.end()
    return tuple(found)


def _in_brackets(held: str) -> Step:
    if held.startswith('"'):
        return "key", json.loads(held)
    return ("index", int(held[:15])) if held else ("every", EVERY)


def path_of_key(key: str) -> str:
    """The path of one key: the key itself, in brackets and quotes where it would be read as more than one step."""
    return key if key and not set(key) & set(".[]") else f"[{json.dumps(key, ensure_ascii=False)}]"


def pointer_step(key: str) -> str:
    """The step of a JSON pointer that stands for a key."""
    return key.replace("~", "~0").replace("/", "~1")


def key_of_step(step: str) -> str:
    """The key that a step of a JSON pointer stands for."""
    return step.replace("~1", "/").replace("~0", "~")


def only_key(path: str) -> str | None:
    """The key that a path is, None for a path of other or more steps."""
    match steps(path):
        case (("key", str() as key),):
            return key
        case _:
            return None
