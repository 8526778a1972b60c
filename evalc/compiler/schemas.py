"""From the path of a JSON Schema in a check to the schema itself, which is compiled into the eval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, final

from evalc.compiler.discover import is_below, project_root
from evalc.diagnostics.catalogue.values import BadSchema
from evalc.diagnostics.problem import Diagnostics
from evalc.files import read_source
from evalc.source import Source, Span

Schema = dict[str, Any] | bool


@final
class SchemaLoader:
    """Reads each schema once."""

    def __init__(self) -> None:
        self._read: dict[Path, Schema | str] = {}

    def load(self, source: Source, path: str, span: Span, problems: Diagnostics) -> Schema | None:
        """The schema that a check names, relative to the file; None when it cannot be used, which is reported."""
        file = Path(source.name).parent / path
        root = project_root(Path(source.name))
        if not is_below(file, root):
            problems.add(source, span, BadSchema(path=path, reason=f"lies outside of the project's root {root}"))
            return None
        if file not in self._read:
            self._read[file] = _read(file)
        schema = self._read[file]
        if isinstance(schema, str):
            problems.add(source, span, BadSchema(path=path, reason=schema))
            return None
        return schema


def _read(file: Path) -> Schema | str:
    """The schema, or what is wrong with it."""
    found = Diagnostics()
    source = read_source(file, found.add)
    for problem in found:
        return f"cannot be read: {problem.finding.message()}"
    if source is None:
        return "cannot be read"
    try:
        schema: Any = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        return f"is not JSON: {error}"
    return unusable(schema) or schema


def unusable(schema: object) -> str | None:
    """Why a value cannot serve as the schema of a check; None when it can."""
    if not isinstance(schema, dict | bool):
        return "is neither an object nor true or false"
    foreign = next(_foreign_refs(schema), None)
    if foreign is not None:
        return f"refers to `{foreign}`, which is outside of it"
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - only a check that names a schema needs it

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"is not a JSON Schema: {error.message}"
    except RecursionError:
        return "is nested too deep"
    return None


def _foreign_refs(schema: object) -> Any:
    """The `$ref`s that do not stay within the schema."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str) and not reference.startswith("#"):
                yield reference
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
