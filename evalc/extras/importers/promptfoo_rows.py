"""Writes alike cases of an imported suite as the rows of one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from evalc.diagnostics.near import nearest
from evalc.dsl.write_yaml import Noted, write_yaml
from evalc.extras.importers.imported import CaseNames, name_of, untaken

_ALWAYS_ROWS: Final = 10
_LESS: Final = 0.7
_FEWEST_APART: Final = 5
_SHORT: Final = 200
_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_LINE: Final = re.compile(
    rf"(?P<before>(?:at (?P<path>[\w.]+) )?(?P<not>not )?(?:"
    rf"(?:contains|equals|starts with|ends with|similar to|(?P<judge>judge)) (?=\")|contains (?:any|all) of (?=\[)|"
    rf"equals (?=[-\dtf])|(?:(?P<measure>length|words|cost|latency) )?[<>]=? \$?))"
    rf"(?P<value>{_TEXT}|\[{_TEXT}(?:, {_TEXT})*\]|-?\d+(?:\.\d+)?|true|false)"
    rf"(?P<behind>(?: ignoring case| ?[a-z]+)?(?: >= \S+)?(?: for .*)?)"
)
"""A line whose text, list of texts, number or flag may be a template that a row fills."""
_COLUMN: Final = re.compile(r"(?!(?:id|name|this|if|else|each|unless)\Z)[A-Za-z_]\w*")
"""A place that a column may be called by."""
_OTHERWISE: Final = ("wanted", "column", "of_case")
"""Names for a column whose own is that of an input."""
_VARIABLE: Final = re.compile(r"(?<!\\)\{\{(\w+)\}\}")
_NAME: Final = re.compile(rf"[^\n{{}}\\@]{{1,{_SHORT}}}")
"""A text that names a case as it stands."""


class Table(NamedTuple):
    """A table that tests come from: its path beside the suite, its columns, and how many rows it has."""

    path: str
    columns: tuple[str, ...]
    rows: int


class _Entry(NamedTuple):
    """A check of a case without what a row may fill, and that: as it is written, and with the values of variables.

    A check that no row fills is a form alone. A row's column is called as the kind says.
    """

    form: tuple[str, ...]
    kind: str = ""
    written: str = ""
    filled: Any = None


class _Case(NamedTuple):
    """A case that may be a row: what it has to share with others, its name, description, inputs and checks."""

    shape: str
    noted: Noted
    table: Table | None
    entries: tuple[_Entry, ...]
    fillable: tuple[_Entry, ...]  # the entries that a row may fill, in an order that all cases of the shape share

    @property
    def inputs(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.noted.value.get("inputs", {})
        return found

    @property
    def name(self) -> str:
        return str(self.noted.value["name"])

    @property
    def about(self) -> str:
        return str(self.noted.value.get("description", ""))


def in_rows(
    cases: Sequence[Noted], tables: Sequence[Table | None], naming: str, declared: Collection[str]
) -> list[Noted]:
    """The cases, those of one shape as the rows of one.

    The `tables` are where they come from, one for each case, and `naming` is the input that may be their name. No
    further column is called as an input that is `declared`.
    """
    groups = [part for group in _groups(cases, tables) for part in ([group] if _is_whole(group) else _runs(group))]
    places = {id(case): number for number, case in enumerate(cases)}
    names = CaseNames(case.value["name"] for case in cases)
    found: list[tuple[int, Noted]] = []
    for group in groups:
        apart = [case.noted for case in group]
        if len(group) > 1:
            rows = [_rows_of(group, names, naming, declared)]
            if len(group) > _ALWAYS_ROWS or _is_whole(group) or _is_shorter(rows, apart):
                found.append((places[id(apart[0])], rows[0]))
                continue
        found += ((places[id(case)], case) for case in apart)
    return [case for _, case in sorted(found, key=lambda each: each[0])]


def _groups(cases: Sequence[Noted], tables: Sequence[Table | None]) -> list[list[_Case]]:
    """The cases by their shapes. A case with a comment begins a part of the suite, which no later case leaves."""
    groups: list[list[_Case]] = []
    open_groups: dict[tuple[str, Table | None], list[_Case]] = {}
    last = None
    for noted, table in zip(cases, tables, strict=True):
        case = _case_of(noted, table)
        group = open_groups.get((case.shape, table)) if case.shape else None
        if noted.comments:
            group = group if group is not None and group is last else None
            open_groups.clear()
        if group is None:
            groups.append(group := [])
        group.append(case)
        open_groups[case.shape, table] = last = group
    return groups


def _case_of(noted: Noted, table: Table | None) -> _Case:
    """A case with its shape; that is empty if the case says more than a row may."""
    case = noted.value
    checks, inputs = case.get("validate", Noted(())), case.get("inputs", {})
    rest = {key: value for key, value in case.items() if key not in ("name", "description", "inputs", "validate")}
    if not (isinstance(inputs, dict) and inputs and isinstance(checks.value, Sequence)) or any(
        isinstance(value, Noted) for value in rest.values()
    ):
        return _Case("", noted, table, (), ())
    entries = tuple(_entry_of(each.value, inputs) for each in checks.value)
    fillable = sorted((each for each in entries if each.kind), key=lambda each: each.form)
    return _Case(json.dumps([sorted(each.form for each in entries), rest]), noted, table, entries, (*fillable,))


def _entry_of(entry: object, inputs: Mapping[str, Any]) -> _Entry:
    line = _LINE.fullmatch(entry) if isinstance(entry, str) else None
    filled = None if line is None or r"\{{" in line["value"] else _filled(json.loads(line["value"]), inputs)
    if line is None or filled is None:
        return _Entry((json.dumps(entry),))
    kind = "rubric" if line["judge"] else "unwanted" if line["not"] else "expected"
    place = (line["path"] or line["measure"] or "").rpartition(".")[2]
    kind = place if _COLUMN.fullmatch(place) else kind
    type_ = type(filled).__name__ if isinstance(filled, str | list) else "value"
    return _Entry((line["before"], line["behind"], type_), kind, line["value"], filled)


def _is_shorter(rows: Sequence[Noted], apart: Sequence[Noted]) -> bool:
    """Whether rows take no more lines than the cases, or far fewer words; two cases have to become shorter."""
    written, others = (write_yaml({"test_cases": cases}, for_others=False) for cases in (rows, apart))
    gain = len(others.split()) * _LESS - len(written.split())
    lines, before = _lines_of(rows), _lines_of(apart)
    return lines + 2 <= before if len(apart) == 2 else lines <= before or gain > 0


def _lines_of(cases: Sequence[Noted]) -> int:
    return sum(map(bool, write_yaml({"test_cases": cases}, for_others=False).split("\n")))


def _is_whole(group: Sequence[_Case]) -> bool:
    """Whether cases are all rows of one table."""
    return group[0].table is not None and group[0].table.rows == len(group)


def _runs(group: list[_Case]) -> list[list[_Case]]:
    """The cases of a group, apart where an input or a text is that of many of them, one after the other."""
    fewest = _FEWEST_APART + len(group[0].entries)
    if len(group) < 2 * fewest:
        return [group]
    names = sorted({name for case in group for name in case.inputs})
    parts = [group]
    for column in range(len(names) + len(group[0].fillable)):

        def value(case: _Case, column: int = column) -> str:
            if column < len(names):
                return json.dumps(case.inputs.get(names[column]))
            return case.fillable[column - len(names)].written

        split = [[*run] for part in parts for _, run in groupby(part, key=value)]
        parts = split if all(len(part) >= fewest for part in split) else parts
    return parts


# --- the rows of a group ---------------------------------------------------------------------------------------------


def _rows_of(group: Sequence[_Case], names: CaseNames, naming: str, declared: Collection[str]) -> Noted:
    """One case whose rows are the cases."""
    first, table = group[0], group[0].table
    columns = _columns_of(group, declared)
    rows = [
        {**case.inputs, **{column: case.fillable[place].filled for place, column in columns.items()}} for case in group
    ]
    key = _key_of(rows, naming)
    is_named = bool(key) and _are_names([str(row[key]) for row in rows], [case.name for case in group])
    said: set[str] = set()
    comments = [_not_in(said, comments_of(case.noted)) for case in group]
    if table is not None and _is_whole(group) and not any(comments) and _is_of(table, rows) and _is_one(group):
        name = f"{{{{{key}}}}}" if is_named else names.make(key, "row")
        written: dict[str, Any] = {"name": name, **({"description": first.about} if first.about else {})}
        written["for_each"] = {"file": table.path, "key": key} if key and not is_named else table.path
    else:
        usual = [_usual_inputs(group, least) for least in (len(group), len(group) // 2 + 1)]
        found = [_listed(group, rows, comments, key if is_named else "", each, declared) for each in usual]
        written = found[0] if usual[0] == usual[1] else min(found, key=lambda case: _lines_of([Noted(case)]))
    for each, value in first.noted.value.items():
        if each == "validate":
            written[each] = [*_filled_by(first, value.value, columns)]
        elif each not in ("name", "description", "inputs"):
            written[each] = value
    return Noted(written)


def _columns_of(group: Sequence[_Case], declared: Collection[str]) -> dict[int, str]:
    """The columns for what differs in the checks, by its place among what a row may fill."""
    taken = {*declared, *(name for case in group for name in case.inputs)}
    own = [each for each in group[0].entries if each.kind]
    found: dict[int, str] = {}
    for place in sorted(range(len(own)), key=lambda place: own.index(group[0].fillable[place])):
        if len({case.fillable[place].written for case in group}) > 1:
            found[place] = _free(group[0].fillable[place].kind, taken, declared)
            taken.add(found[place])
    return found


def _listed(
    group: Sequence[_Case],
    rows: Sequence[Mapping[str, Any]],
    comments: Sequence[tuple[str, ...]],
    key: str,
    usual: Mapping[str, Any],
    declared: Collection[str],
) -> dict[str, Any]:
    """The name, the description, the `usual` inputs, and the rows with those that differ, called by the `key`."""
    taken = {*declared, *(name for row in rows for name in row)}
    called, about = [case.name for case in group], ""
    written: dict[str, Any] = {}
    if _is_one(group):
        written = {"description": group[0].about} if group[0].about else {}
    elif _are_names(described := [case.about or case.name for case in group], called):
        called, key = described, ""
    else:
        about = _free("about", taken, declared)
        written["description"] = f"{{{{{about}}}}}"
    key = key or _free("name", {*taken, about}, declared)
    listed = []
    for case, row, name, said in zip(group, rows, called, comments, strict=True):
        own = {
            column: each
            for column, each in row.items()
            if column not in usual or json.dumps(usual[column]) != json.dumps(each)  # 1 and true are equal
        }
        own |= {about: case.about or case.name} if about else {}
        listed.append(Noted({key: own.get(key, name), **own}, said) if said else {key: own.get(key, name), **own})
    return {"name": f"{{{{{key}}}}}", **written, **({"inputs": usual} if usual else {}), "for_each": listed}


def _usual_inputs(group: Sequence[_Case], least: int) -> dict[str, Any]:
    """The values of inputs of all cases that at least so many of them have, more than half."""
    found: dict[str, Any] = {}
    for name in group[0].inputs:
        if all(name in case.inputs for case in group):
            text, times = Counter(json.dumps(case.inputs[name]) for case in group).most_common(1)[0]
            found |= {name: json.loads(text)} if times >= least else {}
    return found


def _filled_by(case: _Case, checks: Sequence[Noted], columns: Mapping[int, str]) -> Iterator[Any]:
    """The checks of a case with columns in place of what differs."""
    order = {id(each): place for place, each in enumerate(case.fillable)}
    for check, entry in zip(checks, case.entries, strict=True):
        column = columns.get(order.get(id(entry), -1))
        if column is None:
            yield check.value
        else:
            template = f'"{{{{{column}}}}}"' if isinstance(entry.filled, str) else f"{{{{{column}}}}}"
            yield f"{entry.form[0]}{template}{entry.form[1]}"


def _is_one(group: Sequence[_Case]) -> bool:
    """Whether all cases have the same description, or none."""
    return len({case.about for case in group}) == 1


def _are_names(texts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether cases may be called by these texts, which the names were made of, so that no two are alike."""
    return all(_NAME.fullmatch(text) and name_of(text) == name for text, name in zip(texts, names, strict=True))


