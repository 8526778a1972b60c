"""`evalc run` with several agents: one run that every command reads, or says plainly why it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SUITE, Invoke
from tests.cli.test_resume import TWO

AGENT = """
def dry(message):
    return "It is dry in Paris"
def kind(message):
    return "Paris, Lima: it is fine"
"""
DRY, KIND = "python:asked:dry", "python:asked:kind"
SIMPLE = TWO.replace("        - tools called [get_weather]\n", "")


@pytest.fixture(autouse=True)
def _asked(project: Path) -> None:
    (project / "asked.py").write_text(AGENT)
    (project / "evals" / "weather.eval.yaml").write_text(SIMPLE)


def runs(project: Path) -> list[Path]:
    return sorted(folder for folder in (project / "evals" / "results").iterdir() if folder.is_dir())


def test_one_run_has_a_folder_for_each_and_stands_them_side_by_side(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", DRY, "--agent", KIND, "--concurrency", "2")
    assert outcome.code == 1
    (folder,) = runs(project)
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.json"))
    assert files == ["python-asked-dry/weather.labeled.json", "python-asked-kind/weather.labeled.json"]
    asked = {file: json.loads((folder / file).read_bytes()) for file in files}
    assert [result["agentEndpoint"] for result in asked.values()] == [DRY, KIND]
    assert {result["runId"] for result in asked.values()} == {folder.name}
    assert "2 suites | 3/4 passed | 1 failed" in outcome.out
    table = outcome.out[outcome.out.index("2 agents side by side") :].splitlines()
    assert [line.split() for line in table[1:6]] == [
        [DRY, KIND],
        ["weather/paris", "✓", "✓"],
        ["weather/lima", "✗", "✓"],
        ["passed", "1/2", "2/2"],
        ["score", "0.50", "1.00"],
    ]
    assert [result["summary"]["score"] for result in asked.values()] == [0.5, 1]
    assert invoke("show").out.split("\n\n")[:3] == outcome.out.split("\n\n")[:3]


def test_the_suites_of_one_agent_stand_in_the_order_of_the_run(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "zoo.eval.yaml").write_text(SIMPLE.replace("suite: weather", "suite: a-zoo"))
    invoke("run", "--agent", DRY, "--agent", KIND)
    shown = [line for line in invoke("show", f"latest/{KIND}").out.splitlines() if line.startswith("═══")]
    assert [line.split()[1] for line in shown] == ["weather", "a-zoo"]


def test_of_one_agent_the_layout_is_as_it_was(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", KIND)
    assert [file.name for file in runs(project)[0].iterdir()].count("weather.labeled.json") == 1
    assert "side by side" not in outcome.out


def test_json_lists_all_and_gates_count_all(invoke: Invoke) -> None:
    outcome = invoke("run", "--agent", DRY, "--agent", KIND, "--json", "--min-pass-rate", "0.75")
    assert outcome.code == 0
    report = json.loads(outcome.out)
    assert [suite["agentEndpoint"] for suite in report["suites"]] == [DRY, KIND]
    assert report["gates"] == [{"gate": "minPassRate", "limit": 0.75, "value": 0.75, "passed": True}]
    assert invoke("run", "--agent", DRY, "--agent", KIND, "--min-pass-rate", "0.8").code == 1


def test_the_configuration_may_list_agents_and_a_flag_wins(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text(f'agent = ["{DRY}", "{KIND}"]\n')
    assert len(json.loads(invoke("run", "--json").out)["suites"]) == 2
    assert len(json.loads(invoke("run", "--json", "--agent", KIND).out)["suites"]) == 1


def test_an_agent_is_named_once(invoke: Invoke) -> None:
    outcome = invoke("run", "--agent", KIND, "--agent", KIND)
    assert (outcome.code, outcome.out) == (2, "")
    assert "`--agent` must be agents that are each named once" in outcome.err
    outcome = invoke("run", "--agent", "http://me:a@127.0.0.1:9/", "--agent", "http://me:b@127.0.0.1:9/")
    assert outcome.code == 2
    assert "results call two agents `http://127.0.0.1:9/`, so nothing would tell theirs apart" in outcome.err


def test_the_rest_of_a_run_is_resumed(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", DRY, "--agent", KIND)
    (folder,) = runs(project)
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 5
    for kept in range(1, 5):
        journal.write_bytes(b"".join(lines[:kept]) + b'{"torn')
        for file in folder.rglob("*.json"):
            file.unlink()
        outcome = invoke("run", "--resume", "latest")
        assert f"{kept - 1} of 4 cases were done before" in outcome.out
        assert len(journal.read_bytes().splitlines()) == 5
        assert len(list(folder.rglob("*.json"))) == 2
    outcome = invoke("run", "--resume", "latest", "--agent", KIND, "--agent", DRY)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"its agent was `{DRY}, {KIND}`, and not `{KIND}, {DRY}`" in outcome.err


def test_a_baseline_of_several_is_matched_by_agent(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", DRY, "--agent", KIND, "--min-pass-rate", "0")
    (before,) = runs(project)
    (project / "evals" / "weather.eval.yaml").write_text(SIMPLE.replace('contains "Lima"', 'contains "Oslo"'))
    for agent, regressions in ((DRY, []), (KIND, ["weather/lima"])):
        for name in ("latest", before.name):
            (suite,) = json.loads(invoke("run", "--agent", agent, "--baseline", name, "--json").out)["suites"]
            assert (suite["baselineRunId"], suite["regressions"]) == (before.name, regressions)
            for file in runs(project)[-1].glob("*.json"):
                file.unlink()
    stranger = invoke("run", "--agent", "demo", "--baseline", before.name)
    assert (stranger.code, stranger.out) == (2, "")
    assert f"is of the agents `{DRY}`, `{KIND}`, and not of `demo`" in stranger.err
    named = str(before / "python-asked-dry")
    assert "baselineRunId" in invoke("run", "--agent", "demo", "--baseline", named, "--json").out


def test_several_agents_are_each_compared_with_a_run_of_one(invoke: Invoke, project: Path) -> None:
    """A run that is named is a baseline for any agent; the latest is one of the same agent."""
    kind = json.loads(invoke("run", "--agent", KIND, "--json").out)["runId"]
    for name, regressions in ((kind, [["weather/lima"], []]), ("latest", [[], []])):
        outcome = invoke("run", "--agent", DRY, "--agent", KIND, "--baseline", name, "--json")
        assert [suite["regressions"] for suite in json.loads(outcome.out)["suites"]] == regressions
    assert [suite["baselineRunId"] for suite in json.loads(outcome.out)["suites"]] == [None, kind]


@pytest.mark.parametrize("run", ["latest", "latest~0", "{id}", "{id:.13}"])
@pytest.mark.parametrize("agents", [("python-asked-dry", "python-asked-kind"), (DRY, KIND)])
def test_two_agents_of_one_run_are_compared(invoke: Invoke, project: Path, run: str, agents: tuple[str, str]) -> None:
    invoke("run", "--agent", DRY, "--agent", KIND)
    (folder,) = runs(project)
    dry, kind = (f"{run.format(id=folder.name)}/{agent}" for agent in agents)
    assert "✓ 1 case newly passes\n" in invoke("diff", dry, kind).out


def test_every_command_takes_an_agent_of_a_run(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", DRY, "--agent", KIND)
    (folder,) = runs(project)
    shown = invoke("show", f"latest/{KIND}")
    assert (shown.code, "| 1 suite | 2/2 passed" in shown.out) == (0, True)
    assert invoke("report", f"latest/{KIND}", "-o", "kind.html").code == 0
    again = invoke("run", "--agent", "demo", "--baseline", f"{folder.name}/{KIND}", "--json")
    (suite,) = json.loads(again.out)["suites"]
    assert suite["baselineRunId"] == folder.name
    assert "1 of 2 cases selected" in invoke("run", "--failed-from", f"{folder.name}/{DRY}", "--dry-run").out


@pytest.mark.parametrize(
    ("run", "why"),
    [
        ("latest/nobody", f"has no agent `nobody`: its agents are `{DRY}`, `{KIND}`"),
        ("latest/../latest", "has no agent `../latest`"),
        ("latest~9/nobody", "so none is `latest~9`"),
        ("nothing/nobody", "is neither a run with results"),
    ],
)
def test_an_agent_that_a_run_does_not_have_is_refused(invoke: Invoke, project: Path, run: str, why: str) -> None:
    invoke("run", "--agent", DRY, "--agent", KIND)
    outcome = invoke("show", run)
    assert (outcome.code, outcome.out) == (2, "")
    assert why in outcome.err


def test_the_answers_of_each_agent_are_checked_again_and_compared(invoke: Invoke, project: Path) -> None:
    first = invoke("run", "--agent", DRY, "--agent", KIND)
    suite = project / "evals" / "weather.eval.yaml"
    suite.write_text(suite.read_text().replace('contains "', 'not contains "'))
    rescored = invoke("rescore", "latest")
    assert rescored.out != first.out
    for agent in (DRY, KIND):
        assert f"agent {agent}\n" in rescored.out
    assert len(runs(project)) == 2
    assert invoke("show").out == rescored.out
    first_id = runs(project)[0].name
    again = json.loads(invoke("rescore", first_id, "--json").out)
    assert [suite["baselineRunId"] for suite in again["suites"]] == [first_id, first_id]
    assert [suite["regressions"] for suite in again["suites"]] == [["weather/paris"], ["weather/paris", "weather/lima"]]
    assert [suite.get("newPasses") for suite in again["suites"]] == [["weather/lima"], []]
    assert not any(suite.get("warnings") for suite in again["suites"])
    compared = invoke("diff", first_id, "latest", "--json")
    found = {each["agentEndpoint"]: each for each in json.loads(compared.out)["suites"]}
    assert list(found) == [DRY, KIND]
    assert compared.code == 1
    changed = {agent: (len(each["regressions"]), len(each["newPasses"])) for agent, each in found.items()}
    assert changed[DRY] != changed[KIND]
    output = invoke("diff").out
    assert f"\n  weather ({DRY})  " in output
    assert f"\n  weather ({KIND})  " in output


def test_cases_that_failed_with_any_agent_are_run_again(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", DRY, "--agent", KIND)
    assert invoke("run", "--lf", "--dry-run", "-q").out == "weather/lima\n"
    assert invoke("run", f"--last-failed={runs(project)[0].name}", "--dry-run", "-q").out == "weather/lima\n"


def test_a_request_is_planned_for_each(invoke: Invoke) -> None:
    out = invoke("run", "--agent", DRY, "--agent", "demo", "--dry-run").out
    assert f"to {DRY}: 2 requests" in out
    assert "to demo: 2 requests" in out


def foreign(project: Path, flags: dict[str, object]) -> str:
    """A run elsewhere, whose journal says what somebody wants it to say."""
    (folder,) = runs(project)
    journal = folder / "journal.jsonl"
    header, *_ = journal.read_bytes().splitlines()
    written = json.loads(header)
    written["flags"] |= flags
    elsewhere = project / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "journal.jsonl").write_text(json.dumps(written) + "\n")
    return str(elsewhere)


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ({"agent": ["command:touch stolen"]}, "--agent"),
        ({"agent": "python:stealing:answer"}, "--agent"),
        ({"agent": ["demo", "http://127.0.0.1:9/"]}, "--agent"),
        ({"agent": [" Command:touch stolen"]}, "--agent"),
        ({"agent": {"a": 1}}, "--agent"),
        ({"judge": ["python:stealing:answer"]}, "--judge"),
        ({"config": "stealing.toml"}, "--config"),
        ({"env_file": "stealing.env"}, "--env-file"),
        ({"record": "stolen"}, "--record"),
    ],
)
def test_a_journal_from_elsewhere_does_not_say_what_is_run_or_read(
    invoke: Invoke, project: Path, flags: dict[str, object], asked: str
) -> None:
    (project / "stealing.py").write_text("open('stolen', 'w')\ndef answer(message): return ''\n")
    (project / "stealing.toml").write_text('agent = "python:stealing:answer"\n')
    (project / "stealing.env").write_text("EVALC_STOLEN=1234567890\n")
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    invoke("run", "--agent", "demo")
    outcome = invoke("run", "--resume", foreign(project, flags))
    assert (outcome.code, outcome.out) == (2, "")
    assert "does not lie among the project's own, so its journal does not decide" in outcome.err
    assert f"give `{asked}` again" in outcome.err
    assert not (project / "stolen").exists()


def test_a_journal_from_elsewhere_captures_no_snapshot(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    invoke("run", "--agent", "demo")
    outcome = invoke("run", "--resume", foreign(project, {"snapshot": "command:touch stolen"}))
    assert outcome.code == 0
    assert not (project / "stolen").exists()


def test_flags_given_again_are_taken(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", KIND)
    elsewhere = foreign(project, {})
    assert invoke("run", "--resume", elsewhere).code == 2
    assert "the run was resumed: 0 of 2 cases" in invoke("run", "--resume", elsewhere, "--agent", KIND).out
