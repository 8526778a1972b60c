"""`evalc check --select --ignore`, their keys in the configuration, and the formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SUITE, Invoke

VACUOUS = SUITE.replace("- tools called [get_weather]", "- length >= 0 chars")
BOTH = VACUOUS.replace('contains "Paris"', 'containz "Paris"') + "        - length >= 0 words\n"


@pytest.fixture
def both(project: Path) -> Path:
    """A suite with an error, EV203, and warnings, EV501."""
    file = project / "evals" / "weather.eval.yaml"
    file.write_text(BOTH)
    return file


def codes(invoke: Invoke, *arguments: str) -> list[str]:
    found = json.loads(invoke("check", "--format", "json", *arguments).out)
    return sorted({f"{problem['severity']} {problem['code']}" for problem in found})


def test_select_and_ignore(invoke: Invoke, both: Path) -> None:
    assert codes(invoke) == ["error EV203", "warning EV501"]
    assert codes(invoke, "--select", "EV5") == ["warning EV501"]
    assert codes(invoke, "--select", "EV5,EV2") == codes(invoke, "--select", "ev5", "--select", "EV203 ,")
    assert codes(invoke, "--ignore", "EV501") == ["error EV203"]
    assert codes(invoke, "--select", "EV", "--ignore", "EV2, EV501") == []
    assert codes(invoke, "--select", "EV501", "--ignore", "EV5") == ["warning EV501"]


def test_ignored_problems_do_not_fail_the_check(invoke: Invoke, both: Path) -> None:
    assert invoke("check").code == 2
    outcome = invoke("check", "--ignore", "EV203,EV5")
    assert (outcome.code, outcome.out) == (0, "all good: 1 suite\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--select", "EV5O1"), "`--select`: `EV5O1` is not a code: did you mean `EV501`?"),
        (("--ignore", "F401"), "`--ignore`: `F401` is not a code; `evalc explain` lists them all"),
        (("--ignore", "EV1"), "`--ignore`: `EV1` cannot be ignored: nobody knows what an error of this kind hides"),
        (("--select", " , "), "`--select` names no code"),
    ],
)
def test_codes_that_are_none(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    outcome = invoke("check", *arguments)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"error: {message}\n")


def test_the_configuration_selects_and_flags_narrow_it_down(invoke: Invoke, both: Path, project: Path) -> None:
    (project / "evalc.toml").write_text('select = ["EV5"]\n')
    assert codes(invoke) == ["warning EV501"]
    assert codes(invoke, "--ignore", "EV501") == []
    assert codes(invoke, "--select", "EV2") == ["error EV203"]
    (project / "evalc.toml").write_text('ignore = ["EV203"]\n')
    assert codes(invoke) == ["warning EV501"]
    assert codes(invoke, "--ignore", "EV5") == []
    assert codes(invoke, "--select", "EV") == ["error EV203", "warning EV501"]


def test_severities_and_files_of_the_configuration(invoke: Invoke, both: Path, project: Path) -> None:
    (project / "evalc.toml").write_text('[severity]\nEV5 = "error"\nEV203 = "warning"\n')
    assert codes(invoke) == ["error EV501", "warning EV203"]
    (project / "evalc.toml").write_text('[perFileIgnores]\n"evals/**" = ["EV501"]\n')
    assert codes(invoke) == ["error EV203"]


def test_compile_and_run_take_warnings_from_the_configuration_and_leave_errors(
    invoke: Invoke, both: Path, project: Path
) -> None:
    (project / "evalc.toml").write_text('ignore = ["EV"]\n')
    assert invoke("check").code == 0
    for command in (("compile", "evals/weather.eval.yaml"), ("run", "--agent", "demo")):
        outcome = invoke(*command)
        assert outcome.code == 2
        assert "error[EV203]" in outcome.err
        assert "EV501" not in outcome.err
    both.write_text(VACUOUS)
    compiled = invoke("compile", "evals/weather.eval.yaml", "-o", "-")
    assert (compiled.code, "EV501" in compiled.err) == (0, False)
    (project / "evalc.toml").write_text('[severity]\nEV501 = "error"\n')
    for command in (("compile", "evals/weather.eval.yaml"), ("run", "--agent", "demo")):
        outcome = invoke(*command)
        assert (outcome.code, outcome.err.startswith("error[EV501]")) == (2, True)


def test_an_ignore_comment_holds_for_all_commands_and_under_strict(invoke: Invoke, both: Path) -> None:
    both.write_text(VACUOUS.replace("0 chars", "0 chars # evalc: ignore[EV501]"))
    for command in (("check",), ("compile", "evals/weather.eval.yaml"), ("run", "--agent", "demo")):
        assert "EV501" not in (outcome := invoke(*command, "--strict")).out + outcome.err
    assert invoke("check", "--strict").code == 0


def test_problems_of_the_configuration_are_always_reported(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text("concurency = 1\n")
    assert codes(invoke, "--select", "EV5") == ["error EV621"]


def test_sarif(invoke: Invoke, both: Path) -> None:
    outcome = invoke("check", "--format", "sarif")
    assert outcome.code == 2
    (run,) = json.loads(outcome.out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["EV203", "EV501", "EV501"]
    assert invoke("check", "--format", "sarif").out == outcome.out


def test_github(invoke: Invoke, both: Path) -> None:
    outcome = invoke("check", "--format", "github")
    assert outcome.code == 2
    first, *rest = outcome.out.splitlines()
    place = "file=evals/weather.eval.yaml,line=9,endLine=9,col=11,endColumn=19,title=EV203"
    assert first.startswith(f"::error {place}::`containz` is not a check%0A")
    assert [line.split()[0] for line in rest] == ["::warning", "::warning"]


def test_nothing_wrong_in_any_format(invoke: Invoke) -> None:
    assert invoke("check", "--format", "github").out == ""
    assert json.loads(invoke("check", "--format", "sarif").out)["runs"][0]["results"] == []
