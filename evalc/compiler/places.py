"""Reports problems at the places that JSON pointers lead to, in a YAML tree and in eval JSON."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, final

from evalc.base.source import AliasedSpan, Source, Span
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
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
class NodePlaces:
    """The places below one node, where findings are reported that know a JSON pointer."""

    def __init__(self, source: Source, node: Node, problems: Diagnostics) -> None:
        self._source = source
        self._node = node
        self._problems = problems

    def add(self, pointer: str, finding: Finding) -> None:
        """Report a finding at a place."""
        self._problems.add(self._source, self._span(pointer), finding)

    def add_within(self, pointer: str, start: int, end: int, finding: Finding) -> None:
        """Report a finding about a stretch of a text's value; if it has templates, which are filled, about all."""
        node = node_at(self._node, pointer)
        if isinstance(node, Scalar) and "{{" in node.text:
            start, end = 0, len(node.text)
        self._problems.add(self._source, locate(self._source, self._span(pointer), start, end), finding)

    def _span(self, pointer: str) -> Span:
        span = span_of(node_at(self._node, pointer))
        alias = self._node.alias
        return span if alias is None else AliasedSpan(span, alias)


class Reports(Protocol):
    """Where findings are reported that know a JSON pointer; a pointer that begins with `#` means the key."""

    def add(self, pointer: str, finding: Finding, /) -> None:
        """Report a finding at a place."""

    def add_within(self, pointer: str, start: int, end: int, finding: Finding, /) -> None:
        """Report a finding about a stretch of a text's value."""


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
