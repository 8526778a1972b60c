"""`evalc run`, against the demo agent."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import evalc
from tests.cli.conftest import SUITE, Invoke

FAILING = SUITE.replace('"Paris" for', '"Lima" for')


def test_the_report_and_where_the_results_are(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 0
    assert outcome.err == "running weather (labeled): 1 case\nread 1 suite\n"
    lines = [re.sub(r"\d+ms", "0ms", line) for line in outcome.out.splitlines()]
    (folder,) = (project / "evals" / "results").glob("*/")
    assert lines == [
        "═══ weather — labeled evals " + "═" * 39,
        "  ✓ weather/paris  0ms",
        "─" * 67,
        "  1/1 passed | 0 failed | 0 skipped assertions | 0ms total",
        "  clarity  1     ████████████████████  1.00 over 1 of 1 case",
        "  score          ████████████████████  1.00",
        "",
        f"run {folder.name} | 1 suite | 1/1 passed | 0 failed | 0 skipped assertions | 0ms total",
        "  score 1.00",
        f"  results in evals/results/{folder.name}",
        "✓ passed: 1 of 1 case",
    ]
    assert json.loads((folder / "weather.labeled.json").read_text())["summary"]["passed"] == 1


def test_a_failed_case_names_its_line(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(FAILING)
    outcome = invoke("run", "evals", "--agent", "demo")
    assert outcome.code == 1
    assert "  ✗ weather/paris" in outcome.out
    assert "\n      at evals/weather.eval.yaml:9:11\n" in outcome.out


def test_json_and_a_file_of_it(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", "demo", "--json", "--output", "report.json")
    report = json.loads(outcome.out)
    assert report["suites"][0]["cases"][0]["id"] == "weather/paris"
    assert json.loads((project / "report.json").read_text()) == report


def test_paths_may_be_given_as_eval(invoke: Invoke, project: Path) -> None:
    (project / "other.eval.yaml").write_text(SUITE.replace("suite: weather", "suite: other"))
    report = json.loads(invoke("run", "--eval", "other.eval.yaml", "--agent", "demo", "--json").out)
    assert [suite["toolName"] for suite in report["suites"]] == ["other"]
    both = json.loads(invoke("run", "evals", "--eval", "other.eval.yaml", "--agent", "demo", "--json").out)
    assert {suite["toolName"] for suite in both["suites"]} == {"weather", "other"}


def test_regressions_since_a_baseline(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo")
    (project / "evals" / "weather.eval.yaml").write_text(FAILING)
    outcome = invoke("run", "--agent", "demo", "--baseline", "latest")
    assert outcome.code == 1
    assert re.search(r"\n  REGRESSIONS \(1\) since \S+\n    ✗ weather/paris\n", outcome.out)


def test_results_go_where_they_should(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo", "--output-dir", "elsewhere").code == 0
    assert len(list((project / "elsewhere").glob("*/"))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: no agent is named: use --agent, "),
        (("--agent", "nope"), "error: `nope` names no kind of agent"),
        (("--agent", "demo", "--concurrency", "0"), "error: `--concurrency` must be between 1 and 10000\n"),
        (("--agent", "demo", "--timeout", "0ms"), "error: `--timeout` must be above 0\n"),
        (("--agent", "demo", "--prompt-id", "nope"), "error: there is no suite of the prompt `nope` in"),
        (("--agent", "demo", "--baseline", "nope"), "error: "),
        (("--agent", "demo", "--seed-manifest", "nope.json"), "error: "),
    ],
)
def test_impossible_requests_are_usage_errors(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    outcome = invoke("run", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(message)
    assert outcome.err.count("\n") == 1


def test_errors_of_the_evals_end_the_run_before_it_begins(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.replace("contains", "containz"))
    outcome = invoke("run", "--agent", "demo")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error[EV203]")
    assert not (project / "evals" / "results").exists()


def test_warnings_of_the_evals_are_separate_from_the_report(invoke: Invoke, project: Path) -> None:
    text = SUITE.replace("- tools called [get_weather]", "- length >= 0 chars")
    (project / "evals" / "weather.eval.yaml").write_text(text)
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 0
    assert "warning[EV5" in outcome.err
    assert "warning[" not in outcome.out


def test_a_broken_agent_exits_with_3(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text("agent.retries = 0\n")
    outcome = invoke("run", "--agent", "http://127.0.0.1:1/chat")
    assert outcome.code == 3
    assert "  ! weather/paris" in outcome.out


def test_a_run_that_is_interrupted_before_it_begins(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> evalc.Run:
        raise KeyboardInterrupt

    monkeypatch.setattr("evalc.setup.runner.to_the_end", interrupted)
    outcome = invoke("run", "--agent", "demo")
    assert (outcome.code, outcome.err) == (130, "error: interrupted; nothing was run\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_is_being_compiled(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    went_on = []

    def compiling(*_: object, **__: object) -> None:
        signal.raise_signal(number)
        went_on.append(True)

    monkeypatch.setattr("evalc.setup.compile.compiled", compiling)
    outcome = invoke("run", "--agent", "demo")
    assert (outcome.code, outcome.err, went_on) == (130, "error: interrupted; nothing was run\n", [])


def test_a_run_behind_an_ampersand_hears_of_termination(project: Path) -> None:
    (project / "hanging.py").write_text("import time\ndef answer(message):\n    time.sleep(600)\n")
    command = f"{shlex.quote(sys.executable)} -m evalc run evals --agent python:hanging:answer & echo $!; wait $!"
    with subprocess.Popen(
        ["/bin/sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdout is not None
        assert shell.stderr is not None
        evalc = int(shell.stdout.readline())
        assert shell.stderr.readline() == "running weather (labeled): 1 case\n"
        os.kill(evalc, signal.SIGTERM)
        _, errors = shell.communicate(timeout=60)
    assert shell.returncode == 130
    assert errors.startswith(
        "0 of 1 case finished\nerror: interrupted; what was finished is kept, and `evalc run --resume "
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_hanging_run_in_order(project: Path, number: signal.Signals) -> None:
    (project / "hanging.py").write_text("import time\ndef answer(message):\n    time.sleep(600)\n")
    command = [sys.executable, "-m", "evalc", "run", "evals", "--agent", "python:hanging:answer"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running weather (labeled): 1 case\n"
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert errors.startswith(
        "0 of 1 case finished\nerror: interrupted; what was finished is kept, and `evalc run --resume "
    )


PRINTING = """
import atexit, os, sys, threading, time
def linger():
    time.sleep(1)
    os.write(1, b"afterwards\\n")
