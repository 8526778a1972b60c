"""`--retry-errors`, and runs that stop: after `--max-errors`, or since nobody can be reached."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

import evalc
from tests.cli.conftest import Invoke
from tests.support.servers import answers, serving

HICCUPS = """\
from pathlib import Path

asked = Path("asked.txt")


def answer(message):
    with asked.open("a") as file:
        file.write(message + "\\n")
    if Path(f"broken-{message}").exists():
        raise RuntimeError("a hiccup")
    return "no" if message == "two" else "yes"
"""


def suite_of(*names: str, name: str = "s", more: str = "") -> str:
    cases = "".join(f"    - {{name: {each}, message: {each}, validate: [contains 'yes']{more}}}\n" for each in names)
    return f"suite: {name}\neval:\n  test_cases:\n{cases}"


@pytest.fixture
def hiccups(project: Path) -> Path:
    """A project whose agent breaks for the messages that a file names; one, two and three are asked."""
    (project / "evals" / "weather.eval.yaml").unlink()
    (project / "agent.py").write_text(HICCUPS)
    (project / "evals" / "s.eval.yaml").write_text(suite_of("one", "two", "three"))
    return project


def asked(project: Path) -> list[str]:
    """The messages that were sent since the last look."""
    file = project / "asked.txt"
    lines = file.read_text().split() if file.exists() else []
    file.unlink(missing_ok=True)
    return sorted(lines)


def statuses(out: str) -> dict[str, str]:
    return {case["id"]: case["status"] for suite in json.loads(out)["suites"] for case in suite["cases"]}


def lines_of(project: Path) -> list[dict[str, Any]]:
    (journal,) = (project / "evals" / "results").glob("*/journal.jsonl")
    return [json.loads(line) for line in journal.read_bytes().splitlines()]


def test_only_what_ended_in_error_is_asked_again_into_the_same_run(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "broken-three").touch()
    assert invoke("run", "--agent", "python:agent:answer").code == 3
    assert asked(hiccups) == ["one", "three", "two"]
    before = lines_of(hiccups)
    (hiccups / "broken-three").unlink()
    again = invoke("run", "--resume", "latest", "--retry-errors", "--json")
    assert again.code == 1  # `two` has failed, which is no error
    assert statuses(again.out) == {"s/one": "passed", "s/two": "failed", "s/three": "passed"}
    assert asked(hiccups) == ["three"]
    after = lines_of(hiccups)
    assert after[: len(before)] == before  # the journal is only appended to
    assert [line["result"]["id"] for line in after[len(before) :]] == ["s/three"]
    assert statuses(invoke("show", "latest", "--json").out) == statuses(again.out)
    assert statuses(invoke("rescore", "latest", "--json").out) == statuses(again.out)


def test_a_run_says_how_many_cases_it_asks_again(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "broken-three").touch()
    invoke("run", "--agent", "python:agent:answer")
    said = invoke("run", "--resume", "latest").out
    assert "the run was complete: no case was run again" in said
    assert "`--retry-errors` runs the case again that ended in error" in said
    again = invoke("run", "--resume", "latest", "--retry-errors")
    assert again.code == 3
    assert "the run was resumed: 2 of 3 cases were done before, and 1 case that had ended in error is run again" in (
        again.out
    )
    (hiccups / "broken-three").unlink()
    invoke("run", "--resume", "latest", "--retry-errors")
    assert asked(hiccups).count("three") == 3
    said = invoke("run", "--resume", "latest", "--retry-errors").out
    assert "the run was complete" in said
    assert "--retry-errors" not in said
    assert asked(hiccups) == []


def test_errors_are_only_retried_of_a_run_that_is_named(invoke: Invoke, hiccups: Path) -> None:
    outcome = invoke("run", "--agent", "python:agent:answer", "--retry-errors")
    assert outcome.code == 2
    assert "`--retry-errors` runs the cases of an earlier run again: name it with `--resume RUN`" in outcome.err
    assert asked(hiccups) == []
    with pytest.raises(evalc.UsageError, match="--resume"):
        evalc.run("evals", agent="demo", retry_errors=True)


def test_python_retries_errors_by_the_same_names(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "broken-one").touch()
    invoke("run", "--agent", "python:agent:answer")
    (hiccups / "broken-one").unlink()
    again = evalc.run(resume="latest", retry_errors=True)
    assert [case.status for case in again.cases] == ["passed", "failed", "passed"]


def test_a_rescored_run_has_no_errors_to_retry_and_says_where_to(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "broken-one").touch()
    invoke("run", "--agent", "python:agent:answer")
    (run,) = (hiccups / "evals" / "results").glob("*/")
    invoke("rescore", "latest")
    outcome = invoke("run", "--resume", "latest", "--retry-errors")
    assert outcome.code == 2
    assert f"it was made by `evalc rescore {run.name}`: resume that run, and rescore it again" in outcome.err


def test_a_merged_run_is_asked_again_where_a_shard_had_errors(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "broken-one").touch()
    folders = []
    for shard in ("1/2", "2/2"):
        assert invoke("run", "--agent", "python:agent:answer", "--shard", shard).code in (0, 1, 3)
        folders.append(str(max((hiccups / "evals" / "results").glob("*/"))))
    assert invoke("merge", *folders).code == 3
    (hiccups / "broken-one").unlink()
    asked(hiccups)
    again = invoke("run", "--resume", "latest", "--retry-errors", "--json")
    assert statuses(again.out) == {"s/one": "passed", "s/two": "failed", "s/three": "passed"}
    assert asked(hiccups) == ["one"]


def test_a_repeated_case_in_error_has_all_its_attempts_again(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "evals" / "s.eval.yaml").write_text(suite_of("one", "three", more=", repeat: 3, require: 2"))
    (hiccups / "broken-three").touch()
    assert invoke("run", "--agent", "python:agent:answer").code == 3
    asked(hiccups)
    (hiccups / "broken-three").unlink()
    again = invoke("run", "--resume", "latest", "--retry-errors")
    assert again.code == 0
    assert asked(hiccups) == ["three"] * 3


def test_the_rubric_tier_runs_once_nothing_before_it_fails_any_more(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "judge.py").write_text("def judge(exhibit):\n    return exhibit['question']['maxScore']\n")
    (hiccups / "evals" / "s.eval.yaml").write_text(suite_of("one"))
    judged = """validate: ['judge "Is it kind?" >= 4/5']"""
    (hiccups / "evals" / "r.eval.yaml").write_text(
        f"suite: r\ntier: rubric\neval:\n  test_cases:\n    - {{name: tone, message: tone, {judged}}}\n"
        f"    - {{name: kept, message: x, skip: later, {judged}}}\n"
    )
    (hiccups / "broken-one").touch()
    flags = ("--agent", "python:agent:answer", "--judge", "python:judge:judge")
    first = invoke("run", *flags)
    assert (first.code, asked(hiccups)) == (3, ["one"])
    (hiccups / "broken-one").unlink()
    again = invoke("run", "--resume", "latest", "--retry-errors", "--json")
    assert asked(hiccups) == ["one", "tone"]
    assert set(statuses(again.out)) == {"s/one", "r/tone"}


def test_a_conversation_that_broke_begins_anew(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "evals" / "s.eval.yaml").write_text(
        "suite: s\neval:\n  test_cases:\n    - {name: talk, turns: [{say: one}, {say: three}], validate: [non-empty]}\n"
        "    - {name: last, message: two, validate: [contains 'no']}\n"
    )
    (hiccups / "broken-three").touch()
    assert invoke("run", "--agent", "python:agent:answer", "-x").code == 3  # so that its turns are still kept
    assert asked(hiccups) == ["one", "three"]
    (hiccups / "broken-three").unlink()
    assert invoke("run", "--resume", "latest", "--retry-errors").code == 0
    assert asked(hiccups) == ["one", "three", "two"]


def test_gates_are_judged_anew_over_what_was_retried(invoke: Invoke, hiccups: Path) -> None:
    (hiccups / "broken-three").touch()
    gate = ("--min-pass-rate", "0.6")
    assert invoke("run", "--agent", "python:agent:answer", *gate).code == 3
    (hiccups / "broken-three").unlink()
    assert invoke("run", "--resume", "latest", "--retry-errors").code == 0


# --- a run that stops ------------------------------------------------------------------------------------------------


@pytest.fixture
def nobody() -> str:
    """A URL on this machine where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/"


