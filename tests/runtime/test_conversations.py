"""Conversations: what each kind of agent is sent turn by turn, what checks see of a turn and of the whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.model.result import CaseResult
from evalc.report import transcript
from tests.cli.conftest import Invoke, invoke, project
from tests.runtime.agents.model.apis import Called, TestedApi
from tests.runtime.agents.model.conftest import api
from tests.support.servers import Exchange, serving

__all__ = ["api", "invoke", "project"]

SUITE = """
suite: booking
eval:
  criteria: ["asks (1): Asks for what is missing"]
  test_cases:
    - name: two_nights
      inputs: {city: Paris}
      turns:
        - say: A room in {{city}}, please.
          validate:
            - contains "When?" for asks
            - tools called []
        - say: Tomorrow, two nights.
          validate:
            - any call of book has nights 2
            - equals "Booked."
            - latency <= 60s
      validate:
        - tools called [search, book]
        - contains "When?"
        - contains "Booked."
        - not turn 1 contains "Booked."
"""
CALLS = [
    {"name": "search", "params": {}, "success": True, "result": ["Ritz"]},
    {"name": "book", "params": {"nights": 2}, "success": True},
]


def answer_of(message: str) -> dict[str, Any]:
    if message.startswith("A room"):
        return {"response": "When?", "toolCalls": []}
    return {"response": "Booked.", "toolCalls": CALLS}


def run(suite: str, agent: Any, folder: Path, **flags: Any) -> CaseResult:
    outcome = evalc.run(evalc.Source("booking.eval.yaml", suite), agent=agent, output_dir=folder, **flags)
    (case,) = (case for suite in outcome.suites for case in suite.cases)
    return case


def agent_of(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> str:
    monkeypatch.syspath_prepend(str(folder))
    (folder / f"{name}.py").write_text(textwrap.dedent(code))
    return f"python:{name}:agent"


HISTORY = """
    SEEN = []
    def agent(message, messages):
        SEEN.append(messages)
        if len(messages) == 1:
            return "When?"
        calls = [{"name": "search", "result": ["Ritz"]}, {"name": "book", "params": {"nights": 2}}]
        return {"response": "Booked.", "toolCalls": calls}
"""
OBJECT = """
    MADE = []
    class agent:
        def __init__(self):
            MADE.append(self)
            self.turns = 0
        async def send(self, message):
            self.turns += 1
            if self.turns == 1:
                return "When?"
            return {"response": "Booked.", "toolCalls": ["search", {"name": "book", "params": {"nights": 2}}]}
