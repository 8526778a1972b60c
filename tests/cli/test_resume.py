"""`evalc run --resume`: the run's name is all that has to be said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SUITE, Invoke
from tests.support.servers import answers, serving

TWO = (
    SUITE
    + """\
    - name: lima
      message: What is the weather in Lima?
      validate:
        - contains "Lima"
"""
)


def only_run(project: Path) -> Path:
    (folder,) = (project / "evals" / "results").glob("*/")
    return folder


def cut(folder: Path, lines: int) -> None:
    """Leave so many lines of the journal, and no result."""
    journal = folder / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:lines]) + b'{"torn')
    for file in folder.glob("*.json"):
        file.unlink()


def test_a_resumed_run_knows_its_files_and_flags(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(TWO)
    (project / "new.eval.yaml").write_text(SUITE.replace("suite: weather", "suite: new"))
    assert invoke("run", "evals", "--agent", "demo", "--timeout", "5s", "--all-assertions").code == 0
    folder = only_run(project)
    for name in (folder.name, str(folder), "latest"):
        cut(folder, 2)
        outcome = invoke("run", "--resume", name, "--json")
        assert outcome.code == 0
        (suite,) = json.loads(outcome.out)["suites"]
        assert [case["id"] for case in suite["cases"]] == ["weather/paris", "weather/lima"]
        assert only_run(project) == folder


def test_a_resumed_run_says_what_it_had(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(TWO)
    invoke("run", "--agent", "demo")
    cut(only_run(project), 2)
    assert "the run was resumed: 1 of 2 cases were done before" in invoke("run", "--resume", "latest").out
    assert "the run was complete: no case was run again" in invoke("run", "--resume", "latest").out


@pytest.mark.parametrize(
    ("changed", "is_other"), [("own.py", True), ("own.js", True), ("imported.js", True), ("other.py", False)]
)
def test_a_resumed_run_says_that_checks_have_changed(
    invoke: Invoke, project: Path, changed: str, is_other: bool
) -> None:
    (project / "evalc.toml").write_text('checks = ["own.py", "own.js"]\n')
    for file, text in {
        "own.py": "import evalc\n\n\n@evalc.custom_check\ndef ok(answer):\n    return True\n",
        "own.js": 'export { fine } from "./imported.js";\n',
        "imported.js": "export const fine = () => true;\n",
        "other.py": "",
    }.items():
        (project / file).write_text(text)
    (project / "evals" / "weather.eval.yaml").write_text(f"{TWO}        - check ok()\n        - check fine()\n")
    assert invoke("run", "--agent", "demo").code == 0
    cut(only_run(project), 2)
    (project / changed).write_bytes((project / changed).read_bytes().replace(b"\n", b"\r\n"))
    assert "have changed between cases" not in invoke("run", "--resume", "latest").out
    cut(only_run(project), 2)
    (project / changed).write_text((project / changed).read_text() + "\n")
    said = "the files of `checks` have changed between cases of this run, which keep their verdicts"
    assert (said in " ".join(invoke("run", "--resume", "latest").out.split())) is is_other


WITH_FILES = """\
suite: tables
eval:
  test_cases:
    - {name: a, message: Read., files: {data: ../given, key.txt: ../key.txt}, validate: [contains "ok"]}
    - {name: b, message: Hello, validate: [contains "ok"]}
