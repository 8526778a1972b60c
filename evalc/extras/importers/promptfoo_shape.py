"""Shapes an imported suite as people write one: what all cases have is said once, and alike cases are rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Any, Final, NamedTuple

from evalc.check.contract import single_values
from evalc.check.tree import All, At, Bounds, Call, Check, Not, Of, Some, Step, Test, all_of, some_of
from evalc.dsl.write_yaml import Anchored, Noted, write_yaml
from evalc.extras.importers.imported import CaseNames, name_of
from evalc.extras.importers.promptfoo_source import Loss
from evalc.translate.trees import negated

_LIMIT: Final = re.compile(r"(latency|cost) <= \S+")
_ALWAYS_ROWS: Final = 10
_LESS: Final = 0.7
_FEWEST_APART: Final = 5
_OFTEN: Final = 3
_MOST_PLACES: Final = 20
_SHORT: Final = 120
_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_LINE: Final = re.compile(
    rf"(?P<before>(?P<not>not )?(?P<predicate>contains|equals|starts with|judge) )(?P<text>{_TEXT})"
    r"(?P<behind>(?: ignoring case)?(?: >= \S+)?(?: for .*)?)"
)
"""A line whose text may be a template that a row fills."""
_VARIABLE: Final = re.compile(r"(?<!\\)\{\{(\w+)\}\}")
_LONG: Final = 240
_NAME: Final = re.compile(rf"[^\n{{}}\\@]{{1,{_SHORT}}}")
"""A text that names a case as it stands."""


class Table(NamedTuple):
    """A table that tests come from: its path beside the suite, its columns, and how many rows it has."""

    path: str
    columns: tuple[str, ...]
    rows: int


# --- defaults --------------------------------------------------------------------------------------------------------


def taken_out(cases: Sequence[dict[str, Any]], given: Container[str]) -> dict[str, Any]:
    """Take out the checks that all cases have, and inputs that are `given`; the key `defaults` that says them."""
    if len(cases) < 2:
        return {}
    checks: dict[str, list[Noted]] = {}
    for case in cases:
        for each in case["validate"].value:
            checks.setdefault(json.dumps(each.value), []).append(each)
    had = [[each.value for each in case["validate"].value] for case in cases]
    shared = {
        key: Noted(each[0].value, tuple(dict.fromkeys(comment for one in each for comment in one.comments)))
        for key, each in checks.items()
        if len(each) > 1 and all(each[0].value in own or _limited(each[0].value) & _limited(*own) for own in had)
    }
    inputs = {
        name: value
        for name, value in cases[0].get("inputs", {}).items()
        if (name in given or _is_long(value)) and all(case.get("inputs", {}).get(name, ...) == value for case in cases)
    }
    for case in cases:
        rest = {name: value for name, value in case.get("inputs", {}).items() if name not in inputs}
        own = [each for each in case["validate"].value if json.dumps(each.value) not in shared]
        comments = case["validate"].comments
        for key, left in (("inputs", rest), ("validate", Noted(own, comments) if own else None)):
            if left:
                case[key] = left
            else:
                case.pop(key, None)
        if comments and not own:
            last = [*case][-1]
            case[last] = Noted(case[last], comments)
    found = {key: value for key, value in (("inputs", inputs), ("validate", [*shared.values()])) if value}
    return {"defaults": found} if found else {}


def _limited(*entries: object) -> set[str]:
    """The measures that the entries limit. A limit of a case replaces that of the defaults."""
    return {found[1] for each in entries if isinstance(each, str) and (found := _LIMIT.fullmatch(each))}


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > _LONG


# --- losses ----------------------------------------------------------------------------------------------------------


def losses_once(
    cases: Sequence[Noted], head: Sequence[str], lists: Sequence[list[str]], losses: Mapping[str, Loss]
) -> tuple[list[Noted], list[str]]:
    """The cases without the comments on what is lost three times or more, and the head, which says that once.

    It is taken out of the other `lists` of comments, too.
    """
    said = [*head, *(each for comments in lists for each in comments)]
    said += [comment for case in cases for comment in _comments_of(case)]
    groups: dict[tuple[str, str], list[Loss]] = {}
    for loss in (losses[comment] for comment in said if comment in losses):
        groups.setdefault((loss.how, loss.why), []).append(loss)
    in_head = Counter((losses[comment].how, losses[comment].why) for comment in head if comment in losses)
    often = {key for key, each in groups.items() if len(each) >= _OFTEN or in_head[key] > 1}

    def others(comments: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            each for each in comments if each not in losses or (losses[each].how, losses[each].why) not in often
        )

    for comments in lists:
        comments[:] = others(comments)
    found = []
    for case in cases:
        checks = case.value["validate"]
        entries = [Noted(entry.value, others(entry.comments)) for entry in checks.value]
        case.value["validate"] = Noted(entries, others(checks.comments))
        found.append(Noted(case.value, others(case.comments)))
    return found, [*others(head), *(_all_of(each) for key, each in groups.items() if key in often)]


def _all_of(losses: Sequence[Loss]) -> str:
    """One comment for losses that have the same reason."""
    places: dict[str, list[str]] = {}
    for loss in losses:
        places.setdefault(loss.what, []).append(loss.place)
    parts = (f"{what}{_places(each)}" for what, each in places.items())
    return f"{losses[0].how}: {', '.join(parts)}: {losses[0].why}"


def _places(places: Sequence[str]) -> str:
    """The places of one file after the other, as ` (a.yaml:1:3)` or `, 3 times (a.yaml:1:3, 2:3, b.yaml:1:5)`."""
    files = ["", *(place.partition(":")[0] for place in places)]
    shown = [
        place.removeprefix(f"{file}:") if file == before else place
        for place, file, before in zip(places, files[1:], files, strict=False)
    ]
    more = f" and {len(shown) - _MOST_PLACES} more" if len(shown) > _MOST_PLACES else ""
    listed = f" ({', '.join(shown[:_MOST_PLACES])}{more})" if any(shown) else ""
    return f", {len(shown)} times{listed}" if len(shown) > 1 else listed


# --- rows ------------------------------------------------------------------------------------------------------------


class _Text(NamedTuple):
    """A text that a row may fill: what it is, how it is written, and with its case's values in place of templates."""

    kind: str
    written: str
    filled: str