"""


@pytest.mark.parametrize(("name", "code"), [("conversing_function", HISTORY), ("conversing_object", OBJECT)])
def test_a_conversation_with_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> None:
    case = run(SUITE, agent_of(tmp_path, monkeypatch, name, code), tmp_path)
    assert case.status == "passed", case.error
    assert case.score == 1.0
    assert case.details.turns
    assert [(turn.message, turn.response, turn.calls) for turn in case.details.turns] == [
        ("A room in Paris, please.", "When?", 0),
        ("Tomorrow, two nights.", "Booked.", 2),
    ]
    assert case.details.response == "When?\n\nBooked."


def test_a_function_is_given_what_was_said_and_an_object_is_made_for_each_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(SUITE, agent_of(tmp_path, monkeypatch, "seeing_function", HISTORY), tmp_path)
    assert sys.modules["seeing_function"].SEEN[1] == [
        {"role": "user", "content": "A room in Paris, please."},
        {"role": "assistant", "content": "When?"},
        {"role": "user", "content": "Tomorrow, two nights."},
    ]
    run(SUITE, agent_of(tmp_path, monkeypatch, "made_anew", OBJECT), tmp_path, repeat=3)
    made = [each.turns for each in sys.modules["made_anew"].MADE if each.turns]
    assert made == [2, 2, 2]


def test_a_conversation_over_http(invoke: Invoke, project: Path) -> None:
    async def desk(exchange: Exchange) -> None:
        body = exchange.request.json
        await exchange.respond(200, json.dumps(answer_of(body["turn"])).encode())

    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    with serving(desk) as server:
        (project / "evalc.toml").write_text(
            f'agentEndpoint = "{server.url}"\n'
            '[agent.body]\nsession = "{{session}}"\nturn = "{{message}}"\nso_far = "{{messages}}"\n'
        )
        assert invoke("run", "--repeat", "2").code == 0
    bodies = [sent.json for sent in server.requests]
    assert [len(body["so_far"]) for body in bodies] == [1, 3, 1, 3]
    first, again, second, _ = (body["session"] for body in bodies)
    assert first == again != second


def test_a_conversation_over_http_without_a_mapping(tmp_path: Path) -> None:
    async def plain(exchange: Exchange) -> None:
        await exchange.respond(200, json.dumps(answer_of(exchange.request.json["message"])).encode())

    with serving(plain) as server:
        assert run(SUITE, server.url, tmp_path).status == "passed"
    first, second = (sent.json for sent in server.requests)
    assert first["session"] == second["session"]
    assert [each["role"] for each in second["messages"]] == ["user", "assistant", "user"]


def test_a_model_is_sent_what_it_said_and_did(api: TestedApi, tmp_path: Path) -> None:
    from evalc.model.answer import AgentRequest

    stubs = {"search": ["Ritz"]}
    sent = AgentRequest(message="A room?", messages=({"role": "user", "content": "A room?"},), stubs=stubs, turn=1)
    first, server = api.ask(
        sent, api.answer("Let me look.", [Called("search", "{}", "a")]), api.answer("The Ritz. When?", [])
    )
    messages = (*sent.messages, {"role": "assistant", "content": first.response}, {"role": "user", "content": "Now."})
    follow_up = AgentRequest(message="Now.", messages=messages, stubs=stubs, turn=2, state=first.state)
    second, again = api.ask(follow_up, api.answer("Booked.", []))
    assert second.response == "Booked."
    asked, continued = server.requests[1].json, again.requests[0].json
    key = "input" if "input" in asked else "messages"
    assert continued[key][: len(asked[key])] == asked[key]
    assert continued[key][-1] == {"role": "user", "content": "Now."}
    assert api.results(continued) == api.results(asked)
    assert json.loads(json.dumps(second.state)) == second.state


def test_a_model_whose_calls_nothing_answers_is_sent_its_words(api: TestedApi) -> None:
    from evalc.model.answer import AgentRequest

    user = {"role": "user", "content": "A room?"}
    response, _ = api.ask(AgentRequest(message="A room?", messages=(user,), turn=1), api.answer("", [Called("search")]))
    assert response.state is None
    messages = (user, {"role": "assistant", "content": ""}, {"role": "user", "content": "Now."})
    _, server = api.ask(AgentRequest(message="Now.", messages=messages, turn=2), api.answer("ok", []))
    body = server.requests[0].json
    assert [each["content"] for each in body.get("input", body.get("messages"))] == ["A room?", "Now."]


DESK = """
    import json, os, sys
    with open("pids", "a") as file:
        file.write(f"{os.getpid()}\\n")
    turns = 0
    for line in sys.stdin:
        sent = json.loads(line)
        turns += 1
        if turns == 1:
            print(json.dumps({"response": "When?", "toolCalls": []}), flush=True)
        else:
            calls = [{"name": "search"}, {"name": "book", "params": {"nights": 2}}]
            print(json.dumps({"response": "Booked.", "toolCalls": calls}), flush=True)
"""


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_command_is_a_process_a_conversation(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    (project / "desk.py").write_text(textwrap.dedent(DESK))
    outcome = invoke("run", "--agent", f"command:{sys.executable} desk.py", "--repeat", "2")
    assert outcome.code == 0, outcome.out
    pids = list(map(int, (project / "pids").read_text().split()))
    assert len(set(pids)) == 2
    deadline = time.monotonic() + 10
    while not all(map(is_gone, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(map(is_gone, pids))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import sys; sys.exit(3)", "agent: turn 1: the command ended with exit status 3"),
        ("print('bye')", "agent: turn 1: the answer is not JSON"),
        ("pass", "agent: turn 1: the command ended before it answered with a line"),
        ('import sys; sys.stdin.readline(); print(\'{"text": "When?"}\')', "agent: turn 2: the command ended before"),
        ("import sys\nsys.stdin.readline()\nsys.stdout.write('x' * 17_000_000)", "agent: turn 1: the answer is longer"),
        ("import time; time.sleep(60)", "timeout: turn 1: no complete answer within 300 ms"),
    ],
)
def test_a_command_that_breaks_ends_the_conversation(project: Path, code: str, error: str) -> None:
    (project / "broken.py").write_text(code)
    timeout_ms = 300 if "sleep" in code else 30_000
    case = run(SUITE, f"command:{sys.executable} broken.py", project, timeout_ms=timeout_ms)
    assert str(case.error).startswith(error)
    assert case.status == ("failed" if "sleep" in code else "error")


BREAKS = """
    def agent(message):
        if message.startswith("A room"):
            return {"response": "When?", "toolCalls": [{"name": "t"}], "usage": {"costUsd": 0.5}}
        raise ValueError("no")
