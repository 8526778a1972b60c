"""From a case of eval JSON to what is wrong with it beyond the types of the model: values, patterns, links."""

from __future__ import annotations

from evalc.compiler.emit.gates import outside_range
from evalc.compiler.lift.reader import JsonReader, Reports
from evalc.compiler.packages import unknown_custom
from evalc.compiler.patterns import examine
from evalc.compiler.schemas import unusable
from evalc.compiler.shape import is_timestamp
from evalc.diagnostics.catalogue.names import DanglingLink, DuplicateName
from evalc.diagnostics.catalogue.vacuity import CannotFail
from evalc.diagnostics.catalogue.values import BadPattern, BadSchema, BadTimestamp, EmptyValue, OutOfRange
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import assertions
from evalc.model.checks.declaration import Declared, parts_of
from evalc.model.gates import Gates
from evalc.model.numbers import WEIGHTS, is_weight, shown_number

_BARE_PATTERNS = frozenset({"responseMatches", "regexPattern"})
"""The fields in which a pattern stands by itself, without flags."""


def check_case(reader: JsonReader, case: m.Case, pointer: str) -> None:
    """Report what the types let pass."""
    _check_values(reader, case, pointer)
    _check_patterns(reader, case, pointer)
    _check_links(reader, case, pointer)
    _check_dimensions(reader, case, pointer)
    _check_idle_fields(reader, case.expect, pointer)


def _check_values(reader: JsonReader, case: m.Case, pointer: str) -> None:
    """What the types of the model do not say."""
    if case.created_at is not None and not is_timestamp(case.created_at):
        reader.add(f"{pointer}/createdAt", BadTimestamp(value=case.created_at))
    check_share(reader, case.threshold, f"{pointer}/threshold")
    if case.max_turns is not None and case.max_turns < 1:
        finding = OutOfRange(what="`maxTurns`", value=f"{case.max_turns}", allowed="1 or more")
        reader.add(f"{pointer}/maxTurns", finding)
    _check_repetitions(reader, case, pointer)
    for name, reason in (
        ("expectedFailure", case.expected_failure),
        ("skip", case.skip),
        ("archived", case.archived),
    ):
        if reason is not None and not reason.strip():
            reader.add(f"{pointer}/{name}", EmptyValue(what=f"`{name}`"))
    if not case.id.strip():
        reader.add(f"{pointer}/id", EmptyValue(what="`id`"))


def _check_repetitions(reader: JsonReader, case: m.Case, pointer: str) -> None:
    repeat = 1 if case.repeat is None else case.repeat
    if repeat < 1:
        reader.add(f"{pointer}/repeat", OutOfRange(what="`repeat`", value=f"{repeat}", allowed="1 or more"))
    elif case.require is not None and not 1 <= case.require <= repeat:
        allowed = f"between 1 and {repeat}, which is how often the case is run"
        reader.add(f"{pointer}/require", OutOfRange(what="`require`", value=f"{case.require}", allowed=allowed))


def check_share(reader: JsonReader, share: int | float | None, pointer: str) -> None:
    """Report a threshold that is no share of 1."""
    if share is not None and not 0 <= share <= 1:
        reader.add(pointer, OutOfRange(what="`threshold`", value=f"{share}", allowed="between 0 and 1"))


def check_gates(reader: JsonReader, gates: Gates | None, pointer: str) -> None:
    """Report gates that no suite could meet, or that ask for nothing."""
    for outside in outside_range(gates) if gates is not None else ():
        reader.add(f"{pointer}/{outside.key}", outside.finding)


def _check_links(reader: JsonReader, case: m.Case, pointer: str) -> None:
    """Report links that lead nowhere, and weights that do not weigh."""
    links = [(f"/unlinked/{index}", link) for index, link in enumerate(case.unlinked or ())]
    for i, criterion in enumerate(case.criteria or ()):
        links += [(f"/criteria/{i}/checks/{j}", link) for j, link in enumerate(criterion.checks or ())]
    asserted: tuple[str, ...] = ()
    if links:
        asserted = tuple(assertion.at for assertion in assertions(case.expect))
        asserted += tuple(f"/rubric/{index}" for index in range(len(case.rubric or ())))
    for where, link in links:
        if not link.at:
            reader.add(f"{pointer}{where}/at", EmptyValue(what="`at`"))
        for index, at in enumerate(link.at):
            if at not in asserted:
                reader.add(f"{pointer}{where}/at/{index}", DanglingLink(pointer=at, known=asserted))
        if not is_weight(link.weight):
            finding = OutOfRange(what="the weight", value=shown_number(link.weight), allowed=WEIGHTS)
            reader.add(f"{pointer}{where}/weight", finding)


def _check_dimensions(reader: JsonReader, case: m.Case, pointer: str) -> None:
    """Report dimensions of the rubric that have one name: of two scores with one name, one would be lost."""
    seen: set[str] = set()
    for index, dimension in enumerate(case.rubric or ()):
        if dimension.dimension in seen:
            finding = DuplicateName(what="dimension", name=dimension.dimension)
            reader.add(f"{pointer}/rubric/{index}/dimension", finding)
        seen.add(dimension.dimension)


def _check_patterns(reader: JsonReader, case: m.Case, pointer: str) -> None:
    """Report regular expressions and JSON Schemas that are none, and checks that no package provides."""
    for assertion in assertions(case.expect):
        at, check = f"{pointer}{assertion.at}", assertion.check
        if isinstance(check, c.Regex) and assertion.field in _BARE_PATTERNS:
            _check_pattern(reader, check.pattern, "", at)
        else:
            check_vocabulary(reader, check, at)


def check_vocabulary(reader: Reports, check: Declared, at: str) -> None:
    """Report what stands in a check, which is found at a pointer, and is no pattern, schema or check of a package."""
    match check:
        case c.Regex():
            of_flags = examine("", check.flags).error
            if of_flags is not None:
                reader.add(f"{at}/flags", BadPattern(reason=of_flags.message))
            else:
                _check_pattern(reader, check.pattern, check.flags, f"{at}/pattern")
        case c.ToolParam(assertion="matches", value=str() as pattern) if "{{" not in pattern:
            _check_pattern(reader, pattern, "", f"{at}/value")
        case c.Json(schema=schema) if schema is not None:
            flaw = unusable(schema)
            if flaw is not None:
                reader.add(f"{at}/schema{flaw.pointer}", BadSchema(reason=flaw.reason))
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
        reader.add_within(pointer, error.offset, error.end, BadPattern(reason=error.message))


def _check_idle_fields(reader: JsonReader, expect: m.Expect, pointer: str) -> None:
    """Fields that are there and assert nothing: a limit of 0, a `false`, an empty list or text."""
    asserted = {assertion.at.split("/")[2] for assertion in assertions(expect)}
    names = zip(m.Expect.__struct_fields__, m.Expect.__struct_encode_fields__, strict=True)
    for field, name in names:
        value = getattr(expect, field)
        if value is not None and name not in asserted:
            why = f"{_SHOWN.get(type(value), '0')} asserts nothing"
            reader.add(f"{pointer}/expect/{name}", CannotFail(check=f"`{name}`", why=why))


_SHOWN: dict[type, str] = {bool: "`false`", tuple: "an empty list", dict: "an empty object", str: "an empty text"}
