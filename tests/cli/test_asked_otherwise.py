"""A run is resumed, and shards are merged, only where agents, judges and the player are asked in the same way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalc.config import ALL_KEYS
from evalc.setup import runner
from tests.cli.conftest import Invoke, Outcome
from tests.support.servers import Server, answers, serving

SUITE = """\
suite: weather
eval:
  test_cases:
    - {name: paris, message: Paris?, validate: [contains "Paris"]}
    - {name: lima, message: Lima?, validate: [non-empty]}
"""
SECRET = "hunter2-token-of-mine"


@pytest.fixture
def agent(project: Path) -> Iterator[Server]:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    with serving(answers({"response": "Paris", "alt": "Paris"})) as server:
        yield server


def configure(project: Path, text: str) -> None:
    (project / "evalc.toml").write_text(text)


def torn(project: Path, *, asked: bool = True) -> str:
    """The id of the only run, with one case done; `asked` keeps how the agent was asked."""
    (journal,) = (project / "evals" / "results").glob("*/journal.jsonl")
    header, first, *_ = journal.read_bytes().splitlines(keepends=True)
    if not asked:
        read = json.loads(header)
        del read["options"]["asked"]
        header = json.dumps(read).encode() + b"\n"
    journal.write_bytes(header + first)
    return journal.parent.name


def refused(outcome: Outcome, *said: str) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    for each in said:
        assert each in outcome.err


CHANGES = [
    ('body = {q = "{{message}}"}', 'body = {q = "{{message}}", mode = "bad"}', "`agent.body` is another one now"),
    ("", 'body = {q = "{{message}}"}', "`agent.body` is another one now"),
    ('response = {response = "response"}', 'response = {response = "alt"}', "`agent.response` is another one now"),
    ("", 'stream = {text = "delta"}', "`agent.stream` is another one now"),
    ("", 'method = "PUT"', "`agent.method` was not given and is PUT now"),
    ("", "accepted_statuses = [202]", "`agent.accepted_statuses` was not given and is 202 now"),
    ("", "redirects = 3", "`agent.redirects` was not given and is 3 now"),
    ("", f'headers = {{Authorization = "Bearer {SECRET}"}}', "`agent.headers` was not given and is authorization now"),
    ('headers = {A = "1"}', 'headers = {A = "1", B = "2"}', "`agent.headers` was a and is a, b now"),
]


@pytest.mark.parametrize(("before", "after", "said"), CHANGES)
def test_options_of_the_agent_decide_whether_a_run_is_resumed(
    invoke: Invoke, project: Path, agent: Server, before: str, after: str, said: str
) -> None:
    configure(project, f"[agent]\n{before}\n")
    invoke("run", "--agent", agent.url)
    run = torn(project)
    configure(project, f"[agent]\n{after}\n")
    refused(invoke("run", "--resume", run), f"the run `{run}` cannot be resumed: ", said)
    configure(project, f"[agent]\n{before}\n")
    assert "the run was resumed: 1 of 2 cases" in invoke("run", "--resume", run).out


@pytest.mark.parametrize(("before", "after", "said"), CHANGES)
def test_options_of_the_agent_decide_whether_shards_are_merged(
    invoke: Invoke, project: Path, agent: Server, before: str, after: str, said: str
) -> None:
    for shard, text in (("1/2", before), ("2/2", after)):
        configure(project, f"[agent]\n{text}\n")
        invoke("run", "--agent", agent.url, "--shard", shard, "--output-dir", "parts")
    parts = sorted(map(str, Path("parts").glob("*/")))
    refused(invoke("merge", *parts), "is not a part of the same run", said)


def test_the_query_of_an_agent_counts_though_no_result_shows_it(invoke: Invoke, project: Path, agent: Server) -> None:
    parts: list[str] = []
    for shard, model in (("1/2", "small"), ("2/2", "large")):
        invoke("run", "--agent", f"{agent.url}?model={model}", "--shard", shard, "--output-dir", f"parts/{model}")
        parts += map(str, Path("parts", model).glob("*/"))
    assert "?model=***" in Path(parts[0], "journal.jsonl").read_text()
    refused(invoke("merge", *parts), "is not a part of the same run", "`agent` is another one now")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('headers = {Authorization = "Bearer ${TOKEN}"}', 'headers = {authorization = "Bearer ${TOKEN}x"}'),
        ("", "retries = 5"),
        ("", 'connect_timeout = "900ms"'),
        ("", '\n[model]\ntemperature = 0.5\n[openai]\nbase_url = "http://localhost:1"'),
        ("", '\n[judge]\nmax_tokens = 5\nheaders = {A = "1"}'),
    ],
)
def test_options_that_change_neither_request_nor_reading_may_change(
    invoke: Invoke, project: Path, agent: Server, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    configure(project, f"[agent]\n{before}\n")
    invoke("run", "--agent", agent.url)
    run = torn(project)
    configure(project, f"[agent]\n{after}\n")
    assert "the run was resumed: 1 of 2 cases" in invoke("run", "--resume", run).out


def test_models_judges_and_the_player_count_too(
    invoke: Invoke, project: Path, agent: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    flags = ("--agent", "openai:m", "--judge", "anthropic:j", "--user", "openai:u", "--timeout", "2s")
    quick = f'[agent]\nretries = 0\n[openai]\nbase_url = "{agent.url}"\n'
    configure(project, quick)
    invoke("run", *flags)
    run = torn(project)
    tools = project / "tools.json"
    tools.write_text('[{"name": "book", "description": "Books."}]')
    configure(
        project,
        f'tools = "tools.json"\n{quick}api = "responses"\nheaders = {{X = "{SECRET}"}}\n'
        '[model]\nsystem_prompt = "Be brief."\ntemperature = 0.5\nextra_body = {top_p = 0.9}\n'
        '[judge]\ntemperature = 1\ntimeoutMs = 9\n[anthropic]\nbase_url = "http://localhost:1"\n',
    )
    refused(
        invoke("run", "--resume", run),
        "`openai.api` was not given and is responses now",
        "`openai.headers` was not given and is x now",
        "`model.system_prompt` is another one now",
        "`model.temperature` was not given and is 0.5 now",
        "`model.extra_body` is another one now",
        "`judge.temperature` was not given and is 1 now",
        "`judge.timeout` in milliseconds was not given and is 9 now",
        "`anthropic.base_url` is another one now",
        "`tools` is another one now",
    )


def test_no_value_that_may_be_a_secret_is_in_the_journal(invoke: Invoke, project: Path, agent: Server) -> None:
    configure(
        project,
        f'[agent]\nheaders = {{X-Thing = "{SECRET}"}}\nbody = {{q = "{{{{message}}}}", t = "{SECRET}"}}\n',
    )
    invoke("run", "--agent", agent.url)
    (journal,) = (project / "evals" / "results").glob("*/journal.jsonl")
    header = journal.read_text().splitlines()[0]
    assert SECRET not in header
    kept: dict[str, Any] = json.loads(header)["options"]["asked"]
    assert kept["agent.headers"] == ["x-thing"]
    assert list(kept["agent.body"]) == ["hash"]


def test_a_run_of_an_earlier_evalc_is_resumed_with_a_warning(invoke: Invoke, project: Path, agent: Server) -> None:
    invoke("run", "--agent", agent.url)
    run = torn(project, asked=False)
    outcome = invoke("run", "--resume", run)
    assert outcome.code == 0
    assert f"an earlier evalc began the run `{run}` and did not keep how the agent was asked" in outcome.out


def test_every_setting_of_agents_models_and_judges_is_compared_or_known_not_to_matter() -> None:
    """A new setting belongs into one of the two."""
    harmless = {
        "agent.use",  # compared as the agent of the run
        "agent.retries",
        "agent.verify_tls",
        "agent.ca_file",
        "agent.connect_timeout",
        "openai.key_variable",
        "anthropic.key_variable",
        "local.load_timeout",
        "judge.use",  # compared as `--judge`
        "judge.cache",
        "judge.samples",  # compared as the number of judgements
        "judge.rubrics",  # compared as `--rubrics always`
    }
    compared = {
        *(f"agent.{key}" for key in (*runner.HTTP, *runner.COMMAND)),
        *(f"model.{key}" for key in runner.MODEL),
        *(f"judge.{key}" for key in (*runner.JUDGE, "timeout", "headers")),
        *(f"{name}.{key}" for name in ("openai", "anthropic") for key in runner.PROVIDER),
        *(f"local.{key}" for key in runner.LOCAL),
    }
    tables = {name for name in ALL_KEYS if "." in name}
    assert tables == (compared & tables) | harmless
    assert not compared & harmless
