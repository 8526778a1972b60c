"""Simulated users: how they are played, and that whoever plays one badly is to blame, and never the agent."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.base.errors import UsageError
from evalc.model.result import CaseResult
from tests.cli.conftest import Invoke, invoke, project
from tests.runtime.agents.model.apis import CHAT
from tests.support.servers import Exchange, answers, serving

__all__ = ["invoke", "project"]

SUITE = """
suite: guests
eval:
  test_cases:
    - name: a
      inputs: {city: Oslo}
      user:
        goal: Book a room in {{city}}
        persona: Polite
        facts: {city: "{{city}}", nights: 3}
        opens: Good evening!
        max_turns: 5
        stop_when: It is booked
      validate:
        - contains "Booked for 3"
        - turn 1 contains "City?"
"""
DESK = """
    import json

    def agent(message, messages):
        if "3" in message:
            return {"response": "Booked for 3 nights at 285.", "toolCalls": [], "usage": {"costUsd": 0.5}}
        return "How many nights?" if "Oslo" in message else "City?"

    def say(user, text, *facts, **changed):
        return json.dumps({"goal": user["goal"], "say": text, "facts": facts, "done": not text, **changed})

    SEEN = []

    def guest(exhibit):
        user = json.loads(exhibit)
        SEEN.append(user)
        last = user["messages"][-1]["content"] if user["messages"] else ""
        if "Booked" in last:
            return {"response": say(user, ""), "usage": {"costUsd": 0.25}}
        if "nights" in last:
            return {"response": say(user, "For 3 nights", "nights"), "usage": {"costUsd": 0.25}}
        return {"response": say(user, "Oslo", "city"), "usage": {"costUsd": 0.25}}
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The name of a module with an agent and a guest; a new one for each test."""
    name = f"desk_{abs(hash(request.node.name))}"
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(DESK))
    return name


def run(desk: str, folder: Path, *, player: str | None = None, suite: str = SUITE, **flags: Any) -> CaseResult:
    source = evalc.Source("guests.eval.yaml", suite)
    user = player or f"python:{desk}:guest"
    outcome = evalc.run(source, agent=f"python:{desk}:agent", user=user, output_dir=folder, **flags)
    (case,) = (case for each in outcome.suites for case in each.cases)
    return case


def test_a_user_is_played_until_the_goal_is_reached(desk: str, tmp_path: Path) -> None:
    case = run(desk, tmp_path)
    assert case.status == "passed", case.error
    assert case.details.turns
    assert [(turn.message, turn.response) for turn in case.details.turns] == [
        ("Good evening!", "City?"),
        ("Oslo", "How many nights?"),
        ("For 3 nights", "Booked for 3 nights at 285."),
    ]
    assert case.details.user_usage == {"requests": 3, "costUsd": 0.75}
    first, *_ = sys.modules[desk].SEEN
    assert first == {
        "goal": "Book a room in Oslo",
        "persona": "Polite",
        "facts": {"city": "Oslo", "nights": "3"},
        "stopWhen": "It is booked",
        "messages": [{"role": "user", "content": "Good evening!"}, {"role": "assistant", "content": "City?"}],
    }


def test_costs_of_the_user_are_part_of_the_run(desk: str, tmp_path: Path) -> None:
    source = evalc.Source("guests.eval.yaml", SUITE)
    flags: dict[str, Any] = {"agent": f"python:{desk}:agent", "user": f"python:{desk}:guest"}
    (suite,) = evalc.run(source, output_dir=tmp_path, **flags).suites
    assert suite.summary.estimated_cost_usd == 1.25
    stopped = evalc.run(source, output_dir=tmp_path, repeat=2, max_cost=0.5, **flags)
    (suite,) = stopped.suites
    assert suite.summary.estimated_cost_usd == 2.5


def test_without_an_opening_the_player_begins(desk: str, tmp_path: Path) -> None:
    case = run(desk, tmp_path, suite=SUITE.replace("        opens: Good evening!\n", ""))
    assert case.details.turns
    assert [turn.message for turn in case.details.turns] == ["Oslo", "For 3 nights"]
    assert str(case.error).startswith("turn 1: expected 'City?'")


def test_the_conversation_ends_after_as_many_turns_as_it_may_have(desk: str, tmp_path: Path) -> None:
    case = run(desk, tmp_path, suite=SUITE.replace("max_turns: 5", "max_turns: 2"))
    assert case.details.turns
    assert len(case.details.turns) == 2
    assert (case.status, case.details.user_usage) == ("failed", {"requests": 1, "costUsd": 0.25})


def test_a_turn_that_the_conversation_did_not_come_to_fails_its_checks(desk: str, tmp_path: Path) -> None:
    case = run(desk, tmp_path, suite=SUITE.replace("turn 1 contains", "turn 5 contains"))
    assert (case.status, case.error) == ("failed", "turn 5: the conversation ended after 3 turns")


BROKEN = [
    ("raise ValueError('no')", "ValueError: no (PLAYER.py:6)"),
    ("raise SystemExit(0)", "SystemExit: 0 (PLAYER.py:6)"),
    ("return 'Oslo, please'", "it answers with no JSON: "),
    ("return 7", "the answer is a number, not an object"),
    ("return '[1]'", "its answer is not of the agreed form: Expected `object`, got `array`"),
    ('return \'{"goal": "x", "say": 1, "done": false}\'', "its answer is not of the agreed form: "),
    ("return say(mood='bad')", "its answer is not of the agreed form: Object contains unknown field `mood`"),
    ("return say(goal='Book a flight')", "it pursues another goal: 'Book a flight'"),
    ("return say(facts=['budget'])", "it uses the fact 'budget', which it does not have"),
    ("return say(say='Paris, please', facts=['city'])", "it uses the fact 'city' and does not say 'Oslo'"),
    ("return say(say='For two nights', facts=['nights'])", "it uses the fact 'nights' and does not say '3'"),
    ("return say(say='City: not Oslo', facts=['city'])", "it says 'not Oslo' for the fact 'city', which is 'Oslo'"),
    ("return say(say='City: Paris')", "it says 'Paris' for the fact 'city', which is 'Oslo'"),
    ("return say(say='', done=True)", "it is done before it has said 'Oslo', its fact 'city'"),
    ("return say(say='Book Oslo!', facts=['city'], done=True)", "it is done before it has said 'Oslo', its fact"),
    ("return say(say='Room 4711, please')", "it says '4711', which none of its facts has"),
    ("return say(say='Mail me: ann@example.com')", "it says 'ann@example.com', which none of its facts has"),
    ("return say(say='   ')", "it says nothing, and is not done"),
    ("return say(say='x' * 2001)", "it says 2001 characters at once; 2000 is the most"),
    ("return say(say='Assistant: here is your room')", "it steps out of its role: 'Assistant:'"),
    ("return say(say='As an AI I have no city')", "it steps out of its role: 'As an AI'"),
    ("return say(say='City?')", "it says what the agent said: 'City?'"),
    ("return say(say='Hmm')", "turn 4: it says the same for the third time: 'Hmm'"),
    ("import time; time.sleep(60)", "no message within 2000 ms"),
    ("return json.dumps([[]] * 9)", "its answer is not of the agreed form: "),
]


@pytest.mark.parametrize(("code", "words"), BROKEN, ids=[words[:40] for _, words in BROKEN])
@pytest.mark.parametrize("asserted", ["contains 'City?'", "contains 'never'"])
def test_a_player_who_breaks_is_to_blame(
    desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str, asserted: str
) -> None:
    name = f"broken_{abs(hash((code, asserted)))}"
    source = f"""
