"""Lifts an eval JSON file, an envelope or a bare array, into the IR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import compress, repeat
from operator import attrgetter, is_not
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.files import is_below, project_root
from evalc.base.source import Source, Span
from evalc.check.contract import KEYS, PAIRS, Assertion, assertions, bounded, judge_check, rank
from evalc.check.forms import Placed, check_of, placed
from evalc.check.tree import Call, Check, Of, Test, asks, parts_of
from evalc.compiler import ir
from evalc.compiler.examine import examine, unaskable
from evalc.compiler.libraries import schema_findings
from evalc.compiler.lower import OF_CASE, OF_INPUT, of_case, of_input
from evalc.compiler.names import CustomChecks
from evalc.compiler.shape import Misfit, is_timestamp, mismatches, named
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.near import nearest
from evalc.diagnostics.raised import outside, unknown_key
from evalc.dsl.build_case import LABEL_PLACES, label_source
from evalc.dsl.places import locate
from evalc.dsl.read_json import JsonPlaces, read_json
from evalc.dsl.scalars import reason_of
from evalc.model import case as m
from evalc.model.case import CHALLENGERS, Gates
from evalc.model.json import composed, pointer_step
from evalc.model.numbers import COUNT, RANGES, SHARE, WEIGHT
from evalc.model.suite import is_slug, slug


@final
class JsonReader:
    """Reads one JSON file: its source, and places in it that are only looked for on demand."""

    def __init__(self, source: Source, checks: CustomChecks, problems: Diagnostics) -> None:
        self.source = source
        self.checks = checks
        self._problems = problems

    @cached_property
    def _places(self) -> JsonPlaces:
        return JsonPlaces(self.source)

    def locate(self, where: Span | str) -> Span:
        """The span of a place; a pointer that begins with `#` means the key."""
        if isinstance(where, Span):
            return where
        return self._places.key(where[1:]) if where.startswith("#") else self._places.value(where)

    def add(self, pointer: str, finding: Finding) -> None:
        """Report a finding at a place."""
        self._problems.add(self.source, self.locate(pointer), finding)

    def add_within(self, pointer: str, start: int, end: int, finding: Finding) -> None:
        """Report a finding about a stretch of a string's value; JSON's escapes are among YAML's."""
        self._problems.add(self.source, locate(self.source, self.locate(pointer), start, end), finding)


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
    for name, answers in (case.stub_answers or {}).items():
        at = f"{pointer}/stubAnswers/{pointer_step(name)}"
        if name in (case.stubs or ()):
            reader.add(f"#{at}", Finding("EV206", what="stub", name=name))
        if not answers:
            reader.add(at, Finding("EV309", what="`stubAnswers`"))
        for index, answer in enumerate(answers):
            _check_stub_answer(reader, answer, f"{at}/{index}")


def _check_stub_answer(reader: JsonReader, answer: m.StubAnswer | m.StubResult, pointer: str) -> None:
    """Report an answer of a stub that does not say one thing, or that is empty."""
    values = {key: value for key, value in msgspec.to_builtins(answer).items() if key != "when"}
    if not values:
        reader.add(pointer, Finding("EV202", key="answer", what="a stub", why=""))
    for key in list(values)[1:]:
        reader.add(f"#{pointer}/{key}", Finding("EV312", key=key, other=next(iter(values))))
    if answer.error is not None and not answer.error.strip():
        reader.add(f"{pointer}/error", Finding("EV309", what="`error`"))
    if isinstance(answer, m.StubAnswer):
        for key, given in (("when", answer.when), ("sequence", answer.sequence)):
            if given is not None and not given:
                reader.add(f"{pointer}/{key}", Finding("EV309", what=f"`{key}`"))
        for index, each in enumerate(answer.sequence or ()):
            _check_stub_answer(reader, each, f"{pointer}/sequence/{index}")


def _check_label(reader: JsonReader, label: m.Label, sent: m.Input, pointer: str) -> None:
    for name, given in (("followUps", sent.follow_ups), ("user", sent.user)):
        if given:
            reader.add(pointer, Finding("EV421", key="label", turns=name))
    if not label.expected.strip():
        reader.add(f"{pointer}/expected", Finding("EV309", what="the label"))
    if label.skill is not None and label.expected not in m.TRIGGERS:
        finding = Finding("EV302", what="class of a skill", value=label.expected, choices=m.TRIGGERS)
        reader.add(f"{pointer}/expected", finding)
    if label_source(label.source) is None:
        reader.add(f"{pointer}/from", Finding("EV301", what="`from`", expected=LABEL_PLACES, found=f"`{label.source}`"))


