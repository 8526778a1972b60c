"""Loads the JSON Schemas that checks name by path; they are compiled into the eval."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any, Final, NamedTuple, cast, final
from urllib.parse import unquote

from evalc.base.files import is_below, project_root
from evalc.base.source import Source, Span
from evalc.check.forms import Record
from evalc.diagnostics.problem import Diagnostics, Fault, Finding
from evalc.diagnostics.raised import idle_parts
from evalc.dsl.read_json import HOLE, JsonPlaces, read_json
from evalc.dsl.sources import read_source
from evalc.ecma.regexp import pattern_format
from evalc.model.json import key_of_step, pointer_step
from evalc.model.json_schema import MAPS, dialect_of, schemas_within

_DATA: Final = frozenset(("const", "enum", "default", "examples"))
"""The keywords whose values are data, in which `$ref` is a key like any other."""
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


def reference_flaw(schema: Any) -> tuple[str, str] | None:
    """The flaw of a reference, and the pointer to it; None where each leads somewhere within the schema.

    Raises:
        RecursionError: the schema is nested too deep to be looked through.
    """
    references = list(_references(schema, ""))
    for pointer, reference in references:
        if not reference.startswith("#"):
            return f"refers to `{reference}`, which is outside of it", pointer
    if any("$id" in node for _, node in _schemas(schema, "")):
        return None  # what a reference counts from is another base, by rules of their own
    names = {f"{pointer}/{key}" for pointer, part in schemas_within(schema) for key in MAPS if key in part}
    names -= {pointer for pointer, _ in schemas_within(schema)}
    anchors = {node[key] for _, node in _schemas(schema, "") for key in _ANCHORS if isinstance(node.get(key), str)}
    for pointer, reference in references:
        name = unquote(reference[1:])
        if name not in anchors and not _leads_somewhere(schema, name):
            return f"refers to `{reference}`, which is not there", pointer
        if name in names:
            return f"refers to `{reference}`, which holds schemas and is none", pointer
    return None


def _references(schema: Any, at: str) -> Iterator[tuple[str, str]]:
    for pointer, node in _schemas(schema, at):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield f"{pointer}/$ref", reference


def _schemas(value: Any, at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a schema that is not data, with its pointer, in the order of the text."""
    if isinstance(value, dict):
        yield at, value
        for key, inner in value.items():
            if key not in _DATA:
                yield from _schemas(inner, f"{at}/{pointer_step(key)}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _schemas(inner, f"{at}/{index}")


def _leads_somewhere(schema: Any, pointer: str) -> bool:
    if pointer and not pointer.startswith("/"):
        return False
    for step in pointer.split("/")[1:]:
        key = key_of_step(step)
        if isinstance(schema, dict) and key in schema:
            schema = schema[key]
        elif isinstance(schema, list) and key.isdecimal() and int(key) < len(schema):
            schema = schema[int(key)]
        else:
            return False
    return True


Schema = dict[str, Any] | bool


class _Loaded(NamedTuple):
    """A schema, and warnings of what it asks for in vain."""

    schema: Schema
    advice: tuple[Finding, ...]


@final
class SchemaLoader:
    """Reads each schema once."""

    def __init__(self) -> None:
        self._read: dict[Path, _Loaded | str] = {}
        self._named: dict[str, set[str]] = {}

    def load(self, source: Source, path: str, span: Span, problems: Diagnostics) -> Schema | None:
        """The schema that a check names, relative to the file; None if it cannot be used, which is reported."""
        file = Path(source.name).parent / path
        root = project_root(Path(source.name))
        if not is_below(file, root):
            problems.add(source, span, Finding("EV310", path=path, reason=f"lies outside of the project's root {root}"))
            return None
        named = self._named.setdefault(source.name, set())
        if file not in self._read:
            self._read[file] = _read(file, path)
        loaded = self._read[file]
        if isinstance(loaded, str):
            problems.add(source, span, Finding("EV310", path=path, reason=loaded))
            return None
        for finding in () if str(file) in named else loaded.advice:
            problems.add(source, span, finding)
        named.add(str(file))
        return loaded.schema

    def named_in(self, source_name: str) -> Set[str]:
        """The files of the schemas that the checks of a source named so far."""
        return self._named.get(source_name, set())


def _read(file: Path, path: str) -> _Loaded | str:
    """The schema, or what is wrong with it; messages about it call it by the path."""
    found = Diagnostics()
    source = read_source(file, found.add)
    for problem in found:
        return f"cannot be read: {problem.finding.message()}"
    if source is None:
        return "cannot be read"
    faults: list[Fault] = []
    schema = read_json(source, lambda span, finding: faults.append(Fault(*span, finding)))
    if schema is HOLE:
        first = faults[0]
        return f"cannot be read: {first.finding.message()} (line {source.position(first.start).line})"
    flaw = unusable(schema)
    places = JsonPlaces(source)
    if flaw is None:
        advice = tuple(
            finding.replaced(path=path, line=source.position(places.value(pointer).start).line)
            for pointer, finding in idle_parts(schema)
        )
        return _Loaded(cast("Schema", schema), advice)
    line = source.position(places.value(flaw.pointer).start).line
    return f"{flaw.reason} (line {line})" if flaw.pointer else flaw.reason


class Flaw(NamedTuple):
    """Why a value cannot serve as a schema, and the JSON pointer of what is wrong in it."""

    reason: str
    pointer: str = ""


def unusable(schema: object) -> Flaw | None:
    """The flaw of a value that is to serve as the schema of a check; None if there is none."""
    if not isinstance(schema, dict | bool):
        return Flaw("is neither an object nor true or false")
    try:
        flaw = reference_flaw(schema)
    except RecursionError:
        return Flaw("is nested too deep")
    if flaw is not None:
        return Flaw(*flaw)
    from jsonschema import SchemaError  # noqa: PLC0415 - only a check that names a schema needs it

    try:
        dialect_of(schema).check_schema(schema, format_checker=pattern_format())
    except SchemaError as error:
        return Flaw(
            f"is not a JSON Schema: {error.message}",
            "".join(f"/{pointer_step(str(step))}" for step in error.absolute_path),
        )
    except RecursionError:
        return Flaw("is nested too deep")
    return None


def findings_in(schema: object) -> Iterator[tuple[str, Finding]]:
    """The mistakes of a schema, and the parts that ask in vain, each with its JSON pointer; `#` means the key."""
    flaw = unusable(schema)
    if flaw is not None:
        yield flaw.pointer, Finding("EV310", reason=flaw.reason)
    for pointer, idle in () if flaw is not None else idle_parts(schema):
        yield ("" if pointer.endswith("/format") else "#") + pointer, idle


def schema_findings(record: Record, at: str = "") -> Iterator[tuple[str, Finding]]:
    """The findings about the schemas that a check in JSON holds."""
    schema = record.get("schema")
    for pointer, finding in () if schema is None else findings_in(schema):
        yield f"{'#' if pointer.startswith('#') else ''}{at}/schema{pointer.removeprefix('#')}", finding
    if "check" in record:
        yield from schema_findings(record["check"], f"{at}/check")
    for index, part in enumerate(record.get("checks", ())):
        yield from schema_findings(part, f"{at}/checks/{index}")