def answer(message):
    print("printed")
    threading.Thread(target=linger, daemon=False).start()
    os.write(1, b"written\\n")
    os.system("echo a child")
    atexit.register(os.write, 1, b"goodbye\\n")
    sys.stdout.close()
    return "Paris"
"""


def test_output_of_an_agent_is_not_in_the_report(project: Path) -> None:
    (project / "printing.py").write_text(PRINTING)
    command = [sys.executable, "-m", "evalc", "run", "evals", "--json", "--agent", "python:printing:answer"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert [suite["toolName"] for suite in json.loads(ended.stdout)["suites"]] == ["weather"]
    assert all(word in ended.stderr for word in ("printed", "written", "a child", "afterwards", "goodbye"))


def test_an_agent_that_cancels_the_run_is_reported(invoke: Invoke, project: Path) -> None:
    (project / "cancelling.py").write_text(
        "import asyncio\nasync def answer(message):\n    [task.cancel() for task in asyncio.all_tasks()]\n"
    )
    outcome = invoke("run", "--agent", "python:cancelling:answer")
    assert outcome.code == 3
    assert outcome.err.endswith(
        "error: the run was cancelled by the agent; what was finished is in the journal, if the run is saved\n"
    )


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("evals", "error: `--output` is to name a file, and `evals` is a folder\n"),
        (
            "evalc.toml/report.json",
            "error: the folder of `--output` cannot be made: `evalc.toml`: File exists\n",
        ),
    ],
)
def test_an_output_that_cannot_be_written_is_noticed_before_the_run(
    invoke: Invoke, project: Path, output: str, message: str
) -> None:
    (project / "evalc.toml").touch()
    outcome = invoke("run", "--agent", "demo", "--output", output)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", message)
    assert not (project / "evals" / "results").exists()


def test_an_output_gets_the_folders_that_it_needs(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo", "--output", "eval/out/report.json").code == 0
    assert (project / "eval" / "out" / "report.json").stat().st_size > 0


def test_an_output_that_fails_after_all_leaves_the_report(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("evalc.report.outputs.write_atomic", full)
    monkeypatch.setattr("evalc.runtime.store.results.write_atomic", lambda path, data: path.write_bytes(b"".join(data)))
    outcome = invoke("run", "--agent", "demo", "--output", "report.json")
    assert outcome.code == 70
    assert "1/1 passed" in outcome.out
    assert outcome.err.endswith("error: `report.json`: No space left on device\n")


def test_results_of_earlier_runs_are_no_evals(invoke: Invoke) -> None:
    assert invoke("run", "--agent", "demo").code == 0
    assert invoke("run", ".", "--agent", "demo", "--output-dir", "elsewhere").code == 0


@pytest.mark.parametrize("option", ["--agent", "--snapshot"])
def test_an_invalid_url_does_not_reveal_its_password(invoke: Invoke, option: str) -> None:
    outcome = invoke("run", "--agent", "demo", option, "http://user:pass/word@127.0.0.1:1/")
    assert outcome.code == 2
    assert option.removeprefix("--") in outcome.err
    assert "pass" not in outcome.err


def test_secrets_in_headers_are_needed_only_by_a_run(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text('agentEndpoint = "http://127.0.0.1:1/"\nagent.headers.X = "${NOT_SET_HERE}"\n')
    assert invoke("check").code == 0
    outcome = invoke("run")
    assert outcome.code == 2
    assert outcome.err == "error: the environment variable `NOT_SET_HERE`, which the header `X` needs, is not set\n"


def test_a_prompt_is_run_by_its_id_from_the_folder_of_prompts(invoke: Invoke, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("hello", "bye"):
        (folder / f"{name}.yaml").write_text(
            f"id: {name}-v1\nprompt: Say {name}\n"
            "eval: {test_cases: [{name: a, inputs: {}, validate: [non-empty]}]}\n"
        )
    outcome = invoke("run", "--prompt-id", "hello-v1", "--prompts", str(folder), "--agent", "demo")
    assert outcome.code == 0
    assert "hello-v1/a" in outcome.out
    assert "bye-v1/a" not in outcome.out


@pytest.mark.usefixtures("project")
def test_a_run_loads_only_what_its_cases_need() -> None:
    script = (
        "import sys\nfrom evalc.cli.main import main\n"
        "sys.argv = ['evalc', 'run', '--agent', 'demo', '-q']\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code\n"
        "assert 'evalc.runtime.run.run' in sys.modules\n"
        "needless = ('opentelemetry', 'requests', 'httpx', 'httpcore', 'jsonschema', 'lark', 'markdown_it',\n"
        "    'evalc.extras.otel', 'evalc.runtime.run.user', 'evalc.runtime.checks.grounding')\n"
        "assert not [name for name in sys.modules if name.startswith(needless)]\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, text=True)
    assert (done.returncode, "Error" in done.stderr) == (0, False), done.stderr
