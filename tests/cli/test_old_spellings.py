"""Old spellings of flags and commands: they work as they did, and no help text names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalc
from tests.cli.conftest import Invoke, Outcome

OTHER = """\
suite: cities
eval:
  test_cases:
    - {name: lima, tags: [slow], message: in Lima?, validate: [contains "Cairo"]}
    - {name: cairo, tags: [slow, big], message: in Cairo?, validate: [not equals "x"]}
    - {name: rome, message: in Rome?, validate: [contains "Oslo"]}
"""
LABELS = "response,label\nplease,1\nno,0\n"
JUDGE = "def tone(query):\n    return int('please' in query['response'])\n"


@pytest.fixture
def project(project: Path) -> Path:
    (project / "evals" / "cities.eval.yaml").write_text(OTHER)
    (project / "tools.json").write_text('[{"name": "get_weathr", "description": "The weather."}]')
    (project / "labels.csv").write_text(LABELS)
    (project / "pleasing.py").write_text(JUDGE)
    return project


@pytest.mark.parametrize(
    "flags",
    [
        "--timeout 1s --timeout-ms 60000",
        "--timeout-ms=9 --timeout=1s",
        "--failed-from nope --lf",
        "--lf --failed-from x",
    ],
)
def test_both_spellings_of_a_flag_with_one_value_are_refused(invoke: Invoke, flags: str) -> None:
    outcome = invoke("run", *flags.split(), "--agent", "demo")
    assert (outcome.code, outcome.out) == (2, "")
    assert "is the old name of" in outcome.err
    assert "give one of them" in outcome.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("run --eval evals/cities.eval.yaml --dry-run", "run evals/cities.eval.yaml --dry-run"),
        ("run --eval=evals/cities.eval.yaml::lima --dry-run", "run evals/cities.eval.yaml::lima --dry-run"),
        ("run --not-tag slow --dry-run", "run --tag !slow --dry-run"),
        ("run --tag slow --not-tag=big --dry-run", "run --tag slow --tag !big --dry-run"),
        ("run --failed-from latest --dry-run -q", "run --last-failed=latest --dry-run -q"),
        ("run --failed-from= --dry-run", "run --last-failed= --dry-run"),
        ("run --collect-only", "run --dry-run"),
        ("run -q --collect-only", "run -q --dry-run"),
        ("run --timeout-ms 2500 --show-settings", "run --timeout 2.5s --show-settings"),
        ("run --timeout-ms 0 --agent demo", "run --timeout 0s --agent demo"),
        ("run --max-p95-ms=60000 --show-settings", "run --max-p95 1m --show-settings"),
        ("run --tool-registry tools.json --dry-run", "run --tools tools.json --dry-run"),
        ("check --tool-registry tools.json", "check --tools tools.json"),
        ("compile --tool-registry=tools.json -o -", "compile --tools=tools.json -o -"),
        ("run --agent demo --fail-fast --json", "run --agent demo -x --json"),
        (
            "judge --calibrate labels.csv --judge python:pleasing:tone",
            "calibrate labels.csv --judge python:pleasing:tone",
        ),
        ("judge --calibrate gone.csv", "calibrate gone.csv"),
        ("judge", "calibrate"),
        ("run --not-tag", "run --tag"),
    ],
)
def test_an_old_spelling_says_the_same(invoke: Invoke, project: Path, old: str, new: str) -> None:
    invoke("run", "--agent", "demo")
    before, after = (invoke(*said.split()) for said in (old, new))
    assert before.code == after.code
    assert without_ids(before) == without_ids(after)


def without_ids(outcome: Outcome) -> object:
    """The cases of a run, whose report has an id and durations; any other output as it is."""
    if outcome.out.startswith("{"):
        return [(case["id"], case["status"]) for suite in json.loads(outcome.out)["suites"] for case in suite["cases"]]
    return outcome.out, outcome.err.replace(" judge ", " calibrate ")


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        ("--judge-samples 3", "judge.samples"),
        ("--no-judge-cache", "judge.cache"),
        ("--rubrics always", "judge.rubrics"),
        ("--ray-address auto", "ray_address"),
    ],
)
def test_a_flag_that_became_a_setting_still_works(invoke: Invoke, project: Path, flags: str, shown: str) -> None:
    usual, changed = (invoke("run", *said.split(), "--show-settings").out.splitlines() for said in ("", flags))
    assert [after.split()[0] for before, after in zip(usual, changed, strict=True) if before != after] == [shown]


def test_a_filter_of_ids_still_works(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--filter", "/^cities.*a/", "--dry-run", "-q").out == "cities/lima\ncities/cairo\n"


def test_settings_were_shown_by_the_run(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--show-settings").out == invoke("config").out
    (project / "evalc.toml").write_text("concurrency = 3\n")
    assert "= 3  # evalc.toml\n" in invoke("config").out


def test_no_help_text_names_an_old_spelling(invoke: Invoke) -> None:
    help_pages = invoke("--help").out + invoke("run", "--help-all").out + invoke("check", "--help").out
    for old in (
        *("--eval ", "--not-tag", "--filter", "--failed-from", "--tool-registry", "--ray-address", "--judge-samples"),
        *("--rubrics", "--no-judge-cache", "--collect-only", "--show-settings", "--timeout-ms", "--max-p95-ms"),
        *("--fail-fast", "  judge "),
    ):
        assert old not in help_pages


def test_last_failed_takes_a_run_only_after_an_equals_sign(invoke: Invoke, project: Path) -> None:
    first = json.loads(invoke("run", "--agent", "demo", "--json").out)["runId"]
    invoke("run", "--agent", "demo", "-k", "cairo")
    assert invoke("run", f"--lf={first}", "--dry-run", "-q").out == "cities/lima\ncities/rome\n"
    assert invoke("run", "--lf", "evals/weather.eval.yaml", "--dry-run", "-q").out == "weather/paris\n"
    assert invoke("run", "--dry-run", "-q", "--", "--lf").code == 2


def test_a_call_takes_old_spellings(project: Path) -> None:
    def ids(**flags: object) -> list[str]:
        run = evalc.run(agent="demo", **flags)  # type: ignore[arg-type]
        return [case.id for suite in run.suites for case in suite.cases]

    assert ids(tag="slow", not_tag=["big"], timeout_ms=5000.0, max_p95_ms=60_000) == ["cities/lima"]
    first = evalc.run(agent="demo").run_id
    assert ids(failed_from=first) == ["cities/lima", "cities/rome"]
    with pytest.raises(evalc.UsageError, match="`--timeout-ms` is the old name of `--timeout`: give one of them"):
        evalc.run(agent="demo", timeout="5s", timeout_ms=5000)


def test_a_run_that_was_begun_with_old_spellings_is_resumed(invoke: Invoke, project: Path) -> None:
    run = json.loads(invoke("run", "--agent", "demo", "--timeout", "7s", "--max-p95", "1m", "--json").out)
    journal = project / "evals" / "results" / run["runId"] / "journal.jsonl"
    header, *cases = journal.read_text().splitlines(keepends=True)
    assert '"timeout":"7s"' in header
    header = header.replace('"timeout":"7s"', '"timeout_ms":7000').replace('"max_p95":"1m"', '"max_p95_ms":60000')
    journal.write_text(header + cases[0])
    for result in journal.parent.glob("*.labeled.json"):
        result.unlink()
    resumed = invoke("run", "--resume", run["runId"], "--json")
    assert resumed.code == 0
    assert len(json.loads(resumed.out)["suites"]) == 2
