"""Checks a case of eval JSON beyond its types: values, patterns, links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalc.compiler.packages import unknown_custom
from evalc.compiler.patterns import examine
from evalc.compiler.places import JsonReader, Reports
from evalc.compiler.schemas import unusable
from evalc.compiler.shape import is_timestamp
from evalc.diagnostics.problem import Finding
from evalc.diagnostics.raised import idle_parts, outside
from evalc.dsl.build_case import LABEL_PLACES
from evalc.grammar.parse import parse_place
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import KEYS, Assertion
from evalc.model.case import CHALLENGERS, Gates
from evalc.model.checks.declaration import Declared, parts_of
from evalc.model.json import pointer_step
from evalc.model.numbers import COUNT, RANGES, WEIGHT

_BARE_PATTERNS: Final = frozenset({"responseMatches", "regexPattern"})
"""The fields that hold only a pattern, without flags."""


def check_case(reader: JsonReader, case: m.Case, asserted: Sequence[Assertion], pointer: str) -> None:
    """Report what the types let pass; `asserted` are the assertions of the case's `expect`."""
    _check_values(reader, case, pointer)
    _check_patterns(reader, asserted, pointer)
    _check_links(reader, case, asserted, pointer)
    _check_dimensions(reader, case, pointer)
    _check_idle_fields(reader, case.expect, asserted, pointer)


def _check_values(reader: JsonReader, case: m.Case, pointer: str) -> None:
    """Check the values that the types of the model leave open."""
    if case.created_at is not None and not is_timestamp(case.created_at):
        reader.add(f"{pointer}/createdAt", Finding("EV307", value=case.created_at))
    check_ranges(reader, case, pointer)
    _check_input(reader, case.input, f"{pointer}/input")
    repeat = 1 if case.repeat is None else case.repeat
    if case.require is not None and not 1 <= case.require <= repeat and COUNT.takes(repeat):
        allowed = f"between 1 and {repeat}, which is how often the case is run"
        reader.add(f"{pointer}/require", Finding("EV303", what="`require`", value=f"{case.require}", allowed=allowed))
    if case.label is not None:
        _check_label(reader, case.label, case.input, f"{pointer}/label")
    for name in case.allow or ():
        if name not in CHALLENGERS:
            at = f"{pointer}/allow/{pointer_step(name)}"
            reader.add(at, Finding("EV302", what="challenger", value=name, choices=CHALLENGERS))
    if not case.id.strip():
        reader.add(f"{pointer}/id", Finding("EV309", what="`id`"))


def _check_label(reader: JsonReader, label: m.Label, sent: m.Input, pointer: str) -> None:
    for name, given in (("followUps", sent.follow_ups), ("user", sent.user)):
        if given:
            reader.add(pointer, Finding("EV421", key="label", turns=name))
    if not label.expected.strip():
        reader.add(f"{pointer}/expected", Finding("EV309", what="the label"))
    if label.path is not None and parse_place(label.source) is None:
        reader.add(f"{pointer}/from", Finding("EV301", what="`from`", expected=LABEL_PLACES, found=f"`{label.source}`"))


def _check_input(reader: JsonReader, sent: m.Input, pointer: str) -> None:
    if sent.user is None:
        return
    check_ranges(reader, sent.user, f"{pointer}/user")
    if not sent.user.goal.strip():
        reader.add(f"{pointer}/user/goal", Finding("EV309", what="`goal`"))
    if sent.user.opens is not None and not sent.user.opens.strip():
        reader.add(f"{pointer}/user/opens", Finding("EV309", what="`opens`"))
    if sent.follow_ups:
        reader.add(f"{pointer}/followUps", Finding("EV421", key="followUps", turns="user"))


def check_ranges(reader: JsonReader, record: m.Case | m.SimulatedUser | m.Metadata | Gates, pointer: str) -> None:
    """Report the numbers that their fields do not take."""
    for field, key in zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True):
        if field in RANGES and (finding := outside(f"`{key}`", getattr(record, field), RANGES[field])) is not None:
            reader.add(f"{pointer}/{key}", finding)