"""
READER = "command:python reads.py"


@pytest.fixture
def files(project: Path) -> Path:
    """The folder of a suite whose first case gives it and a file to the agent."""
    (project / "evals" / "weather.eval.yaml").write_text(WITH_FILES)
    (project / "key.txt").write_text("1")
    (project / "reads.py").write_text('print(\'{"response": "ok"}\')\n')
    (project / "given" / "sub").mkdir(parents=True)
    (project / "given" / "sub" / "data.csv").write_text("a,b\n")
    return project / "given"


@pytest.mark.parametrize("changed", ["given/sub/data.csv", "given/new.csv", "key.txt"])
def test_a_run_whose_files_have_changed_is_not_resumed(
    invoke: Invoke, project: Path, files: Path, changed: str
) -> None:
    assert invoke("run", "--agent", READER).code == 0
    assert invoke("run", "--resume", "latest").code == 0
    (project / changed).write_text("a,b\n1,2\n")
    cut(only_run(project), 2)
    outcome = invoke("run", "--resume", "latest")
    assert outcome.code == 2
    assert "files that cases of the suite `tables` (labeled) give to the agent have changed since" in outcome.err
    rescored = invoke("rescore", "latest")
    assert "files that cases give to the agent have changed since" in rescored.out


def test_a_run_may_write_its_results_into_a_folder_that_a_case_gives(
    invoke: Invoke, project: Path, files: Path
) -> None:
    (project / "evalc.toml").write_text('output_dir = "given/results"\n')
    assert invoke("run", "--agent", READER).code == 0
    (folder,) = (files / "results").glob("*/")
    cut(folder, 2)
    assert invoke("run", "--resume", "latest").code == 0


def test_a_run_of_an_earlier_version_says_that_its_files_were_not_compared(
    invoke: Invoke, project: Path, files: Path
) -> None:
    invoke("run", "--agent", READER)
    journal = only_run(project) / "journal.jsonl"
    header, rest = journal.read_text().split("\n", 1)
    said = json.loads(header)
    del said["options"]["skillsHash"], said["suites"][0]["copiedHash"]
    journal.write_text(f"{json.dumps(said)}\n{rest}")
    (files / "sub" / "data.csv").write_text("")
    outcome = invoke("run", "--resume", "latest")
    assert outcome.code == 0
    assert "did not keep what was in the files that cases give to the agent" in " ".join(outcome.out.split())


def test_a_run_whose_skills_have_changed_is_not_resumed(invoke: Invoke, project: Path) -> None:
    skill = project / "skill"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: skill\ndescription: It helps.\n---\n")
    (project / "reads.py").write_text("print('{}')\n")
    (project / "evalc.toml").write_text('[agent]\nskills = ["skill"]\n')
    assert invoke("run", "--agent", READER).code == 3
    (skill / "evals" / "evals.txt").write_text("which no agent is given")
    assert invoke("run", "--resume", "latest").code == 3
    (skill / "SKILL.md").write_text("---\nname: skill\ndescription: It helps more.\n---\n")
    outcome = invoke("run", "--resume", "latest")
    assert (outcome.code, "what is in the skills of the agent is another one now" in outcome.err) == (2, True)


def test_a_changed_run_is_not_resumed(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo")
    outcome = invoke("run", "--resume", "latest", "--timeout", "7ms", "--agent", "python:os.path:basename")
    assert (outcome.code, outcome.out) == (2, "")
    assert (
        "its agent was `demo`, and not `python:os.path:basename`; `--timeout` in milliseconds was 60000 and is 7 now"
        in outcome.err
    )
    (project / "evals" / "weather.eval.yaml").write_text(TWO)
    outcome = invoke("run", "--resume", "latest")
    assert outcome.code == 2
    assert "the suite `weather` (labeled) of `evals/weather.eval.yaml` has changed since" in outcome.err
    assert invoke("run", "--resume", "nope").err.startswith("error: `nope` is neither a run in ")


@pytest.mark.parametrize("left", [b"", b'{"journal":1,"runId":"'])
def test_a_run_that_had_not_begun_begins_where_its_paths_are_named(invoke: Invoke, project: Path, left: bytes) -> None:
    invoke("run", "--agent", "demo")
    folder = only_run(project)
    (folder / "journal.jsonl").write_bytes(left)
    outcome = invoke("run", "--resume", "latest", "--agent", "demo")
    assert outcome.code == 2
    assert f"holds nothing yet: name what to run, as in `evalc run PATH --resume {folder.name}`" in outcome.err
    assert f"run PATH --resume {folder}`" in invoke("run", "--resume", str(folder), "--agent", "demo").err
    assert invoke("run", "evals", "--resume", "latest", "--agent", "demo").code == 0
    assert only_run(project) == folder


SLOW_TO_BEGIN = """
import sys, time
def snapshot():
    print("begun", file=sys.stderr, flush=True)
    time.sleep(600)
