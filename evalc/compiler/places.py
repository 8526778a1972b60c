"""Finds the places that JSON pointers lead to, in a YAML tree and in eval JSON."""

from __future__ import annotations

from functools import cached_property
from typing import final

from evalc.base.source import Source, Span
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.nodes import Mapping, Node, Sequence
from evalc.dsl.places import locate
from evalc.dsl.read_json import JsonPlaces
from evalc.model.json import key_of_step


def node_at(node: Node, pointer: str) -> Node:
    """The node that a JSON pointer leads to from another one; with a leading `#`, its key."""
    key: Node = node
    for step in pointer.removeprefix("#").split("/")[1:]:
        name = key_of_step(step)
        if isinstance(node, Sequence):
            key = node = node.items[int(name)]
        elif isinstance(node, Mapping):
            key, node = next(pair for pair in node.pairs if pair[0].text == name)
    return key if pointer.startswith("#") else node


@final
class JsonReader:
    """Reads one JSON file: its source, and places in it that are only looked for on demand."""

    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self.source = source
        self._problems = problems

    @cached_property
    def _places(self) -> JsonPlaces:
        return JsonPlaces(self.source)

    def locate(self, where: Span | str) -> Span:
        """The span of a place; a pointer that begins with `#` means the key."""
        if isinstance(where, Span):
            return where
        return self._places.key(where[1:]) if where.startswith("#") else self._places.value(where)

    def add(self, pointer: str, finding: Finding) -> None:
        """Report a finding at a place."""
        self._problems.add(self.source, self.locate(pointer), finding)

    def add_within(self, pointer: str, start: int, end: int, finding: Finding) -> None:
        """Report a finding about a stretch of a string's value; JSON's escapes are among YAML's."""
        self._problems.add(self.source, locate(self.source, self.locate(pointer), start, end), finding)
