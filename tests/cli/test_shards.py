"""Shards of a run, and the one run that `evalc merge` makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalc.model.case import Case, Expect, Input
from evalc.model.suite import Suite, SuiteKey
from evalc.runtime.run.select import balanced, shard_of
from tests.cli.conftest import Invoke
from tests.support.steady import steady, steady_results

AGENT = 'def answer(message):\n    return "no" if message.endswith("7") else message\n'
SLOWLY = "import time\n" + AGENT.replace("return", "time.sleep(0.2)\n    return")
SUITES = {
    "many.eval.yaml": "suite: many\neval:\n  criteria: [x]\n  test_cases:\n"
    + "".join(
        f'    - {{name: case_{n}, message: "Question {n}", validate: [contains "Question {n}" for x]}}\n'
        for n in range(60)
    ),
    "few.eval.yaml": """\
suite: few
gates: {min_pass_rate: 0.5}
eval:
  test_cases:
    - {name: seven, message: "7", validate: [contains "7"]}
    - {name: eight, message: "8", repeat: 2, validate: [contains "8"]}
    - {name: nine, message: "9", skip: later, validate: [contains "9"]}
    - name: row
      message: "{{q}}"
      for_each: {key: q, rows: [{q: "11"}, {q: "17"}]}
      validate: ['contains "{{q}}"']
""",
}


@pytest.fixture
def suites(project: Path) -> Path:
    (project / "evals" / "weather.eval.yaml").unlink()
    for name, text in SUITES.items():
        (project / "evals" / name).write_text(text)
    (project / "answering.py").write_text(AGENT)
    (project / "evalc.toml").write_text('agent = "python:answering:answer"\n')
    return project


def run_shards(invoke: Invoke, of: int, *more: str) -> list[str]:
    """The folders of the runs of all shards."""
    for number in range(1, of + 1):
        assert invoke("run", "evals", "--shard", f"{number}/{of}", "--output-dir", "parts", *more).code in (0, 1)
    return sorted(map(str, Path("parts").glob("*/")))


def kill_shard(number: int, of: int) -> str:
    """The folder of a shard's run, whose process was killed when it had finished a case."""
    known = {*Path("parts").glob("*/")}
    command = [sys.executable, "-m", "evalc", "run", "evals", "--shard", f"{number}/{of}", "--output-dir", "parts"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while True:
            started = [folder for folder in Path("parts").glob("*/") if folder not in known]
            journals = [folder / "journal.jsonl" for folder in started]
            if any(journal.exists() and journal.read_bytes().count(b"\n") > 1 for journal in journals):
                break
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    return str(started[0])


def test_sixteen_shards_three_of_them_killed_and_resumed_are_one_run(invoke: Invoke, suites: Path) -> None:
    whole = invoke("run", "evals", "--output-dir", "whole", "--json")
    (suites / "answering.py").write_text(SLOWLY)
    killed = [kill_shard(number, 16) for number in (2, 5, 11)]
    for number in {*range(1, 17)} - {2, 5, 11}:
        assert invoke("run", "evals", "--shard", f"{number}/16", "--output-dir", "parts").code in (0, 1)
    parts = sorted(map(str, Path("parts").glob("*/")))
    assert len(parts) == 16
    unfinished = invoke("merge", *parts, "--output-dir", "merged")
    assert unfinished.code == 2
    assert any(f"`{part}` did not end: no part has the case `" in unfinished.err for part in killed)
    assert "finish it with `evalc run --resume parts/" in unfinished.err
    assert not Path("merged").exists()
    for part in killed:
        assert invoke("run", "--resume", part).code in (0, 1)
    merged = invoke("merge", *parts, "--output-dir", "merged", "--json")
    assert merged.code == whole.code == 1
    assert steady_results("merged") == steady_results("whole")
    assert steady(json.loads(merged.out)) == steady(json.loads(whole.out))


@pytest.mark.parametrize(("flag", "code"), [("0.9", 1), ("0.5", 0)])
def test_gates_decide_the_whole_and_no_part(invoke: Invoke, suites: Path, flag: str, code: int) -> None:
    parts = run_shards(invoke, 3, "--min-pass-rate", flag)
    assert not any("gates" in result for part in parts for result in map(_read, Path(part).glob("*.json")))
    outcome = invoke("merge", *parts)
    assert outcome.code == code
    assert f"at least {flag} is needed" in outcome.out


def _read(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_bytes()))