def _check_links(reader: JsonReader, case: m.Case, asserted: Sequence[Assertion], pointer: str) -> None:
    """Report links that lead nowhere, and weights that do not weigh."""
    links = [(f"/unlinked/{index}", link) for index, link in enumerate(case.unlinked or ())]
    for i, criterion in enumerate(case.criteria or ()):
        links += [(f"/criteria/{i}/checks/{j}", link) for j, link in enumerate(criterion.checks or ())]
    known: tuple[str, ...] = ()
    if links:
        known = tuple(assertion.at for assertion in asserted)
        known += tuple(f"/rubric/{index}" for index in range(len(case.rubric or ())))
    for where, link in links:
        if not link.at:
            reader.add(f"{pointer}{where}/at", Finding("EV309", what="`at`"))
        for index, at in enumerate(link.at):
            if at not in known:
                reader.add(f"{pointer}{where}/at/{index}", Finding("EV212", pointer=at, known=known))
        beyond = outside("the weight", link.weight, WEIGHT)
        if beyond is not None:
            reader.add(f"{pointer}{where}/weight", beyond)


def _check_dimensions(reader: JsonReader, case: m.Case, pointer: str) -> None:
    """Report dimensions of the rubric that have one name: of two scores with one name, one would be lost."""
    seen: set[str] = set()
    for index, dimension in enumerate(case.rubric or ()):
        if dimension.dimension in seen:
            finding = Finding("EV206", what="dimension", name=dimension.dimension)
            reader.add(f"{pointer}/rubric/{index}/dimension", finding)
        seen.add(dimension.dimension)


def _check_patterns(reader: JsonReader, asserted: Sequence[Assertion], pointer: str) -> None:
    """Report regular expressions and JSON Schemas that are invalid, and checks that no package provides."""
    for assertion in asserted:
        at, check = f"{pointer}{assertion.at}", assertion.check
        if isinstance(check, c.Regex) and assertion.field in _BARE_PATTERNS:
            _check_pattern(reader, check.pattern, "", at)
        else:
            check_vocabulary(reader, check, at)


def check_vocabulary(reader: Reports, check: Declared, at: str) -> None:
    """Report invalid patterns, schemas and checks of packages in a check, which is at a pointer."""
    match check:
        case c.Regex():
            of_flags = examine("", check.flags).error
            if of_flags is not None:
                reader.add(f"{at}/flags", Finding("EV306", reason=of_flags.message))
            else:
                _check_pattern(reader, check.pattern, check.flags, f"{at}/pattern")
        case c.ToolParam(assertion="matches", value=str() as pattern) if "{{" not in pattern:
            _check_pattern(reader, pattern, "", f"{at}/value")
        case c.CallHas():
            for path, test in check.args.items():
                if test.matches is not None and "{{" not in test.matches:
                    _check_pattern(reader, test.matches, "", f"{at}/args/{pointer_step(path)}/matches")
        case c.Json(schema=schema) if schema is not None:
            flaw = unusable(schema)
            if flaw is not None:
                reader.add(f"{at}/schema{flaw.pointer}", Finding("EV310", reason=flaw.reason))
                return
            for pointer, idle in idle_parts(schema):
                reader.add(f"{'' if pointer.endswith('/format') else '#'}{at}/schema{pointer}", idle)
        case c.Custom(name=name):
            unknown = unknown_custom(name)
            if unknown is not None:
                reader.add(f"{at}/name", unknown)
        case _:
            for part, pointer in parts_of(check):
                check_vocabulary(reader, part, at + pointer)


def _check_pattern(reader: Reports, pattern: str, flags: str, pointer: str) -> None:
    error = examine(pattern, flags).error
    if error is not None:
        reader.add_within(pointer, error.offset, error.end, Finding("EV306", reason=error.message))


def _check_idle_fields(reader: JsonReader, expect: m.Expect, asserted: Sequence[Assertion], pointer: str) -> None:
    """Fields that are there and assert nothing: a limit of 0, a `false`, an empty list or text."""
    asserting = {assertion.at.split("/")[2] for assertion in asserted}
    for field, name in KEYS.items():
        value = getattr(expect, field)
        if value is not None and name not in asserting:
            why = f"{_SHOWN.get(type(value), '0')} asserts nothing"
            reader.add(f"{pointer}/expect/{name}", Finding("EV501", check=f"`{name}`", why=why))


_SHOWN: dict[type, str] = {bool: "`false`", tuple: "an empty list", dict: "an empty object", str: "an empty text"}