@pytest.fixture
def thirty(project: Path) -> Path:
    """A project with thirty cases, and requests that are sent once."""
    (project / "evals" / "weather.eval.yaml").write_text(suite_of(*(f"c{number}" for number in range(30))))
    (project / "evalc.toml").write_text("[agent]\nretries = 0\n")
    return project


def test_a_run_stops_whose_agent_cannot_be_reached(invoke: Invoke, thirty: Path, nobody: str) -> None:
    (thirty / "agent.py").write_text(
        "from pathlib import Path\nfrom urllib.request import urlopen\n\ndef answer(message):\n"
        "    return urlopen(Path('url').read_text(), message.encode()).read().decode()\n"
    )
    (thirty / "url").write_text(nobody)
    outcome = invoke("run", "--agent", "python:agent:answer", "--concurrency", "1", "--min-pass-rate", "0")
    assert outcome.code == 3
    assert "20 failed (20 errors)" in outcome.out
    assert "the run stopped: the agent could not be reached in its first 20 cases" in outcome.out
    (folder,) = (thirty / "evals" / "results").glob("*/")
    command = f"evalc run --resume {folder.name} --retry-errors"
    assert f"could not be reached: once it can be, `{command}` runs its cases again, and the rest" in in_one_line(
        outcome.out
    )
    with serving(answers({"response": "yes"})) as server:
        (thirty / "url").write_text(server.url)
        again = invoke(*command.split()[1:])
        assert again.code == 0
        assert len(server.requests) == 30


