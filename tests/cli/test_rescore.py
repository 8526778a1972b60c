"""`evalc rescore`, and recording and replaying on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SUITE, Invoke

MORE = SUITE + SUITE[SUITE.index("    - name: paris") :].replace("name: paris", "name: more")
GOLDEN = SUITE[SUITE.index("    - name: paris") :].replace("name: paris", "name: more\n      tier: golden")


def test_a_run_is_checked_again_and_what_changed_is_shown(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "evals", "--agent", "demo").code == 0
    (first,) = (project / "evals" / "results").glob("*/")
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.replace('"Paris" for', '"Lima" for'))
    outcome = invoke("rescore", first.name, "--output", "report.json")
    assert outcome.code == 1
    assert f"REGRESSIONS (1) since {first.name}" in outcome.out
    (suite,) = json.loads((project / "report.json").read_text())["suites"]
    assert (suite["rescoredFrom"], suite["agentEndpoint"]) == (first.name, "demo")
    assert len(list((project / "evals" / "results").glob("*/"))) == 2
    outcome = invoke("run", "--resume", suite["runId"], "--agent", "demo")
    assert outcome.code == 2
    assert f"cannot be resumed: it was made by `evalc rescore {first.name}`" in outcome.err


def test_a_run_that_did_not_end_is_not_green_by_being_rescored(invoke: Invoke, project: Path) -> None:
    evals = project / "evals" / "weather.eval.yaml"
    evals.write_text(SUITE + SUITE[SUITE.index("    - name: paris") :].replace("name: paris", "name: more"))
    assert invoke("run", "evals", "--agent", "demo").code == 0
    (first,) = (project / "evals" / "results").glob("*/")
    journal = first / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
    outcome = invoke("rescore", first.name, "--json")
    assert outcome.code == 1
    (suite,) = json.loads(outcome.out)["suites"]
    assert suite["stopped"] == "its answers are those of a run that has not ended"
    assert [(each["id"], each["stopped"]) for each in suite["skipped"]] == [("weather/more", True)]


def test_a_run_that_stopped_stays_so_when_it_is_rescored(invoke: Invoke, project: Path) -> None:
    evals = project / "evals" / "weather.eval.yaml"
    more = SUITE[SUITE.index("    - name: paris") :].replace("name: paris", "name: more")
    evals.write_text(SUITE.replace('"Paris" for', '"Lima" for') + more)
    assert invoke("run", "evals", "--agent", "demo", "-x", "--concurrency", "1").code == 1
    evals.write_text(SUITE + more)
    outcome = invoke("rescore", "latest")
    assert outcome.code == 1
    assert (
        "the run stopped: its answers are those of a run that did not get to all cases: 1 case did not pass"
        in outcome.out
    )
    evals.write_text(SUITE)
    assert invoke("rescore", "latest~1").code == 0  # the case that it did not get to is gone


@pytest.mark.parametrize(
    ("flags", "changed", "code"),
    [
        ((), MORE, 1),
        ((), SUITE.replace("in Paris?", "in Paris now?"), 1),
        ((), f"{MORE}      skip: not yet\n", 0),
        (("-k", "paris"), MORE, 0),
        (("--tier", "labeled"), f"{SUITE}{GOLDEN}", 0),
        (("-k", "paris"), SUITE.replace("in Paris?", "in Paris now?"), 1),
    ],
)
def test_a_case_without_an_answer_has_not_passed(
    invoke: Invoke, project: Path, flags: tuple[str, ...], changed: str, code: int
) -> None:
    assert invoke("run", *flags, "--agent", "demo").code == 0
    (project / "evals" / "weather.eval.yaml").write_text(changed)
    outcome = invoke("rescore", "latest")
    assert outcome.code == code
    assert (code == 1) == ("for some of its cases there are no answers that could be checked again" in outcome.out)


def test_a_run_that_is_not_there(invoke: Invoke) -> None:
    outcome = invoke("rescore", "nope")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: `nope` is neither a run in ")


def test_a_recorded_run_is_replayed(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo", "--record", "recorded").code == 0
    assert invoke("run", "--agent", "replay:recorded").code == 0
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.replace("in Paris?", "of Paris?"))
    outcome = invoke("run", "--agent", "replay:recorded")
    assert outcome.code == 3
    assert "which differs in `message` (`What is the weather in Paris?`)" in outcome.out
    assert invoke("run", "--agent", "replay:nope").err.startswith("error: `nope` holds no recordings")


def test_the_seed_manifest_of_the_run_is_read_again(invoke: Invoke, project: Path) -> None:
    (project / "seed.json").write_text('{"city": {"name": "Paris"}}')
    (project / "evals" / "weather.eval.yaml").write_text(
        "suite: weather\ntool: get_weather\neval:\n  test_cases:\n    - name: paris\n"
        '      message: What is the weather in Paris?\n      validate:\n        - contains "{{seed:city.name}}"\n'
    )
    assert invoke("run", "--agent", "demo", "--seed-manifest", "seed.json").code == 0
    outcome = invoke("rescore", "latest")
    assert (outcome.code, "unverified" in outcome.out) == (0, False)
    (project / "other.json").write_text('{"city": {"name": "Atlantis"}}')
    assert invoke("rescore", "latest", "--seed-manifest", "other.json").code == 1


def test_quiet_shows_what_did_not_pass(invoke: Invoke) -> None:
    invoke("run", "--agent", "demo")
    assert "weather/paris" in invoke("rescore", "latest").out
    quiet = invoke("rescore", "latest", "-q")
    assert (quiet.code, "weather/paris" in quiet.out) == (0, False)
