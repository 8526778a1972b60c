"""`evalc run` with agents that the configuration names: each is asked as its table says, and results have its name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import evalc
from evalc.runtime.agents.pace import Clock, RateLimit
from tests.cli.conftest import Invoke, Outcome
from tests.cli.test_asked_otherwise import SECRET, SUITE, refused, torn
from tests.cli.test_run_agents import foreign
from tests.support.packages import install
from tests.support.servers import Server, answers, serving


@pytest.fixture
def server(project: Path) -> Iterator[Server]:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    with serving(answers({"response": "Paris"})) as server:
        yield server


@pytest.fixture
def both(server: Server, project: Path) -> str:
    """A configuration with two names for one URL."""
    text = f"""
[agents.fast]
use = "{server.url}"
body = {{ mode = "fast", q = "{{{{message}}}}" }}

[agents.safe]
use = "{server.url}"
body = {{ mode = "safe", q = "{{{{message}}}}" }}
headers = {{ Authorization = "Bearer ${{SAFE_TOKEN}}" }}
"""
    (project / "evalc.toml").write_text(text)
    return text


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFE_TOKEN", SECRET)


def sent(server: Server) -> list[tuple[str, str | None]]:
    return sorted({(json.loads(each.body)["mode"], each.headers.get("authorization")) for each in server.requests})


@pytest.mark.usefixtures("both")
def test_each_is_asked_as_its_table_says_and_results_have_its_name(
    invoke: Invoke, project: Path, server: Server
) -> None:
    outcome = invoke("run", "--agent", "fast", "--agent", "safe")
    assert sent(server) == [("fast", None), ("safe", f"Bearer {SECRET}")]
    (folder,) = (file.parent for file in (project / "evals" / "results").glob("*/journal.jsonl"))
    files = sorted(folder.rglob("*.json"))
    assert [file.parent.name for file in files] == ["fast", "safe"]
    assert [json.loads(file.read_bytes())["agentEndpoint"] for file in files] == ["fast", "safe"]
    assert "2 agents side by side" in outcome.out
    assert outcome.out[outcome.out.index("side by side") :].splitlines()[1].split() == ["fast", "safe"]


@pytest.mark.usefixtures("both")
def test_no_secret_of_an_agent_is_written_or_shown(invoke: Invoke, project: Path) -> None:
    said = [
        invoke(*command.split()) for command in ("run --agent safe", "config", "run --agent safe --dry-run", "show")
    ]
    assert all(SECRET not in outcome.out + outcome.err for outcome in said)
    written = [file.read_text() for file in (project / "evals" / "results").rglob("*") if file.is_file()]
    assert written
    assert not [text for text in written if SECRET in text]


def test_the_password_of_an_agent_is_struck_out_where_another_one_says_it(invoke: Invoke, project: Path) -> None:
    table = '[agents.staging]\nuse = "https://evalc:pass-of-staging@staging.example.com/"\n'
    (project / "evalc.toml").write_text(f'{table}[agents.talks]\nuse = "python:{project.name}.py:talks"\n')
    (project / f"{project.name}.py").write_text("def talks(message): return 'Paris, pass-of-staging'\n")
    (case,) = json.loads(invoke("run", "--agent", "talks", "--json").out)["suites"][0]["cases"]
    assert case["details"]["response"] == "Paris, ***"


def test_a_path_into_an_answer_is_shown_as_it_is_written(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text('[agents.fast]\nuse = "http://a/"\nresponse = { response = "a.b" }\n')
    assert 'agents.fast.response    = {"response": "a.b"}' in invoke("config").out


@pytest.mark.usefixtures("both")
def test_the_configuration_shows_what_each_agent_has(invoke: Invoke, server: Server) -> None:
    lines = [line.split("  # ")[0].split(" = ") for line in invoke("config").out.splitlines()]
    shown = {key.strip(): value.strip() for key, value in lines if key.startswith("agents")}
    assert shown == {
        "agents.fast.use": json.dumps(server.url),
        "agents.fast.body": "***",
        "agents.safe.use": json.dumps(server.url),
        "agents.safe.headers": '{"Authorization": "***"}',
        "agents.safe.body": "***",
    }


def test_names_may_be_the_default_and_stand_beside_specs(invoke: Invoke, project: Path, both: str) -> None:
    (project / "evalc.toml").write_text(f'agent = ["fast", "demo"]\n{both}')
    assert [each["agentEndpoint"] for each in json.loads(invoke("run", "--json").out)["suites"]] == ["fast", "demo"]


@pytest.mark.usefixtures("both")
def test_a_call_from_python_takes_names_beside_objects(project: Path, server: Server) -> None:
    run = evalc.run(agent=["fast", "safe", lambda message: "Paris"], output_dir=project / "out")
    assert [suite.agent_endpoint for suite in run.suites][:2] == ["fast", "safe"]
    assert sent(server) == [("fast", None), ("safe", f"Bearer {SECRET}")]


@pytest.mark.usefixtures("both")
def test_a_misspelt_name_has_the_near_one(invoke: Invoke) -> None:
    refused(invoke("run", "--agent", "fsat"), "`fsat` names no kind of agent; did you mean `fast`?", "`safe`, `http")


def test_a_variable_that_only_another_agent_needs_may_be_missing(
    invoke: Invoke, both: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert both
    monkeypatch.delenv("SAFE_TOKEN")
    assert invoke("run", "--agent", "fast").code == 0
    refused(invoke("run", "--agent", "safe"), "the environment variable `SAFE_TOKEN`, which the header `Authorization`")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('mode = "fast"', 'mode = "slow"', "`agents.fast.body` is another one now"),
        ("[agents.safe]", "method = 'PUT'\n[agents.safe]", "`agents.fast.method` was not given and is PUT now"),
        ("Authorization", "X-Key", "`agents.safe.headers` was authorization and is x-key now"),
        (
            "[agents.fast]",
            "[agent]\nredirects = 1\n[agents.fast]",
            "`agents.fast.redirects` was not given and is 1 now",
        ),
        ("[agents.safe]\nuse = ", "[agents.safe]\nuse = 'http://127.0.0.1:9/' #", "`agents.safe.use` was http"),
        (
            "[agents.safe]",
            "timeout = '5s'\n[agents.safe]",
            "`agents.fast.timeout` in milliseconds was not given and is 5000 now",
        ),
    ],
)
def test_a_run_is_not_resumed_where_an_agent_has_changed(
    invoke: Invoke, project: Path, both: str, old: str, new: str, said: str
) -> None:
    invoke("run", "--agent", "fast", "--agent", "safe")
    run = torn(project)
    (project / "evalc.toml").write_text(both.replace(old, new))
    refused(invoke("run", "--resume", run), f"the run `{run}` cannot be resumed: ", said)
    (project / "evalc.toml").write_text(both)
    assert "the run was resumed: 1 of 4 cases" in invoke("run", "--resume", run).out


def test_shards_of_other_settings_are_not_merged(invoke: Invoke, project: Path, both: str) -> None:
    for shard, mode in (("1/2", "fast"), ("2/2", "slow")):
        (project / "evalc.toml").write_text(both.replace('mode = "fast"', f'mode = "{mode}"'))
        invoke("run", "--agent", "fast", "--shard", shard, "--output-dir", "parts")
    parts = sorted(map(str, Path("parts").glob("*/")))
    refused(invoke("merge", *parts), "is not a part of the same run", "`agents.fast.body` is another one now")


@pytest.mark.usefixtures("both")
def test_a_recorded_agent_is_replayed_with_the_settings_of_its_name(
    invoke: Invoke, project: Path, server: Server
) -> None:
    invoke("run", "--agent", "fast", "--agent", "safe", "--record", "recorded")
    folders = sorted((project / "recorded").iterdir())
    assert [folder.name.rpartition("-")[0] for folder in folders] == ["fast", "safe"]
    asked = len(server.requests)
    assert invoke("run", "--agent", f"replay:{folders[0]}").code == 0
    assert len(server.requests) == asked
    settings = project / "evalc.toml"
    settings.write_text(settings.read_text().replace('mode = "fast"', 'mode = "slow"'))
    assert "differs in `body`" in invoke("run", "--agent", f"replay:{folders[0]}").out


@pytest.mark.usefixtures("both")
def test_answers_are_checked_again_and_runs_compared_by_name(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "fast", "--agent", "safe")
    suite = project / "evals" / "weather.eval.yaml"
    suite.write_text(suite.read_text().replace('contains "Paris"', 'contains "Rome"'))
    rescored = invoke("rescore", "latest")
    assert "agent fast\n" in rescored.out
    assert "\n  weather (safe)  " in invoke("diff").out
    report = invoke("report", "latest", "-o", "junit:-").out
    assert report.count('<property name="agent" value="fast" />') == 1


def test_the_password_of_a_named_url_is_written_nowhere(invoke: Invoke, project: Path, server: Server) -> None:
    url = server.url.replace("://", "://me:hunter2pw@")
    (project / "evalc.toml").write_text(f'[agents.fast]\nuse = "{url}?key=k3y-of-mine"\n')
    said = [invoke(*command.split()) for command in ("run --agent fast --record rec", "config", "check evals")]
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    written = [file.read_text() for file in project.rglob("*.json*") if file.is_file()]
    assert any(f'"agents.fast.use":"{server.url}?key=***"' in text for text in written)
    shown = [*written, *(outcome.out + outcome.err for outcome in said)]
    assert not [text for text in shown if "hunter2pw" in text or "k3y-of-mine" in text]


CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris"}, "finish_reason": "stop"}]}


def test_one_model_is_compared_with_itself_and_replayed(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    with serving(answers(CHAT)) as server:
        base = server.url.removesuffix("/chat")
        tables = (
            f'[agents.{name}]\nuse = "openai:m"\ntemperature = {degree}\n'
            for name, degree in (("cold", 0), ("hot", 1.5))
        )
        text = f'model.seed = 7\nopenai.base_url = "{base}"\n' + "".join(tables)
        (project / "evalc.toml").write_text(text)
        assert invoke("run", "--agent", "cold", "--agent", "hot", "--record", "recorded").code == 0
        bodies = [json.loads(request.body) for request in server.requests]
        assert {(body["temperature"], body["seed"]) for body in bodies} == {(0, 7), (1.5, 7)}
        assert "to hot: 2 requests" in invoke("run", "--agent", "hot", "--dry-run").out
    folders = sorted((project / "recorded").iterdir())
    assert invoke("run", "--agent", f"replay:{folders[1]}").code == 0
    (project / "evalc.toml").write_text(text.replace("1.5", "1"))
    assert "differs in `model`" in invoke("run", "--agent", f"replay:{folders[1]}").out


PACED = """
rpm = 500_000
timeout = "4s"

