"""`evalc watch` as a process: files are saved, and what it prints is read."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

import evalc
from evalc.base.terminal import Screen
from evalc.config.load import settings_with
from evalc.extras.watch import Watcher
from evalc.model.suite import CaseKey, key_of

SECONDS = 60.0
SUITE = """suite: weather
tool: get_weather
eval:
  test_cases:
    - name: paris
      message: What is the weather in Paris?
      validate:
        - contains "Paris"
    - name: oslo
      message: What is the weather in Oslo?
      validate:
        - contains "Oslo"
"""
AGENT = """def ask(message):
    return "It is mild in Paris and in Oslo."
"""


class Watched:
    """A watching process, and all that it has printed."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "evalc", "watch", *arguments]
        environ = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        self.printed = ""
        self._read = 0
        self._readers = [
            threading.Thread(target=self._keep, args=(stream,), daemon=True)
            for stream in (self.process.stdout, self.process.stderr)
            if stream is not None
        ]
        for reader in self._readers:
            reader.start()

    def _keep(self, stream: IO[bytes]) -> None:
        with stream:
            while data := os.read(stream.fileno(), 65_536):
                self.printed += data.decode()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(SECONDS)

    def until(self, text: str) -> str:
        """The output until a text appears, since the last such wait."""
        end = time.monotonic() + SECONDS
        while (at := self.printed.find(text, self._read)) < 0:
            assert time.monotonic() < end, self.printed[self._read :]
            assert self.process.poll() is None, self.printed
            time.sleep(0.02)
        found = self.printed[self._read : at + len(text)]
        self._read = at + len(text)
        return found

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "weather.eval.yaml").write_text(SUITE)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "evalc.toml").write_text("")
    return tmp_path


@pytest.fixture
def started() -> Iterator[list[Watched]]:
    """Processes that are gone when the test ends."""
    processes: list[Watched] = []
    yield processes
    for each in processes:
        each.end()


def save(path: Path, text: str) -> None:
    """Save as editors do: a new file in the place of the old one."""
    time.sleep(0.3)  # the watcher may not be listening yet
    new = path.with_suffix(".tmp")
    new.write_text(text)
    new.replace(path)


def test_only_the_case_that_has_changed_is_run(project: Path, started: list[Watched]) -> None:
    watched = Watched(project, "evals", "--agent", "python:agent:ask", "--run-all")
    started.append(watched)
    watched.until("all good: 1 suite")
    watched.until("running weather/paris, weather/oslo")
    watched.until("2 passed")
    file = project / "evals" / "weather.eval.yaml"
    save(file, SUITE.replace('contains "Oslo"', 'contains "rain"'))
    watched.until("running weather/oslo\n")
    output = watched.until("1 passed, 1 did not pass")
    assert "weather/oslo" in output.splitlines()[-4]  # what did not pass comes first, and below it why
    assert "rain" in output
    save(file, SUITE.replace("paris", "Paris!").replace("contains", "containz", 1))
    watched.until("error[EV203]")
    save(file, SUITE)
    watched.until("running weather/oslo\n")
    watched.until("2 passed")
    assert not (project / "evals" / "results").exists()
    assert watched.interrupt() == 0


def test_the_agent_s_code_is_read_anew(project: Path, started: list[Watched]) -> None:
    watched = Watched(project, "evals", "--agent", "python:agent:ask", "--also", "agent.py", "--run-all")
    started.append(watched)
    watched.until("2 passed")
    save(project / "agent.py", AGENT.replace("Paris", "Rome"))
    watched.until("running weather/paris, weather/oslo")
    watched.until("1 passed, 1 did not pass")
    save(project / "agent.py", "def ask(:\n")
    watched.until("error: ")
    save(project / "agent.py", AGENT)
    watched.until("2 passed")


def test_the_project_s_checks_are_read_anew(project: Path, started: list[Watched]) -> None:
    checks = "import evalc\n\n\n@evalc.custom_check\ndef ok(answer):\n    return True\n"
    (project / "own_checks.py").write_text(checks)
    (project / "evalc.toml").write_text('checks = ["own_checks.py"]\n')
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.replace('contains "Oslo"', "check ok()"))
    watched = Watched(project, "evals", "--agent", "python:agent:ask", "--run-all")
    started.append(watched)
    watched.until("2 passed")
    save(project / "own_checks.py", checks.replace("True", "False"))
    watched.until("running weather/paris, weather/oslo")
    watched.until("1 passed, 1 did not pass")