"""


def test_a_turn_that_breaks_is_an_error_that_says_which_and_keeps_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = run(SUITE, agent_of(tmp_path, monkeypatch, "breaking_agent", BREAKS), tmp_path)
    assert case.status == "error"
    assert case.error == "agent: turn 2: ValueError: no (breaking_agent.py:5)"
    assert case.details.turns
    assert [turn.response for turn in case.details.turns] == ["When?"]
    assert case.details.response is None
    assert case.details.unanswered == "Tomorrow, two nights."
    assert transcript(case) == (
        "turn 1\n  user: A room in Paris, please.\n  calls: t\n  agent: When?\n"
        "turn 2 (failed)\n  user: Tomorrow, two nights."
    )


def turns(*checks: str, whole: str = "[]") -> str:
    said = "".join(f"\n        - {{say: 'turn {n}', validate: {check}}}" for n, check in enumerate(checks, 1))
    text = f"eval:\n  test_cases:\n    - name: c\n      turns:{said}\n      validate: {whole}\n"
    return text.replace(", validate: []", "").replace("      validate: []\n", "")


USAGE = """
    def agent(message):
        turn = int(message.split()[1])
        usage = {"inputTokens": turn, "outputTokens": 1, "costUsd": 0.25 * turn}
        return {"response": "x" * turn, "toolCalls": [], "usage": usage}
"""


@pytest.mark.parametrize(
    ("suite", "error"),
    [
        (turns("[length == 1]", "[length == 2, cost <= 0.5]", whole="[cost <= 0.75]"), None),
        (turns("[length == 1]", "[cost <= 0.4]"), "turn 2: expected at most $0.4, found $0.5"),
        (turns("[length == 1]", whole="[cost <= 0.2]"), "maxCost: expected at most $0.2, found $0.25"),
        (turns("[]", "[]", whole="[turn 1 length == 1 and turn 2 length == 2]"), None),
        (
            turns("[]", "[]", whole="[turn 1 length == 2 or turn 2 length == 1]"),
            "any_of: expected one of 2 checks to hold but none does: turn 1: expected 2 characters, found 1; ",
        ),
        (turns("[{any_of: [length == 5, length == 6]}]"), "turn 1: expected one of 2 checks to hold but none does: "),
    ],
)
def test_evidence_of_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: str, error: str | None
) -> None:
    case = run(suite, agent_of(tmp_path, monkeypatch, "using_agent", USAGE), tmp_path)
    if error is None:
        assert case.status == "passed", case.error
    else:
        assert str(case.error)[: len(error)] == error
        (failed,) = [each for each in case.assertions if each.outcome == "failed"]
        assert failed.turn == (int(error[5]) if error.startswith("turn") else None)


def test_calls_are_matched_one_to_one_within_their_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
        def agent(message):
            return {"response": "", "toolCalls": [{"name": "t", "params": {"p": 1}}]}
    """
    spec = agent_of(tmp_path, monkeypatch, "calling_agent", code)
    once = "[any call of t has p 1]"
    assert run(turns(once, once), spec, tmp_path).status == "passed"
    case = run(turns("[any call of t has p 1, any call of t has p <= 1]"), spec, tmp_path)
    assert "for itself" in str(case.error)


