"""Judges that are code or a service, and specs that are no judges."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalc.base.errors import JudgeError, UsageError
from evalc.model.answer import Exhibit, Question
from evalc.runtime.agents import HttpOptions, Sending, Tls
from evalc.runtime.agents.spec import AgentSettings
from evalc.runtime.judges.panel import JudgeSettings, Panel, judge_for, seated
from tests.runtime.judges.scripted import EXHIBIT, score
from tests.support.servers import Behaviour, answers, answers_bytes, closes, hangs, in_turn, serving

CODE = """
import asyncio, time
seen = []
def number(query): seen.append(query); return 3
def yes(query): return True
def surely(query): return True, "sure"
def pair(query): return 2.5, "half"
def mapping(query): return {"score": False, "reason": "none"}
def share(query): return 0.8
def declared(query): return {"score": 0.8, "maxScore": 1, "reason": "a share"}
def declared_yes(query): return {"score": True, "maxScore": 1}
def text(query): return '{"score": 1, "reason": "as text"}'
async def waits(query): await asyncio.sleep(0); return 4
def hands_over(query): return waits(query)
def breaks(query): raise ValueError("broken")
def exits(query): raise SystemExit(3)
def none(query): return None
def fails(query): return {"score": True, "error": "no model"}
def nan(query): return float("nan")
def hangs(query): time.sleep(600)
async def hangs_too(query): await asyncio.Event().wait()
thing = 7
"""


def settings(folder: Path = Path(), headers: Mapping[str, str] | None = None) -> JudgeSettings:
    return JudgeSettings(
        reached=AgentSettings(project_root=folder, http=HttpOptions(sending=Sending(retries=0))), headers=headers or {}
    )


def judged(spec: str, folder: Path = Path(), *, timeout_ms: float = 10_000) -> Any:
    panel = Panel(seats=seated([judge_for(spec, settings=settings(folder))], 1), timeout_ms=timeout_ms)
    try:
        return score(panel)
    except JudgeError as error:
        return str(error)


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "judging_here.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("number", 3, None),
        ("pair", 2.5, "half"),
        ("text", 1, "as text"),
        ("waits", 4, None),
        ("hands_over", 4, None),
        ("declared", 4, "a share"),
        ("declared_yes", 5, None),
    ],
)
def test_a_function_scores(code: Path, name: str, value: float, reason: str | None) -> None:
    outcome = judged(f"python:judging_here:{name}", code)
    assert (outcome.score, outcome.reason) == (value, reason)


def test_a_function_that_gives_no_score_is_called_once(code: Path) -> None:
    with (code / "judging_here.py").open("a") as module:
        module.write("def seldom(query): seen.append(query); return 9\n")
    assert "its answer is not a score: the score is 9" in judged("python:judging_here:seldom", code)
    assert len(sys.modules["judging_here"].seen) == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("breaks", "python:judging_here:breaks: ValueError: broken (judging_here.py:"),
        ("exits", "SystemExit: 3"),
        ("none", "its answer is not a score: "),
        ("nan", "the score is nan"),
        ("share", 'the score is 0.8, which may be a share or one of 5: return it with its scale, as {"score": 0.8,'),
        ("fails", "beside the score it has an `error`: no model"),
        ("yes", "its answer is not a score: the score is true, and not a number between 0 and 5"),
        ("surely", "the score is true, and not a number between 0 and 5"),
        ("mapping", "the score is false, and not a number between 0 and 5"),
    ],
)
def test_a_function_that_breaks_is_an_error(code: Path, name: str, why: str) -> None:
    assert why in judged(f"python:judging_here:{name}", code)


@pytest.mark.parametrize(("name", "value", "reason"), [("yes", 1, None), ("surely", 1, "sure"), ("mapping", 0, "none")])
def test_true_and_false_are_scores_where_the_scale_has_no_others(
    code: Path, name: str, value: int, reason: str | None
) -> None:
    judge = judge_for(f"python:judging_here:{name}", settings=settings(code))
    outcome = score(Panel(seats=seated([judge], 1)), question=Question(name="tone", max_score=1))
    assert (outcome.score, outcome.reason) == (value, reason)


@pytest.mark.parametrize("name", ["hangs", "hangs_too"])
def test_a_function_that_hangs_is_left_behind(code: Path, name: str) -> None:
    assert judged(f"python:judging_here:{name}", code, timeout_ms=50).endswith("no score within 50 ms")


def test_a_function_is_given_the_question_and_what_is_judged(code: Path) -> None:
    judged("python:judging_here:number", code)
    import judging_here  # type: ignore[import-not-found]

    assert judging_here.seen == [
        {
            "question": {"name": "tone", "criteria": "Is it kind?", "maxScore": 5},
            "message": "What is the weather?",
            "response": "Sunny.",
        }
    ]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("python:judging_here:thing", "a judge is a function"),
        ("python:judging_here:nothing", "has no `nothing`"),
        ("python:judging_here", "is not of the form"),
        ("openai:", "`openai` is not a judge"),
        ("demo", "`demo` is not a judge: judges are `openai:MODEL`"),
        ("command:ls", "`command` is not a judge"),
        ("http:no", "`http` is not a judge"),
        ("http://", "the judge's URL names no host"),
        ("openai:m", "`openai` needs a key"),
    ],
)
def test_invalid_judges_are_refused(code: Path, spec: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        judge_for(spec, settings=settings(code))


def test_a_service_is_sent_the_question_and_answers_with_a_score() -> None:
    with serving(answers({"score": 4.5, "reason": "r"})) as server:
        url = server.url.replace("http://", "http://me:pass-word@") + "?token=abc"
        judge = judge_for(url, settings=settings(headers={"X-Team": "a"}))
        outcome = score(Panel(seats=seated([judge], 1)))
    assert (outcome.score, outcome.reason) == (4.5, "r")
    (request,) = server.requests
    assert request.json["question"] == {"name": "tone", "criteria": "Is it kind?", "maxScore": 5}
    assert request.json["response"] == "Sunny."
    assert request.headers["authorization"].startswith("Basic ")
    assert request.headers["x-team"] == "a"
    assert "pass-word" not in judge.name + repr(judge.identity)
    assert judge.name.endswith("?token=***")


def test_a_service_gets_the_complaint() -> None:
    with serving(in_turn([answers({"score": 6}), answers({"score": 5})])) as server:
        assert judged(server.url).score == 5
    assert [request.json.get("complaint") for request in server.requests] == [
        None,
        "the score is 6, and not between 0 and 5",
    ]


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (answers({}, status=500), "HTTP 500"),
        (answers({}, status=429), "HTTP 429"),
        (answers({"score": 5}, status=202), "HTTP 202"),
        (answers({"score": 5}, status=206), "HTTP 206"),
        (
            answers({"score": 5, "error": "x"}),
            "its answer is not a score, twice: beside the score it has an `error`: x",
        ),
        (answers_bytes(b"\xff\xfe<html>"), "the answer is not UTF-8"),
        (answers({"verdict": 5}), "its answer is not a score, twice"),
        (closes, "127.0.0.1"),
    ],
)
def test_a_service_that_breaks_is_an_error(behaviour: Behaviour, why: str) -> None:
    with serving(behaviour) as server:
        assert why in judged(server.url)


def test_a_service_that_hangs_runs_out_of_time() -> None:
    with serving(hangs) as server:
        assert judged(server.url, timeout_ms=300).endswith("no score within 300 ms")


def test_a_missing_service_is_distinguished_from_a_slow_service() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    assert judged(url) == f"{url}: no connection: Connection refused"


def test_the_http_library_is_imported_before_a_score_is_waited_for() -> None:
    code = """
