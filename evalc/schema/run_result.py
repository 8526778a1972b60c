"""From the types of results to their JSON Schema: EvalSuiteResult, as each file of a run's folder holds it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from evalc.model import result as r
from evalc.model.suite import Place
from evalc.schema.record_words import RESULT
from evalc.schema.records import definitions
from evalc.schema.shapes import DIALECT, Schema


def run_result() -> Schema:
    """The schema of a suite's result; that of a whole run, as `evalc run --json` prints it, is `$defs/RunResult`."""
    defined = definitions((r.SuiteResult, r.RunResult), RESULT)
    for record in _always_written():
        defined[record.__name__]["required"] = [*_keys_written(record)]
    return {
        "$schema": DIALECT,
        "title": "evalc: result of a suite",
        "description": "EvalSuiteResult of the eval runner contract, with evalc's own additions.",
        "$ref": "#/$defs/SuiteResult",
        "$defs": defined,
    }


def _always_written() -> Iterator[type[msgspec.Struct]]:
    """The records that are written with every key, whatever its value."""
    for record in (*vars(r).values(), Place):
        is_record = isinstance(record, type) and issubclass(record, msgspec.Struct) and record.__struct_fields__
        if is_record and not record.__struct_config__.omit_defaults:
            yield record


def _keys_written(record: type[msgspec.Struct]) -> Iterator[str]:
    return (field.encode_name for field in msgspec.structs.fields(record) if field.default is not msgspec.UNSET)