def _check_input(reader: JsonReader, sent: m.Input, pointer: str) -> None:
    for at, path in (*(sent.files or {}).items(), *([("", sent.skill)] if sent.skill else ())):
        root = project_root(Path(reader.source.name))
        where = f"{pointer}/files/{pointer_step(at)}" if at else f"{pointer}/skill"
        if not is_below(root / path, root):
            reader.add(where, Finding("EV608", path=path, root=str(root)))
        elif ".." in PurePath(at).parts or PurePath(at).is_absolute():
            reader.add(f"#{where}", Finding("EV608", path=at, root="the folder of the attempt"))
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
    for field, key in _with_ranges(type(record)):
        if (finding := outside(f"`{key}`", getattr(record, field), RANGES[field])) is not None:
            reader.add(f"{pointer}/{key}", finding)


@cache
def _with_ranges(kind: type[msgspec.Struct]) -> Sequence[tuple[str, str]]:
    """The fields of a record whose numbers have a range, and what they are called in JSON."""
    fields = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return [(field, key) for field, key in fields if field in RANGES]


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
        check, is_entry = assertion.check, assertion.at.startswith(_ENTRIES)
        if not (is_entry or asks(check, "matches", "check")):
            continue
        at = f"{pointer}{assertion.at}"
        if is_entry:
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
            of_flags, error = examine("", str(flags)).error, examine(str(pattern), str(flags)).error
            if of_flags is not None:
                reader.add(getattr(flags, "place", at), Finding("EV306", reason=of_flags.message))
            elif error is not None:
                place = getattr(pattern, "place", at)
                reader.add_within(place, error.offset, error.end, Finding("EV306", reason=error.message))
        case Test("check", (Placed() as name, args, options, _)):
            if (fault := reader.checks.fault(str(name), args, options)) is not None:
                reader.add(name.place, fault)
        case _:
            in_call = in_call or (isinstance(check, Of) and isinstance(check.step, Call))
            for part, _ in parts_of(check):
                _check_tests(reader, part, at, in_call=in_call)


def _check_idle_fields(reader: JsonReader, expect: m.Expect, asserted: Sequence[Assertion], pointer: str) -> None:
    """Fields that are there and assert nothing: a limit of 0, a `false`, an empty list or text."""
    asserting = {assertion.at.split("/")[2] for assertion in asserted}
    values = _fields_of(expect)
    for name, value in compress(zip(KEYS.values(), values, strict=True), map(is_not, values, repeat(None))):
        if name not in asserting:
            why = f"{_SHOWN.get(type(value), '0')} asserts nothing"
            reader.add(f"{pointer}/expect/{name}", Finding("EV501", check=f"`{name}`", why=why))


_fields_of: Final = attrgetter(*KEYS)
_SHOWN: dict[type, str] = {bool: "`false`", tuple: "an empty list", dict: "an empty object", str: "an empty text"}


_FILE_NAME: Final = re.compile(r"(?P<tool>.+)\.(?P<tier>golden|labeled|regression|rubric)\.jsonl?", re.IGNORECASE)
_PREFIXES: dict[str, m.Tier] = {"gs-": "golden", "ls-": "labeled", "rg-": "regression"}
_METADATA_KEYS = m.Metadata.__struct_encode_fields__
_FOREIGN_KEYS: Final = frozenset({"generatedAt"})
"""Keys of other tools that are near one of ours and no typo."""


def is_eval_json(data: object, *, by_name: bool = False) -> bool:
    """Whether decoded JSON is an envelope, or a bare array with cases.

    `by_name` says that it is to be one: then what every case lacks, or misspells, does not make it something else.
    """
    if isinstance(data, dict):
        return isinstance(data.get("cases"), list) or {"metadata", "cases"} <= data.keys()
    if not isinstance(data, list):
        return False
    if by_name and (not data or any(map(_has_input, data))):
        return True
    return any(isinstance(item, dict) and "input" in item and ("expect" in item or "rubric" in item) for item in data)


def typo_in_json(data: object, *, by_name: bool) -> str | None:
    """The key of decoded JSON that holds its cases, if it is not `cases`; else None."""
    if not isinstance(data, dict) or not (by_name or "metadata" in data):
        return None
    lists = (key for key, value in data.items() if isinstance(value, list) and any(map(_has_input, value)))
    return next((key for key in lists if by_name or nearest(key, ("cases",))), None)


def is_result(data: object) -> bool:
    """Whether decoded JSON is the result of a run (contract, EvalSuiteResult), which has cases too."""
    return isinstance(data, dict) and {"runId", "summary"} <= data.keys()