def test_the_history_calls_parts_what_they_are_and_the_merged_run_a_run(invoke: Invoke, suites: Path) -> None:
    parts = run_shards(invoke, 2)
    listed = invoke("history", "--output-dir", "parts").out.splitlines()[1:]
    assert len(listed) == 2
    assert all("part of the cases" in line for line in listed)
    assert invoke("merge", *parts).code == 1
    _, *listed = invoke("history").out.splitlines()
    assert len(listed) == 1
    assert not any("part of the cases" in line for line in listed)


def test_the_baseline_is_compared_with_at_the_merge(
    invoke: Invoke, suites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("run", "evals", "--min-pass-rate", "0.5").code == 0
    (suites / "answering.py").write_text('def answer(message):\n    return "no" if "3" in message else message\n')
    monkeypatch.delitem(sys.modules, "answering")
    parts = run_shards(invoke, 2, "--baseline", "latest", "--fail-on-regression")
    assert all(_read(file)["baselineRunId"] is None for part in parts for file in Path(part).glob("*.json"))
    outcome = invoke("merge", *parts, "--json")
    suites_of = {suite["toolName"]: suite for suite in json.loads(outcome.out)["suites"]}
    assert outcome.code == 1
    assert "many/case_3" in suites_of["many"]["regressions"]
    assert "many/case_7" in suites_of["many"]["newPasses"]


def test_a_merged_run_says_that_its_shards_had_other_checks(invoke: Invoke, suites: Path) -> None:
    config = suites / "evalc.toml"
    config.write_text(f'checks = ["own.py"]\n{config.read_text()}')
    for number, says in enumerate(("True", "True or None"), 1):
        (suites / "own.py").write_text(f"import evalc\n\n\n@evalc.custom_check\ndef ok(answer):\n    return {says}\n")
        invoke("run", "evals", "--shard", f"{number}/2", "--output-dir", "parts")
    merged = invoke("merge", *sorted(map(str, Path("parts").glob("*/"))))
    assert "the files of `checks` have changed between cases of this run" in " ".join(merged.out.split())


def test_overlaps_holes_and_strangers_are_named(invoke: Invoke, suites: Path) -> None:
    one, two = run_shards(invoke, 2)
    whole = invoke("run", "evals", "--output-dir", "whole", "--json")
    (all_of_it,) = map(str, Path("whole").glob("*/"))
    assert whole.code == 1
    killed = str(Path("killed") / Path(one).name)
    Path(killed).mkdir(parents=True)
    for runs, words in (
        ([one], "the shard 2/2 is missing: no part has the case `"),
        ([one, two, one], "are the same run"),
        ([all_of_it, two], "both have the case `"),
        ([one, "nothing"], "`nothing` is neither a run in"),
        ([one, killed], f"the run `{killed}` ended before its first case: remove its folder, and run it again"),
    ):
        outcome = invoke("merge", *runs)
        assert (outcome.code, outcome.out) == (2, "")
        assert words in outcome.err
    assert invoke("run", "evals", "--shard", "2/2", "--output-dir", "other", "--timeout", "99ms").code in (0, 1)
    (other,) = map(str, Path("other").glob("*/"))
    outcome = invoke("merge", one, other)
    assert (outcome.code, "`--timeout` in milliseconds was 60000 and is 99 now" in outcome.err) == (2, True)
    (suites / "evals" / "few.eval.yaml").write_text(SUITES["few.eval.yaml"].replace("seven", "six"))
    outcome = invoke("merge", one, two)
    assert (outcome.code, "has changed since" in outcome.err) == (2, True)


@pytest.mark.parametrize("selection", [[1], {"shard": "all"}, {"shard": [0, 2]}, {"shard": [1]}, {"tags": 3}])
def test_a_journal_that_says_nothing_of_its_cases(invoke: Invoke, suites: Path, selection: object) -> None:
    one, two = run_shards(invoke, 2)
    journal = Path(one) / "journal.jsonl"
    header, rest = journal.read_bytes().split(b"\n", 1)
    said = json.loads(header)
    said["flags"]["wanted"] = selection
    journal.write_bytes(json.dumps(said).encode() + b"\n" + rest)
    outcome = invoke("merge", one, two)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: the journal of `{one}` says nothing usable about its cases: ")
    by_duration = invoke("run", "evals", "--shard", "1/2", "--shard-by", "duration", "--output-dir", "parts")
    assert by_duration.code in (0, 1) or "has durations that" in by_duration.err


def test_a_shard_of_nothing_is_a_part_too(invoke: Invoke, suites: Path) -> None:
    (suites / "evals" / "many.eval.yaml").unlink()
    parts = run_shards(invoke, 9)
    assert invoke("merge", *parts, "--output-dir", "merged").code == 0
    assert [len(result["cases"]) for result in steady_results("merged").values()] == [4]


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/0", "-1/2", "1/10001", "a/b", "1/2/3", "\uff11/2"])
def test_shards_that_are_none(invoke: Invoke, suites: Path, shard: str) -> None:
    outcome = invoke("run", "evals", "--shard", shard)
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: `--shard {shard}`: a shard is one of N, such as 1/4 to 4/4")


def case_of(tool: str, tier: str, identity: str) -> tuple[Suite, Case]:
    case = Case(id=identity, description="d", input=Input(message="m"), expect=Expect())
    suite = Suite(metadata=None, name=tool, tool_name=tool, tier=tier, file_hash="", origin="", cases=(), size=0)
    return suite, case


@settings(deadline=None)
@given(st.text(), st.text(), st.text(), st.integers(1, 10_000))
def test_every_case_is_in_one_shard(tool: str, tier: str, identity: str, of: int) -> None:
    assert 1 <= shard_of(*case_of(tool, tier, identity), of) <= of


def test_a_case_stays_in_its_shard() -> None:
    stays = [shard_of(*case_of("weather", "labeled", f"weather/case_{n}"), 16) for n in range(6)]
    assert stays == [10, 13, 6, 1, 1, 1]


@settings(deadline=None)
@given(
    st.dictionaries(st.text(max_size=3), st.floats(0, 1e6), max_size=30),
    st.sets(st.text(max_size=3)),
    st.integers(1, 5),
)
def test_no_shard_takes_longer_than_another_by_more_than_a_case(
    durations: dict[str, float], new: set[str], of: int
) -> None:
    cases = [case_of("t", "labeled", identity) for identity in {*durations, *new}]
    numbers = balanced(cases, {SuiteKey("t", "labeled"): durations}, of)
    assert {name for _, name in numbers} == {case.id for _, case in cases}
    usual = sum(durations.values()) / len(durations) if durations else 1.0
    loads = dict.fromkeys(range(1, of + 1), 0.0)
    for (_, name), number in numbers.items():
        loads[number] += durations.get(name, usual)
    longest = max([*durations.values(), usual], default=usual)
    assert max(loads.values()) - min(loads.values()) <= longest * 1.000001


def test_shards_are_balanced_by_past_durations(invoke: Invoke, suites: Path) -> None:
    outcome = invoke("run", "evals", "--shard", "1/2", "--shard-by", "duration")
    assert (outcome.code, "has durations that" in outcome.err) == (2, True)
    whole = invoke("run", "evals", "--json")
    (newest,) = Path("evals/results").glob("*/")
    file = newest / "many.labeled.json"
    result = json.loads(file.read_bytes())
    for number, case in enumerate(result["cases"]):
        case["durationMs"] = 59_000 if number == 0 else 1_000  # the first takes as long as all the others
    file.write_text(json.dumps(result))
    for number in (1, 2):
        command = ("run", "evals", "--shard", f"{number}/2", "--shard-by", "duration", "--config", "evalc.toml")
        assert invoke(*command).code in (0, 1)
    parts = [str(folder) for folder in Path("evals/results").glob("*/") if folder != newest]
    sizes = sorted(len(_read(Path(part) / "many.labeled.json")["cases"]) for part in parts)
    assert sizes[0] <= 2
    merged = invoke("merge", *parts, "--json")
    assert steady(json.loads(merged.out)) == steady(json.loads(whole.out))


@pytest.mark.parametrize("flags", [("--shard-by", "duration"), ("--shard", "1/2", "--shard-by", "size")])
def test_ways_to_divide_that_are_none(invoke: Invoke, suites: Path, flags: tuple[str, ...]) -> None:
    outcome = invoke("run", "evals", *flags)
    assert outcome.code == 2
    assert "`--shard-by" in outcome.err


def test_a_shard_does_not_stop_when_it_is_sure(invoke: Invoke) -> None:
    outcome = invoke("run", "evals", "--agent", "demo", "--shard", "1/2", "--stop-when-sure", "--min-pass-rate", "0.5")
    assert outcome.code == 2
    assert "cannot be used with `--shard`" in outcome.err
