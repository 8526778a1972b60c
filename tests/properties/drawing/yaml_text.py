"""Writes data as YAML as people do: block and flow, every kind of quotes, anchors, merge keys, comments.

A style is drawn as one number, from which all the small choices follow; 0 is the plainest one. What stands twice in the
data, as one object, is anchored and aliased. Every comment holds a `§`, and nothing else does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final, TypeVar

T = TypeVar("T")

MERGE: Final = "<<"
"""The key whose value, a mapping that stands elsewhere, is merged into its own."""

_PLAIN: Final = re.compile(r"[A-Za-z][^\x00-\x1f]*", re.DOTALL)
_NOT_PLAIN: Final = re.compile(r": |:$| #| $|^(?:null|true|false)$", re.IGNORECASE)
_COMMENTS: Final = ("# why§", "#tight§", "#  - old: §entry", '# "quoted§', "#: §")


def yaml_text(documents: Sequence[Any], style: int) -> str:
    """The documents as one text in a style."""
    texts = [
        "\n".join(_Writer(Random(style + index), plain=style == 0).document(data))
        for index, data in enumerate(documents)
    ]
    text = "\n---\n".join(texts) + "\n"
    return text.replace("\n", "\r\n") if style % 7 == 6 else text


class _Writer:
    def __init__(self, random: Random, *, plain: bool) -> None:
        self._random = random
        self._plain = plain
        self._seen: dict[int, int] = {}
        self._anchors: dict[int, str] = {}

    def document(self, data: Any) -> list[str]:
        self._count(data)
        return [*self._noise(0), *self._mapping(data, 0), *self._noise(0)]

    def _count(self, data: Any) -> None:
        if isinstance(data, dict | list) and data:
            self._seen[id(data)] = self._seen.get(id(data), 0) + 1
            if self._seen[id(data)] == 1:
                for item in data.values() if isinstance(data, dict) else data:
                    self._count(item)

    def _pick(self, *options: T) -> T:
        return options[0] if self._plain else self._random.choice(options)

    # --- blocks ---

    def _noise(self, indent: int) -> Iterator[str]:
        """Comments and blank lines in front of an entry."""
        for _ in range(self._pick(0, 0, 0, 0, 1, 2)):
            yield self._pick("", " " * indent + self._pick(*_COMMENTS))

    def _behind(self) -> str:
        return self._pick("", "", "", "", "  # behind§")

    def _mapping(self, data: dict[str, Any], indent: int) -> Iterator[str]:
        for key, value in data.items():
            yield from self._noise(indent)
            first, *rest = self._value(value, indent)
            yield f"{' ' * indent}{key if key == MERGE else self._scalar(key, flow=True, key=True)}:{first}"
            yield from rest

    def _list(self, data: list[Any], indent: int) -> Iterator[str]:
        for item in data:
            yield from self._noise(indent)
            if (
                isinstance(item, dict)
                and item
                and MERGE not in item
                and self._seen[id(item)] == 1
                and self._pick(True, False)
            ):
                head, *rest = _without_noise(list(self._mapping(item, indent + 2)))
                yield f"{' ' * indent}- {head.lstrip()}"
                yield from rest
            else:
                first, *rest = self._value(item, indent, in_list=True)
                yield f"{' ' * indent}-{first}"
                yield from rest

    def _value(self, value: Any, indent: int, *, in_list: bool = False) -> list[str]:
        """The text after `key:` or `-` on its line, and the lines below it."""
        if not isinstance(value, dict | list):
            return self._block_scalar(value, indent) or [f" {self._scalar(value)}{self._behind()}"]
        alias, anchor = self._name(value)
        if alias:
            return [f" {alias}{self._behind()}"]
        if not value or self._pick(False, False, True):
            return [f"{anchor} {self._collection(value)}{self._behind()}"]
        if isinstance(value, dict):
            return [anchor, *self._mapping(value, indent + self._pick(2, 2, 4))]
        own = indent + 2 if in_list else indent + self._pick(2, 0)
        return [anchor, *self._list(value, own)]

    def _block_scalar(self, value: Any, indent: int) -> list[str]:
        """A text as a block; none where it cannot be one, or another style is picked."""
        fits = isinstance(value, str) and "\n" in value and not re.search(r"^\s|\s\n|\s$|\t|\n\n$", value)
        if not fits or not self._pick(True, True, False):
            return []
        body = [" " * (indent + 2) + line if line else "" for line in value.split("\n")]
        return [f" |-{self._behind()}", *body]

    # --- flow ---

    def _flow(self, value: Any) -> str:
        if not isinstance(value, dict | list):
            return self._scalar(value, flow=True)
        alias, anchor = self._name(value)
        return alias or f"{anchor} {self._collection(value)}".lstrip()

    def _collection(self, value: dict[str, Any] | list[Any]) -> str:
        if isinstance(value, list):
            space = self._pick("", " ")
            return f"[{space}{', '.join(map(self._flow, value))}{space}]"
        pairs = [
            f"{key if key == MERGE else self._scalar(key, flow=True, key=True)}: {self._flow(item)}"
            for key, item in value.items()
        ]
        return "{" + ", ".join(pairs) + "}"

    def _name(self, value: dict[str, Any] | list[Any]) -> tuple[str, str]:
        """The alias of a collection that was written before; else the anchor of a collection that is used again."""
        if self._seen.get(id(value), 0) < 2:
            return "", ""
        if id(value) in self._anchors:
            return f"*{self._anchors[id(value)]}", ""
        self._anchors[id(value)] = f"a{len(self._anchors)}"
        return "", f" &{self._anchors[id(value)]}"

    # --- scalars ---

    def _scalar(self, value: Any, *, flow: bool = False, key: bool = False) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        options = []
        if _PLAIN.fullmatch(value) and not _NOT_PLAIN.search(value) and not (flow and set(value) & set(",[]{}:\"'")):
            options.append(value)
        if value.isprintable() and not key:
            options.append("'" + value.replace("'", "''") + "'")
        options.append(json.dumps(value, ensure_ascii=False))
        return self._pick(*options)


def _without_noise(lines: list[str]) -> list[str]:
    """The lines from the first entry on."""
    while not lines[0].strip() or lines[0].lstrip().startswith("#"):
        lines.pop(0)
    return lines