def is_suite_in_json(data: object) -> bool:
    """Whether decoded JSON is a suite that is written in JSON's spelling of YAML."""
    return isinstance(data, dict) and not data.keys().isdisjoint({"eval", "test_cases"})


def _has_input(item: object) -> bool:
    """Whether an object says what to send as a case does."""
    return isinstance(item, dict) and isinstance(item.get("input"), dict) and "message" in item["input"]


def read_document(source: Source, problems: Diagnostics) -> object:
    """The decoded JSON of a file, or `HOLE`; what is wrong is reported."""
    return read_json(source, lambda span, finding: problems.add(source, span, finding))


def lift(
    source: Source, data: object, checks: CustomChecks, problems: Diagnostics, *, cases_at: str = "cases"
) -> ir.Suite:
    """The IR of decoded eval JSON; what is wrong with it is reported, and the case left out.

    `cases_at` is the key of the cases, which may be misspelt.
    """
    reader = JsonReader(source, checks, problems)
    envelope: dict[str, Any] = data if isinstance(data, dict) else {cases_at: data}
    for key in envelope:
        if key not in ("metadata", cases_at) and not key.startswith("x-"):
            reader.add(f"#/{key}", unknown_key(key, "an eval file", ("metadata", "cases")))
    base = f"/{pointer_step(cases_at)}" if isinstance(data, dict) else ""
    raw_cases: list[Any] = envelope[cases_at] if isinstance(envelope[cases_at], list) else []
    if not isinstance(envelope[cases_at], list):
        reader.add(base, Finding("EV301", what="`cases`", expected="a list", found=named(envelope[cases_at])))
    elif not raw_cases:
        reader.add(base, Finding("EV309", what="`cases`"))
    raw_metadata = envelope.get("metadata")
    metadata = _metadata(reader, raw_metadata, raw_cases)
    cases = [
        case for index, raw in enumerate(raw_cases) if (case := _case(reader, raw, f"{base}/{index}", metadata.tier))
    ]
    _check_unique_ids(reader, cases)
    return ir.Suite(
        source=source,
        name=metadata.suite or metadata.tool_name,
        tool=metadata.tool_name,
        tier=metadata.tier,
        tool_version=metadata.tool_version,
        tool_description=metadata.description,
        registry_size=metadata.registry_size,
        criteria=_criteria(reader, metadata, raw_cases, cases),
        weights_partial=metadata.criteria is None and len(cases) != len(raw_cases),
        threshold=metadata.threshold,
        gates=metadata.gates,
        cases=ir.Cases(cases),
        where="/metadata" if raw_metadata is not None else base,
        name_at=base if raw_metadata is None else "/metadata/toolName" if metadata.suite is None else "/metadata/suite",
        tool_at=base if raw_metadata is None else "/metadata/toolName",
        authored=metadata if raw_metadata is not None else None,
        from_json=True,
        bare=raw_metadata is None,
        locate=reader.locate,
        partial=len(cases) != len(raw_cases) or not cases,
    )


# --- metadata --------------------------------------------------------------------------------------------------------


def _metadata(reader: JsonReader, raw: object, raw_cases: list[Any]) -> m.Metadata:
    """The metadata, completed from the file's name and the ids; foreign keys are left aside."""
    tool, tier = _from_file_name(reader.source.name, raw_cases)
    known: dict[str, Any] = {}
    if raw is not None and not isinstance(raw, dict):
        reader.add("/metadata", Finding("EV301", what="`metadata`", expected="an object", found=named(raw)))
    written: dict[str, Any] = raw if isinstance(raw, dict) else {}
    for key, value in written.items():
        if key in _METADATA_KEYS:
            known[key] = value
        elif key not in _FOREIGN_KEYS and (near := nearest(key, _METADATA_KEYS)) is not None and near not in written:
            reader.add(f"#/metadata/{key}", Finding("EV218", key=key, known=_METADATA_KEYS))
    completed = {"toolName": tool, "tier": tier} | {key: v for key, v in known.items() if v is not None}
    faults = tuple(mismatches(completed, m.Metadata, "/metadata"))
    for pointer, finding in faults:
        reader.add(pointer, finding)
    if faults:
        return m.Metadata(tool_name=tool, tier=tier)
    metadata = msgspec.convert(completed, m.Metadata)
    for key, what, name in (
        ("toolName", "tool's name", metadata.tool_name),
        ("suite", "suite's name", metadata.suite),
    ):
        if name is not None and not is_slug(name):
            reader.add(f"/metadata/{key}", Finding("EV308", what=what, value=name, suggestion=slug(name)))
    check_ranges(reader, metadata, "/metadata")
    if metadata.gates is not None:
        check_ranges(reader, metadata.gates, "/metadata/gates")
        for key, limits in (("recall", metadata.gates.recall), ("precision", metadata.gates.precision)):
            for label, limit in (limits or {}).items():
                if (beyond := outside(f"the {key} of `{label}`", limit, SHARE)) is not None:
                    reader.add(f"/metadata/gates/{key}/{pointer_step(label)}", beyond)
    return metadata


