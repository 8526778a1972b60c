"""The schemas that `evalc schema` prints and `specs/schema/` holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from evalc.config.kinds import or_null
from evalc.config.settings import shape
from evalc.dsl.kinds import DIALECT, Schema, filled_list_of, mapping, ref
from evalc.model import case as m
from evalc.model import result as r
from evalc.model.suite import Place
from evalc.schema.language import language
from evalc.schema.records import definitions


def compiled_file() -> Schema:
    """The schema of what evalc compiles to, and reads like any other eval file."""
    return {
        "$schema": DIALECT,
        "title": "evalc: compiled eval file",
        "description": "An eval file of the eval runner contract, with evalc's own additions.",
        "if": {"type": "array"},
        "then": filled_list_of(ref("Case")),
        "else": ref("Envelope"),
        "$defs": {**definitions(m.Case, m.Metadata), "Metadata": _metadata(), "Envelope": _envelope()},
    }


def _envelope() -> Schema:
    cases = {"description": "The cases.", **filled_list_of(ref("Case"))}
    metadata = {"description": "What the cases are about.", "anyOf": [ref("Metadata"), {"type": "null"}]}
    return mapping({"metadata": metadata, "cases": cases}, title="Envelope", required=["cases"])


def _metadata() -> Schema:
    """The metadata, in which other generators leave keys of their own, and which the file's name completes."""
    schema = definitions(m.Metadata)["Metadata"]
    properties = {key: or_null(value) for key, value in schema["properties"].items()}
    kept = {key: value for key, value in schema.items() if key not in {"required", "additionalProperties"}}
    return {**kept, "properties": properties}


def run_result() -> Schema:
    """The schema of a suite's result; that of a whole run, as `evalc run --json` prints it, is `$defs/RunResult`."""
    defined = definitions(r.SuiteResult, r.RunResult)
    for name, record in (*vars(r).items(), ("Place", Place)):
        if name in defined and not record.__struct_config__.omit_defaults:  # so that every key is always written
            defined[name]["required"] = [*_keys_written(record)]
    return {
        "$schema": DIALECT,
        "title": "evalc: result of a suite",
        "description": "EvalSuiteResult of the eval runner contract, with evalc's own additions.",
        "$ref": "#/$defs/SuiteResult",
        "$defs": defined,
    }


def _keys_written(record: type[msgspec.Struct]) -> Iterator[str]:
    return (field.encode_name for field in msgspec.structs.fields(record) if field.default is not msgspec.UNSET)


def configuration() -> Schema:
    """The schema of `evalc.config.json`, of `evalc.toml`, and of `[tool.evalc]` in a `pyproject.toml`."""
    return {"$schema": DIALECT, **shape().definition()}


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "language": language,
    "case": compiled_file,
    "config": configuration,
    "result": run_result,
}
"""The schemas by the name that they are asked for and published under."""


def schema_text(name: str) -> bytes:
    """The schema as indented JSON with a line end; the same on every machine."""
    return msgspec.json.format(msgspec.json.encode(SCHEMAS[name]()), indent=2) + b"\n"


def file_name(name: str) -> str:
    """The file that the schema is written to."""
    return f"{name}.json"