class _Shape(NamedTuple):
    """A case without the texts that a row may fill, and these texts."""

    key: str
    texts: tuple[_Text, ...]


def in_rows(cases: Sequence[Noted], tables: Sequence[Table | None], naming: str) -> list[Noted]:
    """The cases, those of one shape as the rows of one; `tables` are where they come from, one for each case."""
    shapes = [_shape_of(case.value) for case in cases]
    groups: list[list[int]] = []
    for index, shape in enumerate(shapes):
        previous = shapes[index - 1] if index else None
        if shape is not None and previous is not None and shape.key == previous.key:
            groups[-1].append(index)
        else:
            groups.append([index])
    groups = [
        part
        for members in groups
        for part in ([members] if _is_whole(members, tables) else _runs(members, cases, shapes))
    ]
    names = CaseNames(case.value["name"] for case in cases)
    found: list[Noted] = []
    for members in groups:
        apart = [cases[member] for member in members]
        texts = [shape.texts for member in members if (shape := shapes[member])]
        sources = {tables[member] for member in members}
        table = sources.pop() if len(sources) == 1 else None
        rows = [_rows_of(apart, texts, table, names, naming)] if len(members) > 1 else apart
        is_table = len(members) > _ALWAYS_ROWS or _is_whole(members, tables)
        found += rows if is_table or _is_shorter(rows, apart) else apart
    return found


def _is_shorter(rows: Sequence[Noted], apart: Sequence[Noted]) -> bool:
    """Whether rows take no more lines than the cases, or far fewer words; two cases have to become shorter."""
    written, others = (write_yaml({"test_cases": cases}, for_others=False) for cases in (rows, apart))
    gain = len(others.split()) * _LESS - len(written.split())
    lines = [sum(map(bool, text.split("\n"))) for text in (written, others)]
    return lines[0] + 2 <= lines[1] if len(apart) == 2 else lines[0] <= lines[1] or gain > 0


