"""Whole runs with a judge behind a real server: how often it is asked, tiers, ceilings, files and the summary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.config.load import Override, load_settings
from evalc.runtime.agents.recording import ScriptedAgent
from evalc.setup.finished import Run
from evalc.setup.request import RunRequest, Start, compiled_run
from evalc.setup.runner import to_the_end
from tests.support.servers import Behaviour, Exchange, Server, serving

RUBRIC = """
suite: review
tool: review
tier: rubric
eval:
  test_cases:
    - {name: tone, message: Say hello, validate: ['judge "Is it kind?" >= 4/5']}
"""
CHECKS = """
suite: review
tool: review
eval:
  criteria: ["facts (0.5): Says hello", "tone (0.5): Is kind"]
  test_cases:
    - {name: one, message: Say hello, validate: [contains "hello" for facts]}
    - {name: two, message: Say bye, validate: [contains "MISSING" for facts]}
"""
PASSING = CHECKS.replace('"MISSING"', '"bye"')


def judges(score: object = 4, *, tokens: int = 1_000_000) -> Behaviour:
    """A model that gives every answer the same score; its name has a price."""

    async def behave(exchange: Exchange) -> None:
        text = json.dumps({"reason": "Kind.", "score": score})
        usage = {"prompt_tokens": tokens, "completion_tokens": 0, "total_tokens": tokens}
        message = {"role": "assistant", "content": text}
        answer = {"model": "gpt-4o-mini", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        await exchange.respond(200, json.dumps(answer).encode())

    return behave


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "evalc.toml").write_text('judge = "openai:gpt-4o-mini"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def judging(behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(behaviour) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


AGENT = ScriptedAgent({"Say hello": "hello", "Say bye": "bye"})


def run(*texts: str, **more: Any) -> Run:
    paths = []
    for number, text in enumerate(texts):
        path = Path(f"s{number}.eval.yaml")
        path.write_text(text)
        paths.append(path)
    return evalc.run(paths, agent=AGENT, output_dir="results", **more)


def statuses(run: Run) -> dict[str, str]:
    return {case.id: case.status for suite in run.suites for case in suite.cases}


def test_a_second_run_asks_no_judge(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    with judging(judges(), monkeypatch) as server:
        first = run(CHECKS)
        assert len(server.requests) == 2
        second = run(CHECKS)
        assert len(server.requests) == 2, "every judgement was kept"
        run(CHECKS.replace("Is kind", "Is very kind"))
        assert len(server.requests) == 4, "other words are another question"
    (before,), (after,) = first.suites, second.suites
    assert [case.criteria for case in before.cases] == [case.criteria for case in after.cases]
    assert [case.details.judge_usage["cached"] for case in after.cases] == [1, 1]  # type: ignore[index]
    assert (project / ".evalc/cache/judge/.gitignore").exists()


def test_without_the_cache_it_is_asked_each_time(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    (project / "evalc.toml").write_text('judges = ["openai:gpt-4o-mini"]\n[judge]\ncache = false\nsamples = 3\n')
    with judging(judges(), monkeypatch) as server:
        for count in (6, 12):
            run(CHECKS)
            assert len(server.requests) == count
    assert not (project / ".evalc").exists()


def test_criteria_of_cases_that_fail_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    with judging(judges(), monkeypatch):
        finished = run(CHECKS)
    (suite,) = finished.suites
    assert statuses(finished) == {"review/one": "passed", "review/two": "failed"}
    assert [(each.name, each.score, each.scored_by) for each in suite.summary.criteria] == [
        ("facts", 0.5, ("linked",)),
        ("tone", 0.8, ("judge",)),
    ]
    assert suite.summary.score == pytest.approx(0.65, abs=1e-9)
    assert "openai:gpt-4o-mini" in str(suite.judges)


def test_the_rubric_tier_runs_where_the_others_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    with judging(judges(), monkeypatch):
        passed, failed = run(RUBRIC, PASSING), run(RUBRIC, CHECKS)
    assert statuses(passed)["review/tone"] == "passed"
    assert "review/tone" not in statuses(failed)
    rubric = next(suite for suite in failed.suites if suite.tier == "rubric")
    assert [(each.id, each.reason) for each in rubric.skipped] == [
        ("review/tone", "the rubric tier is not run: 1 case of the other tiers did not pass")
    ]
    assert (passed.exit_code, failed.exit_code) == (0, 1)


def test_the_rubric_tier_runs_where_gates_allow_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    gated = CHECKS.replace("eval:", "gates: {min_pass_rate: 0.5}\neval:", 1)
    with judging(judges(), monkeypatch):
        of_suite, of_run = run(RUBRIC, gated), run(RUBRIC, CHECKS, min_pass_rate=0.5)
    for finished in (of_suite, of_run):
        assert statuses(finished)["review/tone"] == "passed"
        assert finished.exit_code == 0


def test_rubrics_always(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    (project / "evalc.toml").write_text('judges = "openai:gpt-4o-mini"\n[judge]\nrubrics = "always"\n')
    with judging(judges(), monkeypatch):
        assert statuses(run(RUBRIC, CHECKS))["review/tone"] == "passed"


def test_a_rubric_tier_alone_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    with judging(judges(3), monkeypatch):
        finished = run(RUBRIC)
    ((case,),) = [suite.cases for suite in finished.suites]
    assert case.error == "judge: `is-it-kind` scored 3 of 5, and at least 4 is needed: Kind."


def test_a_judge_that_dies_half_way_spoils_only_what_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    served = judges()

    async def once(exchange: Exchange) -> None:
        if len(exchange.server.requests) > 1:
            exchange.reset()
        else:
            await served(exchange)

    with judging(once, monkeypatch):
        finished = run(PASSING)
    assert statuses(finished) == {"review/one": "passed", "review/two": "error"}
    (suite,) = finished.suites
    assert str(suite.cases[1].error).startswith("judge: criterion `tone`: openai:gpt-4o-mini at http://127.0.0.1")
    assert [(each.cases, each.of) for each in suite.summary.criteria] == [(1, 2), (1, 2)]
    assert finished.exit_code == 3


def test_the_ceiling_covers_what_judges_cost(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    monkeypatch.setattr("evalc.runtime.agents.model.apis.Endpoint.cost_of", lambda *_: 0.15)
    (project / "evalc.toml").write_text('judge = "openai:gpt-4o-mini"\nmax_cost = 0.2\n')
    with judging(judges(), monkeypatch) as server:
        finished = run(PASSING)
    (suite,) = finished.suites
    assert (len(server.requests), suite.summary.total_cases) == (1, 1)
    assert (suite.summary.estimated_cost_usd, suite.summary.judge_cost_usd) == (0.15, 0.15)
    assert [case.id for case in suite.skipped] == ["review/two"]


def test_secrets_reach_neither_the_judge_nor_the_cache(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    secret = "sk-hunter2-hunter2"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    agent = ScriptedAgent({"Say hello": f"hello, {secret}", "Say bye": "bye"})
    Path("s.eval.yaml").write_text(CHECKS)
    with judging(judges(), monkeypatch) as server:
        evalc.run("s.eval.yaml", agent=agent, output_dir="results")
    assert len(server.requests) == 2
    assert not any(secret.encode() in request.body for request in server.requests)
    written = [path for path in project.rglob("*") if path.is_file()]
    assert any("cache" in path.parts for path in written)
    assert not any(secret.encode() in path.read_bytes() for path in written)


def test_a_repeated_case_adds_up_what_judging_used(monkeypatch: pytest.MonkeyPatch) -> None:
    text = CHECKS.replace("message: Say hello", "message: Say hello, repeat: 3")
    with judging(judges(), monkeypatch) as server:
        finished = run(text)
    (suite,) = finished.suites
    usage = suite.cases[0].details.judge_usage
    assert isinstance(usage, dict)
    assert (usage["requests"], usage["cached"]) == (1, 2), "the same answer is judged once"
    assert len(server.requests) == 2


def test_a_resumed_run_keeps_its_judges(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    from evalc.base.errors import UsageError
    from evalc.runtime.store.resume import find_run

    with judging(judges(), monkeypatch):
        finished = run(PASSING)
        past = find_run(finished.run_id, project / "results")
        (project / "evalc.toml").write_text("")
        settings, _ = load_settings(project, None, [Override("agentEndpoint", "demo", "")])
        start = Start(
            request=RunRequest(flags={}, past=past),
            run_id=past.run_id,
            settings=settings,
            subjects=["s0.eval.yaml"],
            command="",
        )
        with pytest.raises(UsageError, match=r"`--judge` was openai:gpt-4o-mini at .* and is not given now"):
            to_the_end(lambda: compiled_run(start))


def test_the_summary_says_who_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalc.base.terminal import Screen
    from evalc.report import ReportedSuite
    from evalc.report.console import suite_lines
    from tests.report.runs import NOWHERE

    with judging(judges(), monkeypatch):
        finished = run(CHECKS)
    (suite,) = finished.suites
    lines = list(suite_lines(ReportedSuite.of(suite), Screen(width=200, color=False, unicode=True), NOWHERE))
    (tone,) = [line for line in lines if line.startswith("  tone")]
    assert "(judge openai:gpt-4o-mini at http://127.0.0.1" in tone
    (facts,) = [line for line in lines if line.startswith("  facts")]
    assert "judge" not in facts


def test_all_of_it_by_flags(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    import subprocess
    import sys

    (project / "evalc.toml").write_text("")
    (project / "own.py").write_text(
        "def low(query): return 1\ndef high(query): return (5, 'fine')\ndef agent(message): return 'hello bye'\n"
    )
    (project / "s.eval.yaml").write_text(PASSING)
    (project / "r.eval.yaml").write_text(RUBRIC)
    flags = (
        "run s.eval.yaml r.eval.yaml --agent python:own:agent --judge python:own:low --judge python:own:high "
        "--judge-samples 2 --rubrics always --no-judge-cache --json"
    )
    done = subprocess.run(
        [sys.executable, "-m", "evalc", *flags.split()],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr.decode()
    suites: Sequence[Any] = json.loads(done.stdout)["suites"]
    labeled, rubric = suites
    assert labeled["judges"] == ["python:own:low", "python:own:high"]
    judged = labeled["cases"][0]["criteria"][1]["judged"]
    assert (judged["score"], judged["spread"]) == (3, 4)
    assert "the judges disagree on `tone`: 2 assertions scored by the median" in labeled["warnings"]
    assert rubric["cases"][0]["error"].startswith("judge: `is-it-kind` scored 3 of 5, and at least 4 is needed")


def test_every_report_names_a_judge_of_a_panel_that_gives_no_score(project: Path) -> None:
    import subprocess
    import sys

    (project / "evalc.toml").write_text('judge = ["python:own:low", "python:own:high", "python:own:broken"]\n')
    (project / "own.py").write_text(
        "def low(query): return 4\ndef high(query): return 5\ndef broken(query): raise ValueError(len(query))\n"
        "def agent(message): return 'hello bye'\n"
    )
    (project / "s.eval.yaml").write_text(PASSING)
    reports = ("a.txt", "a.json", "a.html", "a.xml", "xunit:b.xml", "a.md", "a.sarif", "github:a.github")
    flags = ["s.eval.yaml", "--agent", "python:own:agent", "--rubrics", "always"]
    message = "the judge `python:own:broken` gave no score (ValueError): 2 assertions scored by the others"

    def ran(*arguments: str) -> str:
        done = subprocess.run([sys.executable, "-m", "evalc", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert message in ran("run", *flags, *(flag for report in reports for flag in ("-o", report)))
    assert message in ran("show", "latest")
    (result,) = (project / "evals" / "results").glob("*/*.labeled.json")
    assert message in json.loads(result.read_text())["warnings"]
    for report in reports:
        assert message in unescape((project / report.rpartition(":")[2]).read_text()), report
    assert message in ran("rescore", "latest")


def test_a_password_of_a_judge_s_url_is_in_no_file(project: Path) -> None:
    (project / "evalc.toml").write_text("")
    (project / "s.eval.yaml").write_text(PASSING)

    async def behave(exchange: Exchange) -> None:
        await exchange.respond(200, b'{"score": 5, "reason": "me:pass-word-1 said so"}')

    with serving(behave) as server:
        url = server.url.replace("http://", "http://me:pass-word-1@")
        overrides = [Override("judges", [url], "--judge"), Override("agentEndpoint", "demo", "--agent")]
        settings, _ = load_settings(project, None, overrides)
        start = Start(
            request=RunRequest(flags={}),
            run_id="run",
            settings=settings,
            subjects=["s.eval.yaml"],
            flags={"judge": [url]},
            command="",
        )
        finished = to_the_end(lambda: compiled_run(start))
    assert "authorization" in server.requests[0].headers
    (suite,) = finished.suites
    assert suite.judges == (server.url,)
    written = [path.read_bytes() for path in project.rglob("*") if path.is_file()]
    assert not any(b"pass-word-1" in each for each in written)