def test_a_conversation_is_checked_again(invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evals = project / "evals" / "weather.eval.yaml"
    evals.write_text(SUITE)
    spec = agent_of(project, monkeypatch, "rescored_agent", HISTORY)
    assert invoke("run", "--agent", spec).code == 0
    asked = len(sys.modules["rescored_agent"].SEEN)
    evals.write_text(SUITE.replace("nights 2", "nights 3"))
    again = invoke("rescore", "latest")
    assert again.code == 1
    assert "expected such a call of 'book' but in call 1 nights is 2, expected 3" in again.out
    assert len(sys.modules["rescored_agent"].SEEN) == asked
    evals.write_text(SUITE.replace("Tomorrow, two", "Tomorrow, three"))
    assert "nothing was verified" in invoke("rescore", "latest").out


def test_a_conversation_is_recorded_and_replayed(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    spec = agent_of(project, monkeypatch, "recorded_agent", HISTORY)
    assert invoke("run", "--agent", spec, "--record", "recordings", "--repeat", "2").code == 0
    assert invoke("run", "--agent", "replay:recordings", "--repeat", "2").code == 0
    assert len(sys.modules["recorded_agent"].SEEN) == 4


def test_judges_see_the_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        HISTORY
        + """
    EXHIBITS = []
    def judge(exhibit):
        EXHIBITS.append(exhibit)
        return {"score": exhibit["question"]["maxScore"], "reason": "fine"}
"""
    )
    spec = agent_of(tmp_path, monkeypatch, "judged_agent", code)
    suite = turns('[judge "Is it kind?"]', "[]", whole='[judge "Was it kind?"]')
    case = run(suite, spec, tmp_path, judge="python:judged_agent:judge", no_judge_cache=True)
    assert case.status == "passed", case.error
    by_response = {each["response"]: each for each in sys.modules["judged_agent"].EXHIBITS}
    assert set(by_response) == {"When?", "When?\n\nBooked."}
    assert [each["role"] for each in by_response["When?"]["messages"]] == ["user", "assistant"] * 2


def test_earlier_messages_and_results_are_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
        def agent(message):
            calls = [{"name": "t", "result": 17}] if "first" in message else []
            return {"response": "17 of 4", "toolCalls": calls}
    """
    spec = agent_of(tmp_path, monkeypatch, "grounded_agent", code)
    both = "numbers from tools, message"
    suite = "eval: {test_cases: [{name: c, turns: [{say: first}, {say: 4, validate: [CHECKS]}]}]}"
    assert run(suite.replace("CHECKS", f"'{both}'"), spec, tmp_path).status == "passed"
    case = run(suite.replace("CHECKS", "numbers from tools"), spec, tmp_path)
    assert "but '4' does not" in str(case.error)
    early = "eval: {test_cases: [{name: c, turns: [{say: first, validate: ['BOTH']}, {say: 4}]}]}"
    assert "but '4' does not" in str(run(early.replace("BOTH", both), spec, tmp_path).error)


def test_one_turn_is_a_case_whose_checks_may_name_it(tmp_path: Path) -> None:
    agent = evalc.ScriptedAgent({"turn 1": "one"})
    assert run(turns('[equals "one"]'), agent, tmp_path).status == "passed"
    assert str(run(turns('[equals "two"]'), agent, tmp_path).error).startswith(
        "turn 1: response is `one`, expected `two`"
    )


def test_every_report_shows_the_turns(invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.replace('equals "Booked."', 'equals "Done."'))
    spec = agent_of(project, monkeypatch, "reported_agent", HISTORY)
    outputs = ("-o", "markdown:out.md", "-o", "junit:out.xml", "-o", "html:out.html", "-o", "csv:out.csv")
    outcome = invoke("run", "--agent", spec, *outputs)
    said = ("turn 1 user: A room in Paris, please.", "      agent: When?", "turn 2 user: Tomorrow, two nights.")
    made = ("      calls: search, book", "      agent: Booked.")
    assert "".join(f"      {line}\n" for line in (*said, *made)) + "    → turn 2 equals" in outcome.out
    assert '→ turn 2 equals "Done."\n      response is `Booked.`, expected `Done.`\n' in outcome.out
    turns = "turn 1\n  user: A room in Paris, please.\n  agent: When?\nturn 2 (failed)\n"
    for name in ("out.md", "out.xml", "out.csv"):
        assert turns in (project / name).read_text()
        assert "  calls: search, book\n  agent: Booked." in (project / name).read_text()
    assert '"turns":[{"message":"A room in Paris, please."' in (project / "out.html").read_text()
    shown = invoke("show", "latest", "-v").out
    assert "turn 2 (failed)" in shown


# --- a run that is killed --------------------------------------------------------------------------------------------

LONG = """
suite: long
eval:
  test_cases:
    - name: c
      for_each: [{id: a}, {id: b}, {id: c}, {id: d}]
      turns: [{say: "{{id}} 1"}, {say: "{{id}} 2"}, {say: "{{id}} 3"}, {say: "{{id}} 4"}]
      repeat: 2
      validate:
        - contains "{{id}} 1, {{id}} 2, {{id}} 3, {{id}} 4"
"""
DIES = """
import os, signal
from pathlib import Path

def agent(message, messages):
    said = ", ".join(each["content"] for each in messages if each["role"] == "user")
    with open("asked", "a") as file:
        print(said, file=file)
    asked = len(Path("asked").read_text().splitlines())
    if asked in KILLS:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"response": said, "toolCalls": [], "usage": {"costUsd": 0.25}}
