"""Agents by name in a configuration: what their tables take, what holds for each, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.config import Settings
from evalc.config.load import load_settings
from evalc.diagnostics.render import render_text
from tests.config.test_settings import SECRET, folder, load, problems_of

__all__ = ["folder"]

BOTH = """
agent = ["fast", "desk", "demo"]
model.temperature = 1
model.seed = 7

[agents.fast]
use = "openai:small"
temperature = 0
base_url = "http://localhost:8080/v1"
headers = { X-Team = "${TEAM}" }

[agents.desk]
use = "https://desk.example/chat"
body = { q = "{{message}}" }
connect_timeout = "3s"

[agent]
method = "PUT"
headers = { Authorization = "Bearer ${DESK}" }
"""


@pytest.fixture
def both(folder: Path) -> Settings:
    return load(
        folder, BOTH.replace('agent = ["fast", "desk", "demo"]\n', "").replace("[agent]", "[agent]\nuse = 'fast'")
    )


def test_the_settings_of_all_hold_where_a_table_says_nothing(both: Settings) -> None:
    fast, desk = both.for_agent("fast"), both.for_agent("desk")
    assert (fast.agent.use, desk.agent.use) == (("openai:small",), ("https://desk.example/chat",))
    assert (fast.model.temperature, fast.model.seed, desk.model.temperature) == (0, 7, 1)
    assert fast.providers["openai"].base_url == "http://localhost:8080/v1"
    assert fast.providers["openai"].headers == (("X-Team", "${TEAM}"),)
    assert fast.providers["anthropic"].headers == ()
    assert (desk.agent.method, desk.agent.connect_timeout_ms) == ("PUT", 3000)
    assert desk.agent.headers == (("Authorization", "Bearer ${DESK}"),)
    assert desk.agent.body is not None


def test_an_agent_without_a_table_has_the_settings_of_all(both: Settings) -> None:
    assert both.for_agent("openai:small").model.temperature == 1
    assert both.for_agent("openai:small").agent.use == ("openai:small",)


def test_the_variables_of_every_agent_are_secrets_whether_or_not_it_is_used(both: Settings) -> None:
    assert set(both.secret_values({"TEAM": "red-team", "DESK": "desk-token"})) == {"red-team", "desk-token"}


@pytest.mark.parametrize("name", ["evalc.config.json", "pyproject.toml"])
def test_every_kind_of_configuration_names_agents(folder: Path, name: str) -> None:
    text = '{"agents": {"fast": {"use": "demo"}}}' if "json" in name else "[tool.evalc.agents.fast]\nuse = 'demo'\n"
    assert load(folder, text, name).for_agent("fast").agent.use == ("demo",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[agents.fast]\nuse='http://a/'\nretires = 1",
            "3:1: error[EV621]: `retires` is not a key of an agent behind a URL",
        ),
        (
            "[agents.fast]\nuse='http://a/'\ntemperature = 1",
            "3:1: error[EV621]: `temperature` is not a key of an agent behind a URL",
        ),
        ("[agents.fast]\nuse='openai:m'\nbody = {}", "3:1: error[EV621]: `body` is not a key of a model of OpenAI"),
        (
            "[agents.fast]\nuse='anthropic:m'\napi = 'chat'",
            "3:1: error[EV621]: `api` is not a key of a model of Anthropic",
        ),
        (
            "[agents.fast]\nuse='local'\nretries = 1",
            "3:1: error[EV621]: `retries` is not a key of a model on this machine",
        ),
        (
            "[agents.fast]\nuse='python:a:b'\nseed = 1",
            "3:1: error[EV621]: `seed` is not a key of an agent of the kind `python`",
        ),
        (
            "[agents.fast]\nretries = 1",
            "1:13: error[EV623]: `agents.fast` must be a table with `use`, which says what the agent is",
        ),
        ("[agents.fast]\nuse = 3", "2:7: error[EV622]: `use` must be a text, not a number"),
        ("[agents.fast]\nuse = ' '", "2:7: error[EV623]: `use` must be a text that is not empty"),
        (
            "[agents.fast]\nuse='local'\ntemperature='hot'",
            "3:13: error[EV622]: `temperature` must be a number, not a text",
        ),
        (
            "[agents.fast]\nuse='demo'\n[agents.safe]\nuse = 'fast'",
            "4:7: error[EV623]: `use` must be what the agent is, and not the name of another",
        ),
        ("agents.fast = 'demo'", "1:15: error[EV622]: `agents.fast` must be a table, not a text"),
        ("agents = 'demo'", "1:10: error[EV622]: `agents` must be a table of agents, not a text"),
        (
            "[agents.demo]\nuse='demo'",
            "1:9: error[EV623]: `agents.demo` must be another name: `demo` is a kind of agent",
        ),
        (
            "[agents.OpenAI]\nuse='demo'",
            "1:9: error[EV623]: `agents.OpenAI` must be another name: `openai` is a kind of agent",
        ),
        (
            "[agents.'a b']\nuse='demo'",
            "1:9: error[EV623]: `agents.a b` must be a name of letters, digits, `.`, `_` and `-`",
        ),
        (
            "[agents.'python:x']\nuse='demo'",
            "1:9: error[EV623]: `agents.python:x` must be a name of letters, digits, `.`, `_` and `-`",
        ),
        (
            "[agents.fast]\nuse='http://a/'\nconnect_timeout='1s'\nconnectTimeoutMs=1",
            "4:1: error[EV684]: `connectTimeoutMs` and `connect_timeout` are two names of one setting",
        ),
    ],
)
def test_every_mistake_in_a_table_is_found_at_its_place(folder: Path, text: str, problem: str) -> None:
    assert problems_of(folder, text) == [f"evalc.toml:{problem}"]


def test_two_agents_may_say_the_same(folder: Path) -> None:
    table = "use = 'http://a/'\nresponse = {response = 'a'}\nretries = 1\n"
    settings = load(folder, f"[agents.a]\n{table}[agents.b]\n{table}")
    assert settings.for_agent("a").agent.response == settings.for_agent("b").agent.response


def test_a_misspelt_key_has_the_near_name_and_a_key_of_the_top_its_place(folder: Path) -> None:
    (folder / "evalc.toml").write_text("[agents.fast]\nuse='openai:m'\ntemprature = 1\nconcurrency = 2\nbody = 1\n")
    misspelt, top, body = load_settings(folder).problems
    assert "did you mean `temperature`?" in render_text([misspelt])
    assert "`concurrency` belongs at the top" in render_text([top])
    assert "the keys of a model of OpenAI are `use`, `system_prompt`, `temperature`" in render_text([body])


@pytest.mark.parametrize(
    "text",
    [
        f"[agents.fast]\nuse='http://a/'\nheaders = {{ 'A B' = '{SECRET}' }}",
        f"[agents.fast]\nuse='http://a/'\nhaeders = {{ A = '{SECRET}' }}",
        f"[agents.fast]\nuse='openai:m'\nextra_body = '{SECRET}'",
        f"agents.fast = '{SECRET}'",
        f"agents = '{SECRET}'",
        f"agents = ['{SECRET}']",
    ],
)
def test_a_secret_of_an_agent_is_not_shown(folder: Path, text: str) -> None:
    (folder / "evalc.toml").write_text(text)
    problems = load_settings(folder).problems
    assert problems
    assert SECRET not in render_text(problems)


def test_a_harmless_value_of_an_agent_is_shown(folder: Path) -> None:
    (folder / "evalc.toml").write_text("[agents.fast]\nuse='openai:m'\ntemperature = 'hot'")
    assert "temperature = 'hot'" in render_text(load_settings(folder).problems)


def test_a_repr_has_no_secret(both: Settings) -> None:
    assert "Bearer" not in repr(both.agents)
    assert "Bearer" not in repr(both)
