"""`evalc report`: a page of the results of a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Invoke

RESULTS = Path("evals/results")


def cases_of(page: Path) -> list[dict[str, Any]]:
    blocks = re.findall(r'data-holds="cases">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return [case for block in blocks for case in json.loads(block)]


def run_in(page: Path) -> dict[str, Any]:
    [block] = re.findall(r'data-holds="run">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = json.loads(block)
    return found


def test_the_latest_run_becomes_a_page(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo")
    outcome = invoke("report")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "wrote report.html\n")
    [case] = cases_of(project / "report.html")
    assert case["message"] == "What is the weather in Paris?"
    assert "Paris" in case["response"]
    assert "baseline" not in case


def test_the_run_that_it_was_compared_with_stands_beside_it(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo")
    invoke("run", "--agent", "demo", "--baseline", "latest")
    assert invoke("report", "latest", "-o", "out/page.html").code == 0
    [case] = cases_of(project / "out" / "page.html")
    assert case["baseline"]["response"] == case["response"]


def test_any_run_may_stand_beside_it(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo")
    first = next(RESULTS.glob("*/")).name
    invoke("run", "--agent", "demo")
    assert invoke("report", "--baseline", first).code == 0
    assert cases_of(project / "report.html")[0]["baseline"]["status"] == "passed"
    found = run_in(project / "report.html")
    assert found["suites"][0]["baselineRunId"] == first
    assert found["significance"]["whole"].startswith("unchanged")


def test_a_judged_criterion_has_the_question_that_the_judge_was_asked(invoke: Invoke, project: Path) -> None:
    (project / "gentleness.py").write_text("def tone(query):\n    return 3\n")
    (project / "evals" / "weather.eval.yaml").write_text(
        "suite: weather\ntool: get_weather\neval:\n  criteria:\n"
        '    - "said (50%): Says it"\n    - "tone (50%): Is it kind?"\n'
        "  test_cases:\n    - name: paris\n      message: How is Paris?\n      validate: [non-empty for said]\n"
    )
    assert invoke("run", "--agent", "demo", "--judge", "python:gentleness:tone").code == 0
    assert invoke("report").code == 0
    [case] = cases_of(project / "report.html")
    assert [each.get("question") for each in case["criteria"]] == [None, "Is it kind?"]


def test_the_page_shows_missed_faults_and_uncovered_tools(invoke: Invoke, project: Path) -> None:
    (project / "seed.json").write_text('{"city": {"name": "Paris"}}')
    (project / "evals" / "weather.eval.yaml").write_text(
        "suite: weather\ntool: get_weather\neval:\n  test_cases:\n    - name: paris\n"
        '      message: What is the weather in Paris?\n      validate:\n        - contains "{{seed:city.name}}"\n'
    )
    assert invoke("run", "--agent", "demo", "--seed-manifest", "seed.json").code == 0
    assert invoke("report", "-o", "plain.html").code == 0
    assert invoke("report", "--challenge").code == 0  # it reads the eval files as the run did

    found = run_in(project / "report.html")
    assert found["strength"]["mutants"] > found["strength"]["killed"] > 0
    assert found["strength"]["cases"][0]["id"] == "weather/paris"
    assert {part["words"] for part in found["coverage"]["parts"]} == {"seed values that a check reads"}
    assert run_in(project / "plain.html")["strength"] is run_in(project / "plain.html")["coverage"] is None


def test_the_coverage_is_that_of_the_prompt_that_was_run(invoke: Invoke, project: Path) -> None:
    prompts = "---\n".join(
        f"id: {id_}\nprompt: |\n  Hello{{{{#if {name}}}}}, {{{{{name}}}}}{{{{/if}}}}\ninputs: [{{name: {name}}}]\n"
        f"eval:\n  test_cases:\n    - name: a\n      inputs: {{{name}: Ann}}\n      validate: [non-empty]\n"
        for id_, name in (("one", "who"), ("two", "whom"))
    )
    (project / "evals" / "weather.eval.yaml").write_text(prompts)
    assert invoke("run", "--agent", "demo", "--prompt-id", "one").code == 0
    assert invoke("report", "--challenge").code == 0
    coverage = json.dumps(run_in(project / "report.html")["coverage"])
    assert "who" in coverage
    assert "whom" not in coverage


@pytest.mark.parametrize("arguments", [(), ("nothing",), ("--challenge",)])
def test_no_such_run(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    outcome = invoke("report", *arguments)
    assert outcome.code == 2
    assert outcome.err.startswith("error: ")
    assert not Path("report.html").exists()


def test_a_file_that_is_no_result(invoke: Invoke) -> None:
    invoke("run", "--agent", "demo")
    [result] = RESULTS.glob("*/*.json")
    result.write_text('{"runId": 1}')
    outcome = invoke("report")
    assert outcome.code == 2
    assert outcome.err.startswith("error: ")
    assert not Path("report.html").exists()