def in_one_line(said: str) -> str:
    return re.sub(r"\s+", " ", said)


def test_fewer_cases_than_that_only_say_so(invoke: Invoke, project: Path, nobody: str) -> None:
    (project / "evalc.toml").write_text("[agent]\nretries = 0\n")
    outcome = invoke("run", "--agent", nobody, "--output-dir", "elsewhere")
    assert outcome.code == 3
    (folder,) = (project / "elsewhere").glob("*/")
    said = in_one_line(outcome.out)
    command = f"evalc run --resume {folder.name} --output-dir elsewhere --retry-errors"
    assert f"the agent could not be reached: once it can be, `{command}` runs its cases again" in said
    assert "the run stopped" not in said


def test_an_agent_that_answers_once_is_not_given_up(invoke: Invoke, thirty: Path) -> None:
    (thirty / "agent.py").write_text(
        "def answer(message):\n    if message == 'c14':\n        return 'yes'\n    raise ConnectionRefusedError\n"
    )
    outcome = invoke("run", "--agent", "python:agent:answer", "--concurrency", "1")
    assert "1/30 passed | 29 failed (29 errors)" in outcome.out
    assert "could not be reached" not in outcome.out


@pytest.mark.parametrize(
    ("raises", "stops"),
    [
        ("import urllib.request; urllib.request.urlopen('NOBODY')", True),
        ("import httpx; httpx.get('NOBODY')", True),
        ("raise ConnectionResetError", True),
        ("raise FileNotFoundError('x')", False),
        ("raise RuntimeError('refused')", False),
    ],
)
def test_a_python_agent_without_a_connection_cannot_be_reached(
    invoke: Invoke, thirty: Path, nobody: str, raises: str, stops: bool
) -> None:
    (thirty / "agent.py").write_text(f"def answer(message):\n    {raises.replace('NOBODY', nobody)}\n")
    outcome = invoke("run", "--agent", "python:agent:answer", "--concurrency", "1")
    assert outcome.code == 3
    assert ("the run stopped: the agent could not be reached" in outcome.out) == stops


def test_of_several_agents_the_others_go_on(invoke: Invoke, thirty: Path, nobody: str) -> None:
    (thirty / "agent.py").write_text("def answer(message):\n    return 'yes'\n")
    outcome = invoke("run", "--agent", nobody, "--agent", "python:agent:answer", "--concurrency", "2", "--json")
    assert outcome.code == 3
    first, second = json.loads(outcome.out)["suites"]
    assert first["stopped"] == f"the agent `{nobody}` could not be reached in its first 20 cases"
    assert (second["summary"]["passed"], second.get("stopped")) == (30, None)


def test_a_run_stops_after_so_many_errors(invoke: Invoke, thirty: Path) -> None:
    (thirty / "agent.py").write_text(
        "def answer(message):\n    if message in ('c2', 'c4', 'c6'):\n        raise RuntimeError\n    return 'yes'\n"
    )
    flags = ("--agent", "python:agent:answer", "--concurrency", "1")
    outcome = invoke("run", *flags, "--max-errors", "2")
    assert outcome.code == 3
    assert "the run stopped: 2 cases ended in error" in outcome.out
    assert "3/5 passed" in outcome.out
    (thirty / "evalc.toml").write_text("max_errors = 3\n")
    assert "4/7 passed" in invoke("run", *flags).out
    # A run that is resumed counts anew, since whoever resumes it means it to go on.
    assert "the run stopped" not in invoke("run", "--resume", "latest").out


def test_max_errors_takes_the_place_of_the_default(invoke: Invoke, thirty: Path, nobody: str) -> None:
    outcome = invoke("run", "--agent", nobody, "--concurrency", "1", "--max-errors", "25")
    assert "the run stopped: 25 cases ended in error" in outcome.out
    assert invoke("run", "--agent", nobody, "--max-errors", "0").code == 2


def test_a_resumed_run_stops_again_while_nobody_can_be_reached(invoke: Invoke, thirty: Path, nobody: str) -> None:
    text = (thirty / "evals" / "weather.eval.yaml").read_text()
    (thirty / "evals" / "weather.eval.yaml").write_text(
        text + "".join(f"    - {{name: d{number}, message: d, validate: [contains 'yes']}}\n" for number in range(20))
    )
    invoke("run", "--agent", nobody, "--concurrency", "1")
    for _ in range(2):
        outcome = invoke("run", "--resume", "latest", "--retry-errors", "--concurrency", "1")
        assert outcome.code == 3
        assert "20 failed (20 errors)" in outcome.out
        assert "the run stopped" in outcome.out
