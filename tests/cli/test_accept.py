"""The gate on regressions: it stays red until the agent is mended, or somebody accepts what there is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from threading import Thread

import pytest

from evalc.base.files import write_atomic
from evalc.runtime.store import accepted
from evalc.runtime.store.accepted import accept
from evalc.runtime.store.runs import find_results
from tests.cli.conftest import Invoke, Outcome

SUITE = """\
suite: cities
eval:
  test_cases:
    - {name: paris, message: Paris?, validate: [contains "Paris"]}
    - {name: rome, message: Rome?, validate: [contains "Rome"]}
"""
AGENTS = """\
import os

def changing(message):
    if os.environ["GATED_AGENTS_ARE"] == "down" and "Rome" in message:
        raise OSError("down")
    return broken(message) if os.environ["GATED_AGENTS_ARE"] == "broken" else message

def good(message):
    return message

def broken(message):
    return "Paris" if "Paris" in message else "no idea"

def other(message):
    return {"response": message, "toolCalls": []}
"""


@pytest.fixture(autouse=True)
def cities(project: Path) -> Path:
    (project / "evals" / "weather.eval.yaml").unlink()
    (project / "evals" / "cities.eval.yaml").write_text(SUITE)
    (project / "gated_agents.py").write_text(AGENTS)
    return project


def gated(invoke: Invoke, agent: str, *more: str) -> Outcome:
    return invoke("run", "--agent", f"python:gated_agents:{agent}", "--fail-on-regression", *more)


def last_line_of(outcome: Outcome, word: str) -> str:
    return next(line for line in outcome.out.splitlines()[::-1] if word in line).strip()


def test_a_red_run_never_becomes_the_baseline(invoke: Invoke) -> None:
    codes = [gated(invoke, agent).code for agent in ("good", "broken", "broken", "other", "broken")]
    assert codes == [0, 1, 1, 0, 1]


def test_the_baseline_is_of_the_same_agent(invoke: Invoke) -> None:
    good = json.loads(invoke("run", "--agent", "python:gated_agents:good", "--json").out)["runId"]
    gated(invoke, "other")
    assert last_line_of(gated(invoke, "broken"), "without a baseline").startswith("⚠")
    assert last_line_of(gated(invoke, "good"), "compared with") == f"compared with the run {good}"


def test_latest_elsewhere_is_the_newest_run(invoke: Invoke) -> None:
    gated(invoke, "good")
    gated(invoke, "broken")
    assert "1/2 passed" in invoke("show").out
    assert "1/2 passed" in invoke("show", "latest").out


def test_without_a_baseline_every_case_has_to_pass(invoke: Invoke) -> None:
    outcome = gated(invoke, "broken")
    assert outcome.code == 1
    assert "without a baseline every case has to pass (`evalc accept` makes a run the baseline)" in outcome.out
    assert gated(invoke, "broken").code == 1


def test_two_that_accept_at_once_both_have_their_suites_in_the_file(
    invoke: Invoke, cities: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cities / "evals" / "towns.eval.yaml").write_text(SUITE.replace("cities", "towns"))
    runs = []
    for suite in ("cities", "towns"):
        gated(invoke, "good", f"evals/{suite}.eval.yaml")
        runs.append(find_results("latest", cities / "evals" / "results"))
    file = cities / "evals" / "baseline.json"
    second = Thread(target=accept, args=(runs[1], file))

    def interrupted(path: Path, data: bytes) -> None:
        if second.ident is None:
            second.start()
            second.join(timeout=0.5)  # as far as it comes while the first has read the file and not written it
        write_atomic(path, data)

    monkeypatch.setattr(accepted, "write_atomic", interrupted)
    accept(runs[0], file)
    second.join()
    assert [suite["suite"] for suite in json.loads(file.read_bytes())["suites"]] == ["cities", "towns"]


def test_an_accepted_baseline_comes_first(invoke: Invoke, cities: Path) -> None:
    assert gated(invoke, "good").code == 0
    accepted = invoke("accept")
    assert accepted.code == 0
    assert accepted.out.startswith("wrote evals/baseline.json: 2 cases of the run ")
    for folder in (cities / "evals" / "results").iterdir():  # as in a fresh clone
        if folder.is_dir():
            (folder / "cities.labeled.json").unlink()
    for _ in range(2):
        outcome = gated(invoke, "broken")
        assert outcome.code == 1
        assert "REGRESSIONS (1) since evals/baseline.json" in outcome.out
        assert last_line_of(outcome, "compared with") == "compared with evals/baseline.json"
    assert gated(invoke, "good").code == 0
    named = invoke("run", "--agent", "python:gated_agents:broken", "--baseline", "latest")
    assert "REGRESSIONS (1) since evals/baseline.json" in named.out


@pytest.mark.parametrize("sure", [False, True])
def test_a_case_of_which_nothing_is_checked_any_more_regressed(invoke: Invoke, cities: Path, sure: bool) -> None:
    suite = cities / "evals" / "cities.eval.yaml"
    suite.write_text(SUITE.replace('[contains "Rome"]', "['contains \"{{seed:rome}}\"']"))
    (cities / "seed.json").write_text('{"rome": "Rome"}')
    flags = ("--seed-manifest", "seed.json", *(("--confidence", "0.95") if sure else ()))
    assert gated(invoke, "good", *flags).code == 0
    assert invoke("accept").code == 0
    (cities / "seed.json").write_text("{}")
    lapsed = gated(invoke, "good", *flags)
    assert lapsed.code == 1
    assert "REGRESSIONS (1) since evals/baseline.json" in lapsed.out
    assert invoke("accept").code == 0
    assert gated(invoke, "good", *flags).code == 0  # what was accepted unverified may stay so
    (cities / "seed.json").write_text('{"rome": "Rome"}')
    assert gated(invoke, "good", *flags).code == 0


def test_an_accepted_failure_may_go_on_failing(invoke: Invoke) -> None:
    gated(invoke, "broken")
    assert "2 cases of the run" in (said := invoke("accept").out)
    assert said.endswith(", 1 of which may keep failing\n")
    assert gated(invoke, "broken").code == 0


@pytest.mark.parametrize("agents", [("changing",), ("changing", "other")])
def test_an_error_says_nothing_of_how_an_agent_does(
    invoke: Invoke, cities: Path, monkeypatch: pytest.MonkeyPatch, agents: tuple[str, ...]
) -> None:
    file = cities / "evals" / "baseline.json"
    accepted = []
    for state in ("good", "down", "broken", "down"):
        monkeypatch.setenv("GATED_AGENTS_ARE", state)
        invoke("run", *of_agents(agents))
        assert invoke("accept").code == 0
        accepted.append(file.read_text())
    good, after_good, broken, after_broken = accepted
    assert (after_good, after_broken) == (good, broken)
    assert good != broken


def test_a_case_that_only_ever_ended_in_an_error_is_new_once_it_answers(
    invoke: Invoke, cities: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATED_AGENTS_ARE", "down")
    invoke("run", *of_agents(["changing"]))
    accepted = invoke("accept")
    assert "keep failing" not in accepted.out
    assert accepted.err.startswith("warning: this run left out some of the cases, which will be new")
    cases = json.loads((cities / "evals" / "baseline.json").read_text())["suites"][0]["cases"]
    assert {name: case["status"] for name, case in cases.items()} == {"cities/paris": "passed"}
    monkeypatch.setenv("GATED_AGENTS_ARE", "broken")
    assert gated(invoke, "changing").code == 1


def test_a_run_of_some_cases_leaves_the_others_as_they_were(invoke: Invoke, cities: Path) -> None:
    invoke("run", "--agent", "python:gated_agents:good", "--filter", "cities/rome")
    first = invoke("accept")
    assert "wrote evals/baseline.json: 1 case of the run " in first.out
    assert first.err == (
        "warning: this run left out some of the cases, which will be new to a comparison with this baseline\n"
    )
    invoke("run", "--agent", "python:gated_agents:broken")
    invoke("accept")
    invoke("run", "--agent", "python:gated_agents:good", "--filter", "cities/paris")
    again = invoke("accept")
    assert again.out.endswith(" and 1 from before, 1 of which may keep failing\n")
    assert ": 1 case of the run " in again.out
    assert again.err == ""
    assert len(json.loads((cities / "evals" / "baseline.json").read_text())["suites"][0]["cases"]) == 2


def test_the_file_is_small_sorted_and_has_a_case_a_line(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "broken")
    invoke("accept")
    text = (cities / "evals" / "baseline.json").read_text()
    lines = text.splitlines()
    assert [line.split('"')[1] for line in lines[2:4]] == ["cities/paris", "cities/rome"]
    suite = json.loads(text)["suites"][0]
    assert (suite["tool"], suite["tier"], suite["cases"]["cities/rome"]["status"]) == ("cities", "labeled", "failed")
    assert "agent" not in suite
    before = text
    gated(invoke, "broken")
    invoke("accept")
    assert (cities / "evals" / "baseline.json").read_text() == before


def test_new_changed_and_removed_cases_are_named(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    changed = SUITE.replace("name: rome", "name: roma").replace('contains "Paris"', 'contains "Pari"')
    (cities / "evals" / "cities.eval.yaml").write_text(changed)
    outcome = gated(invoke, "good")
    assert outcome.code == 1
    for heading, case in (("NEW", "cities/roma"), ("CHANGED", "cities/paris"), ("MISSING", "cities/rome")):
        assert f"  {heading} (1) since evals/baseline.json\n    - {case}\n" in outcome.out


def test_a_case_that_was_renamed_does_not_hide_a_regression(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    (cities / "evals" / "cities.eval.yaml").write_text(SUITE.replace("name: rome", "name: roma"))
    outcome = gated(invoke, "broken")
    assert outcome.code == 1
    assert "0 regressions, 1 failing case without a baseline and 1 missing case, none is allowed" in outcome.out


def test_a_case_that_was_removed_does_not_hide_another(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    (cities / "evals" / "cities.eval.yaml").write_text("\n".join(SUITE.splitlines()[:3] + SUITE.splitlines()[4:]))
    outcome = gated(invoke, "broken")
    assert outcome.code == 1
    assert "MISSING (1)" in outcome.out


def test_a_part_that_is_accepted_leaves_the_rest(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    invoke("run", "evals/cities.eval.yaml::rome", "--agent", "python:gated_agents:broken")
    invoke("accept")
    suite = json.loads((cities / "evals" / "baseline.json").read_text())["suites"][0]
    assert {name: case["status"] for name, case in suite["cases"].items()} == {
        "cities/paris": "passed",
        "cities/rome": "failed",
    }


def test_a_part_of_a_run_is_named_with_its_run(invoke: Invoke, cities: Path) -> None:
    invoke("run", *of_agents(("good", "broken")))
    (run,) = (folder for folder in (cities / "evals" / "results").iterdir() if folder.is_dir())
    for part in (next(run.glob("*good")), next(run.glob("*good/*.json"))):
        said = invoke("accept", str(part)).out
        assert f"2 cases of the run {run.name}/{part.relative_to(run).as_posix()}" in said


def test_rubrics_that_a_run_did_not_get_to_stay(invoke: Invoke, cities: Path) -> None:
    kind = "{name: kind, message: Paris?, validate: ['judge \"Is it kind?\" >= 4/5']}"
    (cities / "evals" / "kind.eval.yaml").write_text(f"suite: kind\ntier: rubric\neval: {{test_cases: [{kind}]}}\n")
    (cities / "kindness.py").write_text("def judge(query):\n    return 5, 'kind'\n")
    (cities / "evalc.toml").write_text('judge = "python:kindness:judge"\n')
    for agent, code in (("good", 0), ("broken", 1)):
        assert invoke("run", *of_agents((agent,))).code == code
        assert "no longer in it" not in invoke("accept").out
        suites = json.loads((cities / "evals" / "baseline.json").read_text())["suites"]
        assert [case for suite in suites for case in suite["cases"]] == ["cities/paris", "cities/rome", "kind/kind"]


def test_several_agents_each_have_their_own(invoke: Invoke, cities: Path) -> None:
    both = ("--agent", "python:gated_agents:good", "--agent", "python:gated_agents:broken")
    invoke("run", *both)
    invoke("accept")
    suites = json.loads((cities / "evals" / "baseline.json").read_text())["suites"]
    assert [suite["agent"] for suite in suites] == ["python:gated_agents:broken", "python:gated_agents:good"]
    assert invoke("run", *both, "--fail-on-regression").code == 0


AGENTS_OF_RUNS = (("good",), ("broken",), ("good", "broken"), ("broken", "other"))


def of_agents(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("--agent", f"python:gated_agents:{name}")]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("first", "second"), list(product(AGENTS_OF_RUNS, repeat=2)))
def test_the_last_accepted_run_counts_however_many_agents_it_had(
    invoke: Invoke, cities: Path, first: tuple[str, ...], second: tuple[str, ...], whole: bool
) -> None:
    """`rome` fails with the agent `broken`, and is not in the baseline of agents that the newer run did not have."""
    invoke("run", *of_agents(first), "--min-pass-rate", "0")
    invoke("accept")
    invoke("run", *of_agents(second), "--min-pass-rate", "0", *(() if whole else ("--filter", "cities/rome")))
    assert invoke("accept").code == 0
    suites = json.loads((cities / "evals" / "baseline.json").read_text())["suites"]
    romes = {suite.get("agent"): suite["cases"].get("cities/rome", {}).get("status") for suite in suites}
    status = {name: "failed" if name == "broken" else "passed" for name in second}
    several = {f"python:gated_agents:{name}": status[name] for name in second}
    assert {agent: found for agent, found in romes.items() if found} == (
        several if len(second) > 1 else {None: status[second[0]]}
    )
    paris = {suite.get("agent") for suite in suites if "cities/paris" in suite["cases"]}
    of_paris = second if whole else first
    assert paris == ({f"python:gated_agents:{name}" for name in of_paris} if len(of_paris) > 1 else {None})
    for name in second:
        outcome = invoke("run", *of_agents([name]), "--fail-on-regression", "--filter", "cities/rome")
        assert outcome.code == 0
        assert ("1 case failed" in outcome.out) == (name == "broken")


def test_an_agent_that_regressed_after_it_was_accepted_alone(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATED_AGENTS_ARE", "broken")
    invoke("run", *of_agents(["changing", "other"]))
    invoke("accept")
    monkeypatch.setenv("GATED_AGENTS_ARE", "good")
    invoke("run", *of_agents(["changing"]))
    invoke("accept")
    monkeypatch.setenv("GATED_AGENTS_ARE", "broken")
    outcome = gated(invoke, "changing")
    assert (outcome.code, "REGRESSIONS (1) since evals/baseline.json" in outcome.out) == (1, True)


def test_a_run_that_one_agent_did_not_finish_keeps_what_it_was(invoke: Invoke, cities: Path) -> None:
    both = of_agents(["other", "broken"])
    invoke("run", *both)
    invoke("accept")
    before = (cities / "evals" / "baseline.json").read_text()
    assert invoke("run", *both, "--maxfail", "1", "--concurrency", "1").code == 1
    assert invoke("accept").code == 0
    assert (cities / "evals" / "baseline.json").read_text() == before


def test_the_gate_of_a_suite_uses_it_too(invoke: Invoke, cities: Path) -> None:
    (cities / "evals" / "cities.eval.yaml").write_text(
        SUITE.replace("eval:", "gates: {fail_on_regression: true}\neval:")
    )
    codes = [
        invoke("run", "--agent", f"python:gated_agents:{agent}").code for agent in ("good", "broken", "broken", "good")
    ]
    assert codes == [0, 1, 1, 0]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "\xff",
        "[" * 9999,
        '{"baseline": 1}',
        "<<<<<<< HEAD\n",
        '{"baseline": 1, "suites": [{"tool": 1}]}',
    ],
)
def test_a_broken_baseline_is_no_green_gate(invoke: Invoke, cities: Path, content: str) -> None:
    (cities / "evals" / "baseline.json").write_text(content)
    outcome = gated(invoke, "good")
    assert outcome.code == 2
    assert outcome.err.startswith("error: the baseline `")
    invoke("run", "--agent", "python:gated_agents:good")
    assert invoke("accept").code == 2


def repeat_a_line(text: str, number: int, change: str = "") -> str:
    """The text with its line of this number once more, changed or not, as a merge that keeps both sides leaves it."""
    lines = text.splitlines(keepends=True)
    line = lines[number - 1].rstrip(",\n") + ",\n"
    return "".join((*lines[: number - 1], line, line.replace("passed", change or "passed"), *lines[number:]))


@pytest.mark.parametrize("again", ["passed", "failed", "error"])
def test_a_case_that_stands_twice_is_named_with_both_lines(invoke: Invoke, cities: Path, again: str) -> None:
    gated(invoke, "good")
    invoke("accept")
    file = cities / "evals" / "baseline.json"
    sound = file.read_text()
    file.write_text(repeat_a_line(sound, 3, again))
    for _ in range(2):
        outcome = gated(invoke, "good")
        assert (outcome.code, outcome.out) == (2, "")
        assert "has the case `cities/paris` of `cities (labeled)` twice, on lines 3 and 4: remove one" in outcome.err
    part = invoke("run", *of_agents(["good"]), "--filter", "cities/rome")
    assert part.code == 0
    assert "twice, on lines 3 and 4" in invoke("accept").err
    invoke("run", *of_agents(["good"]))
    assert invoke("accept").code == 0
    assert file.read_text() == sound


@pytest.mark.parametrize("agents", [("good",), ("good", "other")])
def test_a_suite_that_stands_twice(invoke: Invoke, cities: Path, agents: tuple[str, ...]) -> None:
    """Both sides may have written the suite, for one agent or for several; cases of their own are no conflict."""
    invoke("run", *of_agents(agents))
    invoke("accept")
    file = cities / "evals" / "baseline.json"
    written = json.loads(file.read_text())
    one = written["suites"][0]
    paris, rome = ({**one, "cases": {name: one["cases"][name]}} for name in ("cities/paris", "cities/rome"))
    file.write_text(json.dumps({**written, "suites": [paris, *written["suites"][1:], rome]}, indent=1))
    assert invoke("run", *of_agents(agents), "--fail-on-regression").code == 0
    for agent in ("python:gated_agents:good", None):
        mine = {key: value for key, value in rome.items() if key != "agent"}
        both = [one, {**mine, "agent": agent} if agent and len(agents) > 1 else mine, *written["suites"][1:]]
        text = json.dumps({**written, "suites": both}, indent=1)
        file.write_text(text)
        lines = [number for number, line in enumerate(text.splitlines(), 1) if "cities/rome" in line]
        outcome = gated(invoke, "good")
        assert (outcome.code, f"twice, on lines {lines[0]} and {lines[1]}" in outcome.err) == (2, True)


@pytest.mark.parametrize("key", ["suites", "tool", "cases", "status", "agent"])
def test_no_key_stands_twice(invoke: Invoke, cities: Path, key: str) -> None:
    invoke("run", *of_agents(["good", "other"]))
    invoke("accept")
    file = cities / "evals" / "baseline.json"
    empty = {"suites": "[]", "cases": "{}", "status": '"failed"'}.get(key, '"x"')
    file.write_text(file.read_text().replace(f'"{key}"', f'"{key}": {empty}, "{key}"', 1))
    outcome = gated(invoke, "good")
    assert (outcome.code, f"has the key `{key}` twice in the same object" in outcome.err) == (2, True)


def test_accept_without_a_run_is_an_error(invoke: Invoke) -> None:
    outcome = invoke("accept")
    assert (outcome.code, outcome.out) == (2, "")
    assert "there is no run with results in" in outcome.err


def test_the_baseline_is_no_evals_but_evals_of_its_name_are(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    file = cities / "evals" / "baseline.json"
    file.write_text("\ufeff" + file.read_text(encoding="utf-8").replace("{", "{,", 1), encoding="utf-8")
    assert invoke("check").code == 0
    file.write_text('[{"id": "ls-t-001", "expect": {"responseContains": ["x"]}},]', encoding="utf-8")
    outcome = invoke("check")
    assert (outcome.code, "baseline.json:1:" in outcome.out) == (2, True)
