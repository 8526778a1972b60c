"""Reports problems at places in eval JSON. A pointer is only resolved when something is wrong."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, final

from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.places import locate
from evalc.dsl.read_json import JsonPlaces
from evalc.source import Source, Span


class Reports(Protocol):
    """Where findings are reported that know a JSON pointer; one that begins with `#` means the key."""

    def add(self, pointer: str, finding: Finding, /) -> None:
        """Report a finding at a place."""

    def add_within(self, pointer: str, start: int, end: int, finding: Finding, /) -> None:
        """Report a finding about a stretch of a text's value."""


@final
class JsonReader:
    """What reading one file needs: its source, and places in it that are only looked for on demand."""

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