"""


def test_the_latest_run_is_that_which_was_killed_before_its_journal_began(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo")
    earlier = only_run(project)
    cut(earlier, 1)  # which could be resumed
    (project / "slow.py").write_text(SLOW_TO_BEGIN)
    command = [sys.executable, "-m", "evalc", "run", "evals", "--agent", "demo", "--snapshot", "python:slow:snapshot"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        # Of a run of code of others the parent dies with the run.
        process.send_signal(signal.SIGKILL)
    (killed,) = {*(project / "evals" / "results").glob("*/")} - {earlier}
    assert [*killed.iterdir()] == []
    outcome = invoke("run", "--resume", "latest")
    assert outcome.code == 2
    assert f"the journal of the run `{killed.name}` holds nothing yet" in outcome.err
    assert (earlier / "journal.jsonl").read_bytes().count(b"\n") == 1
    assert invoke("run", "evals", "--agent", "demo", "--resume", "latest").code == 0
    assert (killed / "journal.jsonl").exists()


@pytest.mark.parametrize("flags", [(), ("--agent", "nope"), ("--agent", "demo", "-k", "nope"), ("--agent", "demo")])
def test_a_run_that_is_refused_leaves_no_folder(invoke: Invoke, project: Path, flags: tuple[str, ...]) -> None:
    if flags == ("--agent", "demo"):
        (project / "evals" / "weather.eval.yaml").write_text("suite: [\n")
    assert invoke("run", *flags).code == 2
    assert not (project / "evals" / "results").exists()


def test_the_snapshot_is_the_one_of_then(invoke: Invoke, project: Path) -> None:
    text = TWO.replace('contains "Lima"', "contains '{{snapshot:city}}'")
    (project / "evals" / "weather.eval.yaml").write_text(text)
    snapshot = project / "snapshot.json"
    snapshot.write_text('{"city": "Lima"}')
    assert invoke("run", "--agent", "demo", "--snapshot", "snapshot.json").code == 0
    cut(only_run(project), 2)
    snapshot.unlink()
    assert invoke("run", "--resume", "latest").code == 0


def test_an_agent_with_a_password_has_to_be_named_again(invoke: Invoke, project: Path) -> None:
    with serving(answers({"text": "Paris"})) as server:
        with_password = server.url.replace("http://", "http://me:pw@")
        invoke("run", "--agent", with_password)
        cut(only_run(project), 1)
        assert b"pw" not in (only_run(project) / "journal.jsonl").read_bytes()
        outcome = invoke("run", "--resume", "latest")
        assert (outcome.code, outcome.err) == (
            2,
            "error: the value of `--agent` is not in the journal, since it may hold secrets: give it again\n",
        )
        assert "resumed: 0 of 1" in invoke("run", "--resume", "latest", "--agent", with_password).out


HANGING = """
import time
def answer(message):
    if "Lima" in message:
        time.sleep(600)
    return "Paris"
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_it_is_resumed(project: Path, number: signal.Signals) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(TWO)
    (project / "hanging.py").write_text(HANGING)
    command = [sys.executable, "-m", "evalc", "run", "evals", "--agent", "python:hanging:answer"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running weather (labeled): 2 cases\n"
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    folder = only_run(project)
    assert (process.returncode, out) == (130, "")
    resumes = f"evalc run --resume {folder.name}"
    so_far, said = errors.splitlines()
    assert so_far in ("0 of 2 cases finished", "1 of 2 cases finished: 0 passed, 1 did not")
    assert said == f"error: interrupted; what was finished is kept, and `{resumes}` runs the rest"
    (project / "hanging.py").write_text("def answer(message):\n    return message\n")
    ended = subprocess.run(
        [sys.executable, "-m", *resumes.split()], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert "2 cases" in ended.stderr
    assert only_run(project) == folder


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_whose_name_is_not_utf_8_is_found_again(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").rename(project / "evals" / os.fsdecode(b"w\xff\xfe.eval.yaml"))
    assert invoke("run", "--agent", "demo").code == 0
    assert invoke("run", "--resume", "latest").code == 0
    assert invoke("rescore", "latest").code == 0
