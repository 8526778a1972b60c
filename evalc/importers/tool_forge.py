"""From the eval JSON of tool-forge, an envelope or a bare array, to a suite in YAML that compiles to the same cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.compiler.compiled import CompiledSuite
from evalc.compiler.options import CompileOptions
from evalc.compiler.pipeline import compile_sources
from evalc.diagnostics.catalogue.imports import ImportedDiffers, NothingToImport, NotImported
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.read_json import JsonPlaces
from evalc.dsl.write_yaml import Noted, NotWritable, write_yaml
from evalc.importers.check_line import LITERALLY, escaped, line_of, linked_to, mapping_of
from evalc.importers.imported import CaseNames, Imported, Schemas
from evalc.model import case as m
from evalc.model import checks as c
from evalc.model.assertions import PAIRS, assertions
from evalc.model.codec import to_json
from evalc.source import Source, Span

_ENDING: Final = ".eval.yaml"
_DIFFICULTIES: Final[dict[m.Tier, m.Difficulty]] = {"labeled": "straightforward", "regression": "regression"}
_LONG: Final = 100
_TEMPLATES: Final = frozenset({"description", "expected"})
_REGEX_PATTERN: Final = ("/expect/regexPattern",)
"""A pattern that stands in any tier of eval JSON; in YAML a pattern has to be in the labeled tier."""
_APART: Final = frozenset({"id", "input", "expect", "criteria", "unlinked", "rubric", "variant"})
"""The fields of a case that are written in a way of their own, or that no key of a case says (a variant's name)."""


def import_tool_forge(source: Source, problems: Diagnostics) -> Imported | None:
    """The suite of an eval JSON file; None when the file has errors, which are reported."""
    compilation = compile_sources([source], CompileOptions())
    if compilation.has_errors:
        problems.extend(problem for problem in compilation.problems if problem.severity == "error")
        return None
    if len(compilation.suites) != 1:
        problems.add(source, Span(0, 0), NothingToImport(wanted="eval JSON"))
        return None
    return _Importer(source, compilation.suites[0], problems).imported()


class _Entry(NamedTuple):
    """A check of a case: what it asks, the pointers of its assertions, and what it counts for."""

    at: tuple[str, ...]
    check: c.Check
    criterion: str | None
    weight: int | float


@final
class _Importer:
    """The import of one suite."""

    def __init__(self, source: Source, suite: CompiledSuite, problems: Diagnostics) -> None:
        self._source = source
        self._suite = suite
        self._problems = problems
        self._places = JsonPlaces(source)
        self._stem = suite.file_name.removesuffix(".json")
        self._schemas = Schemas(self._stem)
        self._base = "/cases" if not suite.ir.bare else ""
        self._incomplete: set[str] = set()

    def imported(self) -> Imported | None:
        cases = list(self._suite.cases())
        prefix = f"{self._suite.metadata.tool_name}/"
        names = CaseNames(case.id.removeprefix(prefix) for case in cases if case.id.startswith(prefix))
        written = [self._case(case, f"{self._base}/{index}", names, prefix) for index, case in enumerate(cases)]
        data = {**self._head(), "eval": {**self._criteria(), "test_cases": written}}
        try:
            text = write_yaml(data, head=(f"Imported from {Path(self._source.name).name}.",))
        except NotWritable as refusal:
            finding = NotImported(what="the file", why=f"it cannot be written in YAML: {refusal}")
            self._problems.add(self._source, Span(0, 0), finding)
            return None
        imported = Imported(
            text=text,
            side_files=self._schemas.files(),
            file_name=self._stem + _ENDING,
            cases=len(cases),
        )
        return imported if self._compare(imported, cases) else None

    # --- the suite ---

    def _head(self) -> dict[str, Any]:
        metadata = self._suite.metadata
        fields = {
            "suite": metadata.tool_name,
            "tier": metadata.tier,
            "tool": metadata.tool_name,
            "tool_version": metadata.tool_version,
            "tool_description": metadata.description,
            "registry_size": metadata.registry_size,
            "threshold": metadata.threshold,
        }
        return {key: value for key, value in fields.items() if value is not None}

    def _criteria(self) -> dict[str, Any]:
        criteria = self._suite.metadata.criteria or ()
        return {"criteria": msgspec.to_builtins(criteria)} if criteria else {}

    # --- the cases ---

    def _case(self, case: m.Case, pointer: str, names: CaseNames, prefix: str) -> dict[str, Any]:
        own_name = case.id.removeprefix(prefix).strip() if case.id.startswith(prefix) else ""
        if prefix + own_name != case.id:
            own_name = ""
        written: dict[str, Any] = {"name": own_name or names.make(case.description, case.id)}
        if not own_name:
            written["id"] = case.id
        if case.description != written["name"]:
            written["description"] = escaped(case.description)
        if case.difficulty is not None and case.difficulty != _DIFFICULTIES.get(self._suite.tier):
            written["difficulty"] = case.difficulty
        written |= _fields_of(case, ("created_at", "bug_ref"))
        written |= _input(case.input)
        written |= self._validate(case, pointer)
        others = (field for field in case.__struct_fields__ if field not in _APART and field not in written)
        written |= _fields_of(case, tuple(field for field in others if field not in ("description", "difficulty")))
        if case.rubric:
            written["rubric"] = msgspec.to_builtins(case.rubric)
        return written

    def _validate(self, case: m.Case, pointer: str) -> dict[str, Any]:
        entries: list[Noted] = []
        left_out: list[str] = []
        for entry in _entries(case):
            written = self._check(entry)
            if written is None:
                left_out.append(self._leave_out(entry, pointer))
            else:
                entries.append(Noted(written, tuple(left_out)))
                left_out = []
        if not entries:
            return {}
        return {"validate": Noted(entries, tuple(left_out))}

    def _check(self, entry: _Entry) -> Any:
        """The entry of `validate:` that a check is written as; None when it cannot be written."""
        line = line_of(entry.check, LITERALLY, self._schema_path(entry.check))
        if line is None or (entry.at == _REGEX_PATTERN and self._suite.tier in ("golden", "regression")):
            return None
        linked = {"criterion": entry.criterion} if entry.criterion is not None else {}
        if entry.weight != 1:
            return {**mapping_of(entry.check, line, LITERALLY), **linked, "weight": entry.weight}
        if isinstance(entry.check, c.AnyOf | c.AllOf) and len(line) > _LONG:
            operands = [line_of(check, LITERALLY) for check in entry.check.checks]
            key = "any_of" if isinstance(entry.check, c.AnyOf) else "all_of"
            return {key: operands, **linked} if all(operands) else line
        if entry.criterion is None:
            return line
        return linked_to(line, entry.criterion)

    def _schema_path(self, check: c.Check) -> str | None:
        """The path of a new file beside the suite with the schema of a check, if it has one."""
        schema = _schema_of(check)
        return None if schema is None else self._schemas.keep(schema)

    def _leave_out(self, entry: _Entry, pointer: str) -> str:
        self._incomplete.add(pointer)
        finding = NotImported(what=f"`{entry.at[0]}`", why="no line says the same")
        span = self._places.value(pointer + entry.at[0])
        self._problems.add(self._source, span, finding)
        return f"{finding.message()} ({_place(self._source, span)})"

    # --- the law ---

    def _compare(self, imported: Imported, cases: Sequence[m.Case]) -> bool:
        """Compile what was written, and report where it is not what was read; False when it has errors."""
        with TemporaryDirectory(prefix="evalc-") as folder:
            compilation = compile_sources([imported.write(Path(folder))], CompileOptions())
        if compilation.has_errors:
            for problem in compilation.problems:
                if problem.severity == "error":
                    finding = NotImported(what="the suite", why=problem.finding.message())
                    self._problems.add(self._source, Span(0, 0), finding)
            return False
        (suite,) = compilation.suites
        if not self._incomplete and _comparable(suite.metadata) != _comparable(self._suite.metadata):
            self._differs("/metadata", "the metadata")
        for index, (ours, theirs) in enumerate(zip(cases, suite.cases(), strict=True)):
            pointer = f"{self._base}/{index}"
            if to_json(ours) != to_json(theirs) and pointer not in self._incomplete:
                self._differs(pointer, f"the case `{ours.id}`")
        return True

    def _differs(self, pointer: str, what: str) -> None:
        self._problems.add(self._source, self._places.value(pointer), ImportedDiffers(what=what))


# --- parts of a case -----------------------------------------------------------------------------------------------


def _entries(case: m.Case) -> Iterator[_Entry]:
    """The checks of a case, in the contract's order, each with what it counts for."""
    links = {link.at[0]: (criterion.name, link) for criterion in case.criteria or () for link in criterion.checks or ()}
    links |= {link.at[0]: ("", link) for link in case.unlinked or () if link.at}
    checks = {assertion.at: assertion.check for assertion in assertions(case.expect)}
    done: set[str] = set()
    for at, check in checks.items():
        if at in done:
            continue
        criterion, link = links.get(at, ("", None))
        partner = _partner(at)
        together = (
            (at, partner) if partner in checks and partner not in links and not (link and len(link.at) == 1) else (at,)
        )
        done.update(together)
        whole = _range(check, checks[together[1]]) if len(together) == 2 else check
        yield _Entry(together, whole, criterion or None, 1 if link is None else link.weight)


def _partner(at: str) -> str:
    """The upper bound that a lower one may be one check with."""
    return next((f"/expect/{high}" for low, high in PAIRS if at == f"/expect/{low}"), "")


def _range(lower: c.Check, upper: c.Check) -> c.Check:
    return msgspec.structs.replace(lower, max=upper.max)  # type: ignore[union-attr]  # PAIRS holds ranges only


def _schema_of(check: c.Check) -> object:
    match check:
        case c.Json():
            return check.schema
        case c.At(check=inner) | c.Not(check=inner):
            return _schema_of(inner)
        case c.AnyOf(checks=checks) | c.AllOf(checks=checks):
            return next((schema for inner in checks if (schema := _schema_of(inner)) is not None), None)
        case _:
            return None


def _input(given: m.Input) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if given.message or not given.messages:
        written["message"] = escaped(given.message)
    if given.messages:
        written["messages"] = [{"role": each.role, "content": escaped(each.content)} for each in given.messages]
    if given.inputs:
        written["inputs"] = given.inputs
    return written


def _fields_of(case: m.Case, fields: Sequence[str]) -> dict[str, Any]:
    """Fields of a case under the names that they have in YAML, where they hold something."""
    values = {field: msgspec.to_builtins(getattr(case, field)) for field in fields}
    return {
        field: escaped(value) if field in _TEMPLATES else value for field, value in values.items() if value is not None
    }


def _comparable(metadata: m.Metadata) -> bytes:
    return to_json(msgspec.structs.replace(metadata, generated_by=None))


def _place(source: Source, span: Span) -> str:
    line, column = source.position(span.start)
    return f"{Path(source.name).name}:{line}:{column}"
