"""Checks a case of eval JSON beyond its types: values, patterns, links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalc.check.contract import KEYS, Assertion
from evalc.check.forms import Placed, check_of, placed
from evalc.check.tree import Call, Check, Of, Test, parts_of
from evalc.compiler.packages import unknown_custom
from evalc.compiler.patterns import examine
from evalc.compiler.places import JsonReader
from evalc.compiler.schemas import schema_findings
from evalc.compiler.shape import is_timestamp
from evalc.compiler.unaskable import unaskable
from evalc.diagnostics.problem import Finding
from evalc.diagnostics.raised import outside
from evalc.dsl.build_case import LABEL_PLACES
from evalc.grammar.parse import parse_place
from evalc.model import case as m
from evalc.model.case import CHALLENGERS, Gates
from evalc.model.json import pointer_step
from evalc.model.numbers import COUNT, RANGES, WEIGHT


def check_case(reader: JsonReader, case: m.Case, asserted: Sequence[Assertion], pointer: str) -> None:
    """Report what the types let pass; `asserted` are the assertions of the case's `expect`."""
    _check_values(reader, case, pointer)
    _check_vocabulary(reader, case.expect, asserted, pointer)
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
    for name, text in (("goal", sent.user.goal), ("opens", sent.user.opens)):
        if text is not None and not text.strip():
            reader.add(f"{pointer}/user/{name}", Finding("EV309", what=f"`{name}`"))
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


def _check_vocabulary(reader: JsonReader, expect: m.Expect, asserted: Sequence[Assertion], pointer: str) -> None:
    """Report regular expressions and JSON Schemas that are invalid, and checks that no package provides."""
    for assertion in asserted:
        at, check = f"{pointer}{assertion.at}", assertion.check
        if assertion.at.startswith(_ENTRIES):
            record = (expect.checks or ())[int(assertion.at.removeprefix(_ENTRIES))]
            for where, finding in (*schema_findings(record, at), *unaskable(record, at)):
                reader.add(where, finding)
            check = check_of(placed(record, at))
        _check_tests(reader, check, f"{at}/value" if assertion.at.startswith(_PARAMS) else at)


_ENTRIES: Final = "/expect/checks/"
_PARAMS: Final = "/expect/toolParams/"


def _check_tests(reader: JsonReader, check: Check, at: str, *, in_call: bool = False) -> None:
    """Check the tests of a check whose texts know their places; those of a field of `expect` are `at` one."""
    match check:
        case Test("matches", (str() as pattern, str() as flags)) if not (in_call and "{{" in pattern):
            of_flags = examine("", str(flags)).error
            if of_flags is not None:
                reader.add(getattr(flags, "place", at), Finding("EV306", reason=of_flags.message))
            else:
                _check_pattern(reader, str(pattern), str(flags), getattr(pattern, "place", at))
        case Test("check", (Placed() as name, *_)):
            unknown = unknown_custom(str(name))
            if unknown is not None:
                reader.add(name.place, unknown)
        case _:
            in_call = in_call or (isinstance(check, Of) and isinstance(check.step, Call))
            for part, _ in parts_of(check):
                _check_tests(reader, part, at, in_call=in_call)


def _check_pattern(reader: JsonReader, pattern: str, flags: str, pointer: str) -> None:
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
