"""`evalc check`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SUITE, Invoke

BROKEN = SUITE.replace('contains "Paris"', 'containz "Paris"')


def test_all_good(invoke: Invoke) -> None:
    outcome = invoke("check")
    assert (outcome.code, outcome.out, outcome.err) == (0, "all good: 1 suite\n", "")


def test_a_folder_without_eval_files(invoke: Invoke, project: Path) -> None:
    (project / "empty").mkdir()
    (project / "empty" / "data.yaml").write_text("a: 1\n")
    message = "error: there are no evals in `empty`: 1 other file skipped\n"
    running = ("run", "empty", "--agent", "demo")
    for command in (("check", "empty"), ("check", "empty", "--strict"), ("compile", "empty"), running):
        outcome = invoke(*command)
        assert (outcome.code, outcome.out, outcome.err) == (2, "", message)
    outcome = invoke("check", "empty", "--format", "json")
    assert (outcome.code, outcome.out, outcome.err) == (2, "[]\n", message)
    assert invoke("check", "none.eval.yaml").code == 2


def test_problems_are_printed_on_standard_output(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(BROKEN)
    outcome = invoke("check", "evals")
    assert outcome.code == 2
    assert outcome.err == ""
    assert outcome.out.startswith("error[EV203]: `containz` is not a check\n --> evals/weather.eval.yaml:9:11\n")
    assert outcome.out.endswith("\n\n1 error in 1 file (1 fixable with `--fix --unsafe-fixes`)\nread 1 suite\n")
    assert invoke("check", "evals", "--exit-zero").code == 0


def test_json(invoke: Invoke, project: Path) -> None:
    assert json.loads(invoke("check", "--format", "json").out) == []
    (project / "evals" / "weather.eval.yaml").write_text(BROKEN)
    outcome = invoke("check", "--format", "json")
    assert outcome.code == 2
    (problem,) = json.loads(outcome.out)
    assert (problem["code"], problem["line"], problem["column"]) == ("EV203", 9, 11)


def test_standard_input(invoke: Invoke) -> None:
    outcome = invoke("check", "-", stdin=BROKEN)
    assert outcome.code == 2
    assert "--> <stdin>:9:11\n" in outcome.out
    assert invoke("check", "-", stdin="\ufeff" + SUITE).code == 0


def test_standard_input_that_is_named_twice_is_one_text(invoke: Invoke) -> None:
    outcome = invoke("check", "-", "-", stdin=SUITE)
    assert (outcome.code, outcome.out) == (0, "all good: 1 suite\n")


@pytest.mark.parametrize("command", ["check -", "run - --agent demo", "compile -", "fmt -"])
def test_standard_input_that_is_closed(project: Path, command: str) -> None:
    line = f"exec '{sys.executable}' -m evalc {command} <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: `-` is standard input, and that is closed\n"


@pytest.mark.parametrize("command", ["check", "run", "compile", "fmt", "lock"])
def test_an_empty_path_is_not_the_working_folder(invoke: Invoke, command: str) -> None:
    outcome = invoke(command, "")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: an empty text names no eval files; the working folder is `.`\n"


def test_a_path_that_is_too_long(invoke: Invoke) -> None:
    outcome = invoke("check", "x" * 5000)
    assert outcome.code == 2
    assert "cannot be read: file name too long" in outcome.out


def test_a_name_that_is_not_utf8_is_no_obstacle(invoke: Invoke, project: Path) -> None:
    (project / ".gitignore").write_text("ignored/\n")
    (project / "evalc.toml").write_text('per_file_ignores = {"*.json" = ["EV5"]}\n')
    name = os.fsdecode(b"\xff")
    (project / name).mkdir()
    (project / name / f"{name}.json").write_text("{}")
    (project / f"{name}.eval.yaml").write_text(BROKEN)
    outcome = invoke("check")
    assert outcome.code == 2
    assert "error[EV203]" in outcome.out


@pytest.mark.parametrize("command", ["check", "run --agent demo", "compile", "init", "report", "schema -o x"])
def test_a_working_folder_that_was_deleted(project: Path, command: str) -> None:
    line = f"mkdir gone && cd gone && rmdir ../gone && exec '{sys.executable}' -m evalc {command}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error: the working folder no longer exists\n")


def test_standard_input_that_is_not_utf8(invoke: Invoke) -> None:
    outcome = invoke("check", "-", stdin=b"suite: \xff")
    assert (outcome.code, outcome.err) == (2, "error: standard input is not UTF-8: byte 8 is 0xFF\n")


def test_a_path_that_is_not_there(invoke: Invoke) -> None:
    outcome = invoke("check", "nope.yaml")
    assert outcome.code == 2
    assert "error[EV600]: there is no file `nope.yaml`" in outcome.out


def test_warnings_pass_unless_strict(invoke: Invoke, project: Path) -> None:
    text = SUITE.replace("- tools called [get_weather]", "- length >= 0 chars")
    (project / "evals" / "weather.eval.yaml").write_text(text)
    lenient = invoke("check")
    assert lenient.code == 0
    assert lenient.out.startswith("warning[EV5")
    strict = invoke("check", "--strict")
    assert strict.code == 2
    assert strict.out.startswith("error[EV5")


def test_strictness_and_paths_may_be_configured(invoke: Invoke, project: Path) -> None:
    text = SUITE.replace("- tools called [get_weather]", "- length >= 0 chars")
    (project / "evals" / "weather.eval.yaml").write_text(text)
    (project / "evalc.toml").write_text('strict = true\npaths = ["evals/weather.eval.yaml"]\n')
    assert invoke("check").code == 2
    (project / "other.toml").write_text("")
    assert invoke("check", "--config", "other.toml").code == 0


def test_problems_of_the_configuration_are_found_with_those_of_the_evals(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(BROKEN)
    (project / "evalc.toml").write_text("concurency = 1\n")
    outcome = invoke("check")
    assert outcome.code == 2
    assert "error[EV621]" in outcome.out
    assert "error[EV203]" in outcome.out
    assert outcome.out.endswith("\n2 errors in 2 files (1 fixable with `--fix --unsafe-fixes`)\nread 1 suite\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "--format json >&-"])
def test_closed_streams_change_no_exit_code(project: Path, closed: str) -> None:
    (project / "bad.eval.yaml").write_text(BROKEN)
    for file, code in (("evals", 0), ("bad.eval.yaml", 2)):
        command = f"exec '{sys.executable}' -m evalc check {file} {closed}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)


def test_it_ends_with_what_was_read_and_what_was_skipped(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "data.json").write_text("[1]")
    (project / "prompts").mkdir()
    (project / "prompts" / "greet.yaml").write_text("id: greet\nprompt: Hi\nexamples: [{name: a}]\n")
    assert invoke("check").out == "all good: 1 suite, 1 prompt; skipped 1 other file\n"
    assert invoke("check", "-v").out.endswith("file\nskipped evals/data.json\n")
    ran = invoke("run", "--agent", "demo", "-v")
    assert ran.err.endswith("read 1 suite, 1 prompt; skipped 1 other file\nskipped evals/data.json\n")
    assert "skipped" not in invoke("run", "--agent", "demo", "-q").err
    assert invoke("check", "prompts").out == (
        "all good: 1 prompt\n"
        "these prompts have examples and no test cases: `evalc import prompts/greet.yaml` makes cases of the examples\n"
    )
    outcome = invoke("run", "prompts", "--agent", "demo")
    assert outcome.code == 2
    assert outcome.err == (
        "error: there are no evals in `prompts`: 1 prompt without test cases; "
        "`evalc import prompts/greet.yaml` makes cases of a prompt's examples\n"
    )


def test_the_files_of_the_configuration_are_not_counted_as_skipped(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "seed-manifest.json").write_text("{}")
    (project / "tools.json").write_text('[{"name": "get_weather", "description": "Tells the weather"}]')
    assert invoke("check", "--tools", "tools.json").out.endswith("\nread 1 suite\n")


def test_quiet_prints_problems_alone(invoke: Invoke, project: Path) -> None:
    assert invoke("check", "-q").out == ""
    (project / "evals" / "broken.eval.yaml").write_text("suite: [\n")
    outcome = invoke("check", "-q")
    assert outcome.code == 2
    assert outcome.out.endswith("1 error in 1 file\n")


def test_a_quiet_run_counts_warnings_and_shows_errors(invoke: Invoke, project: Path) -> None:
    file = project / "evals" / "weather.eval.yaml"
    file.write_text(
        "eval:\n  test_cases:\n    - {name: a, message: hi, validate: ['contains \"a\"', 'contains \"ab\"']}\n"
    )
    warned = invoke("run", "--agent", "demo", "-q").err
    assert "EV505" not in warned
    assert "1 warning in 1 file; `evalc check` shows them\n" in warned
    assert "EV505" in invoke("run", "--agent", "demo").err
    file.write_text(file.read_text().replace("message", "mesage"))
    assert "EV201" in invoke("run", "--agent", "demo", "-q").err
