"""The schema of results accepts what a run writes, with every key that it always has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import evalc
from evalc.schema.published import SCHEMAS
from tests.schema.corpus import ROOT, validator


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> evalc.Run:
    names = ("code-review/code-review-v1.prompt.yaml", "weather/get-weather.labeled.eval.yaml")
    examples = [ROOT / "examples" / name for name in names]
    return evalc.run(examples, agent="demo", output_dir=tmp_path_factory.mktemp("results"))


def test_it_accepts_the_results_of_a_run(run: evalc.Run) -> None:
    results = sorted(path for path in Path(run.folder).glob("*.json"))
    assert len(results) == 2
    for path in results:
        assert [error.message for error in validator("result").iter_errors(json.loads(path.read_text()))] == []


def test_it_accepts_the_report_of_a_run(run: evalc.Run) -> None:
    schema = SCHEMAS["result"]()
    whole = Draft202012Validator({"$ref": "#/$defs/RunResult", "$defs": schema["$defs"]})
    assert [error.message for error in whole.iter_errors(json.loads(run.to_json()))] == []


def test_every_key_that_is_always_written_is_required(run: evalc.Run) -> None:
    result = json.loads(next(Path(run.folder).glob("*.json")).read_text())
    for key in result:
        assert not validator("result").is_valid({name: value for name, value in result.items() if name != key})
    assert not validator("result").is_valid({**result, "more": 1})
