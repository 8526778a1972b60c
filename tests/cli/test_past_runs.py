"""`evalc history`, `evalc show` and `evalc diff`, from runs that were made and from files that were planted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.support.past import NEW, OLD, result, save


@pytest.fixture
def results(project: Path) -> Path:
    return project / "evals" / "results"


def test_a_run_is_listed_shown_and_compared(invoke: Invoke, results: Path) -> None:
    first = invoke("run", "evals", "--agent", "demo")
    assert first.code == 0
    invoke("run", "evals", "--agent", "demo")
    listed = invoke("history")
    assert (listed.code, listed.err) == (0, "")
    table = r"  latest    \d\d-\d\d \d\d:\d\d  demo      1/1  100 %  1\.00\n  latest~1  \d\d-\d\d \d\d:\d\d  demo "
    assert re.search(table, listed.out)
    assert "\nweather, 2 runs\n  passed" in invoke("history", "weather").out
    assert f"  {min(results.glob('01*')).name[:8]}" in invoke("history", "-v").out
    assert (results / "history.db").is_file()
    shown = invoke("show", "latest~1")
    assert (shown.code, shown.out) == (0, first.out)
    compared = invoke("diff")
    assert compared.code == 0
    assert compared.out.startswith("latest~1 (demo) → latest (demo)\n")
    assert re.search(r"  weather +100 % → 100 % +unchanged\n", compared.out)


def test_a_run_that_has_not_finished_is_named(invoke: Invoke, results: Path) -> None:
    invoke("run", "evals", "--agent", "demo")
    (finished,) = (folder for folder in results.iterdir() if folder.is_dir())
    invoke("run", "evals", "--agent", "demo")
    (cut,) = (folder for folder in results.iterdir() if folder.is_dir() and folder != finished)
    for file in cut.glob("*.json"):
        file.unlink()
    message = f"the run {cut.name} has not finished: `evalc run --resume {cut.name}` runs the rest"
    for command in ("history", "show"):
        outcome = invoke(command)
        assert outcome.code == 0
        assert message in outcome.err
    assert message not in invoke("show", finished.name).err
    assert invoke("run", "--resume", cut.name).code == 0
    assert invoke("history").err == ""


FAILING = """\
suite: weather
threshold: 0.9
eval:
  criteria:
    - "clarity (1): Clear"
  test_cases:
    - name: paris
      message: What is the weather in Paris?
      validate:
        - contains "Lima" for clarity
    - name: oslo
      repeat: 2
      message: What is the weather in Oslo?
      validate:
        - contains "Oslo" for clarity
    - name: later
      skip: not yet
      message: What is the weather in Lima?
      validate:
        - contains "Lima"