def _is_whole(members: Sequence[int], tables: Sequence[Table | None]) -> bool:
    """Whether cases are all rows of one table."""
    table = tables[members[0]]
    return table is not None and {tables[each] for each in members} == {table} and table.rows == len(members)


def _runs(members: list[int], cases: Sequence[Noted], shapes: Sequence[_Shape | None]) -> list[list[int]]:
    """The members of a group, apart where an input or a text is that of many of them, one after the other."""
    fewest = _FEWEST_APART + len(cases[members[0]].value.get("validate", Noted(())).value)
    if len(members) < 2 * fewest:
        return [members]
    names = sorted({name for member in members for name in cases[member].value["inputs"]})
    values: dict[int, list[str]] = {}
    for member in members:
        shape = shapes[member]
        values[member] = [json.dumps(cases[member].value["inputs"].get(name)) for name in names]
        values[member] += [text.written for text in shape.texts[1:]] if shape else []
    parts = [members]
    for column in range(len(values[members[0]])):
        split = [[*run] for part in parts for _, run in groupby(part, key=lambda each: values[each][column])]
        parts = split if all(len(part) >= fewest for part in split) else parts
    return parts


def _shape_of(case: Mapping[str, Any]) -> _Shape | None:
    """The shape of a case; None if it says more than a row may."""
    checks = case.get("validate", Noted(()))
    inputs = case.get("inputs", {})
    if not isinstance(inputs, dict) or not isinstance(checks.value, Sequence) or not inputs:
        return None
    texts = [_Text("about", case.get("description", ""), case.get("description", ""))]
    lines = []
    for entry in checks.value:
        line = _line_of(entry.value, inputs)
        if line is None:
            lines.append(json.dumps(entry.value))
        else:
            kind = "rubric" if line["predicate"] == "judge" else "unwanted" if line["not"] else "expected"
            texts.append(_Text(kind, line["text"], _filled(json.loads(line["text"]), inputs) or ""))
            lines.append(f"{line['before']}{line['behind']}")
    rest = {key: value for key, value in case.items() if key not in ("name", "description", "inputs", "validate")}
    if any(isinstance(value, Noted) for value in rest.values()):
        return None
    return _Shape(json.dumps([lines, rest]), tuple(texts))


def _rows_of(
    cases: Sequence[Noted],
    texts: Sequence[tuple[_Text, ...]],
    table: Table | None,
    names: CaseNames,
    naming: str,
) -> Noted:
    """One case whose rows are the cases."""
    first = cases[0].value
    called = [case.value["name"] for case in cases]
    said: set[str] = set()
    comments = [_not_in(said, _comments_of(case)) for case in cases]
    taken = {name for case in cases for name in case.value["inputs"]}
    columns: list[str | None] = []  # for each text the column that has it, or None where all have the same
    for position, text in enumerate(texts[0]):
        is_same = all(each[position].written == text.written for each in texts)
        column = None if is_same else next(name for name in _numbered(text.kind) if name not in taken)
        columns.append(column)
        taken |= {column} if column else set()
    rows = [
        dict(case.value["inputs"])
        | {column: text.filled for column, text in zip(columns, each, strict=True) if column is not None}
        for case, each in zip(cases, texts, strict=True)
    ]
    key = _key_of(rows, naming)
    is_named = bool(key) and _are_names([str(row[key]) for row in rows], called)
    is_table = table is not None and table.rows == len(rows) and not any(comments) and _is_of(table, rows)
    filled = iter(columns)
    about = next(filled)
    described = [row[about] or name for row, name in zip(rows, called, strict=True)] if about is not None else []
    if not is_table and described and _are_names(described, called):
        called, about, is_named = described, None, False
    same = (
        {}
        if is_table
        else {name: each for name, each in rows[0].items() if all(row.get(name, ...) == each for row in rows)}
    )
    hidden = {*same, *({columns[0]} if about is None else ())}
    rows = [{name: each for name, each in row.items() if name not in hidden} for row in rows]
    written: dict[str, Any] = {"name": f"{{{{{key}}}}}"}
    if about is not None:
        written["description"] = f"{{{{{about}}}}}"
        rows = [{**row, about: each} for row, each in zip(rows, described, strict=True)]
    elif not described and "description" in first:
        written["description"] = first["description"]
    written |= {"inputs": same} if same else {}
    if table is not None and is_table:
        written["for_each"] = {"file": table.path, "key": key} if key and not is_named else table.path
        written["name"] = written["name"] if is_named else names.make(key, "row")
    else:
        if not is_named:
            key = next(each for each in _numbered("name") if each not in taken)
            written["name"] = f"{{{{{key}}}}}"
        rows = [{key: row.get(key, name), **row} for row, name in zip(rows, called, strict=True)]
        written["for_each"] = _noted(rows, comments)
    for each, value in first.items():
        if each == "validate":
            written[each] = [_with_column(entry.value, first["inputs"], filled) for entry in value.value]
        elif each not in ("name", "description", "inputs"):
            written[each] = value
    return Noted(written)