def test_without_an_agent_it_only_checks(project: Path, started: list[Watched]) -> None:
    watched = Watched(project)
    started.append(watched)
    watched.until("all good: 1 suite")
    save(project / "evals" / "new.eval.yaml", SUITE.replace("weather", "other").replace("message", "mesage"))
    watched.until("error[EV201]")
    (project / "evals" / "new.eval.yaml").unlink()
    watched.until("all good: 1 suite\n")
    save(project / "evalc.toml", "strict = 1\n")
    watched.until("error")
    save(project / "evalc.toml", "")
    watched.until("all good: 1 suite\n")
    assert watched.interrupt() == 0
    assert "running" not in watched.printed


def test_a_file_in_another_folder_that_is_included_is_watched_too(project: Path, started: list[Watched]) -> None:
    (project / "common").mkdir()
    rules = project / "common" / "rules.eval.yaml"
    rules.write_text("rules:\n  short:\n    - length <= 200 chars\n")
    file = project / "evals" / "weather.eval.yaml"
    file.write_text(f"include: [../common/rules.eval.yaml]\n{SUITE}        - use: short\n")
    watched = Watched(project, "evals/weather.eval.yaml", "--agent", "demo")
    started.append(watched)
    watched.until("2 passed")
    save(rules, rules.read_text().replace("200", "20"))
    watched.until("running weather/oslo\n")  # of two cases, only this one uses the rule
    watched.until("1 passed, 1 did not pass")


def test_on_a_terminal_the_table_is_drawn_anew(project: Path) -> None:
    command = [sys.executable, "-m", "evalc", "watch", "evals", "--agent", "demo", "--run-all"]
    ours, theirs = pty.openpty()
    environ = {**os.environ, "CI": "", "TERM": "xterm"}  # where nothing is drawn anew
    process = subprocess.Popen(command, cwd=project, env=environ, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    drawn = b""
    while b"Ctrl-C ends it" not in drawn:
        drawn += os.read(ours, 65_536)
    process.send_signal(signal.SIGINT)
    assert process.wait(SECONDS) == 0
    os.close(ours)
    assert drawn.count(b"\x1b[2J") == 2
    assert "weather/paris" in drawn.decode()


WAITING = """import time
from pathlib import Path


def ask(message):
    while "Paris" in message and not Path("go").exists():
        time.sleep(0.02)
    return "It is mild in Paris and in Oslo."
"""


def test_a_save_ends_a_run_whose_cases_it_changes(project: Path, started: list[Watched]) -> None:
    (project / "agent.py").write_text(WAITING)
    watched = Watched(project, "evals", "--agent", "python:agent:ask")
    started.append(watched)
    watched.until("running weather/paris, weather/oslo")  # which waits for ever
    file = project / "evals" / "weather.eval.yaml"
    save(file, SUITE.replace("What is the weather in Paris?", "Is it mild?"))
    watched.until("running weather/paris, weather/oslo")
    watched.until("2 passed")
    assert "resume" not in watched.printed  # of what was not kept
    (project / "go").touch()
    save(file, SUITE.replace('contains "Paris"', 'contains "nothing"'))
    watched.until("running weather/paris\n")
    watched.until("1 passed, 1 did not pass")
    assert watched.interrupt() == 0


def test_a_save_that_changes_nothing_lets_the_run_go_on(project: Path, started: list[Watched]) -> None:
    (project / "agent.py").write_text(WAITING)
    watched = Watched(project, "evals", "--agent", "python:agent:ask")
    started.append(watched)
    watched.until("running weather/paris, weather/oslo")
    save(project / "evals" / "weather.eval.yaml", f"# a comment\n{SUITE}")
    time.sleep(1)
    (project / "go").touch()
    watched.until("2 passed")
    assert watched.printed.count("running weather/paris") == 1


def test_verdicts_of_an_earlier_text_are_not_shown_while_a_file_is_broken(
    project: Path, started: list[Watched]
) -> None:
    watched = Watched(project, "evals", "--agent", "demo")
    started.append(watched)
    watched.until("2 passed")
    save(project / "evals" / "other.eval.yaml", "suite: [\n")
    watched.until("1 error in 1 file")
    save(
        project / "evals" / "other.eval.yaml", SUITE.replace("weather\n", "other\n", 1).replace("get_weather", "other")
    )
    said = watched.until("running other/paris, other/oslo")
    assert "weather/paris" not in said


@pytest.mark.parametrize("name", ["p.txt", "p.md", "p.j2", "p.prompt"])
def test_every_file_that_a_suite_is_made_of_is_watched(project: Path, started: list[Watched], name: str) -> None:
    prompt = project / "evals" / name
    prompt.write_text("Say mild {{x}}.\n")
    (project / "evals" / "weather.eval.yaml").write_text(
        f"suite: weather\nprompt_file: {name}\neval:\n  test_cases:\n    - {{name: paris, inputs: {{x: hi}}, validate: "
        "[contains 'mild']}\n"
    )
    watched = Watched(project, "evals", "--agent", "python:agent:ask")
    started.append(watched)
    watched.until("1 passed")
    save(prompt, "Say cold {{x}}.\n")
    watched.until("running weather/paris")


@pytest.mark.parametrize("part", ["evals/bill.txt", "skills/bills/SKILL.md", "skills/mail/SKILL.md", "imported.js"])
def test_skills_and_files_of_agents_and_imports_of_checks_are_watched(
    project: Path, started: list[Watched], part: str
) -> None:
    for skill in ("bills", "mail"):
        (project / "skills" / skill).mkdir(parents=True)
        (project / "skills" / skill / "SKILL.md").write_text(f"---\nname: {skill}\ndescription: Reads\n---\n")
    (project / "evals" / "bill.txt").write_text("1")
    (project / "imported.js").write_text("export const ok = () => true;\n")
    (project / "own.js").write_text('export { ok } from "./imported.js";\n')
    (project / "evalc.toml").write_text('checks = ["own.js"]\n[agent]\nuse = "command:cat"\nskills = ["skills/mail"]\n')
    given = "      files: [bill.txt]\n      skill: ../skills/bills\n      validate:\n"
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.replace("      validate:\n", given, 1))
    watched = Watched(project, "evals", "--agent", "demo")
    started.append(watched)
    watched.until("2 passed")
    save(project / part, (project / part).read_text() + "\n")
    watched.until("running weather/paris, weather/oslo")


