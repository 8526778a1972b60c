"""Inserts a check into the list of a case in YAML; everything else keeps its text, comments too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalc.dsl import nodes
from evalc.dsl.quoting import as_item, quoted_line, unquoted_line
from evalc.dsl.read_yaml import read_yaml
from evalc.model.suite import Place
from evalc.source import Source


def with_check(source: Source, case: Place, item: str) -> str | None:
    """The text with one item more in the `validate:` of a case; None where it cannot be put there.

    Args:
        source: the file.
        case: the place of the case: that of its name.
        item: the item, as `cure` writes it: `- json`.
    """
    found = _case_at(source, case)
    if found is None:
        return None
    text = source.text
    checks = next((value for key, value in found.pairs if key.text == "validate"), None)
    line = item.removeprefix("- ")
    if checks is None:
        return _with_key(text, found, line)
    if not isinstance(checks, nodes.Sequence) or checks.alias is not None or not checks.items:
        return None
    if not found.start <= checks.start <= checks.end <= found.end:
        return None  # what an anchor elsewhere holds
    if text.startswith("[", checks.start):
        at = checks.items[-1].end
        return f"{text[:at]}, {_quoted(line)}{text[at:]}"
    dash = text.rfind("-", 0, checks.items[-1].start)
    indent = _indent(text, dash)
    if indent is None:
        return None
    return _below(text, checks.items[-1].end, [f"{indent}- {line}"])


def _with_key(text: str, case: nodes.Mapping, line: str) -> str:
    """The text with a `validate:` in a case that has none."""
    key, value = case.pairs[-1]
    if text.startswith("{", case.start):
        return f"{text[: value.end]}, validate: [{_quoted(line)}]{text[value.end :]}"
    first, _ = case.pairs[0]
    column = first.start - _line_start(text, first.start)
    indent = " " * column
    return _below(text, max(value.end, key.end), [f"{indent}validate:", f"{indent}  - {line}"])


def _quoted(line: str) -> str:
    """The check in quotes, whatever brackets it stands in."""
    plain = unquoted_line(line) if as_item(unquoted_line(line)) == f"- {line}" and line.startswith("'") else line
    return quoted_line(plain)


def _indent(text: str, dash: int) -> str | None:
    """The white space before a dash; None where something else stands there, as in `- - a`."""
    before = text[_line_start(text, dash) : dash]
    return before if not before.strip(" ") else None


def _below(text: str, end: int, lines: Sequence[str]) -> str:
    """The text with lines below the one in which something ends."""
    end -= text[:end].endswith("\n")
    at = text.find("\n", end)
    newline = "\r\n" if "\r\n" in text else "\n"
    if at < 0:
        return text + "".join(newline + line for line in lines) + newline
    return text[: at + 1] + "".join(line + newline for line in lines) + text[at + 1 :]


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _case_at(source: Source, place: Place) -> nodes.Mapping | None:
    """The case whose name, or else whose first key, stands there."""
    for document in read_yaml(source, lambda _span, _finding: None):
        for mapping in _mappings(document):
            name = next((value for key, value in mapping.pairs if key.text == "name"), None)
            start = mapping.pairs[0][0].start if name is None and mapping.pairs else -1 if name is None else name.start
            if start >= 0 and source.position(start) == (place.line, place.column):
                return mapping
    return None


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
