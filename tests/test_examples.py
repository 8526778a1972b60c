"""The suites in `examples/`: clean, run as they say, and the file of mistakes has its mistakes."""

from __future__ import annotations

import ast
import asyncio
import inspect
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import evalc

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
CLEAN = ("code-review", "weather")


@pytest.fixture(autouse=True)
def _in_their_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)


def test_the_clean_ones_have_no_problems() -> None:
    compilation = evalc.compile(CLEAN)
    assert [str(problem) for problem in compilation.problems] == []
    assert compilation.inventory.read == "7 suites, 1 prompt, 1 shared rules file"


def test_the_file_of_mistakes_shows_many_kinds() -> None:
    codes = {problem.code for problem in evalc.check("mistakes")}
    assert len(codes) >= 10
    assert {problem.source.name for problem in evalc.check(".")} == {"mistakes/support.eval.yaml"}


def test_judging_is_scored_by_whoever_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kind_judge.py").write_text("def full(query): return query['question']['maxScore'], 'fine'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert evalc.check("judging") == ()
    run = evalc.run("judging", agent="demo", judge="python:kind_judge:full", output_dir=tmp_path)
    (suite,) = run.suites
    assert (run.exit_code, suite.summary.score) == (0, 1)
    assert {who for criterion in suite.summary.criteria for who in criterion.scored_by} == {"linked", "judge"}


@pytest.fixture
def desk() -> Iterator[str]:
    """The agent of `examples/http`, at a free port."""
    server = runpy.run_path(str(EXAMPLES / "http/desk.py"))["serve"](0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(("path", "cost"), [("/v2/turns", 0.0003), ("/v2/stream", msgspec.UNSET)])
def test_an_agent_of_another_shape_is_mapped(
    path: str, cost: object, desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_TOKEN", "open-sesame")
    run = evalc.run("http", agent=desk + path, config="http/evalc.toml", output_dir=tmp_path)
    (suite,) = run.suites
    assert [case.status for case in suite.cases] == ["passed"] * 3
    assert [call["success"] for case in suite.cases for call in case.details.tool_calls or ()] == [True, False]
    assert suite.summary.estimated_cost_usd == cost
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(b"open-sesame" in text for text in written)


def test_the_named_agents_are_compared(desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_TOKEN", "open-sesame")
    config = tmp_path / "evalc.toml"
    config.write_text(Path("http/evalc.toml").read_text(encoding="utf-8").replace("http://127.0.0.1:8123", desk))
    run = evalc.run("http", agent=["whole", "streamed"], config=config, output_dir=tmp_path / "results")
    assert run.exit_code == 0
    assert [suite.agent_endpoint for suite in run.suites] == ["whole", "streamed"]


def test_weather_passes(tmp_path: Path) -> None:
    run = evalc.run("weather", agent="demo", output_dir=tmp_path)
    assert run.exit_code == 0
    assert run.summary.skipped_assertions == 0, "the seed manifest was not found"
    assert run.summary.score == 1


def test_code_review_fails_where_it_says_and_scores_as_the_specification_computes(tmp_path: Path) -> None:
    run = evalc.run("code-review", agent="demo", output_dir=tmp_path)
    (suite,) = run.suites
    assert [case.id for case in suite.cases if not case.passed] == ["code-review-v1/sql_injection"]
    assert [case.score for case in suite.cases] == [1, 1, 1, 1, 1, 0.3]
    assert suite.summary.score == 0.87
    worked_example = (ROOT / "specs" / "scoring.md").read_text(encoding="utf-8")
    assert f"**{suite.summary.score}**" in worked_example


@pytest.fixture
def hotel() -> Iterator[str]:
    """The agent of `examples/conversations`, at a free port."""
    server = runpy.run_path(str(EXAMPLES / "conversations/desk.py"))["serve"](0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_conversations_are_held_in_the_process_and_over_http(hotel: str, tmp_path: Path) -> None:
    assert evalc.check("conversations") == ()
    for agent in ("python:conversations.desk:Desk", hotel):
        guest = "python:conversations.guest:play"
        run = evalc.run("conversations", agent=agent, user=guest, output_dir=tmp_path, repeat=2)
        assert run.exit_code == 0
        assert [suite.summary.score for suite in run.suites] == [1, None]


def test_orders_pass(tmp_path: Path) -> None:
    assert evalc.check("orders") == ()
    run = evalc.run("orders", agent="python:orders.shop:order", output_dir=tmp_path)
    assert run.exit_code == 0
    assert [case.status for suite in run.suites for case in suite.cases] == ["passed"] * 6


def test_tickets_are_routed_well_enough(tmp_path: Path) -> None:
    assert evalc.check("intents") == ()
    run = evalc.run("intents", agent="python:intents.router:route", output_dir=tmp_path)
    (suite,) = run.suites
    assert run.exit_code == 0
    assert [(gate.gate, gate.verdict) for gate in suite.gates or ()][:2] == [
        ("minPassRate", "holds"),
        ("recall", "holds"),
    ]
    assert suite.summary.failed == 1


def test_a_skill_passes_more_than_its_absence_and_triggers_mostly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES / "skills")
    assert evalc.check(".") == ()
    run = evalc.run(output_dir=tmp_path)
    passed = {(each.agent_endpoint, each.suite): (each.summary.passed, each.summary.total_cases) for each in run.suites}
    assert passed == {
        ("with-skill", "invoices"): (2, 2),
        ("without-skill", "invoices"): (1, 2),
        ("with-skill", "invoice-report"): (1, 1),
        ("without-skill", "invoice-report"): (0, 1),
        ("with-skill", "invoices-triggers"): (3, 5),
        ("without-skill", "invoices-triggers"): (2, 5),
    }


def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells run in one event loop, as those of a notebook do, and the last expression of a cell is its output."""
    notebook = msgspec.json.decode((EXAMPLES / "notebook.ipynb").read_bytes())
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    shown: list[Any] = []

    async def run() -> None:
        for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
            *lines, last = ast.parse("".join(cell["source"])).body
            for part, mode in ((ast.Module(lines, []), "exec"), (ast.Expression(last.value), "eval")):  # type: ignore[attr-defined]
                value = eval(compile(part, "<cell>", mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
                if inspect.iscoroutine(value):
                    value = await value
            shown.append(value)

    asyncio.run(run())
    run_, failures, _ = shown
    assert "1/2 passed" in repr(run_)
    assert "desk/seat" in run_._repr_html_()
    assert [failure[:2] for failure in failures] == [("desk/seat", "You can change your seat until noon.")]
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