import json
def play(exhibit):
    def say(**changed):
        return json.dumps({{"goal": "Book a room in Oslo", "say": "Oslo", "facts": [], "done": False, **changed}})
    {code}
"""
    (tmp_path / f"{name}.py").write_text(source)
    timeout_ms = 2_000 if "sleep" in code else 60_000
    suite = SUITE[: SUITE.index("validate")] + f'validate: ["{asserted}"]\n'
    case = run(desk, tmp_path, player=f"python:{name}:play", suite=suite, timeout_ms=timeout_ms)
    assert (case.status, case.score) == ("error", None)
    assert "user: " in str(case.error)
    blamed = words.replace("PLAYER", name)
    expected = f"user: {blamed}" if blamed.startswith("turn ") else f"user: turn 2: {blamed}"
    assert str(case.error)[: len(expected)] == expected
    assert case.details.turns
    assert case.details.turns[0].response == "City?"


def test_a_player_who_turns_a_negation_round_is_to_blame(desk: str, tmp_path: Path) -> None:
    said = {"goal": "Book a room in Oslo", "say": "Seat: window. Oslo", "facts": ["seat", "city"], "done": False}
    (tmp_path / "turned_round.py").write_text(f"import json\ndef play(exhibit): return json.dumps({said})\n")
    suite = SUITE.replace("nights: 3}", "seat: no window}")
    case = run(desk, tmp_path, player="python:turned_round:play", suite=suite)
    assert case.status == "error"
    assert "it uses the fact 'seat' and does not say 'no window'" in str(case.error)


def test_one_who_is_done_at_once_is_to_blame(desk: str, tmp_path: Path) -> None:
    said = json.dumps({"goal": "Book a room in Oslo", "say": "", "done": True})
    (tmp_path / "done_at_once.py").write_text(f"def play(_):\n    return {said!r}\n")
    suite = SUITE.replace("        opens: Good evening!\n", "")
    case = run(desk, tmp_path, player="python:done_at_once:play", suite=suite)
    assert (case.status, case.error) == ("error", "user: turn 1: it is done before it has said anything")


def test_a_malformed_message_is_asked_for_once_more(desk: str, tmp_path: Path) -> None:
    code = textwrap.dedent(DESK) + textwrap.dedent("""
        stumbled = []
        def stumbling(exhibit):
            if not stumbled:
                stumbled.append(1)
                return "Oslo"
            return guest(exhibit)
    """)
    (tmp_path / "stumbling.py").write_text(code)
    case = run(desk, tmp_path, player="python:stumbling:stumbling")
    assert case.status == "passed"
    assert case.details.user_usage == {"requests": 4, "costUsd": 0.75}


UNUSABLE = [
    "say(user, 'Paris, please.', 'city')",
    "say(user, 'City: Paris.')",
    "say(user, '')",
    "say(user, 'Room 4711')",
    "say({'goal': 'x'}, 'Oslo')",
]


@pytest.mark.parametrize("first", UNUSABLE)
def test_an_impossible_message_is_explained_to_the_player_and_asked_for_once_more(
    desk: str, tmp_path: Path, first: str
) -> None:
    name = f"corrected_{UNUSABLE.index(first)}"
    code = textwrap.dedent(DESK) + textwrap.dedent(f"""
        COMPLAINTS = []
        def corrected(exhibit):
            user = json.loads(exhibit)
            COMPLAINTS.append(user.get("complaint"))
            return {first} if len(COMPLAINTS) == 1 else guest(exhibit)
    """)
    (tmp_path / f"{name}.py").write_text(code)
    case = run(desk, tmp_path, player=f"python:{name}:corrected")
    assert case.status == "passed", case.error
    assert case.details.turns
    assert [turn.message for turn in case.details.turns] == ["Good evening!", "Oslo", "For 3 nights"]
    none, complaint, *more = sys.modules[name].COMPLAINTS
    assert (none, more) == (None, [None, None])
    assert complaint


def test_facts_that_the_goal_does_not_have_may_stay_unsaid(desk: str, tmp_path: Path) -> None:
    code = textwrap.dedent(DESK) + textwrap.dedent("""
        def brief(exhibit):
            user = json.loads(exhibit)
            return say(user, "" if len(user["messages"]) > 2 else "Oslo", "city")
    """)
    (tmp_path / "brief.py").write_text(code)
    case = run(desk, tmp_path, player="python:brief:brief")
    assert (case.status, case.details.user_usage) == ("failed", {"requests": 2})


def test_a_case_with_a_user_needs_somebody_who_plays_it(desk: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the case `guests/a` has a simulated user: name who plays it with `--user`"):
        evalc.run(evalc.Source("guests.eval.yaml", SUITE), agent=f"python:{desk}:agent", output_dir=tmp_path)


def test_a_played_conversation_is_recorded_replayed_and_rescored(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(project))
    (project / "played.py").write_text(textwrap.dedent(DESK))
    evals = project / "evals" / "weather.eval.yaml"
    evals.write_text(SUITE)
    agents = ("--agent", "python:played:agent", "--user", "python:played:guest")
    assert invoke("run", *agents, "--record", "recordings").code == 0
    asked = len(sys.modules["played"].SEEN)
    agent, guest = sorted((project / "recordings").iterdir())
    replayed = invoke("run", "--agent", f"replay:{agent}", "--user", f"replay:{guest}")
    assert replayed.code == 0, replayed.out
    evals.write_text(SUITE.replace("Booked for 3", "Booked for 4"))
    again = invoke("rescore", "latest")
    assert again.code == 1, again.out + again.err
    assert "expected 'Booked for 4'" in again.out
    assert len(sys.modules["played"].SEEN) == asked


def test_a_killed_run_goes_on_with_what_the_user_had_said(project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    code = textwrap.dedent(DESK).replace(
        "def agent(message, messages):",
        "def agent(message, messages):\n"
        "    import os, signal\n"
        "    with open('asked', 'a') as file:\n"
        "        print(message, file=file)\n"
        "    if open('asked').read().splitlines() == ['Good evening!', 'Oslo', 'For 3 nights']:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)",
    )
    (project / "dying_desk.py").write_text(code)
    command = [sys.executable, "-m", "evalc", "run"]
    agents = ["--agent", "python:dying_desk:agent", "--user", "python:dying_desk:guest"]
    assert subprocess.run([*command, *agents], cwd=project, capture_output=True, check=False).returncode == 137
    again = subprocess.run([*command, "--resume", "latest"], cwd=project, capture_output=True, check=False)
    assert again.returncode == 0, again.stdout.decode() + again.stderr.decode()
    assert (project / "asked").read_text().splitlines() == ["Good evening!", "Oslo", "For 3 nights", "For 3 nights"]
    (result,) = (project / "evals" / "results").glob("*/*.labeled.json")
    (case,) = json.loads(result.read_text())["cases"]
    assert case["details"]["userUsage"] == {"requests": 3, "costUsd": 0.75}
    other = [*command, "--resume", "latest", "--user", "demo"]
    refused = subprocess.run(other, cwd=project, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "`--user`" in refused.stderr


def test_a_dry_run_says_who_is_missing(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    outcome = invoke("run", "--agent", "demo", "--dry-run", "-v")
    assert "the case `guests/a` has a simulated user, and nobody plays it: add `--user`" in outcome.err
    assert "up to 5 turns" in outcome.out


def test_it_is_the_same_as_eval_json(desk: str, tmp_path: Path) -> None:
    compiled = evalc.compile(evalc.Source("guests.eval.yaml", SUITE))
    (suite,) = compiled.suites
    text = b"".join(suite.encode()).decode()
    assert json.loads(text)["cases"][0]["input"]["user"] == {
        "goal": "Book a room in Oslo",
        "persona": "Polite",
        "facts": {"city": "Oslo", "nights": "3"},
        "opens": "Good evening!",
        "maxTurns": 5,
        "stopWhen": "It is booked",
    }
    again = evalc.compile(evalc.Source("guests.labeled.json", text))
    assert b"".join(again.suites[0].encode()).decode() == text


@pytest.mark.parametrize(
    ("sent", "codes"),
    [
        ({"user": {"goal": "g", "maxTurns": 0}}, ["EV303"]),
        ({"user": {"goal": " "}}, ["EV309"]),
        ({"user": {"goal": "g"}, "followUps": ["x"]}, ["EV421"]),
        ({"user": {"persona": "p"}}, ["EV202"]),
        ({"user": {"goal": "g", "facts": {"a": 1}}}, ["EV301"]),
    ],
)
def test_mistakes_in_eval_json(sent: dict[str, Any], codes: list[str]) -> None:
    case = {"id": "ls-t-001", "description": "d", "difficulty": "edge", "input": {"message": "m", **sent}}
    file = {"metadata": {"toolName": "t", "tier": "labeled"}, "cases": [{**case, "expect": {"responseNonEmpty": True}}]}
    problems = evalc.check(evalc.Source("t.labeled.json", json.dumps(file)))
    assert [problem.code for problem in problems] == codes


@pytest.mark.parametrize("answers_by_schema", [True, False])
def test_a_model_plays_under_a_schema_or_by_words_alone(
    desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers_by_schema: bool
) -> None:
    says = iter([("Oslo", ["city"]), ("For 3 nights", ["nights"]), ("", [])])

    async def play(exchange: Exchange) -> None:
        asked = exchange.request.json
        if "response_format" in asked and not answers_by_schema:
            await answers({"error": {"message": "unknown field: response_format"}}, status=400)(exchange)
            return
        text, facts = next(says)
        said = {"goal": "Book a room in Oslo", "say": text, "facts": facts, "done": not text}
        await answers(CHAT.answer(json.dumps(said), []))(exchange)

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(play) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        case = run(desk, tmp_path, player="openai:tiny")
    assert case.status == "passed", case.error
    schemas = [request.json.get("response_format") for request in server.requests]
    assert [schema is not None for schema in schemas] == (
        [True] * 3 if answers_by_schema else [True, False, False, False]
    )
    assert "tools" not in server.requests[0].json
