"""Files of a project that are links to what is not there: no command goes on as if they had not been made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

REGRESSION = """\
suite: weather
tier: regression
eval:
  test_cases:
    - {name: paris, message: What is the weather in Paris?, created_at: 2026-01-02, bug_ref: "#1", validate: [TEXT]}
"""


@pytest.mark.parametrize("name", ["evalc.toml", "evalc.config.json", "evalc.lock"])
def test_a_link_to_what_is_not_there_is_an_error_of_each_command(invoke: Invoke, project: Path, name: str) -> None:
    (project / name).unlink(missing_ok=True)
    (project / name).symlink_to("moved")
    for command in (["check", "evals"], ["run", "evals", "--agent", "demo"], ["lock"]):
        outcome = invoke(*command)
        assert outcome.code == 2, command
        said = f"error[EV600]: `{name}` is a symbolic link to a file that does not exist"
        assert said in outcome.out + outcome.err, command


def test_a_locked_case_cannot_change_behind_a_link(invoke: Invoke, project: Path) -> None:
    path = project / "evals" / "weather.eval.yaml"
    path.write_text(REGRESSION.replace("TEXT", 'contains "Paris"'))
    assert invoke("lock").code == 0
    path.write_text(REGRESSION.replace("TEXT", "non-empty"))
    assert "EV450" in invoke("check", "evals").out
    (project / "evalc.lock").rename(project / "moved.lock")
    (project / "evalc.lock").symlink_to("moved.lck")
    assert "EV600" in invoke("check", "evals").out


@pytest.mark.parametrize(
    ("name", "flags"), [("baseline.json", ["--fail-on-regression"]), ("seed-manifest.json", ["--strict"])]
)
def test_a_run_does_not_go_without_what_a_link_names(
    invoke: Invoke, project: Path, name: str, flags: list[str]
) -> None:
    (project / "evals" / name).symlink_to("moved.json")
    outcome = invoke("run", "evals/weather.eval.yaml", "--agent", "demo", *flags)
    assert outcome.code == 2
    assert f"{name}` cannot be read" in outcome.err
