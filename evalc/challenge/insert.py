"""Inserts a check into the list of a case in YAML; everything else keeps its text, comments too."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from evalc.base.source import Source
from evalc.dsl import nodes
from evalc.dsl.quoting import as_item, quoted_line, unquoted_line
from evalc.dsl.read_yaml import read_yaml
from evalc.model.suite import Place


class Inserted(NamedTuple):
    """A text with items in it: where each case begins in it, and the cases that no item can be put into."""

    text: str
    starts: Mapping[Place, int]
    refused: frozenset[Place]


def with_checks(source: Source, wanted: Mapping[Place, Sequence[str]]) -> Inserted:
    """The text with more items in the `validate:` of cases.

    Args:
        source: the file.
        wanted: the items for each case, as `cure` writes them: `- json`. A case is told by the place of its name.
    """
    cases = _cases_by_place(source)
    starts: dict[Place, int] = {}
    edits: list[tuple[int, str]] = []
    refused: list[Place] = []
    for place, items in wanted.items():
        case = cases.get((place.line, place.column))
        edit = None if case is None else _edit(source.text, case, [item.removeprefix("- ") for item in items])
        if case is None or edit is None:
            refused.append(place)
        else:
            starts[place] = case.start
            edits.append(edit)
    edits.sort()
    pieces: list[str] = []
    done = 0
    for at, text in edits:
        pieces += (source.text[done:at], text)
        done = at
    ends, shifts = [at for at, _ in edits], [0, *accumulate(len(text) for _, text in edits)]
    moved = {place: start + shifts[bisect_right(ends, start)] for place, start in starts.items()}
    return Inserted("".join([*pieces, source.text[done:]]), moved, frozenset(refused))


def _edit(text: str, case: nodes.Mapping, lines: Sequence[str]) -> tuple[int, str] | None:
    """What has to be inserted, and where; None if a line cannot be put there."""
    checks = next((value for key, value in case.pairs if key.text == "validate"), None)
    if checks is None:
        return _with_key(text, case, lines)
    if not isinstance(checks, nodes.Sequence) or checks.alias is not None or not checks.items:
        return None
    if not case.start <= checks.start <= checks.end <= case.end:
        return None  # what an anchor elsewhere holds
    if text.startswith("[", checks.start):
        return checks.items[-1].end, "".join(f", {_quoted(line)}" for line in lines)
    dash = text.rfind("-", 0, checks.items[-1].start)
    indent = _indent(text, dash)
    if indent is None:
        return None
    return _below(text, checks.items[-1].end, [f"{indent}- {line}" for line in lines])


def _with_key(text: str, case: nodes.Mapping, lines: Sequence[str]) -> tuple[int, str]:
    """A `validate:` for a case that has none."""
    key, value = case.pairs[-1]
    if text.startswith("{", case.start):
        return value.end, f", validate: [{', '.join(map(_quoted, lines))}]"
    first, _ = case.pairs[0]
    column = first.start - _line_start(text, first.start)
    indent = " " * column
    return _below(text, max(value.end, key.end), [f"{indent}validate:", *(f"{indent}  - {line}" for line in lines)])


def _quoted(line: str) -> str:
    """The check in quotes, whatever brackets it is in."""
    plain = unquoted_line(line) if as_item(unquoted_line(line)) == f"- {line}" and line.startswith("'") else line
    return quoted_line(plain)


def _indent(text: str, dash: int) -> str | None:
    """The white space before a dash; None if something else is there, as in `- - a`."""
    before = text[_line_start(text, dash) : dash]
    return before if not before.strip(" ") else None


def _below(text: str, end: int, lines: Sequence[str]) -> tuple[int, str]:
    """Lines below the one in which something ends."""
    end -= text[:end].endswith("\n")
    at = text.find("\n", end)
    newline = "\r\n" if "\r\n" in text else "\n"
    if at < 0:
        return len(text), "".join(newline + line for line in lines) + newline
    return at + 1, "".join(line + newline for line in lines)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _cases_by_place(source: Source) -> dict[tuple[int, int], nodes.Mapping]:
    """The mappings that may be cases, by the place of the name, or else of the first key."""
    found: dict[tuple[int, int], nodes.Mapping] = {}
    for document in read_yaml(source, lambda _span, _finding: None):
        for mapping in _mappings(document):
            name = next((value.start for key, value in mapping.pairs if key.text == "name"), None)
            start = name if name is not None else mapping.pairs[0][0].start if mapping.pairs else None
            if start is not None:
                found.setdefault(source.position(start), mapping)
    return found


def _mappings(node: nodes.Node | None) -> Iterator[nodes.Mapping]:
    waiting = [node]
    while waiting:
        match waiting.pop():
            case nodes.Mapping() as mapping:
                yield mapping
                waiting += [value for _, value in mapping.pairs]
            case nodes.Sequence(items=items):
                waiting += items
            case _:
                continue
