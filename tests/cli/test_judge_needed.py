"""A judge that is needed and not named: reported before the agent is paid for answers that nobody could judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

JUDGED = """\
suite: tone
eval:
  test_cases:
    - {name: plain, message: What is the weather in Paris?, validate: [contains "Paris"]}
    - {name: kind, message: What is the weather in Rome?, validate: ['judge "Is it kind?" >= 4/5']}
"""
JUDGE = "def judge(query): return query['question']['maxScore']\n"


@pytest.fixture(autouse=True)
def tone(project: Path) -> Path:
    suite = project / "evals" / "weather.eval.yaml"
    suite.write_text(JUDGED)
    (project / "kind_judges.py").write_text(JUDGE)
    return suite


def test_a_run_does_not_begin(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 2
    assert outcome.err.startswith("error: the case `tone/kind` needs a judge: name one with `--judge`")
    assert not (project / "evals" / "results").exists()
    assert invoke("run", "--agent", "demo", "--judge", "python:kind_judges:judge").code == 0


def test_a_run_that_leaves_the_case_out_begins(invoke: Invoke, tone: Path) -> None:
    assert invoke("run", "--agent", "demo", "-k", "plain").code == 0
    tone.write_text(JUDGED.replace("{name: kind,", "{name: kind, skip: later,"))
    assert invoke("run", "--agent", "demo").code == 0
    assert invoke("check").out == "all good: 1 suite\n"


def test_a_check_warns(invoke: Invoke, project: Path) -> None:
    outcome = invoke("check")
    assert outcome.code == 0
    assert outcome.out.startswith(
        "warning[EV420]: the case `tone/kind` needs a judge, but none is configured\n --> evals/weather.eval.yaml:5:"
    )
    assert invoke("check", "--ignore", "EV420").out == "all good: 1 suite\n"
    (project / "evalc.toml").write_text('judge = ["python:kind_judges:judge"]\n')
    assert invoke("check").out == "all good: 1 suite\n"


def test_a_dry_run_warns(invoke: Invoke) -> None:
    outcome = invoke("run", "--agent", "demo", "--dry-run")
    assert (outcome.code, outcome.err) == (
        0,
        "warning: the case `tone/kind` needs a judge, and none is named: add `--judge`\n",
    )


def test_a_row_that_asks_a_judge_is_found(invoke: Invoke, tone: Path) -> None:
    tone.write_text(JUDGED.replace("{name: kind,", "{name: kind, for_each: [{name: a}, {name: b}],"))
    assert "`tone/kind@a` needs a judge" in invoke("run", "--agent", "demo").err


def test_shards_of_which_one_asks_no_judge_are_merged(invoke: Invoke, project: Path, tone: Path) -> None:
    cases = [f"    - {{name: c{n}, message: Hi, validate: [length > 1 chars]}}" for n in range(6)]
    tone.write_text("\n".join((JUDGED.rstrip(), *cases, "")))
    for part in ("1/3", "2/3", "3/3"):
        judged = ("--judge", "python:kind_judges:judge", "--output-dir", f"shard-{part[0]}")
        assert invoke("run", "--agent", "demo", "--shard", part, *judged).code in (0, 1)
    shards = [str(each) for each in sorted(project.glob("shard-*/*")) if each.is_dir()]
    asked = [json.loads((project / each / "journal.jsonl").read_text().splitlines()[0])["options"] for each in shards]
    assert [each["judges"] for each in asked] == [["python:kind_judges:judge"]] * 3
    assert invoke("merge", *shards).code in (0, 1)


def test_a_run_is_not_rescored_without_one(invoke: Invoke) -> None:
    invoke("run", "--agent", "demo", "--judge", "python:kind_judges:judge")
    assert invoke("rescore", "latest").code == 2
    assert invoke("rescore", "latest", "--judge", "python:kind_judges:judge").code == 0


ASKING: dict[str, str] = {
    "a check": "      validate: ['judge \"Is it kind?\" >= 4/5']\n",
    "a rubric": "      tier: rubric\n      rubric: [{dimension: kindness, max_score: 5, min_score: 4}]\n",
    "expected by itself": "      expected: It is sunny in Paris.\n",
    "a criterion": "      validate: [length > 1 chars]\n  criteria: [{name: kind, weight: 1, description: kind}]\n",
}
CASE = """\
suite: tone
eval:
  test_cases:
    - name: plain
      message: What is the weather in Paris?
"""


@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_a_judge_that_is_asked_needs_its_key(
    asking: str, invoke: Invoke, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    tone.write_text(CASE + asking)
    outcome = invoke("run", "--agent", "demo", "--judge", "openai:gpt-x", "--rubrics", "always")
    assert (outcome.code, outcome.err) == (
        2,
        "error: `openai` needs a key: set the environment variable `OPENAI_API_KEY`\n",
    )


def test_judges_and_players_that_nobody_asks_need_no_key(
    invoke: Invoke, project: Path, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    tone.write_text(CASE + '      validate: [contains "Paris"]\n')
    (project / "evalc.toml").write_text('agent = "demo"\njudge = ["openai:gpt-x"]\nuser = "openai:gpt-x"\n')
    assert invoke("run").code == 0
    assert invoke("rescore", "latest").code == 0
    tone.write_text(JUDGED)
    assert invoke("run", "-k", "plain").code == 0
    assert "`openai` needs a key" in invoke("run").err
