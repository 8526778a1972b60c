"""Command agents: what they are given, what they print, and how they end, also before their output has been read."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path

import pytest

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable, UsageError
from evalc.model.answer import AgentRequest, ToolCall
from evalc.runtime.agents.process import CommandAgent, Completed, run_process
from tests.support.asking import ask, ask_all, failure, run_out_of_time

# A child in a session of its own, which nobody ends, keeps the pipe open and writes once its parent has exited.
PRINTS_AFTER_THE_EXIT = """
import os, sys, time
parent = os.getpid()
if os.fork() == 0:
    os.setsid()
    while os.getppid() == parent:
        time.sleep(0.005)
    os.write(1, b"x" * int(sys.argv[1]))
    os._exit(0)
time.sleep(0.1)
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.runtime.agents.process._GRACE_SECONDS", 20)


def printed_late(count: int, folder: Path, *, max_output: int) -> Completed:
    argv = [sys.executable, "-S", "-c", PRINTS_AFTER_THE_EXIT, str(count)]
    return asyncio.run(run_process(argv, b"", folder=folder, max_output=max_output))


def test_output_that_arrives_after_the_exit_is_kept(tmp_path: Path) -> None:
    assert printed_late(4000, tmp_path, max_output=4000).stdout == b"x" * 4000


def test_output_that_arrives_after_the_exit_and_is_too_long_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AgentProtocolError, match=r"^the answer is longer than 4000 bytes$"):
        printed_late(4001, tmp_path, max_output=4000)


def script(folder: Path, source: str) -> CommandAgent:
    """An agent that runs a Python program."""
    (folder / "agent.py").write_text(source)
    return CommandAgent(f"{shlex.quote(sys.executable)} -S agent.py 'an argument'", project_root=folder)


LISTS = """
import json, os, sys
json.load(sys.stdin)
print(json.dumps({"response": " ".join(sorted(os.path.join(d, f) for d, _, fs in os.walk(".") for f in fs))}))
"""


def test_a_case_with_files_or_a_skill_has_a_folder_of_its_own(tmp_path: Path) -> None:
    agent = script(tmp_path, LISTS)
    (tmp_path / "skill" / "evals").mkdir(parents=True)
    for name in ("data.csv", "skill/SKILL.md", "skill/evals/evals.json"):
        (tmp_path / name).touch()
    assert ask(agent).response.split() == ["./agent.py", "./data.csv", "./skill/SKILL.md", "./skill/evals/evals.json"]
    request = AgentRequest(message="Hi", files={"in/data.csv": "data.csv", "all": "skill"}, skill="skill")
    answer = ask(agent, request)
    assert answer.took_files
    assert answer.response.split() == [
        "./.agents/skills/skill/SKILL.md",
        "./all/SKILL.md",
        "./all/evals/evals.json",
        "./in/data.csv",
    ]
    agent.skills = ()
    assert ask(agent).response == ""
    agent.skills = (tmp_path / "skill",)
    assert ask(agent).response == "./.agents/skills/skill/SKILL.md"


def test_an_attempt_that_runs_out_of_time_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    agent = script(tmp_path, "import time\nopen('begun', 'w').close()\ntime.sleep(60)")
    agent.skills = ()
    run_out_of_time(agent, seconds=1)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_conversation_keeps_its_folder(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        "import json, os, sys\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    open(f'turn{number}', 'w').close()\n"
        "    print(json.dumps(os.getcwd() + ' ' + ' '.join(sorted(os.listdir()))), flush=True)\n",
    )
    (tmp_path / "data.csv").touch()
    turns = [AgentRequest(message="Hi", conversation="c", turn=turn, files={"data.csv": "data.csv"}) for turn in (1, 2)]
    (folder, *first), (again, *second) = (answer.response.split() for answer in ask_all(agent, *turns))
    assert (first, second) == (["data.csv", "turn0"], ["data.csv", "turn0", "turn1"])
    assert folder == again
    assert not Path(folder).exists()


def test_json_in_and_json_out(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        "import json, sys\n"
        "message = json.load(sys.stdin)['message']\n"
        "print(json.dumps({'response': message + sys.argv[1], 'toolCalls': [{'name': 't', 'durationMs': 2}]}))",
    )
    response = ask(agent, "Grüße, ")
    assert response.response == "Grüße, an argument"
    assert response.tool_calls == (ToolCall(name="t", duration_ms=2),)


def test_a_process_a_case(tmp_path: Path) -> None:
    first, second = ask_all(script(tmp_path, 'import os; print(\'{"text": "%d"}\' % os.getpid())'), "one", "two")
    assert first.response != second.response


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    assert "is not JSON: a;b $HOME *" in str(failure(CommandAgent("echo 'a;b' '$HOME' '*'", project_root=tmp_path)))


def test_a_program_of_the_project(tmp_path: Path) -> None:
    program = tmp_path / "agent.sh"
    program.write_text('#!/bin/sh\necho \'{"text": "ok"}\'\n')
    program.chmod(0o755)
    agent = CommandAgent("./agent.sh --model x", project_root=tmp_path)
    assert ask(agent).response == "ok"
    assert agent.endpoint == "command:./agent.sh --model x"


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("""print('{"text": "ok", "error": "boom"}')""", AgentError, "the answer has an `error`: boom"),
        ("raise SystemExit(3)", AgentError, "the command ended with exit status 3"),
        ('print(\'{"text": ""}\'); raise SystemExit(1)', AgentError, "the command ended with exit status 1"),
        ("raise ValueError('no luck')", AgentError, "the command ended with exit status 1: ValueError: no luck"),
        ("import os; os.kill(os.getpid(), 9)", AgentError, "the command was ended by SIGKILL"),
        ("import os; os.kill(os.getpid(), 35)", AgentError, "the command was ended by signal 35"),
        ("", AgentProtocolError, "the answer is empty"),
        ("print('hello')", AgentProtocolError, "the answer is not JSON: hello"),
        ("print('[]')", AgentProtocolError, "the answer is a list, not an object or a text: []"),
    ],
)
def test_how_it_ends_badly(tmp_path: Path, source: str, error: type[AgentError], message: str) -> None:
    raised = failure(script(tmp_path, source))
    assert type(raised) is error
    assert str(raised) == message


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "names no program"),
        ("  ", "names no program"),
        ("echo 'x", "No closing quotation"),
        ("no-such-program-here x", "the program `no-such-program-here` does not exist"),
        ("./missing", "the program `./missing` does not exist"),
        ("echo \0", "names no program"),
    ],
)
def test_a_program_that_cannot_run_is_a_usage_error(tmp_path: Path, command: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        CommandAgent(command, project_root=tmp_path)
    assert words in str(caught.value)


def test_a_program_that_the_system_will_not_start(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    raised = failure(CommandAgent("./agent", project_root=tmp_path))
    assert isinstance(raised, AgentUnavailable)
    assert "cannot be started: No such file or directory" in str(raised)