"""


@pytest.mark.parametrize(
    "flags",
    [
        ("--min-pass-rate", "0.9", "--max-p95", "1m"),
        ("-k", "paris"),
        ("--maxfail", "1"),
        ("--agent", "python:agents:other", "--baseline", "latest"),
    ],
)
def test_show_prints_what_the_run_printed(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    monkeypatch.syspath_prepend(str(project))
    (project / "agents.py").write_text("def other(message):\n    return 'It is sunny in Lima.'\n")
    (project / "evals" / "weather.eval.yaml").write_text(FAILING)
    (project / "evals" / "second.eval.yaml").write_text(FAILING.replace("suite: weather", "suite: second"))
    invoke("run", "--agent", "demo")
    run = invoke("run", "--agent", "demo", *flags, "-o", "run.json")
    assert run.code == 1
    assert run.out.count("═══") >= 2
    assert invoke("show").out == run.out
    invoke("report", "-o", "report.json")
    assert (project / "report.json").read_bytes() == (project / "run.json").read_bytes()


@pytest.mark.parametrize("detail", ["-q", "-v"])
def test_show_prints_the_same_as_the_run_with_the_same_flags(invoke: Invoke, project: Path, detail: str) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(FAILING)
    run = invoke("run", "--agent", "demo", detail)
    assert run.code == 1
    assert invoke("show", detail).out == run.out != invoke("show").out


def test_the_page_of_a_run_has_the_gates_and_the_history_that_the_run_had(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(FAILING)
    for _ in range(2):
        invoke("run", "--agent", "demo", "--min-pass-rate", "0.9", "-o", "run.html")
    invoke("report")
    one, other = (
        json.loads(re.findall(r'data-holds="run">(.*?)</script>', (project / name).read_text(encoding="utf-8"))[0])
        for name in ("run.html", "report.html")
    )
    assert one == other
    assert any("at least 0.9 is needed" in gate for gate in one["gates"])
    [course] = one["history"]
    assert [point["passRate"] for point in course["points"]] == [0.5, 0.5]
    assert course["points"][-1]["run"] == one["suites"][0]["runId"]


def test_several_suites_are_shown_in_the_order_of_their_run(invoke: Invoke, project: Path) -> None:
    text = (project / "evals" / "weather.eval.yaml").read_text()
    (project / "evals" / "second.eval.yaml").write_text(text.replace("suite: weather", "suite: a-second"))
    run = invoke("run", "evals/weather.eval.yaml", "evals/second.eval.yaml", "--agent", "demo")
    assert run.out.index("weather") < run.out.index("a-second")
    assert invoke("show").out == run.out


def test_the_history_as_json_and_of_one_suite(invoke: Invoke, results: Path) -> None:
    save(results, result(True, False, run_id=OLD))
    save(results, result(True, True, run_id=NEW))
    save(results, result(True, tool="other", run_id=NEW))
    found = json.loads(invoke("history", "t", "--json", "--limit", "1").out)
    assert [(entry["run"], entry["passed"]) for entry in found["entries"]] == [(NEW, 2)]
    assert [point["passRate"] for point in found["trends"][0]["points"]] == [0.5, 1.0]
    unknown = invoke("history", "gone")
    assert (unknown.code, unknown.out) == (2, "")
    assert "has results of the suite `gone`; there are `other.golden`, `t.golden`\n" in unknown.err
    assert "has results of the suite `othr`; did you mean `other`?\n" in invoke("history", "othr").err


def test_an_empty_history(invoke: Invoke, results: Path) -> None:
    found = invoke("history")
    assert (found.code, found.err) == (0, "")
    assert "there are no runs with results" in found.out
    assert not results.exists()


def test_files_that_are_no_results_are_reported(invoke: Invoke, results: Path) -> None:
    save(results, result(True, run_id=OLD))
    save(results, "{", run=OLD)
    (results / "history.db").mkdir()
    for arguments in (("history",), ("history", "--rebuild")):
        found = invoke(*arguments)
        assert found.code == 0
        assert "  latest  01-01 00:00  demo      1/1  100 %\n" in found.out
        assert "1 JSON file in the folders of runs" in found.err
        assert "cannot be used, so all results are read" in found.err


def test_a_planted_regression_fails_the_comparison(invoke: Invoke, results: Path) -> None:
    save(results, result(*[True] * 200, run_id=OLD))
    save(results, result(*[False] * 12, *[True] * 188, run_id=NEW))
    worse = invoke("diff", OLD[:6], NEW[:6])
    assert worse.code == 1
    assert "worse    12 worse, 0 better of 200, p = 0.000488\n" in worse.out
    better = invoke("diff", "latest", "latest~1", "--json")
    assert better.code == 0
    found = json.loads(better.out)
    assert found["newPasses"] == 12
    assert found["suites"][0]["significance"]["verdict"] == "better"


def test_a_torn_file_beside_results_is_warned_of(invoke: Invoke, results: Path) -> None:
    for run in (OLD, NEW):
        save(results, result(True, run_id=run))
        save(results, '{"toolName": "\x1b[2J', run=run, name="torn\x1b.json")
    found = invoke("diff")
    assert found.code == 0
    assert found.out.count("is not a suite result") == 2
    assert "\x1b" not in found.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show",), "there is no run with results in"),
        (("diff",), "there is no run with results in"),
        (("diff", "latest~1", "latest"), "there is no run with results in"),
        (("show", "a\0b"), "neither a run"),
    ],
)
def test_without_a_run_there_is_an_error(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    found = invoke(*arguments)
    assert (found.code, found.out) == (2, "")
    assert message in found.err


def test_runs_without_a_suite_in_common(invoke: Invoke, results: Path) -> None:
    save(results, result(True, tool="a", run_id=OLD))
    save(results, result(True, tool="b", run_id=NEW))
    found = invoke("diff", "latest~1", "latest")
    assert found.code == 2
    assert "the runs have no suite in common: `latest~1` has a (golden), `latest` has b (golden)" in found.err
    found = invoke("diff")
    assert found.code == 2
    assert f"that began before `{NEW}` has any of its suites" in found.err


def test_one_name_is_compared_with_the_run_before_it_of_the_same_suites(invoke: Invoke, results: Path) -> None:
    first, second, other, last = (OLD.replace("0189", f"018{digit}") for digit in "9abc")
    for run in (first, second, last):
        save(results, result(run == first, tool="a", run_id=run))
        save(results, result(True, tool="b", run_id=run))
    save(results, result(True, tool="b", run_id=other))
    assert invoke("diff").out.startswith("latest~2 (demo) → latest (demo)\n")
    assert invoke("diff", "latest").out == invoke("diff").out
    assert invoke("diff", "latest~1").out.startswith("latest~2 (demo) → latest~1 (demo)\n")
    assert f"latest~2, {second} (demo) → latest, {last} (demo)" in invoke("diff", "-v").out.replace("\n  ", " ")
    found = invoke("diff", second)
    assert found.code == 1
    assert found.out.startswith("latest~3 (demo) → latest~2 (demo)\n")
    assert "\n✗ 1 case got worse\n" in found.out
    found = invoke("diff", first)
    assert (found.code, found.out) == (2, "")
    assert f"that began before `{first}` has any of its suites" in found.err


def test_a_run_is_not_compared_with_itself(invoke: Invoke, results: Path) -> None:
    file = save(results, result(True, run_id=OLD))
    for same in ("latest", OLD, str(file), str(file.parent)):
        found = invoke("diff", "latest", same)
        assert (found.code, found.out) == (2, "")
        assert f"`latest` and `{same}` are the same run: there is nothing to compare" in found.err


@pytest.mark.parametrize(
    "command", ["show", "diff latest", "report", "rescore", "run --resume", "run --agent demo --failed-from"]
)
def test_an_empty_name_is_no_run(invoke: Invoke, results: Path, command: str) -> None:
    invoke("run", "evals", "--agent", "demo")
    outcome = invoke(*command.split(), "")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: an empty text names no run; the newest is `latest`\n"


def test_a_result_of_another_runner_is_compared_but_cannot_be_shown(invoke: Invoke, results: Path) -> None:
    file = save(results, result(True, run_id=OLD))
    assert invoke("diff", str(file), str(save(results, result(True, run_id=NEW)))).code == 0
    found = invoke("show", str(file))
    assert found.code == 2
    assert "is not a suite result" in found.err


@pytest.mark.parametrize("number", ["1e300", "-1e300", "1e999"])
def test_numbers_that_no_result_has(invoke: Invoke, results: Path, number: str) -> None:
    text = json.dumps(result(True, run_id=OLD)).replace('"durationMs": 100', f'"durationMs": {number}')
    save(results, text, run=OLD)
    save(results, result(True, run_id=NEW))
    assert invoke("diff").code == 2


def test_the_summary_with_a_baseline_has_the_words(invoke: Invoke, results: Path) -> None:
    case = {"id": "weather/paris", "passed": False}
    save(results, result(tool="weather", tier="labeled", run_id=OLD, cases=[case]))
    found = invoke("run", "evals", "--agent", "demo", "--baseline", "0189")
    assert "inconclusive: none of 1 case regressed, 1 newly passes (McNemar's exact test, p = 1)" in found.out
    report = json.loads(invoke("run", "evals", "--agent", "demo", "--baseline", OLD, "--json").out)
    assert report["suites"][0]["significance"]["newlyPassed"] == 1


def test_a_run_is_shown_in_the_formats_of_reports(invoke: Invoke, project: Path) -> None:
    invoke("run", "--agent", "demo", "-o", "first.json")
    shown = invoke("show", "--json", "-o", "shown.xml")
    assert json.loads(shown.out)["runId"] == json.loads((project / "first.json").read_text())["runId"]
    assert (shown.err, (project / "shown.xml").exists()) == ("", True)
    beside = invoke("show", "-o", "shown.html")
    assert (beside.code, beside.out) == (0, invoke("show").out)
    assert (project / "shown.html").exists()