"""


@pytest.mark.parametrize("kills", [(1,), (3,), (7, 8, 9), (4, 13, 20, 21, 22), tuple(range(2, 32, 3))])
def test_a_killed_run_goes_on_behind_the_last_answer(project: Path, kills: tuple[int, ...]) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(LONG)
    (project / "dying.py").write_text(DIES.replace("KILLS", repr(set(kills))))
    command = [sys.executable, "-m", "evalc", "run"]
    again = subprocess.run([*command, "--agent", "python:dying:agent"], cwd=project, capture_output=True, check=False)
    codes = [again.returncode]
    while codes[-1] == 137:
        again = subprocess.run([*command, "--resume", "latest"], cwd=project, capture_output=True, check=False)
        codes.append(again.returncode)
    assert codes == [137] * len(kills) + [0], again.stderr.decode()
    asked = (project / "asked").read_text().splitlines()
    said = [", ".join(f"{case} {turn}" for turn in range(1, last + 1)) for case in "abcd" for last in (1, 2, 3, 4)]
    # Each turn of the two attempts is asked once, and once more where it was under way when the run was killed.
    under_way = Counter(asked[number - 1] for number in kills)
    assert Counter(asked) == Counter({text: 2 + under_way[text] for text in said})
    (result,) = (project / "evals" / "results").glob("*/long*.json")
    suite = json.loads(result.read_text())
    assert [(case["status"], case["details"]["usage"]) for case in suite["cases"]] == [("passed", {"costUsd": 2.0})] * 4
    assert not list((project / "evals" / "results").glob("*/turns.jsonl"))


def test_an_agent_whose_memory_is_gone_begins_again(project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE)
    code = (
        OBJECT.replace("self.turns += 1", "self.turns += 1; note(self.turns)")
        + """
    def note(turn):
        import os, signal
        with open("asked", "a") as file:
            file.write(str(turn))
        if open("asked").read() == "12":
            os.kill(os.getpid(), signal.SIGKILL)
"""
    )
    (project / "forgetting.py").write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "evalc", "run"]
    killed = [*command, "--agent", "python:forgetting:agent"]
    assert subprocess.run(killed, cwd=project, capture_output=True, check=False).returncode == 137
    again = subprocess.run([*command, "--resume", "latest"], cwd=project, capture_output=True, check=False)
    assert again.returncode == 0, again.stdout.decode()
    assert (project / "asked").read_text() == "1212"


def test_a_turn_with_an_invalid_line_is_asked_again(tmp_path: Path) -> None:
    from evalc.model.answer import AgentResponse, AnsweredTurn
    from evalc.runtime.store.redact import NO_SECRETS
    from evalc.runtime.store.resume import TURNS_FILE, TurnLog

    turn = AnsweredTurn("m", AgentResponse(response="r", state={"items": [1]}), 2.0)
    log = TurnLog(tmp_path, NO_SECRETS, resumed=False)
    log.attempt(0, 1, 0).keep("x", turn)
    with (tmp_path / TURNS_FILE).open("ab") as file:
        file.write(b'{"suite": 0, "case": 1, "att')
    again = TurnLog(tmp_path, NO_SECRETS, resumed=True)
    assert again.attempt(0, 1, 0).begun() == ("x", [turn])
    assert again.attempt(0, 2, 0).begun() is None
    again.attempt(0, 1, 0).keep("x", turn)
    assert TurnLog(tmp_path, NO_SECRETS, resumed=True).attempt(0, 1, 0).begun() == ("x", [turn, turn])
    again.remove()
    assert TurnLog(tmp_path, NO_SECRETS, resumed=True).attempt(0, 1, 0).begun() is None


def test_a_turn_with_a_secret_is_not_kept(tmp_path: Path) -> None:
    from evalc.model.answer import AgentResponse, AnsweredTurn
    from evalc.runtime.store.redact import Redactor
    from evalc.runtime.store.resume import TURNS_FILE, TurnLog

    log = TurnLog(tmp_path, Redactor(["s3cr3t-word"]), resumed=False)
    log.attempt(0, 0, 0).keep("x", AnsweredTurn("m", AgentResponse(response="fine"), 2.0))
    log.attempt(0, 0, 0).keep("x", AnsweredTurn("m", AgentResponse(response="it is s3cr3t-word"), 2.0))
    log.attempt(0, 0, 0).keep("x", AnsweredTurn("m", AgentResponse(response="behind it"), 2.0))
    text = (tmp_path / TURNS_FILE).read_text()
    assert "fine" in text
    assert "s3cr3t" not in text
    assert "behind" not in text


def test_a_rate_counts_each_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = agent_of(tmp_path, monkeypatch, "paced_agent", HISTORY)
    started = time.monotonic()
    assert run(SUITE, spec, tmp_path, rpm=240, repeat=2).status == "passed"
    assert time.monotonic() - started >= 0.74  # four requests, a quarter of a second apart
