"""A suite is known by its name and tier: suites share tools, and what named only the tool is still read."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import evalc
from tests.cli.conftest import Invoke, Outcome

ROUTING = """\
suite: routing
tool: desk
eval:
  test_cases:
    - {name: refund, message: I want my money back, validate: [contains "refund"]}
    - {name: hello, message: Hello, validate: [contains "Hello"]}
"""
ARGUMENTS = """\
suite: arguments
tool: desk
eval:
  test_cases:
    - {name: parcel, message: Where is my parcel, validate: [contains "parcel"]}
    - {name: broken, message: Break, validate: [contains "nonsense"]}
"""
AGENTS = """\
def echo(message):
    return f"{message}: hello, a refund"

def forgetful(message):
    return f"{message}: hello"

def changing(message):
    from pathlib import Path
    return f"{message}: hello" + Path("more.txt").read_text()
"""
ECHO = "python:desk_agents:echo"
FORGETFUL = "python:desk_agents:forgetful"


@pytest.fixture(autouse=True)
def desk(project: Path) -> Path:
    """A project with two suites about one tool."""
    (project / "evals" / "weather.eval.yaml").unlink()
    (project / "evals" / "routing.eval.yaml").write_text(ROUTING)
    (project / "evals" / "arguments.eval.yaml").write_text(ARGUMENTS)
    (project / "desk_agents.py").write_text(AGENTS)
    return project


def files_in(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.json"))


def run(invoke: Invoke, *more: str, agent: str = ECHO) -> Path:
    """The folder of a run."""
    outcome = invoke("run", "--agent", agent, "--json", *more)
    assert outcome.code in (0, 1), outcome.err
    return Path("evals/results", json.loads(outcome.out)["runId"])


def headers(outcome: Outcome) -> list[str]:
    return [line.strip("═ ") for line in outcome.out.splitlines() if line.startswith("═══")]


# --- two suites about one tool ---------------------------------------------------------------------------------------


def test_two_suites_about_one_tool_compile_to_two_files(invoke: Invoke) -> None:
    assert invoke("check").code == 0
    assert invoke("compile", "-o", "out").code == 0
    assert files_in(Path("out")) == ["arguments.labeled.json", "routing.labeled.json"]
    metadata = json.loads(Path("out/routing.labeled.json").read_text())["metadata"]
    assert (metadata["toolName"], metadata["suite"]) == ("desk", "routing")


def test_a_suite_that_is_called_as_its_tool_compiles_without_its_name(invoke: Invoke) -> None:
    Path("evals/desk.eval.yaml").write_text(ROUTING.replace("suite: routing", "suite: desk"))
    assert invoke("compile", "evals/desk.eval.yaml", "-o", "out").code == 0
    assert "suite" not in json.loads(Path("out/desk.labeled.json").read_text())["metadata"]


def test_compiled_files_run_as_the_suites_that_they_were(invoke: Invoke) -> None:
    invoke("compile", "-o", "out")
    outcome = invoke("run", "out", "--agent", ECHO)
    assert headers(outcome) == ["arguments — labeled evals", "routing — labeled evals"]


def test_output_beside_the_suites_that_it_was_compiled_from_is_not_run_again(invoke: Invoke) -> None:
    invoke("compile", "-o", "evals/out")
    assert headers(invoke("run", "--agent", ECHO)) == ["arguments — labeled evals", "routing — labeled evals"]


@pytest.mark.parametrize("name", ["desk", "elsewhere"])
def test_a_compiled_file_with_cases_of_its_own_is_run(invoke: Invoke, name: str) -> None:
    Path("evals/other.eval.yaml").write_text(f"suite: {name}\n" + ROUTING.partition("\n")[2].replace("refund", "lost"))
    invoke("compile", "evals/other.eval.yaml", "-o", "evals/out")
    Path("evals/other.eval.yaml").unlink()
    outcome = invoke("run", "--agent", ECHO)
    assert f"{name} — labeled evals" in headers(outcome)
    assert "read 3 suites\n" in outcome.err
    assert "all good: 3 suites\n" in invoke("check").out


def test_a_compiled_file_of_a_suite_whose_cases_it_has_not_is_a_second_suite_of_that_name(invoke: Invoke) -> None:
    invoke("compile", "-o", "evals/out")
    Path("evals/routing.eval.yaml").write_text(ROUTING.replace("name: hello", "name: greeting"))
    outcome = invoke("run", "--agent", ECHO)
    assert (outcome.code, "EV210" in outcome.err) == (2, True)
    assert f"`{Path('evals/out/routing.labeled.json')}` from other cases: if it is out of date" in outcome.err
    compiled = invoke("compile", "-o", "evals/out")
    assert compiled.code == 0, compiled.err
    assert [case["id"] for case in json.loads(Path("evals/out/routing.labeled.json").read_text())["cases"]] == [
        "routing/refund",
        "routing/greeting",
    ]
    assert invoke("check").code == 0


def test_a_compiled_file_of_a_suite_that_is_gone_stays_where_it_is_compiled_to(invoke: Invoke) -> None:
    invoke("compile", "-o", "evals/out")
    before = Path("evals/out/routing.labeled.json").read_text()
    Path("evals/routing.eval.yaml").unlink()
    assert invoke("compile", "-o", "evals/out").code == 0
    assert Path("evals/out/routing.labeled.json").read_text() == before


def test_suites_whose_files_differ_only_in_case_are_not_compiled_over_each_other(invoke: Invoke) -> None:
    Path("evals/other.eval.yaml").write_text(ROUTING.replace("suite: routing", "suite: Routing"))
    outcome = invoke("compile", "-o", "out")
    assert (outcome.code, Path("out").exists()) == (2, False)
    assert "`Routing.labeled.json` and `routing.labeled.json` are one file on some systems" in outcome.err


def test_copies_are_not_counted_as_read_and_are_named(invoke: Invoke) -> None:
    invoke("compile", "-o", "evals/out")
    assert invoke("check").out == "all good: 2 suites; skipped 2 compiled copies\n"
    assert "read 2 suites; skipped 2 compiled copies\n" in invoke("run", "--agent", ECHO).err
    copies = [
        f"skipped {Path('evals/out', name)}, a compiled copy of suites that were read"
        for name in files_in(Path("evals/out"))
    ]
    assert invoke("check", "-v").out.splitlines()[1:] == copies


def test_results_and_reports_show_the_suite(invoke: Invoke) -> None:
    folder = run(invoke)
    assert files_in(folder) == ["arguments.labeled.json", "routing.labeled.json"]
    result = json.loads((folder / "routing.labeled.json").read_text())
    assert (result["toolName"], result["suite"], result["tier"]) == ("desk", "routing", "labeled")
    assert headers(invoke("show")) == ["arguments — labeled evals", "routing — labeled evals"]
    invoke("report", "latest", "-o", "run.csv")
    rows = list(csv.DictReader(Path("run.csv").read_text().splitlines()))
    assert {(row["suite"], row["tool"], row["case"]) for row in rows} == {
        ("arguments", "desk", "arguments/parcel"),
        ("arguments", "desk", "arguments/broken"),
        ("routing", "desk", "routing/refund"),
        ("routing", "desk", "routing/hello"),
    }
    invoke("report", "latest", "-o", "run.xml")
    assert 'name="routing.labeled"' in Path("run.xml").read_text()


def test_the_history_follows_the_suite(invoke: Invoke) -> None:
    run(invoke)
    run(invoke, agent=FORGETFUL)
    found = json.loads(invoke("history", "routing", "--json").out)
    assert {(entry["suite"], entry["toolName"]) for entry in found["entries"]} == {("routing", "desk")}
    both = json.loads(invoke("history", "desk", "--json").out)
    assert {trend["suite"] for trend in both["trends"]} == {"routing", "arguments"}
    shown = invoke("history", "-v").out
    assert "routing  " in shown and "desk  " not in shown  # noqa: PT018 - one table


def test_runs_are_compared_suite_by_suite(invoke: Invoke) -> None:
    run(invoke)
    run(invoke, agent=FORGETFUL)
    found = json.loads(invoke("diff", "latest~1", "latest", "--json").out)
    assert {suite["suite"]: [case["id"] for case in suite["regressions"]] for suite in found["suites"]} == {
        "arguments": [],
        "routing": ["routing/refund"],
    }
    assert found["onlyBefore"] == found["onlyAfter"] == []


def test_last_failed_runs_what_failed_of_each_suite(invoke: Invoke) -> None:
    run(invoke, agent=FORGETFUL)
    folder = run(invoke, "--last-failed")
    cases = {name: json.loads((folder / name).read_text())["cases"] for name in files_in(folder)}
    assert {name: [case["id"] for case in found] for name, found in cases.items()} == {
        "arguments.labeled.json": ["arguments/broken"],
        "routing.labeled.json": ["routing/refund"],
    }


def test_a_word_selects_a_suite_or_all_suites_of_a_tool(invoke: Invoke) -> None:
    assert files_in(run(invoke, "-k", "routing")) == ["routing.labeled.json"]
    assert files_in(run(invoke, "-k", "desk")) == ["arguments.labeled.json", "routing.labeled.json"]


def test_recorded_answers_are_rescored_suite_by_suite(invoke: Invoke) -> None:
    run(invoke, agent=FORGETFUL)
    outcome = invoke("rescore", "latest", "--json")
    suites = {suite["suite"]: suite["summary"] for suite in json.loads(outcome.out)["suites"]}
    assert {name: (summary["totalCases"], summary["passed"]) for name, summary in suites.items()} == {
        "arguments": (2, 1),
        "routing": (2, 1),
    }


def test_shards_are_merged_suite_by_suite(invoke: Invoke) -> None:
    shards = [run(invoke, "--shard", f"{number}/2") for number in (1, 2)]
    outcome = invoke("merge", *map(str, shards), "--json")
    assert {suite["suite"]: suite["summary"]["totalCases"] for suite in json.loads(outcome.out)["suites"]} == {
        "arguments": 2,
        "routing": 2,
    }


def test_an_interrupted_run_is_resumed_with_both_suites(invoke: Invoke) -> None:
    folder = run(invoke)
    whole = (folder / "journal.jsonl").read_text().splitlines(keepends=True)
    (folder / "journal.jsonl").write_text("".join(whole[:2]))
    for name in files_in(folder):
        (folder / name).unlink()
    assert invoke("run", "--resume", str(folder)).code == 1
    assert files_in(folder) == ["arguments.labeled.json", "routing.labeled.json"]


def test_the_faults_of_a_recorded_run_are_counted_by_suite(invoke: Invoke) -> None:
    run(invoke)
    found = json.loads(invoke("challenge", "latest", "--json").out)
    assert {case["suite"] for case in found["cases"]} == {"routing", "arguments"}


def test_two_suites_of_one_name_and_tier_are_an_error_and_name_both(invoke: Invoke) -> None:
    Path("evals/second.eval.yaml").write_text(ROUTING.replace("tool: desk", "tool: till"))
    outcome = invoke("check", "--format", "json")
    (problem,) = [each for each in json.loads(outcome.out) if each["code"] == "EV210"]
    assert problem["message"].startswith("this is a second suite `routing` in the tier labeled; the first is evals")


def test_suites_of_one_name_may_differ_in_tier(invoke: Invoke) -> None:
    Path("evals/second.eval.yaml").write_text(ROUTING.replace("tool: desk", "tier: rubric"))
    assert "EV210" not in invoke("check").err


def test_each_suite_of_a_tool_has_a_baseline_of_its_own(invoke: Invoke) -> None:
    run(invoke)
    assert invoke("accept").code == 0
    accepted = json.loads(Path("evals/baseline.json").read_text())["suites"]
    assert [(suite["suite"], suite["tool"], sorted(suite["cases"])) for suite in accepted] == [
        ("arguments", "desk", ["arguments/broken", "arguments/parcel"]),
        ("routing", "desk", ["routing/hello", "routing/refund"]),
    ]
    assert invoke("run", "--agent", ECHO, "--fail-on-regression").code == 0
    found = {suite["suite"]: suite for suite in json.loads(gated(invoke, FORGETFUL).out)["suites"]}
    assert {name: suite["regressions"] for name, suite in found.items()} == {
        "arguments": [],
        "routing": ["routing/refund"],
    }


@pytest.mark.parametrize("accepts", [True, False])
def test_a_suite_that_is_gone_is_missing_though_another_has_its_tool(invoke: Invoke, accepts: bool) -> None:
    Path("evals/arguments.eval.yaml").write_text(ARGUMENTS.replace("nonsense", "Break"))
    assert invoke("run", "--agent", ECHO).code == 0
    if accepts:
        invoke("accept")
    Path("evals/arguments.eval.yaml").unlink()
    outcome = gated(invoke, ECHO)
    assert outcome.code == 1
    assert [suite["suite"] for suite in json.loads(outcome.out)["missing"]] == ["arguments"]


def gated(invoke: Invoke, agent: str, *more: str) -> Outcome:
    return invoke("run", "--agent", agent, "--fail-on-regression", "--baseline", "latest", "--json", *more)


@pytest.mark.parametrize(("name", "other"), [("refund.v1", "refund-v1"), ("Refund", "refund"), ("refund", "REFUND")])
def test_the_latest_result_of_a_suite_is_found_whatever_suites_were_beside_it(
    invoke: Invoke, name: str, other: str
) -> None:
    for file, suite in (("routing", name), ("other", other)):
        Path(f"evals/{file}.eval.yaml").write_text(ROUTING.replace("suite: routing", f"suite: {suite}"))
    alone, agent = ("evals/routing.eval.yaml",), "python:desk_agents:changing"
    Path("more.txt").write_text("")
    run(invoke, *alone, "--min-pass-rate", "0.5", agent=agent)
    Path("more.txt").write_text(", a refund")
    run(invoke, *alone, "evals/other.eval.yaml", agent=agent)
    Path("more.txt").write_text("")
    outcome = invoke("run", *alone, "--agent", agent, "--fail-on-regression", "--min-pass-rate", "0.5", "--json")
    assert (outcome.code, regressions(outcome)) == (1, {(name, "labeled"): [f"{name}/refund"]})


# --- what earlier versions wrote -------------------------------------------------------------------------------------

EARLIER = Path(__file__).parents[1] / "earlier"
ONE, TWO = "01a20d48-435a-7fe8-bcf4-c83c410afd27", "01a20d48-81ec-72c1-9ed2-2b2f67f44b83"
GOOD = "python:helpers:good"


@pytest.fixture
def earlier(desk: Path) -> Path:
    """A project in which an earlier version of evalc has run: its suite `routing` is about the tool `desk`."""
    shutil.rmtree(desk / "evals")
    shutil.copytree(EARLIER, desk, dirs_exist_ok=True)
    for name in ("runs", "compiled", "evalc.lock"):
        (desk / name).rename(desk / f"kept-{name}")
    results = desk / "evals" / "results"
    results.mkdir(parents=True)
    for run_id in (ONE, TWO):
        shutil.copytree(desk / "kept-runs" / run_id, results / run_id)
    shutil.rmtree(desk / "kept-runs")
    return desk


def a_second_suite_of_the_tool() -> None:
    Path("arguments.eval.yaml").write_text(ARGUMENTS)


def test_earlier_results_are_shown_by_their_tool(invoke: Invoke, earlier: Path) -> None:
    assert headers(invoke("show", ONE)) == [
        "desk — labeled evals",
        "desk — regression evals",
        "polite — labeled evals",
    ]
    assert len(headers(invoke("show", TWO))) == 7


@pytest.mark.parametrize("run_id", [ONE, TWO])
def test_earlier_results_are_compared_with_the_only_suite_of_the_tool(
    invoke: Invoke, earlier: Path, run_id: str
) -> None:
    run(invoke, ".", agent=GOOD)
    found = json.loads(invoke("diff", ONE, "latest", "--json").out)
    assert [suite["suite"] for suite in found["suites"]] == ["polite", "routing", "routing"]
    assert found["onlyBefore"] == found["onlyAfter"] == found["warnings"] == []


def test_earlier_results_are_left_out_with_one_warning_if_two_suites_have_the_tool(
    invoke: Invoke, earlier: Path
) -> None:
    a_second_suite_of_the_tool()
    run(invoke, ".", agent=GOOD)
    found = json.loads(invoke("diff", ONE, "latest", "--json").out)
    assert [suite["suite"] for suite in found["suites"]] == ["polite", "routing"]
    (warning,) = found["warnings"]
    assert warning == (
        "one of the runs names tools and not suites, so results of several suites are left out: "
        "`desk` (labeled) may be `arguments` or `routing`; `evalc run` writes results that name their suite"
    )


def test_a_run_none_of_whose_suites_are_sure_is_not_compared_and_the_reason_is_given(
    invoke: Invoke, earlier: Path
) -> None:
    a_second_suite_of_the_tool()
    Path("polite.eval.yaml").unlink()
    for name in ("polite.labeled.json", "desk.regression.json"):
        Path("evals/results", ONE, name).unlink()
    run(invoke, ".", agent=GOOD)
    reason = "`desk` (labeled) may be `arguments` or `routing`"
    compared = invoke("diff", ONE, "latest")
    assert (compared.code, reason in compared.err) == (2, True)
    named = invoke("run", "arguments.eval.yaml", "desk.eval.yaml", "--agent", GOOD, "--baseline", ONE)
    assert (named.code, reason in named.out + named.err) == (1, True)


def test_earlier_failures_are_those_of_the_only_suite_of_the_tool(invoke: Invoke, earlier: Path) -> None:
    folder = run(invoke, ".", "--last-failed", agent=GOOD)
    assert files_in(folder) == ["polite.labeled.json", "routing.labeled.json"]


def test_suites_whose_earlier_failures_are_not_clear_run_whole(invoke: Invoke, earlier: Path) -> None:
    a_second_suite_of_the_tool()
    outcome = invoke("run", ".", "--last-failed", "--agent", GOOD)
    assert "`desk` (labeled) may be `arguments` or `routing`" in outcome.out + outcome.err
    newest = max(path for path in Path("evals/results").iterdir() if path.is_dir())
    assert files_in(newest) == [
        "arguments.labeled.json",
        "polite.labeled.json",
        "routing.labeled.json",
    ]


@pytest.mark.parametrize("run_id", [ONE, TWO])
@pytest.mark.parametrize("several", [False, True])
def test_earlier_answers_are_rescored(invoke: Invoke, earlier: Path, run_id: str, several: bool) -> None:
    if several:
        a_second_suite_of_the_tool()
    outcome = invoke("rescore", run_id, ".", "--json")
    suites = [suite for suite in json.loads(outcome.out)["suites"] if suite["suite"] == "routing"]
    assert [len(suite["cases"]) for suite in suites if suite["tier"] == "labeled"] == [2] * (1 if run_id == ONE else 2)


def test_the_history_joins_earlier_runs_with_the_only_suite_of_their_tool(invoke: Invoke, earlier: Path) -> None:
    run(invoke, ".", agent=GOOD)
    found = json.loads(invoke("history", "routing.labeled", "--json").out)
    assert {entry["suite"] for entry in found["entries"]} == {"routing"}
    assert [len(trend["points"]) for trend in found["trends"] if trend["agentEndpoint"] == GOOD] == [3]
    assert {entry["suite"] for entry in json.loads(invoke("history", "--json").out)["entries"]} == {"routing", "polite"}


def test_the_history_calls_earlier_runs_by_their_tool_if_two_suites_have_it(invoke: Invoke, earlier: Path) -> None:
    a_second_suite_of_the_tool()
    run(invoke, ".", agent=GOOD)
    entries = json.loads(invoke("history", "--json").out)["entries"]
    assert {entry["suite"] for entry in entries if entry["run"] == ONE and entry["tier"] == "labeled"} == {
        "desk",
        "polite",
    }


def test_earlier_compiled_files_run_as_the_suite_that_is_called_as_the_tool(invoke: Invoke, earlier: Path) -> None:
    outcome = invoke("run", "kept-compiled", "--agent", GOOD)
    assert headers(outcome) == ["desk — labeled evals", "desk — regression evals", "polite — labeled evals"]


def test_earlier_output_beside_its_sources_is_not_run_again(invoke: Invoke, earlier: Path) -> None:
    assert len(headers(invoke("run", ".", "--agent", GOOD))) == 3


def test_an_earlier_lock_holds_for_the_only_suite_of_the_tool_in_its_file(invoke: Invoke, earlier: Path) -> None:
    of_regression = 'tier: regression, created_at: 2026-01-02, bug_ref: "#2", message'
    Path("arguments.eval.yaml").write_text(ARGUMENTS.replace("message", of_regression))
    Path("kept-evalc.lock").rename("evalc.lock")
    assert "EV5" not in (invoke("check", ".").err + invoke("check", "arguments.eval.yaml").err)
    assert invoke("lock", ".").code == 0
    locked = Path("evalc.lock").read_text()
    assert '["routing.regression"]' in locked
    assert "desk.regression" not in locked


@pytest.mark.parametrize("keep", [1, 2])
def test_an_earlier_run_that_did_not_end_is_resumed_or_refused_in_words(
    invoke: Invoke, earlier: Path, keep: int
) -> None:
    folder = Path("evals/results") / ONE
    header = json.loads((folder / "journal.jsonl").read_text().splitlines()[0])
    (folder / "journal.jsonl").write_text(json.dumps({**header, "suites": header["suites"][-keep:]}) + "\n")
    for name in files_in(folder):
        (folder / name).unlink()
    paths = ["polite.eval.yaml", "desk.eval.yaml"][:keep]
    outcome = invoke("run", *paths, "--resume", str(folder), "--agent", GOOD)
    if keep == 1:
        assert files_in(folder) == ["polite.labeled.json"]
    else:
        assert outcome.code == 2
        assert "has changed since" in outcome.err


def test_an_earlier_result_is_not_that_of_another_suite_of_the_tool(invoke: Invoke, earlier: Path) -> None:
    a_second_suite_of_the_tool()
    folder = run(invoke, "arguments.eval.yaml", "polite.eval.yaml", "--last-failed", agent=GOOD)
    assert files_in(folder) == ["arguments.labeled.json", "polite.labeled.json"]
    found = json.loads(invoke("diff", ONE, "latest", "--json").out)
    assert [suite["suite"] for suite in found["suites"]] == ["polite"]
    assert found["onlyBefore"] == ["desk (labeled)", "desk (regression)"]
    assert found["missing"] == []


# --- baselines that earlier versions wrote ---------------------------------------------------------------------------


def with_baseline(name: str) -> Path:
    """The accepted baseline of the project, as an earlier version wrote it."""
    shutil.rmtree("evals/results")
    return Path(shutil.copy(name, "evals/baseline.json"))


def regressions(outcome: Outcome) -> dict[tuple[str, str], list[str]]:
    """Regressions and missing cases by suite, tier and agent."""
    suites = json.loads(outcome.out)["suites"]
    return {(each["suite"], each["tier"]): [*each["regressions"], *each.get("went", ())] for each in suites}


@pytest.mark.parametrize("name", ["baseline.json", "baseline-of-two-agents.json"])
def test_an_earlier_baseline_holds_for_the_only_suite_of_the_tool(invoke: Invoke, earlier: Path, name: str) -> None:
    with_baseline(name)
    agents = [GOOD] if name == "baseline.json" else [GOOD, "--agent", "python:helpers:forgetful"]
    outcome = gated(invoke, *agents, ".")
    assert outcome.code == 0, outcome.out + outcome.err
    suites = json.loads(outcome.out)["suites"]
    assert {suite["baselineRunId"] for suite in suites} == {"evals/baseline.json"}
    assert not any(suite.get("came") or suite.get("went") for suite in suites)


def test_cases_of_an_earlier_baseline_regress(invoke: Invoke, earlier: Path) -> None:
    with_baseline("baseline.json")
    Path("mute.py").write_text("def agent(message):\n    return 'no'\n")
    outcome = gated(invoke, "python:mute:agent", ".")
    assert outcome.code == 1
    assert regressions(outcome) == {
        ("routing", "labeled"): ["routing/refund", "routing/greet"],
        ("routing", "regression"): ["routing/once_wrong"],
        ("polite", "labeled"): [],
    }


def test_an_earlier_baseline_of_a_tool_with_two_suites_is_left_out_with_one_warning(
    invoke: Invoke, earlier: Path
) -> None:
    with_baseline("baseline.json")
    a_second_suite_of_the_tool()
    outcome = invoke("run", ".", "--agent", GOOD, "--fail-on-regression")
    (warning,) = [line for line in outcome.out.splitlines() if "names tools" in line]
    assert warning.strip("⚠ ") == (
        "the baseline `evals/baseline.json` names tools and not suites, so results of several suites are left out: "
        "`desk` (labeled) may be `arguments` or `routing`; `evalc accept` renews it"
    )
    assert outcome.code == 1, "without a baseline every case has to pass"
    assert invoke("accept").code == 0
    accepted = json.loads(Path("evals/baseline.json").read_text())["suites"]
    assert [(suite["suite"], suite["tier"]) for suite in accepted] == [
        ("arguments", "labeled"),
        ("polite", "labeled"),
        ("routing", "labeled"),
        ("routing", "regression"),
    ]
    renewed = invoke("run", ".", "--agent", GOOD, "--fail-on-regression")
    assert (renewed.code, "names tools" in renewed.out) == (0, False)


def test_an_earlier_baseline_is_not_that_of_another_suite_of_the_tool(invoke: Invoke, earlier: Path) -> None:
    with_baseline("baseline.json")
    a_second_suite_of_the_tool()
    found = regressions(gated(invoke, GOOD, "arguments.eval.yaml"))
    assert found == {("arguments", "labeled"): []}
    invoke("accept")
    kept = json.loads(Path("evals/baseline.json").read_text())["suites"]
    assert [(suite.get("suite"), suite["tool"], len(suite["cases"])) for suite in kept if suite["tool"] == "desk"] == [
        ("arguments", "desk", 2),
        (None, "desk", 2),
        (None, "desk", 1),
    ]


def test_accepting_a_part_of_a_suite_names_the_rest_of_its_earlier_entry(invoke: Invoke, earlier: Path) -> None:
    with_baseline("baseline.json")
    run(invoke, ".", "-k", "greet", agent=GOOD)
    assert invoke("accept").code == 0
    accepted = json.loads(Path("evals/baseline.json").read_text())["suites"]
    assert [
        (each.get("suite"), each["tier"], sorted(each["cases"])) for each in accepted if each["tool"] == "desk"
    ] == [
        (None, "regression", ["routing/once_wrong"]),
        ("routing", "labeled", ["routing/greet", "routing/refund"]),
    ]


def test_the_newest_earlier_run_is_the_baseline_of_the_only_suite_of_the_tool(invoke: Invoke, earlier: Path) -> None:
    for run_id in (ONE, TWO):  # the suite `polite` failed there, so the runs would not count
        (Path("evals/results") / run_id / "closing.jsonl").unlink()
        for file in (Path("evals/results") / run_id).rglob("polite.labeled.json"):
            file.unlink()
    outcome = gated(invoke, GOOD, "desk.eval.yaml")
    assert outcome.code == 0, outcome.out
    assert {suite["baselineRunId"] for suite in json.loads(outcome.out)["suites"]} == {ONE}


def test_the_run_before_may_be_of_an_earlier_version(invoke: Invoke, earlier: Path) -> None:
    run(invoke, "desk.eval.yaml", agent=GOOD)
    found = json.loads(invoke("diff", "--json").out)
    assert found["before"] == TWO
    assert {suite["suite"] for suite in found["suites"]} == {"routing"}


@pytest.mark.parametrize("named", [ONE, f"evals/results/{ONE}/desk.labeled.json"])
def test_an_earlier_run_that_is_named_is_the_baseline_of_the_only_suite_of_the_tool(
    invoke: Invoke, earlier: Path, named: str
) -> None:
    outcome = invoke("run", "desk.eval.yaml", "--agent", GOOD, "--baseline", named, "--json")
    labeled = json.loads(outcome.out)["suites"][0]
    assert (labeled["suite"], labeled["baselineRunId"], labeled.get("came")) == ("routing", ONE, None)


def test_compiled_eval_json_is_a_copy_of_its_source(invoke: Invoke) -> None:
    for file in Path("evals").iterdir():
        file.unlink()
    case = {"id": "ls-t-001", "description": "d", "difficulty": "ambiguous", "input": {"message": "x"}}
    envelope = {
        "metadata": {"toolName": "t", "tier": "labeled"},
        "cases": [{**case, "expect": {"responseContains": ["x"]}}],
    }
    Path("evals/t.json").write_text(json.dumps(envelope))
    for _ in range(2):
        compiled = invoke("compile", "-o", "evals")
        assert compiled.code == 0, compiled.err
    assert "all good: 1 suite; skipped 1 compiled copy\n" in invoke("check").out


@pytest.mark.parametrize("command", ["rescore latest", "run --resume latest --agent demo", "merge latest"])
def test_commands_do_not_know_the_suites_of_a_notebook(invoke: Invoke, project: Path, command: str) -> None:
    names: dict[str, Any] = {}
    exec("import evalc\nsuite = evalc.Suite('a', cases=[evalc.Case('b', 'hi', checks=['non-empty'])])", names)
    evalc.run(names["suite"], agent=lambda message: message, save=True, shard="1/1")
    outcome = invoke(*command.split())
    assert outcome.code == 2
    assert "`<a>` is a suite that was made in Python, in no file: give its suites to `evalc.check`" in outcome.err


@pytest.mark.parametrize(
    "command",
    ["rescore latest", "run --resume latest --agent demo", "challenge latest --fix", "fmt suite.py", "check suite.py"],
)
def test_commands_neither_read_nor_write_suites_in_python(invoke: Invoke, project: Path, command: str) -> None:
    file = project / "suite.py"
    text = "import evalc\n\nsuite = evalc.Suite('a', cases=[evalc.Case('b', 'hi', checks=['contains \"hi\"'])])\n"
    file.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), names)
    assert evalc.run(names["suite"], agent=lambda message: message, save=True).exit_code == 0
    outcome = invoke(*command.split())
    assert (outcome.code, file.read_text()) == (2, text)
    assert "`suite.py` is a Python file, which is not run for its suites" in outcome.err
