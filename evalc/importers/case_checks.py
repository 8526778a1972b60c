"""Writes the checks of a case as the YAML keys `validate:`, `expect:` and `rubric:`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from evalc.compiler.emit.check import all_of, any_of, negated
from evalc.compiler.emit.validate import check_of_label
from evalc.compiler.order import rank
from evalc.compiler.slug import dimension_of
from evalc.dsl.write_yaml import Noted
from evalc.importers.check_line import LITERALLY, Spelling, line_of, linked_to, mapping_of
from evalc.importers.imported import Schemas
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import PAIRS, assertions, judge


def is_simplest(check: c.Check) -> bool:
    """Whether its line compiles to the check itself, and not to several checks or to a simpler form of it."""
    return not isinstance(check, c.AllOf) and _simplest(check) == check


def _simplest(check: c.Check) -> c.Check:
    match check:
        case c.AnyOf(checks=checks):
            return any_of([*map(_simplest, checks)])
        case c.AllOf(checks=checks):
            return all_of([*map(_simplest, checks)])
        case c.Not(check=inner):
            return negated(_simplest(inner))
        case c.At(check=inner) | c.InTurn(check=inner):
            return msgspec.structs.replace(check, check=_simplest(inner))
        case _:
            return check


def record_of(check: c.Check, spelling: Spelling) -> Any:
    """The check as the case model writes it, its texts spelled as those of a suite.

    An `all_of` is within another: an entry of `expect.checks` that is an `all_of` counts as its operands.
    """
    whole = c.AllOf(checks=(check,)) if isinstance(check, c.AllOf) else check
    return _spelled(msgspec.to_builtins(whole), spelling)


def _spelled(value: Any, spelling: Spelling, *, is_pattern: bool = False) -> Any:
    match value:
        case str():
            return spelling.pattern(value) if is_pattern else spelling.text(value)
        case list() | tuple():
            return [_spelled(item, spelling) for item in value]
        case dict():
            patterns = ("pattern", "value") if value.get("assertion") == "matches" else ("pattern",)
            return {
                key: item if key == "schema" else _spelled(item, spelling, is_pattern=key in patterns)
                for key, item in value.items()
            }
        case _:
            return value


_LONG: Final = 100
_REGEX_PATTERN: Final = ("/expect/regexPattern",)
"""A pattern that any tier of eval JSON may have; in YAML a pattern has to be in the labeled tier."""

LeaveOut = Callable[[str, str], str]
"""Reports what of a check, by its pointer in the case, was left out and why; gives the comment that says so."""


class _Entry(NamedTuple):
    """A check of a case: what it asks, the pointers of its assertions, and what it counts for."""

    at: tuple[str, ...]
    check: c.Check
    criterion: str | None = None
    weight: int | float = 1

    @property
    def is_linked(self) -> bool:
        return self.criterion is not None or self.weight != 1


def write_checks(case: m.Case, tier: m.Tier, schemas: Schemas, leave_out: LeaveOut) -> dict[str, Any]:
    """The keys of a case that say its checks.

    What no line says exactly goes into `expect.checks` in the model's form. There nothing can be linked, and what
    is there comes after the checks of `validate:`; so must all that follow it among their kind.
    """
    rubric, entries = _judged(case)
    validate: list[Noted] = []
    records: list[Any] = []
    behind: set[tuple[int, bool, bool]] = set()
    comments: list[str] = []
    for entry in (*_without_label(case, [*_entries(case)]), *entries):
        if entry.at == _REGEX_PATTERN and tier in ("golden", "regression"):
            comments.append(leave_out(entry.at[0], "in YAML a pattern has to be in the labeled tier"))
            continue
        literally = not entry.is_linked and (not is_simplest(entry.check) or rank(entry.check) in behind)
        written = None if literally else _written(entry, schemas)
        if written is None:
            if entry.is_linked:
                comments.append(leave_out(entry.at[0], "no line says the same, so that it counts for no criterion"))
            records.append(record_of(entry.check, LITERALLY))
            behind.add(rank(entry.check))
        else:
            validate.append(Noted(written, tuple(comments)))
            comments = []
    keys = {"validate": validate, "expect": {"checks": records} if records else None, "rubric": rubric}
    said: dict[str, Any] = {key: value for key, value in keys.items() if value}
    first = next(iter(said), None)
    return said if first is None else {**said, first: Noted(said[first], tuple(comments))}


# --- entries ---------------------------------------------------------------------------------------------------------


def _entries(case: m.Case) -> Iterator[_Entry]:
    """The checks of `expect`, in the contract's order, each with what it counts for."""
    links = _links(case)
    checks = {assertion.at: assertion.check for assertion in assertions(case.expect)}
    done: set[str] = set()
    for at, check in checks.items():
        if at in done:
            continue
        criterion, link = links.get(at, (None, None))
        partner = _partner(at)
        together = (
            (at, partner) if partner in checks and partner not in links and not (link and len(link.at) == 1) else (at,)
        )
        done.update(together)
        whole = _range(check, checks[together[1]]) if len(together) == 2 else check
        yield _Entry(together, whole, criterion, 1 if link is None else link.weight)