def _filled(value: Any, inputs: Mapping[str, Any]) -> Any:
    """A value with those of variables in place of them; None if there is another template in it."""
    if isinstance(value, list):
        items = [_filled(each, inputs) for each in value]
        return None if None in items else items
    if not isinstance(value, str):
        return value
    values = {name: str(value) for name, value in inputs.items() if type(value) in (str, int)}
    filled = _VARIABLE.sub(lambda tag: values.get(tag[1], tag[0]), value)
    return None if "{{" in filled else filled


def _free(name: str, taken: Container[str], declared: Collection[str]) -> str:
    """A name for a column that is neither taken nor a declared input, nor near one, which evalc takes for a mistake."""
    return untaken(next((each for each in (name, *_OTHERWISE) if nearest(each, declared) is None), name), taken)


def _key_of(rows: Sequence[Mapping[str, Any]], naming: str) -> str:
    """The column whose short values distinguish the rows; empty if there is none."""
    for column in (naming, "id"):
        values = [str(row.get(column, "")) for row in rows if type(row.get(column)) in (str, int)]
        are_short = len(values) == len(rows) and all(each.strip() and len(each) <= _SHORT for each in values)
        if are_short and len({name_of(each) for each in values}) == len(rows):
            return column
    return ""


def _is_of(table: Table, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the rows are those of the table itself, whose other columns no check asks for."""
    return all(row.keys() <= {*table.columns} for row in rows)


def _not_in(said: set[str], comments: Iterable[str]) -> tuple[str, ...]:
    """The comments that were not said of an earlier row."""
    new = tuple(each for each in dict.fromkeys(comments) if each not in said)
    said.update(new)
    return new


def comments_of(case: Noted) -> tuple[str, ...]:
    """The comments above a case and within its checks."""
    checks = case.value.get("validate", Noted(()))
    within = (comment for entry in checks.value for comment in entry.comments)
    return tuple(filter(None, (*case.comments, *within, *checks.comments)))