def test_another_agent_in_the_configuration_is_asked(project: Path, started: list[Watched]) -> None:
    (project / "other.py").write_text("def ask(message):\n    return 'no'\n")
    (project / "evalc.toml").write_text('agent = "python:agent:ask"\n')
    watched = Watched(project)
    started.append(watched)
    watched.until("2 passed")
    save(project / "evalc.toml", 'agent = "python:other:ask"\n')
    watched.until("running weather/paris, weather/oslo")
    watched.until("2 did not pass")


def test_folders_that_are_moved_are_seen(project: Path, started: list[Watched]) -> None:
    other = project / "evals" / "other"
    other.mkdir()
    (other / "o.eval.yaml").write_text(SUITE.replace("weather\n", "other\n", 1).replace("get_weather", "other"))
    watched = Watched(project, "evals", "--agent", "demo")
    started.append(watched)
    watched.until("4 passed")
    time.sleep(0.3)
    other.rename(project / "elsewhere")
    watched.until("all good: 1 suite\n")
    watched.until("2 passed")
    (project / "elsewhere").rename(project / "evals" / "again")
    watched.until("all good: 2 suites\n")


def test_a_verdict_belongs_to_the_text_that_the_run_has_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    file = project / "evals" / "weather.eval.yaml"
    watcher = Watcher(["evals"], lambda: settings_with(None, {}).sound(), ())
    watcher.look()
    board = watcher.board
    assert board.to_run == board.known
    board.begin(board.known)
    assert [*board.to_run] == []
    # Saved and saved back: the run has read a text that no look has seen.
    file.write_text(SUITE.replace('contains "Paris"', 'contains "nothing"'))
    run = evalc.run("evals", agent=lambda message: "Paris and Oslo", output_dir="out")
    board.end({CaseKey(key_of(suite), case.id): case for suite in run.suites for case in suite.cases})
    file.write_text(SUITE)
    assert [key.id for key in board.to_run] == ["weather/paris"]
    old = next(line for line in board.lines(Screen(color=False, width=100), 40) if "weather/paris" in line)
    assert old.endswith("changed since")


def test_of_several_agents_the_one_that_failed_a_case_is_shown(project: Path, started: list[Watched]) -> None:
    (project / "agent.py").write_text(f"{AGENT}\n\ndef other(message):\n    return 'Oslo'\n")
    agents = ("--agent", "python:agent:other", "--agent", "python:agent:ask")
    watched = Watched(project, "evals", *agents)
    started.append(watched)
    assert "✗ weather/paris" in watched.until("1 passed, 1 did not pass")


def test_flags_that_do_not_go_together(project: Path) -> None:
    command = [sys.executable, "-m", "evalc", "watch", "--no-run", "--run-all"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (2, "error: `--run-all` and `--no-run` cannot go together\n")
