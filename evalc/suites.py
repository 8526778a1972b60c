"""Suites that are written in Python: they compile like eval files, with problems at the place of the Python call.

    import evalc

    suite = evalc.Suite("desk", cases=[
        evalc.Case("rome", "Which flights go to Rome?", checks=["tools called [search_flights]", max_links(3)]),
    ])
    run = evalc.run(suite, agent=my_agent)

A check is a line of the language of checks, a mapping as in YAML, or a call of a function under `@evalc.custom_check`.
`evalc.contains(expected)` and its like write the line of a predicate, with the value in the quotes that it needs.
`evalc.Suite.from_file` reads a suite, whose problems have their places in the file.
"""

from __future__ import annotations

import linecache
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from evalc.base.errors import SourceError, UsageError
from evalc.base.files import JSON_LIMIT, below_working_folder
from evalc.base.source import Position, Source
from evalc.check.predicates import PACKAGED, PREDICATES, WORD, Predicate
from evalc.checks import BoundCheck, CustomCheck, as_json
from evalc.diagnostics import Diagnostics
from evalc.diagnostics.near import did_you_mean, listed
from evalc.dsl.build_case import CASE, TURN
from evalc.dsl.build_suite import WITH_BLOCK
from evalc.dsl.document_kind import Kind, kind_of_document
from evalc.dsl.kinds import Shape
from evalc.dsl.nodes import Mapping as MappingNode
from evalc.dsl.nodes import Sequence as SequenceNode
from evalc.dsl.nodes import fields_of, items_of
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.scalars import to_plain
from evalc.dsl.sources import read_source
from evalc.dsl.write_yaml import write_yaml

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
        _refuse_unknown("Turn", keys, TURN)
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
        _refuse_unknown("Case", keys, CASE)
        self.call = _Call.above()
        sent = {} if message is None else {"message": message}
        said = {} if turns is None else {"turns": _data_of(turns, Turn, "turns")}
        self.data = {"name": name, **sent, **said, **_with_checks(keys, checks)}

    @classmethod
    def _of(cls, data: dict[str, Any], call: _Call) -> Case:
        case = cls.__new__(cls)
        case.call, case.data = call, data
        return case

    @property
    def name(self) -> str:
        """The name of the case; `data` are all of its keys, as in YAML."""
        return str(self.data.get("name", ""))

    def __repr__(self) -> str:
        return f"<Case {self.name}>"


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
        for key in ("suite", "eval"):
            if key in keys:
                raise TypeError(f"`{key}` is made of the name, the `cases` and the `criteria`: it is no key of its own")
        _refuse_unknown("Suite", keys, WITH_BLOCK[Kind.SUITE])
        self.cases = tuple(cases)
        self._call = _Call.above()
        self.functions: dict[str, Callable[..., Any]] = {}
        scored = {"criteria": list(criteria)} if criteria else {}
        test_cases = _data_of(self.cases, Case, "cases")
        data = {"suite": name, **keys, "eval": {**scored, "test_cases": test_cases}}
        try:
            text = write_yaml(_written(data, self.functions), for_others=False)
        except RecursionError:
            raise ValueError("the suite holds data that are nested too deeply, or hold themselves") from None
        file = Path(self._call.file)
        super().__init__(str(below_working_folder(file)) if file.is_file() else f"<{name}>", text)
        self._in_python = file.is_file()

    @classmethod
    def from_file(cls, path: str | Path, *, suite: str | None = None) -> Suite:
        """The suite of an eval file, whose problems have their places there; of several, `suite` names one.

        Raises:
            SourceError: the file cannot be read.
            UsageError: it has several suites and none is named, or none or more than one of that name.
        """
        problems = Diagnostics()
        source = read_source(Path(path), problems.add, limit=JSON_LIMIT)
        if source is None or problems.has_errors:
            raise SourceError(tuple(problems))
        found = [] if source.name.lower().endswith(".json") else list(_suites_in(source))
        names = [name for name, _ in found]
        if suite is None and len(found) > 1:
            raise UsageError(
                f"`{path}` has the suites {listed(names)}: name one, as in `Suite.from_file(..., suite={names[0]!r})`"
            )
        if suite is not None and names.count(suite) > 1:
            raise UsageError(
                f"`{path}` has {names.count(suite)} suites that are called `{suite}`: give each its own name"
            )
        if suite is not None and suite not in names:
            raise UsageError(f"`{path}` has no suite `{suite}`{f': it has {listed(names)}' if names else ''}")
        chosen = source if suite is None or len(found) == 1 else dict(found)[suite]
        made = cls.__new__(cls)
        Source.__init__(made, chosen.name, chosen.text, first_line=chosen.first_line)
        made.functions = {}
        made._in_python = False
        return made

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Its cases. What these hold, such as `case.data["message"]`, is as in the file."""
        read = read_yaml(self)
        lists = (_list_of_cases(node) for node in read if isinstance(node, MappingNode | SequenceNode))
        found: list[Case] = []
        for item in next(filter(None, lists), ()):
            data = to_plain(item)
            if isinstance(data, dict):
                line = self.position(item.start).line
                found.append(Case._of(data, _Call(self.name, line, line)))
        return tuple(found)

    def __repr__(self) -> str:
        return f"<Suite in {self.name}: {len(self.cases)} cases>"

    def to_yaml(self) -> str:
        """The suite as an eval file."""
        return self.text

    def position(self, offset: int) -> Position:
        """The place in the Python file: of the same text within the call, if it is there, else of the call."""
        number, column = super().position(offset)
        if not self._in_python:
            return Position(number, column)
        call, begin = self._call_at(offset)
        text = "".join(linecache.getline(call.file, line) for line in range(call.first, call.last + 1))
        after, _, _ = self.text[offset : offset + _LONGEST_PIECE].partition("\n")
        pieces = (after[:length] for length in range(len(after), _SHORTEST_PIECE - 1, -1))
        places = (_nth(piece, text, self.text.count(piece, begin, offset)) for piece in pieces)
        found = next((at for at in places if at >= 0), len(text) - len(text.lstrip()))
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

    def _call_at(self, offset: int) -> tuple[_Call, int]:
        """The call of a place, and where in the YAML begins what it has made."""
        index = bisect_right(self._starts, offset) - 1
        if 0 <= index < len(self.cases) and (call := self.cases[index].call).file == self._call.file:
            return call, self._starts[index]
        return self._call, 0

    @cached_property
    def _starts(self) -> list[int]:
        """Where each case begins in the YAML, which has an item of this indentation nowhere else after `test_cases`."""
        _, head, cases = self.text.partition("\n  test_cases:\n")
        begin = len(self.text) - len(cases)
        return [begin + found.start() for found in re.finditer("(?m)^    - ", cases)] if head else []


def _nth(piece: str, text: str, before: int) -> int:
    """Where a piece is in a text that has it so many times before; the last place if there are fewer, -1 for none."""
    found = text.find(piece)
    while before and (further := text.find(piece, found + len(piece))) >= 0:
        found, before = further, before - 1
    return found


def _suites_in(source: Source) -> Iterator[tuple[str, Source]]:
    """The suites of a file: the name of each, and its document alone, which keeps its lines."""
    starts = [0, *(found.start() for found in re.finditer(r"(?m)^---(?=\s|$)", source.text))]
    for number, (start, end) in enumerate(pairwise([*starts, len(source.text)]), 1):
        document = Source(source.name, source.text[start:end], first_line=source.position(start).line)
        for node in read_yaml(document):
            if isinstance(node, MappingNode) and kind_of_document(node) not in (None, Kind.SHARED):
                said = fields_of(node)
                names = (getattr(said.get(key), "text", None) for key in ("suite", "tool", "id", "prompt_id"))
                yield next(filter(None, names), str(number)), document


def _list_of_cases(node: Any) -> Sequence[Any]:
    """The cases of a document, or of eval JSON."""
    if isinstance(node, SequenceNode):
        return node.items
    said = fields_of(node)
    said |= fields_of(said.get("eval"))
    return items_of(said.get("test_cases", said.get("cases")))


_IN_PYTHON: Final = {"validate": "checks", "test_cases": "cases", "suite": "name"}
"""Keys of YAML that are said otherwise in Python."""
_OF_SUITES: Final = ("cases", "criteria")


def _refuse_unknown(kind: str, given: Mapping[str, Any], shape: Shape) -> None:
    """Refuse a keyword that is no key in YAML, and offer the near name.

    Raises:
        TypeError: it is unknown.
    """
    for name in given:
        if name not in shape.keys and not name.startswith("x-"):
            known = [*(_IN_PYTHON.get(key, key) for key in shape.keys), *(_OF_SUITES if kind == "Suite" else ())]
            meant = shape.meant_by(name)
            near = did_you_mean(_IN_PYTHON.get(meant, meant) or name, known)
            raise TypeError(f"`evalc.{kind}` got an unexpected keyword argument `{name}`{near and f'; {near}'}")


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
        case FunctionType():
            raise TypeError(f"`{data.__name__}` is a function: a check is the call of one under `@evalc.custom_check`")
        case list() | tuple():
            return [_written(value, functions) for value in data]
        case _:
            return data


# --- lines of checks with values -------------------------------------------------------------------------------------


def _writers() -> Iterator[tuple[str, Callable[..., str]]]:
    """Functions that write the lines of the predicates that take values: `starts_with` writes `starts with {}`."""
    seen: set[str] = set()
    for row in PREDICATES.values():
        words, takes_values, _ = row.line.partition(" {}")
        name = words.replace(" ", "_")
        first = row.roles[0] if isinstance(row.roles, tuple) else row.roles
        if takes_values and "value" in row.on and first not in (WORD, PACKAGED) and name not in seen:
            seen.add(name)
            yield name, _writer(name, row)


def _writer(name: str, row: Predicate) -> Callable[..., str]:
    def write(*values: Any) -> str:
        if len(values) != row.line.count("{}"):
            raise TypeError(f"`evalc.{name}` writes `{row.line}`, and is given {len(values)} values")
        # In JSON, two braces are only side by side within a text: there they would open a template.
        return row.line.format(*(as_json(value).replace("{{", r"\\{{") for value in values))

    write.__name__ = write.__qualname__ = name
    write.__doc__ = f"The line of a check, `{row.line}`: {row.sentence} Braces in a value are plain text."
    return write


WRITERS: Final[Mapping[str, Callable[..., str]]] = dict(_writers())


if TYPE_CHECKING:  # type checkers do not see what the table gives
    contains = contains_all_of = contains_any_of = ends_with = equals = judge = _writer("", PREDICATES["contains"])
    matches = one_of = similar_to = starts_with = within = contains
else:
    globals().update(WRITERS)
