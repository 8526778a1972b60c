"""Journals of an earlier version are resumed, rescored and merged, and say what they said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Invoke
from tests.cli.test_resume import cut

EARLIER = Path(__file__).parents[1] / "earlier_trips"
WHOLE = "01a21777-43e8-707a-bb95-75d7e5bb8a8b"
SHARDS = ("01a21777-515e-71e0-aff4-7c3338cf0fbd", "01a21777-5f2d-7ad9-9f33-b7e4535424c3")
ERRORS = 3


@pytest.fixture
def trips(project: Path) -> Path:
    """A project in which the earlier version has run its one suite; its agent counts from the start."""
    shutil.rmtree(project / "evals")
    shutil.copytree(EARLIER, project, dirs_exist_ok=True)
    (project / "evals").mkdir()
    (project / "runs").rename(project / "evals" / "results")
    return project / "evals" / "results"


def lasting(value: Any) -> Any:
    """A result without its measured times."""
    if isinstance(value, dict):
        return {key: lasting(each) for key, each in value.items() if key != "durationMs"}
    return [lasting(each) for each in value] if isinstance(value, list) else value


def as_then(case: dict[str, Any]) -> dict[str, Any]:
    """A result as the earlier version wrote it: without rows, lines of checks and failures after the verdict."""
    case.pop("row", None)
    decided = [each for each in case["assertions"] if each["outcome"] == "passed" or each["at"] == case.get("errorAt")]
    case["assertions"] = [{key: said for key, said in each.items() if key != "line"} for each in decided]
    for attempt in case.get("attempts", ()):
        attempt["error"] = "error" in attempt  # by the check's line now
    return case


def cases_of(text: str | bytes) -> dict[str, Any]:
    """The results of the cases by their ids; of a whole run, or of the one suite that is in a file."""
    found = json.loads(text)
    (suite,) = found.get("suites", [found])
    return {case["id"]: lasting(as_then(case)) for case in suite["cases"]}


def written(results: Path) -> dict[str, Any]:
    return cases_of((results / WHOLE / "trips.labeled.json").read_bytes())


@pytest.mark.parametrize("lines", range(1, 12))
def test_a_run_that_was_cut_off_is_resumed(invoke: Invoke, trips: Path, lines: int) -> None:
    before = written(trips)
    cut(trips / WHOLE, lines)
    outcome = invoke("run", "--resume", WHOLE, "--json")
    assert outcome.code == ERRORS
    assert cases_of(outcome.out) == before


def test_answers_are_rescored_to_the_same_results(invoke: Invoke, trips: Path) -> None:
    before = written(trips)
    assert len(before) == 9  # and a skipped one
    outcome = invoke("rescore", WHOLE, "trips.eval.yaml", "--json")
    assert outcome.code == ERRORS
    assert cases_of(outcome.out) == before


def test_shards_are_merged_into_the_whole(invoke: Invoke, trips: Path) -> None:
    outcome = invoke("merge", *SHARDS, "--json")
    assert outcome.code == ERRORS
    assert cases_of(outcome.out) == written(trips)


def test_a_result_is_shown_as_it_was(invoke: Invoke, trips: Path) -> None:
    assert invoke("show", WHOLE, "--json").out.splitlines()[0][:30] == '{"runId":"01a21777-43e8-707a-b'
    assert cases_of(invoke("show", WHOLE, "--json").out) == written(trips)