import sys
from evalc.runtime.agents.spec import AgentSettings
from evalc.runtime.judges.panel import JudgeSettings, judge_for
assert "httpcore" not in sys.modules
judge_for("http://127.0.0.1:1/", settings=JudgeSettings(reached=AgentSettings()))
assert "httpcore" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_settings_to_connect_are_found_before_anything_is_asked(tmp_path: Path) -> None:
    http = HttpOptions(sending=Sending(tls=Tls(authorities=tmp_path / "none.pem")))
    with pytest.raises(UsageError, match="cannot be used: No such file"):
        judge_for("https://127.0.0.1:1/", settings=JudgeSettings(reached=AgentSettings(http=http)))


def test_a_service_gets_all_that_a_case_has() -> None:
    exhibit = Exhibit(
        message="m",
        messages=({"role": "user", "content": "m"},),
        response="r",
        tool_calls=({"name": "t", "params": {"x": 1}},),
        expected="e",
        reference_data={"k": [1]},
    )
    with serving(answers({"score": 1})) as server:
        score(Panel(seats=seated([judge_for(server.url, settings=settings())], 1)), exhibit=exhibit)
    sent = json.loads(server.requests[0].body)
    del sent["question"]
    assert sent == {
        "message": "m",
        "messages": [{"role": "user", "content": "m"}],
        "response": "r",
        "toolCalls": [{"name": "t", "params": {"x": 1}}],
        "expected": "e",
        "referenceData": {"k": [1]},
    }
    assert EXHIBIT.expected is None