def _from_file_name(name: str, raw_cases: list[Any]) -> tuple[str, m.Tier]:
    """Tool and tier of a file that does not say: `<tool>.<tier>.json`, else the ids' prefix, else labeled."""
    file = Path(name).name
    match = _FILE_NAME.fullmatch(file)
    if match is not None:
        return slug(match["tool"]) or "suite", msgspec.convert(match["tier"].lower(), m.Tier)
    tool = slug(re.sub(r"(?i)(\.eval)?\.jsonl?$", "", file)) or "suite"
    first = next((case.get("id") for case in raw_cases if isinstance(case, dict)), None)
    prefixes = (tier for prefix, tier in _PREFIXES.items() if isinstance(first, str) and first.startswith(prefix))
    has_rubric = any(isinstance(case, dict) and "rubric" in case and "expect" not in case for case in raw_cases)
    return tool, next(prefixes, "rubric" if has_rubric else "labeled")


# --- cases -----------------------------------------------------------------------------------------------------------


_REASONS: Final = ("expectedFailure", "skip", "archived")


def _with_reasons(reader: JsonReader, raw: object, pointer: str) -> object:
    """A case as it was read, without the reasons that say no; a reason that only says yes is reported."""
    if not isinstance(raw, dict) or raw.keys().isdisjoint((*_REASONS, "allow")):
        return raw
    read = raw | {key: _reason(reader, raw[key], key, f"{pointer}/{key}") for key in _REASONS if key in raw}
    if isinstance(allowed := raw.get("allow"), dict):
        reasons = {
            name: _reason(reader, why, name, f"{pointer}/allow/{pointer_step(name)}") for name, why in allowed.items()
        }
        read["allow"] = {name: why for name, why in reasons.items() if why is not None} or None
    return read


def _reason(reader: JsonReader, value: object, key: str, at: str) -> object:
    """A reason as it is read: a scalar as its text, as in YAML."""
    if value is None or isinstance(value, str | bool | int | float):
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        return reason_of(text, key, lambda finding: reader.add(at, finding))
    return value


def _case(reader: JsonReader, raw: object, pointer: str, tier: m.Tier) -> ir.Case | None:
    raw = _with_reasons(reader, raw, pointer)
    try:
        case, misfits = msgspec.convert(raw, m.Case), _misfits(raw, pointer)
    except msgspec.ValidationError:
        case, misfits = None, [*mismatches(raw, m.Case, pointer, what="a case"), *_misfits(raw, pointer)]
    for place, finding in misfits:
        reader.add(place, finding)
    if misfits:
        return None
    if case is None:
        case = msgspec.convert(_without_own_keys(raw), m.Case)
    asserted = tuple(assertions(case.expect))
    check_case(reader, case, asserted, pointer)
    checks, links = _checks(case, asserted, pointer)
    return ir.Case(
        **dict(zip(OF_CASE, of_case(case), strict=True)),
        **dict(zip(OF_INPUT, of_input(case.input), strict=True)),
        name=case.id,
        tier=tier,
        checks=checks,
        links=links,
        where=pointer,
        wheres=_Wheres(pointer),
    )


def _misfits(raw: Any, pointer: str) -> list[Misfit]:
    """The parts of a case's `expect.checks` that do not fit."""
    expect = raw.get("expect") if isinstance(raw, dict) else None
    records = expect.get("checks") if isinstance(expect, dict) else None
    if not isinstance(records, list) or not records:
        return []
    from evalc.check import shapes  # noqa: PLC0415 - for start-up: most cases have no such entries

    return [
        misfit
        for index, record in enumerate(records)
        for misfit in mismatches(record, shapes.Check, f"{pointer}/expect/checks/{index}", what="a check")
    ]