[agents.slow]
use = "python:{module}.py:agent"
rpm = 600_000
timeout = "1m"

[agents.usual]
use = "python:{module}.py:agent"
"""
TAKES_FIVE_SECONDS = """\
from contextlib import asynccontextmanager
from evalc.agents import AgentResponse

class _Agent:
    endpoint = "recorded"

    @asynccontextmanager
    async def session(self):
        yield self

    async def send(self, request):
        return AgentResponse(response="Paris", duration_ms=5000)

agent = _Agent()
"""


@pytest.fixture
def rates(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A configuration of two agents, one of which has a pace of its own; and the rates of the runs."""
    module = f"pacing_{project.name}"
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    (project / f"{module}.py").write_text(TAKES_FIVE_SECONDS)
    (project / "evalc.toml").write_text(PACED.format(module=module))
    made: list[int] = []

    def counted(per_minute: int, clock: Clock) -> RateLimit:
        made.append(per_minute)
        return RateLimit(per_minute, clock)

    monkeypatch.setattr("evalc.runtime.agents.pace.RateLimit", counted)
    return made


def passed(outcome: Outcome) -> dict[str, int]:
    return {suite["agentEndpoint"]: suite["summary"]["passed"] for suite in json.loads(outcome.out)["suites"]}


def test_an_agent_has_a_rate_and_a_time_of_its_own(invoke: Invoke, rates: list[int]) -> None:
    both = ("--agent", "slow", "--agent", "usual", "--json")
    assert passed(invoke("run", *both)) == {"slow": 2, "usual": 0}
    assert rates == [600_000, 500_000]
    rates.clear()
    assert passed(invoke("run", *both, "--rpm", "700000", "--timeout", "1ms")) == {"slow": 0, "usual": 0}
    assert rates == [700_000, 700_000]


