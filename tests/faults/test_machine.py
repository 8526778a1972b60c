"""Files, processes and space that this machine lacks are no fault of the agent: the run ends with 70."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.base.errors import MachineError, MachineFailed
from evalc.base.files import write_atomic
from tests.cli.conftest import Invoke, invoke, project
from tests.support.servers import answers, serving

__all__ = ["invoke", "project"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are POSIX's")


@pytest.fixture
def many(project: Path) -> Path:
    """A project with eighty cases."""
    cases = "".join(f"    - {{name: c{number}, message: hi, validate: [contains 'yes']}}\n" for number in range(80))
    (project / "evals" / "weather.eval.yaml").write_text(f"suite: s\neval:\n  test_cases:\n{cases}")
    (project / "agent.py").write_text(
        "import sys\n\ndef answer(message):\n    return 'yes'\n\nif __name__ == '__main__':\n    sys.stdin.read()\n"
        '    print(\'{"response": "yes"}\')\n'
    )
    return project


def run(*flags: str, files: int) -> subprocess.CompletedProcess[str]:
    """`evalc run`, in a process that may have so many files open."""
    command = [sys.executable, "-c", LIMITED, str(files), "run", "evals", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


LIMITED = """\
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
from evalc.cli.main import main
main()
"""


@pytest.mark.parametrize("concurrency", ["64", "auto"])
@pytest.mark.parametrize("files", [32, 48])
def test_no_more_cases_run_at_a_time_than_files_may_be_open(many: Path, concurrency: str, files: int) -> None:
    with serving(answers({"response": "yes"})) as server:
        ended = run("--agent", server.url, "--concurrency", concurrency, files=files)
    assert "80/80 passed" in ended.stdout
    assert ended.returncode == 0
    assert f"at a time, rather than 64: this process may have only {files} files open (`ulimit -n`)" in ended.stdout


def test_programs_need_several_files_each(many: Path) -> None:
    ended = run("--agent", f"command:{sys.executable} agent.py", "--concurrency", "32", files=64)
    assert "80/80 passed" in ended.stdout
    assert "cases at a time, rather than 32" in ended.stdout


def test_enough_files_are_no_matter(many: Path) -> None:
    with serving(answers({"response": "yes"})) as server:
        ended = run("--agent", server.url, "--concurrency", "64", files=200)
    assert (ended.returncode, "ulimit" in ended.stdout) == (0, False)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
def test_a_program_for_which_there_is_no_process_ends_the_run(
    invoke: Invoke, many: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    popen = subprocess.Popen.__init__
    calls = 0

    def begin(self: Any, *arguments: Any, **named: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError(number, os.strerror(number))
        popen(self, *arguments, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", begin)
    outcome = invoke("run", "--agent", f"command:{sys.executable} agent.py", "--concurrency", "1")
    assert outcome.code == 70
    assert f"cannot be started: {os.strerror(number)}: run fewer cases at a time" in outcome.err
    (folder,) = (many / "evals" / "results").glob("*/")
    command = f"evalc run --resume {folder.name}"
    assert f"what was finished is kept, and `{command}` runs the rest" in outcome.err
    resumed = invoke(*command.split()[1:])
    assert (resumed.code, "80/80 passed" in resumed.out) == (0, True)


@pytest.mark.parametrize("call", ["evalc.runtime.agents.process.mkdtemp", "shutil.copyfile"])
def test_an_attempt_without_space_for_its_folder_ends_the_run(
    invoke: Invoke, many: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (many / "skills" / "answering").mkdir(parents=True)
    (many / "skills" / "answering" / "SKILL.md").write_text("---\nname: answering\ndescription: Answers.\n---\n")
    configured = f"[agents.program]\nuse = 'command:{sys.executable} agent.py'\nskills = ['skills/answering']\n"
    (many / "evalc.toml").write_text(configured)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(call, full)
        outcome = invoke("run", "--agent", "program")
    assert outcome.code == 70
    assert "error: the folder of the attempt cannot be made: " in outcome.err
    assert "No space left on device" in outcome.err
    assert "80/80 passed" in invoke("run", "--resume", "latest").out


def test_answers_that_cannot_be_recorded_end_the_run(
    invoke: Invoke, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "agent", raising=False)
    written = 0

    def full(path: Path, data: bytes) -> None:
        nonlocal written
        written += 1
        if written > 10:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_atomic(path, data)

    monkeypatch.setattr("evalc.runtime.agents.recording.write_atomic", full)
    outcome = invoke("run", "--agent", "python:agent:answer", "--record", "rec", "--concurrency", "1")
    assert outcome.code == 70
    assert "nothing can be recorded in `rec" in outcome.err
    assert "No space left on device; what was finished is kept" in outcome.err
    (journal,) = (many / "evals" / "results").glob("*/journal.jsonl")
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()[1:]]
    assert [line["result"]["status"] for line in lines] == ["passed"] * 9  # what was paid for is kept, and no error
    monkeypatch.undo()
    monkeypatch.chdir(many)
    resumed = invoke("run", "--resume", "latest")
    assert (resumed.code, "80/80 passed" in resumed.out) == (0, True)
    assert invoke("run", "--agent", "replay:rec").code == 0


@pytest.mark.parametrize("who", ["agent", "user"])
def test_whoever_cannot_be_opened_for_what_the_machine_lacks_ends_the_run(project: Path, who: str) -> None:
    class Unopened:
        endpoint = "unopened"

        def session(self) -> None:
            raise MachineFailed("a thread cannot be started: can't start new thread")

    talk = "suite: s\neval: {test_cases: [{name: a, user: {goal: Book a room}, validate: [non-empty]}]}\n"
    (project / "evals" / "weather.eval.yaml").write_text(talk)
    players: dict[str, Any] = {"agent": lambda message: "yes", "user": lambda message: "yes"}
    with pytest.raises(MachineError, match="can't start new thread"):
        evalc.run(**players | {who: Unopened()})


def test_only_what_a_machine_lacks_is_its_failure() -> None:
    lacks = OSError(errno.EMFILE, "Too many open files")
    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = lacks
    assert str(MachineFailed.of("it cannot", wrapped)).startswith("it cannot: Too many open files: run fewer cases")
    groups = BaseExceptionGroup("of workers", [BaseExceptionGroup("of one", [wrapped])])
    assert MachineFailed.of("it cannot", groups) is not None
    assert MachineFailed.of("it cannot", RuntimeError("can't start new thread")) is not None
    assert MachineFailed.of("it cannot", OSError(errno.ENOENT, "No such file")) is None
    assert not issubclass(MachineFailed, Exception)
    assert issubclass(MachineError, Exception)
