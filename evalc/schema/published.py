"""From the name of a schema to the text that `evalc schema` prints and `specs/schema/` holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from evalc.schema.compiled_file import compiled_file
from evalc.schema.configuration import configuration
from evalc.schema.language import language
from evalc.schema.run_result import run_result
from evalc.schema.shapes import Schema

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