def test_a_recorded_agent_has_the_time_of_its_name(invoke: Invoke, project: Path, rates: list[int]) -> None:
    assert passed(invoke("run", "--agent", "slow", "--record", "tape", "--json")) == {"slow": 2}
    (folder,) = (project / "tape").iterdir()
    assert [*passed(invoke("run", "--agent", f"replay:{folder}", "--json")).values()] == [2]
    assert rates == [600_000] * 2


def test_a_rate_and_a_time_are_settings_of_any_agent(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text("[agents.fast]\nuse = 'demo'\nrpm = 600\ntimeout = '90s'\n")
    lines = [line.split("  # ")[0].split(" = ") for line in invoke("config").out.splitlines()]
    shown = {key.strip(): value.strip() for key, value in lines if key.startswith("agents")}
    assert shown == {"agents.fast.use": '"demo"', "agents.fast.rpm": "600", "agents.fast.timeout": '"90s"'}
    (project / "evalc.toml").write_text("[agents.fast]\nuse = 'demo'\nrpm = 0\n")
    assert "`rpm` must be between" in invoke("check").out


def test_the_name_of_an_installed_agent_is_refused(
    invoke: Invoke, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        tmp_path, monkeypatch, module="parroting", source="def parrot(argument): ...\n", agents={"parrot": "parrot"}
    )
    (project / "evalc.toml").write_text("[agents.parrot]\nuse = 'demo'\n")
    refused(invoke("run", "--agent", "parrot"), "the agent `parrot` of the configuration has the name of an installed")


def test_a_journal_from_elsewhere_does_not_choose_among_the_names(invoke: Invoke, project: Path, both: str) -> None:
    (project / "evalc.toml").write_text(both)
    invoke("run", "--agent", "fast")
    elsewhere = foreign(project, {"agent": ["safe"]})
    refused(invoke("run", "--resume", elsewhere), "give `--agent` again")


def test_an_input_that_only_the_body_of_a_named_agent_sends_is_used(invoke: Invoke, project: Path) -> None:
    suite = "suite: w\ninputs: [{name: city, required: false}]\n" + SUITE.partition("\n")[2]
    (project / "evals" / "weather.eval.yaml").write_text(suite)
    assert "EV217" in invoke("check", "evals").out
    agent = "[agents.fast]\nuse = 'http://127.0.0.1:9/'\nbody = { q = '{{message}}', c = '{{input.city}}' }\n"
    (project / "evalc.toml").write_text(agent)
    assert "EV217" not in invoke("check", "evals").out


def test_a_broken_agent_that_nobody_uses_is_found_by_a_check(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text("agent = 'demo'\n[agents.fast]\nuse = 'openai:m'\ntemprature = 0\n")
    outcome = invoke("check", "evals")
    assert outcome.code == 2
    assert "evalc.toml:4:1" in outcome.out + outcome.err
    assert "did you mean `temperature`?" in outcome.out + outcome.err