class _Wheres(dict[str, ir.Where]):
    """The places of a case's fields: in JSON every pointer is its own place."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base

    def get(self, key: str, default: object = None) -> Any:  # noqa: ARG002 - dict's own signature
        return f"#{self._base}{key[1:]}" if key.startswith("#") else self._base + key


class _Read(NamedTuple):
    """A check with the pointers, within its case, that it was read from."""

    at: tuple[str, ...]
    check: Check


def _without_own_keys(data: Any) -> Any:
    """The data without the `x-` keys, which are the user's own, save where every key is."""
    if isinstance(data, list):
        return [_without_own_keys(item) for item in data]
    if not isinstance(data, dict):
        return data
    return {
        key: value if key in FREE else _without_own_keys(value)
        for key, value in data.items()
        if not key.startswith("x-")
    }


FREE: Final = frozenset(
    {"inputs", "files", "stubs", "referenceData", "schema", "args", "options", "typeChecks", "when", "answer"}
)
"""The keys of eval JSON below which every key is the author's own."""


def _checks(
    case: m.Case, asserted: Iterable[Assertion], pointer: str
) -> tuple[tuple[ir.Check, ...], tuple[ir.Link, ...]]:
    """The checks in the canonical order, and the links whose indexes count in it."""
    linked_apart = frozenset(link.at[0] for _, _, link in _named_links(case) if len(link.at) == 1)
    read = sorted(_read(case, asserted, linked_apart), key=lambda entry: rank(entry.check))
    checks = tuple(ir.Check(check=entry.check, where=pointer + entry.at[0]) for entry in read)
    index_of = {at: index for index, entry in enumerate(read) for at in entry.at}
    links: list[ir.Link] = []
    for where, criterion, link in _named_links(case):
        indexes = tuple(dict.fromkeys(index_of[at] for at in link.at if at in index_of))
        if indexes:
            links.append(ir.Link(criterion=criterion, checks=indexes, weight=link.weight, where=pointer + where))
    return checks, tuple(sorted(links, key=lambda link: link.checks))


def _read(case: m.Case, asserted: Iterable[Assertion], linked_apart: frozenset[str]) -> Iterator[_Read]:
    """The checks of `expect` and of `rubric`; the bounds of a range are one check unless something links them apart."""
    entries = {assertion.at: assertion.check for assertion in asserted}
    entries |= {f"/rubric/{index}": judge_check(dimension) for index, dimension in enumerate(case.rubric or ())}
    for low, high in PAIRS:
        at = (f"/expect/{low}", f"/expect/{high}")
        if at[0] in entries and at[1] in entries and not linked_apart & set(at):
            yield _Read(at, bounded(entries.pop(at[0]), entries.pop(at[1])))
    for pointer, check in entries.items():
        yield _Read((pointer,), check)


def _named_links(case: m.Case) -> Iterator[tuple[str, str | None, m.CheckLink]]:
    """Every link with its criterion, and the pointer of what names it."""
    for index, criterion in enumerate(case.criteria or ()):
        for link in criterion.checks or ():
            yield f"/criteria/{index}/name", criterion.name, link
    for index, link in enumerate(case.unlinked or ()):
        yield f"/unlinked/{index}", None, link


def _criteria(
    reader: JsonReader, metadata: m.Metadata, raw_cases: list[Any], cases: list[ir.Case]
) -> tuple[ir.Criterion, ...]:
    """The suite's criteria: the metadata's, else the union of the cases'."""
    found: dict[str, ir.Criterion] = {}
    for index, criterion in enumerate(metadata.criteria or ()):
        where = f"/metadata/criteria/{index}"
        if criterion.name in found:
            reader.add(f"{where}/name", Finding("EV206", what="criterion", name=criterion.name))
        found.setdefault(criterion.name, _as_ir(criterion, f"{where}/weight"))
    if metadata.criteria is None:
        for case in cases:
            position = str(case.where).rsplit("/", 1)[1]
            for index, raw in enumerate(raw_cases[int(position)].get("criteria") or ()):
                criterion = msgspec.convert(raw, m.Criterion)
                found.setdefault(criterion.name, _as_ir(criterion, f"{case.where}/criteria/{index}/weight"))
    return tuple(found.values())


def _as_ir(criterion: m.Criterion, where: str) -> ir.Criterion:
    return ir.Criterion(name=criterion.name, weight=criterion.weight, description=criterion.description, where=where)


def _check_unique_ids(reader: JsonReader, cases: list[ir.Case]) -> None:
    first: dict[str, ir.Case] = {}
    for case in cases:
        earlier = first.setdefault(composed(case.id), case)
        if earlier is not case:
            line = reader.source.position(reader.locate(f"{earlier.where}/id").start).line
            reader.add(f"{case.where}/id", Finding("EV206", what="id", name=case.id, line=line))