def _are_names(texts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether cases may be called by these texts, which the names were made of, so that no two are alike."""
    return all(_NAME.fullmatch(text) and name_of(text) == name for text, name in zip(texts, names, strict=True))


def _with_column(entry: Any, inputs: Mapping[str, Any], columns: Iterator[str | None]) -> Any:
    line = _line_of(entry, inputs)
    column = None if line is None else next(columns)
    return entry if line is None or column is None else f'{line["before"]}"{{{{{column}}}}}"{line["behind"]}'


def _line_of(entry: object, inputs: Mapping[str, Any]) -> re.Match[str] | None:
    """The parts of a line whose text a row may fill."""
    line = _LINE.fullmatch(entry) if isinstance(entry, str) else None
    if line is None or r"\{{" in line["text"] or _filled(json.loads(line["text"]), inputs) is None:
        return None
    return line


def _filled(text: str, inputs: Mapping[str, Any]) -> str | None:
    """A text with the values of variables in place of them; None if there is another template in it."""
    values = {name: str(value) for name, value in inputs.items() if type(value) in (str, int)}
    filled = _VARIABLE.sub(lambda tag: values.get(tag[1], tag[0]), text)
    return None if "{{" in filled else filled


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))


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


def _comments_of(case: Noted) -> tuple[str, ...]:
    checks = case.value.get("validate", Noted(()))
    within = (comment for entry in checks.value for comment in entry.comments)
    return tuple(filter(None, (*case.comments, *within, *checks.comments)))


def _not_in(said: set[str], comments: Iterable[str]) -> tuple[str, ...]:
    """The comments that were not said of an earlier row."""
    new = tuple(each for each in dict.fromkeys(comments) if each not in said)
    said.update(new)
    return new


def _noted(rows: Sequence[Any], comments: Sequence[tuple[str, ...]]) -> list[Any]:
    return [Noted(row, said) if said else row for row, said in zip(rows, comments, strict=True)]


# --- long texts ------------------------------------------------------------------------------------------------------


def said_once(cases: Sequence[Noted]) -> None:
    """Write inputs and messages that are long and repeated once, and refer to them elsewhere."""
    places = [
        (holder, key)
        for case in cases
        for holder, keys in (
            (case.value, ("message", "messages")),
            (case.value.get("inputs"), case.value.get("inputs")),
        )
        if isinstance(holder, dict)
        for key in keys or ()
        if key in holder
    ]
    sizes = Counter(json.dumps(holder[key]) for holder, key in places)
    names: dict[str, str] = {}
    taken = CaseNames()
    for holder, key in places:
        text = json.dumps(holder[key])
        if sizes[text] > 1 and (len(text) > _LONG or key == "messages"):
            is_first = text not in names
            name = names.setdefault(text, "") or taken.make(key, "text")
            names[text] = name
            holder[key] = Anchored(holder[key], name, is_alias=not is_first)


# --- checks ----------------------------------------------------------------------------------------------------------


def with_lists(check: Check) -> Check:
    """The check with `contains any of` and `contains all of` for `or` and `and` between texts that it contains."""
    match check:
        case Not(inner):
            return Not(with_lists(inner))
        case Some(checks) | All(checks):
            predicate = "contains_any" if isinstance(check, Some) else "contains_all"
            parts: list[Check] = []
            for each in map(with_lists, checks):
                texts, before = _contained(each, predicate), _contained(parts[-1], predicate) if parts else None
                if texts and before and texts[0] == before[0]:
                    parts[-1] = Test(predicate, (*before[1], *texts[1]), texts[0])
                else:
                    parts.append(each)
            return some_of(parts) if isinstance(check, Some) else all_of(parts)
        case Test("contains_any" | "contains_all", (str(text),), ignoring_case):
            return Test("contains", text, ignoring_case)
        case _:
            return check


def _contained(check: Check, predicate: str) -> tuple[bool, tuple[str, ...]] | None:
    """Whether a check that texts are contained ignores case, and the texts; None for any other."""
    match check:
        case Test("contains", str(text), ignoring_case):
            return ignoring_case, (text,)
        case Test(name, tuple(texts), ignoring_case) if name == predicate:
            return ignoring_case, texts
        case _:
            return None


# --- the checks of one test ------------------------------------------------------------------------------------------


def of_one_test(checks: Sequence[Check], *, scored: Sequence[bool]) -> Sequence[Check | None]:
    """The checks of a test as they are in a case; None for a check that an earlier one includes.

    One call may answer several assertions of promptfoo, where `any call of` would want a call for each: if a call could
    have the arguments of two, both deny that there is none. A case has a limit once: the narrowest, which counts for
    the metric or weight of a check that is `scored`.
    """
    placed: list[Check | None] = []
    limits: dict[Step, int] = {}
    plain: list[Check] = []
    for check, is_scored in zip(checks, scored, strict=True):
        if not is_scored and check in plain:
            placed.append(None)
            continue
        plain += () if is_scored else (check,)
        number = len(placed)
        index = limits.setdefault(check.step, number) if isinstance(check, Of) and single_values(check) else number
        both = None if index == number or (is_scored and scored[index]) else _both(placed[index], check)
        if both is not None:
            placed.append(None)
            kept = number if is_scored else index
            placed[index], placed[kept] = None, both
            limits = {step: kept if at == index else at for step, at in limits.items()}
        elif isinstance(check, Of) and any(_may_be_one_call(check, other) for other in checks):
            placed.append(Not(negated(check)))
        else:
            placed.append(check)
    return placed


def _both(first: Check | None, second: Check) -> Check | None:
    """The one check that holds where both do; None if there is none."""
    match first, second:
        case Of(step, Test("between", Bounds() as one)), Of(_, Test("between", Bounds() as other)):
            if any(bound is not None for bound in (one.above, one.below, other.above, other.below)):
                return first if one == other else None
            least = max((bound for bound in (one.min, other.min) if bound is not None), default=None)
            most = min((bound for bound in (one.max, other.max) if bound is not None), default=None)
            is_empty = least is not None and most is not None and least > most
            return None if is_empty else Of(step, Test("between", Bounds(least, most)))
        case _:
            return first if first == second else None


def _may_be_one_call(one: Check, other: Check) -> bool:
    """Whether one call of a tool could be what a check requires, and what another one requires."""
    match one, other:
        case Of(Call(tool), asked), Of(Call(same), also_asked) if tool == same and one is not other:
            tests, others = _tests(asked), _tests(also_asked)
            return all(others.get(path, test) == test for path, test in tests.items())
        case _:
            return False


def _tests(asked: Check) -> dict[str, Check]:
    """The tests of a call's arguments by their paths."""
    parts = asked.checks if isinstance(asked, All) else (asked,)
    return {part.step.path: part.check for part in parts if isinstance(part, Of) and isinstance(part.step, At)}
