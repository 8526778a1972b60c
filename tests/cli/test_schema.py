"""`evalc schema`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalc.cli.plumbing import SchemaName
from evalc.schema.published import SCHEMAS, schema_text
from tests.cli.conftest import Invoke


def test_the_names_are_those_of_the_schemas() -> None:
    assert [name.value for name in SchemaName] == list(SCHEMAS)


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_a_schema_is_printed(invoke: Invoke, name: str) -> None:
    outcome = invoke("schema", name)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.encode() == schema_text(name)


def test_all_schemas_are_written_into_a_folder(invoke: Invoke, project: Path) -> None:
    outcome = invoke("schema", "-o", "new/schemas")
    assert outcome.code == 0
    assert outcome.out.splitlines() == [f"wrote new/schemas/{name}.json" for name in SCHEMAS]
    assert {path.name for path in (project / "new" / "schemas").iterdir()} == {f"{name}.json" for name in SCHEMAS}


def test_one_schema_is_written_into_a_folder(invoke: Invoke, project: Path) -> None:
    assert invoke("schema", "config", "-o", ".").code == 0
    assert "concurrency" in json.loads((project / "config.json").read_text())["properties"]
    assert not (project / "case.json").exists()


def test_only_schemas_are_overwritten(invoke: Invoke, project: Path) -> None:
    (project / "config.json").write_text('{"mine": true}')
    outcome = invoke("schema", "-o", ".")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: nothing was written: `config.json` exists and is not a schema of evalc\n"
    assert (project / "config.json").read_text() == '{"mine": true}'
    assert not (project / "case.json").exists()
    (project / "config.json").unlink()
    for _ in range(2):
        assert invoke("schema", "-o", ".").code == 0


def test_without_a_name_a_folder_is_needed(invoke: Invoke) -> None:
    outcome = invoke("schema")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: name one of `language`, `case`, `config`, `result`, or a folder for all with `-o`\n"


def test_a_file_is_no_folder(invoke: Invoke, project: Path) -> None:
    (project / "taken").write_text("")
    outcome = invoke("schema", "-o", "taken")
    assert (outcome.code, outcome.err) == (2, "error: `taken` is not a folder\n")


def test_an_unknown_name(invoke: Invoke) -> None:
    assert invoke("schema", "langauge").code == 2
