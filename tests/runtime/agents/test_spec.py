"""The kind of agent that `--agent` names."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.extras.demo import DemoAgent
from evalc.runtime.agents import HttpOptions, Sending
from evalc.runtime.agents.http.agent import HttpAgent
from evalc.runtime.agents.process import CommandAgent
from evalc.runtime.agents.python import PythonAgent
from evalc.runtime.agents.spec import AgentSettings, agent_for, secrets_of
from tests.support.asking import ask, failure
from tests.support.servers import answers, echoes, serving


@pytest.mark.parametrize(
    ("spec", "kind", "endpoint"),
    [
        ("http://host/chat", HttpAgent, "http://host/chat"),
        (" HTTPS://user:password@host/chat?k=v ", HttpAgent, "https://host/chat?k=***"),
        ("python:json:dumps", PythonAgent, "python:json:dumps"),
        ("command:cat -u", CommandAgent, "command:cat -u"),
        ("demo", DemoAgent, "demo"),
    ],
)
def test_every_form(spec: str, kind: type, endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    agent = agent_for(spec, settings=AgentSettings(project_root=tmp_path))
    assert type(agent) is kind
    assert agent.endpoint == endpoint


def test_a_url_that_is_none_holds_no_secret_and_says_so() -> None:
    assert secrets_of("https://u:p@[::1", settings=AgentSettings()) == ()
    with pytest.raises(UsageError, match="the agent's URL cannot be read"):
        agent_for("https://[::1", settings=AgentSettings())


@pytest.mark.parametrize("spec", ["", "openai", "ftp://host", "http:/host", "demo:1", "nobody:pass@host", "C:\\agent"])
def test_an_unknown_form_lists_the_known_ones(spec: str) -> None:
    with pytest.raises(UsageError) as caught:
        agent_for(spec, settings=AgentSettings())
    providers = "`openai:MODEL`, `anthropic:MODEL`"
    programs = "`python:module:name`, `command:...`, `claude-code`, `codex`"
    others = f"{programs}, `replay:DIR`, `local`, `local:MODEL.gguf`, `demo`"
    assert f"an agent is one of `http://...`, `https://...`, {providers}, {others}" in str(caught.value)
    assert "pass@" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "host"),
    [
        ("localhost:3000", "localhost:3000"),
        ("localhost", "localhost"),
        ("127.0.0.1:80/chat?key=secret", "127.0.0.1:80"),
        ("api.example.com/chat?key=secret", "api.example.com"),
        ("agent:8080", "agent:8080"),
    ],
)
def test_a_host_without_a_scheme(spec: str, host: str) -> None:
    with pytest.raises(UsageError) as caught:
        agent_for(spec, settings=AgentSettings())
    assert str(caught.value) == f"`{host}` lacks `http://`: write `http://{host}`"


def test_secrets_are_found_in_urls_and_headers() -> None:
    headers = {"Authorization": "Bearer token-1", "X-API-Key": "key-1", "Accept": "text/plain"}
    found = secrets_of("https://user:p%40ss@host/?model=m", settings=AgentSettings(headers=headers))
    assert set(found) == {"Bearer token-1", "token-1", "key-1", "p%40ss", "p@ss", "user:p@ss"}
    assert secrets_of("command:x", settings=AgentSettings()) == ()


def test_settings_reach_the_http_agent() -> None:
    settings = AgentSettings(headers={"X-Key": "k"}, http=HttpOptions(sending=Sending(retries=0, max_body=20)))
    with serving(answers({}, status=503)) as server:
        failure(agent_for(server.url, settings=settings))
        assert len(server.requests) == 1
        assert server.requests[0].headers["x-key"] == "k"
    with serving(echoes) as server:
        agent = agent_for(server.url, settings=settings)
        assert ask(agent, "m").response == "m"
        assert "longer than 20 bytes" in str(failure(agent, "m" * 20))
