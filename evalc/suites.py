"""Suites that are written in Python: they compile like eval files, with problems at the place of the Python call.

    import evalc

    suite = evalc.Suite("desk", cases=[
        evalc.Case("rome", "Which flights go to Rome?", checks=["tools called [search_flights]", max_links(3)]),
    ])
    run = evalc.run(suite, agent=my_agent)

A check is a line of the language of checks, a mapping as in YAML, or a call of a function under `@evalc.custom_check`.
"""

from __future__ import annotations

import linecache
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from evalc.base.files import below_working_folder
from evalc.base.source import Position, Source
from evalc.checks import BoundCheck, CustomCheck

Check = str | Mapping[str, Any] | BoundCheck

_LONGEST_PIECE: Final = 60
_SHORTEST_PIECE: Final = 3
"""The characters of a text by which it is found in the Python file."""


class _Call(NamedTuple):
    """The lines of a call in a Python file."""

    file: str
    first: int
    last: int

    @classmethod
    def above(cls) -> _Call:
        """The call of the function that asks for it."""
        frame = sys._getframe(2)
        first, last, *_ = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
        first = first or frame.f_lineno
        return cls(frame.f_code.co_filename, first, last or first)


@final
class Turn:
    """A turn of a conversation: what the user says, and checks of the answer. `keys` are those of a turn in YAML."""

    def __init__(self, say: str, checks: Iterable[Check] = (), **keys: Any) -> None:
        self.data = {"say": say, **_with_checks(keys, checks)}


@final
class Case:
    """A test case: its name, what is sent, and the checks of the answer. `keys` are those of a case in YAML.

    Instead of a message it may have `turns`, or what else a case in YAML may be sent with.
    """

    def __init__(
        self,
        name: str,
        message: str | None = None,
        *,
        checks: Iterable[Check] = (),
        turns: Iterable[Turn] | None = None,
        **keys: Any,
    ) -> None:
        self.call = _Call.above()
        sent = {} if message is None else {"message": message}
        said = {} if turns is None else {"turns": _data_of(turns, Turn, "turns")}
        self.data = {"name": name, **sent, **said, **_with_checks(keys, checks)}


@final
class Suite(Source):
    """A suite of cases. `keys` are those of a suite in YAML, such as `gates` and `defaults`.

    Raises:
        TypeError: a check is not called, has arguments that JSON does not know, or a key is given twice or is no text.
        ValueError: the keys hold what YAML cannot, such as half a surrogate pair, or two checks have the same name.
    """

    def __init__(
        self, name: str, *, cases: Iterable[Case], criteria: Sequence[str | Mapping[str, Any]] = (), **keys: Any
    ) -> None:
        from evalc.dsl.write_yaml import write_yaml  # noqa: PLC0415 - for start-up

        for key in ("suite", "eval"):
            if key in keys:
                raise TypeError(f"`{key}` is made of the name, the `cases` and the `criteria`: it is no key of its own")
        self._cases = tuple(cases)
        self._call = _Call.above()
        self.functions: dict[str, Callable[..., Any]] = {}
        scored = {"criteria": list(criteria)} if criteria else {}
        test_cases = _data_of(self._cases, Case, "cases")
        data = {"suite": name, **keys, "eval": {**scored, "test_cases": test_cases}}
        try:
            text = write_yaml(_written(data, self.functions))
        except RecursionError:
            raise ValueError("the suite holds data that are nested too deeply, or hold themselves") from None
        file = Path(self._call.file)
        super().__init__(str(below_working_folder(file)) if file.is_file() else f"{name}.eval.yaml", text)
        self._in_python = file.is_file()

    def to_yaml(self) -> str:
        """The suite as an eval file."""
        return self.text

    def position(self, offset: int) -> Position:
        """The place in the Python file: of the same text within the call, if it is there, else of the call."""
        number, column = super().position(offset)
        if not self._in_python:
            return Position(number, column)
        call = self._call_at(offset)
        text = "".join(linecache.getline(call.file, line) for line in range(call.first, call.last + 1))
        after, _, _ = self.text[offset : offset + _LONGEST_PIECE].partition("\n")
        pieces = (after[:length] for length in range(len(after), _SHORTEST_PIECE - 1, -1))
        found = next((at for piece in pieces if (at := text.find(piece)) >= 0), len(text) - len(text.lstrip()))
        before = text[:found]
        return Position(call.first + before.count("\n"), found - (before.rfind("\n") + 1) + 1)

    def shown_at(self, offset: int) -> tuple[str, int]:
        """The line of the Python file, and where the place is in it."""
        if not self._in_python:
            return super().shown_at(offset)
        line, column = self.position(offset)
        return self.line(line), column - 1

    def line(self, number: int) -> str:
        """The text of a line of the Python file."""
        return linecache.getline(self._call.file, number).rstrip("\r\n") if self._in_python else super().line(number)

    def _call_at(self, offset: int) -> _Call:
        index = bisect_right(self._starts, offset) - 1
        call = self._cases[index].call if 0 <= index < len(self._cases) else self._call
        return call if call.file == self._call.file else self._call

    @cached_property
    def _starts(self) -> list[int]:
        """Where each case begins in the YAML, which has an item of this indentation nowhere else after `test_cases`."""
        _, head, cases = self.text.partition("\n  test_cases:\n")
        begin = len(self.text) - len(cases)
        return [begin + found.start() for found in re.finditer("(?m)^    - ", cases)] if head else []


def _data_of(made: Iterable[Any], kind: type[Case | Turn], name: str) -> list[dict[str, Any]]:
    """The data of cases or of turns.

    Raises:
        TypeError: something else is among them.
    """
    written = list(made)
    if not all(isinstance(each, kind) for each in written):
        raise TypeError(f"`{name}` are made by `evalc.{kind.__name__}`")
    return [each.data for each in written]


def _with_checks(keys: Mapping[str, Any], checks: Iterable[Check]) -> dict[str, Any]:
    """The keys, and `validate` for the checks.

    Raises:
        TypeError: `checks` is a single check, or `validate` is among the keys, too.
    """
    if isinstance(checks, str | Mapping | BoundCheck | CustomCheck):
        raise TypeError("`checks` is a list of checks, and not a single one")
    written = list(checks)
    if written and "validate" in keys:
        raise TypeError("`checks` and `validate` say the same: give one of them")
    return {**keys, "validate": written} if written else dict(keys)


def _written(data: Any, functions: dict[str, Callable[..., Any]]) -> Any:
    """The data with lines in place of checks of one's own, whose functions are collected by their names."""
    match data:
        case BoundCheck():
            if functions.setdefault(data.name, data.function) is not data.function:
                raise ValueError(f"two checks are called `{data.name}`: give each function a name of its own")
            return str(data)
        case CustomCheck():
            raise TypeError(f"`{data.function.__name__}` is a check without its arguments: call it")
        case Mapping():
            for key in data:
                if not isinstance(key, str):
                    raise TypeError(f"`{key}` is no key: a key is a text")
            return {key: _written(value, functions) for key, value in data.items()}
        case list() | tuple():
            return [_written(value, functions) for value in data]
        case _:
            return data