def _without_label(case: m.Case, entries: list[_Entry]) -> list[_Entry]:
    """The entries without the check that the case's label brings in YAML."""
    brought = None if case.label is None else _Entry((), check_of_label(case.label))
    same = [entry for entry in entries if brought is not None and entry._replace(at=()) == brought]
    return [entry for entry in entries if entry not in same[-1:]]


def _judged(case: m.Case) -> tuple[list[Any], list[_Entry]]:
    """The dimensions that go into `rubric:`, up to the first linked one; from there on, each as a check."""
    links = _links(case)
    rubric: list[Any] = []
    entries: list[_Entry] = []
    for index, dimension in enumerate(case.rubric or ()):
        at = f"/rubric/{index}"
        criterion, link = links.get(at, (None, None))
        if link is None and not entries:
            rubric.append(msgspec.to_builtins(dimension))
            continue
        entries.append(_Entry((at,), _named_by(criterion, judge(dimension)), criterion, link.weight if link else 1))
    return rubric, entries


def _named_by(criterion: str | None, check: c.Judge) -> c.Judge:
    """A judge's check without the dimension that it has from its criterion: a line has no words for one."""
    if criterion is not None and re.fullmatch(re.escape(criterion) + r"(?:-\d+)?", check.dimension):
        return msgspec.structs.replace(check, dimension=dimension_of(check.criteria))
    return check


def _links(case: m.Case) -> dict[str, tuple[str | None, m.CheckLink]]:
    """The links of a case with their criteria, by their first pointers."""
    unlinked = {link.at[0]: (None, link) for link in case.unlinked or () if link.at}
    return unlinked | {
        link.at[0]: (criterion.name, link) for criterion in case.criteria or () for link in criterion.checks or ()
    }


def _partner(at: str) -> str:
    """The upper bound that a lower one may be one check with."""
    return next((f"/expect/{high}" for low, high in PAIRS if at == f"/expect/{low}"), "")


def _range(lower: c.Check, upper: c.Check) -> c.Check:
    return msgspec.structs.replace(lower, max=upper.max)  # type: ignore[union-attr]  # PAIRS holds ranges only


# --- how one is written ----------------------------------------------------------------------------------------------


def _written(entry: _Entry, schemas: Schemas) -> Any:
    """The entry of `validate:` that says a check; None if no line does."""
    line = _line(entry.check, schemas)
    if line is None:
        return None
    linked = {"criterion": entry.criterion} if entry.criterion is not None else {}
    if entry.weight != 1:
        return {**mapping_of(entry.check, line, LITERALLY), **linked, "weight": entry.weight}
    if isinstance(entry.check, c.AnyOf | c.AllOf) and len(line) > _LONG:
        key = "any_of" if isinstance(entry.check, c.AnyOf) else "all_of"
        return {key: [_line(check, schemas) for check in entry.check.checks], **linked}
    return line if entry.criterion is None else linked_to(line, entry.criterion)


def _line(check: c.Check, schemas: Schemas) -> str | None:
    """The line of a check, whose schemas are kept only if there is one."""
    met: list[object] = []

    def meet(schema: object) -> str:
        met.append(schema)
        return ""

    line = line_of(check, LITERALLY, meet)
    return line_of(check, LITERALLY, schemas.keep) if met and line is not None else line
