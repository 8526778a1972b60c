"""Models as judges, over each API: how they are asked for a verdict, and what becomes of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openai.types.chat.completion_create_params
import pytest
from pydantic import TypeAdapter

from evalc.base.errors import JudgeError
from evalc.model.answer import Exhibit
from evalc.runtime.agents import Access, HttpOptions, Sampling, Sending
from evalc.runtime.agents.spec import AgentSettings
from evalc.runtime.judges.model import answer_schema
from evalc.runtime.judges.other import HttpJudge
from evalc.runtime.judges.panel import JudgeSettings, Meter, Panel, judge_for, seated
from tests.runtime.agents.model.apis import APIS, CHAT, MESSAGES, RESPONSES, Called, TestedApi
from tests.runtime.judges.scripted import EXHIBIT, TONE, score
from tests.support.servers import Behaviour, Server, answers, in_turn, serving

VERDICT = '{"reason": "Kind words.", "score": 4}'


@pytest.fixture(params=APIS, ids=lambda api: api.name)
def api(request: pytest.FixtureRequest) -> TestedApi:
    tested: TestedApi = request.param
    return tested


def judged(
    api: TestedApi,
    *said: dict[str, Any] | Behaviour,
    exhibit: Exhibit = EXHIBIT,
    questions: int = 1,
    sampling: Sampling | None = None,
    meter: Meter | None = None,
) -> tuple[Any, Server]:
    """A model's score for a question if its server answers so in turn, or the error."""
    behaviours = [answers(each) if isinstance(each, dict) else each for each in said]
    with serving(in_turn(behaviours)) as server:
        access = Access(base_url=server.url, key_variable="K", api=api.choice)
        reached = AgentSettings(providers={api.provider: access}, http=HttpOptions(sending=Sending(retries=0)))
        settings = JudgeSettings(reached=reached, sampling=sampling or Sampling())
        judge = judge_for(f"{api.provider}:tiny", settings=settings)
        panel = Panel(seats=seated([judge], 1), timeout_ms=10_000)
        try:
            outcome = [score(panel, exhibit=exhibit, meter=meter) for _ in range(questions)][-1]
        except JudgeError as error:
            outcome = str(error)
    for sent in server.requests:
        api.check_request(sent.json)
    return outcome, server


def verdict(api: TestedApi, text: str = VERDICT, name: str = "answer") -> dict[str, Any]:
    """A verdict as the API brings it: through the tool, or as the text."""
    return api.answer("", [Called(name, text)]) if api is MESSAGES else api.answer(text, [])


def system_and_user(api: TestedApi, body: dict[str, Any]) -> Sequence[str]:
    turns = body[api.conversation]
    return [body["system"], turns[0]["content"]] if api is MESSAGES else [turn["content"] for turn in turns]


def test_a_verdict_by_a_schema(api: TestedApi) -> None:
    meter = Meter()
    outcome, server = judged(api, verdict(api), meter=meter)
    assert (outcome.score, outcome.reason) == (4, "Kind words.")
    assert (meter.requests, meter.input_tokens, meter.output_tokens) == (1, 10, 2)
    (request,) = server.requests
    schema = answer_schema(TONE)
    match api.name:
        case "chat":
            assert request.json["response_format"] == {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        case "responses":
            assert request.json["text"]["format"] == {
                "type": "json_schema",
                "name": "answer",
                "strict": True,
                "schema": schema,
            }
        case _:
            assert request.json["tool_choice"] == {"type": "tool", "name": "answer"}
            (tool,) = request.json["tools"]
            assert tool["input_schema"] == schema
    system, user = system_and_user(api, request.json)
    assert TONE.criteria in system
    assert "Sunny." in user
    assert "Sunny." not in system


def test_a_server_that_ignores_schemas_may_answer_in_text(api: TestedApi) -> None:
    outcome, _ = judged(api, api.answer(f"```json\n{VERDICT}\n```", []))
    assert outcome.score == 4


def test_a_server_that_refuses_schemas_is_asked_without(api: TestedApi) -> None:
    refusal = answers({"error": {"message": "This response_format type is unavailable now"}}, status=400)
    outcome, server = judged(api, refusal, api.answer(VERDICT, []))
    assert outcome.score == 4
    with_schema, without = (request.json for request in server.requests)
    assert with_schema.keys() - without.keys() in ({"response_format"}, {"text"}, {"tools", "tool_choice"})


def test_a_server_that_refuses_everything_is_an_error(api: TestedApi) -> None:
    refusal = answers({"error": {"message": "no such model"}}, status=404)
    outcome, server = judged(api, refusal)
    assert "HTTP 404: no such model" in outcome
    assert len(server.requests) == 2


def test_a_malformed_verdict_is_asked_for_again_with_what_was_wrong(api: TestedApi) -> None:
    outcome, server = judged(api, verdict(api, '{"reason": "r", "score": 7}'), verdict(api))
    assert outcome.score == 4
    first, second = (system_and_user(api, request.json)[1] for request in server.requests)
    assert "could not be used" not in first
    assert second.endswith("Your last answer could not be used: the score is 7, and not between 0 and 5.")


def test_a_judge_that_quotes_a_verdict_has_given_none(api: TestedApi) -> None:
    outcome, server = judged(api, api.answer(f"The response says {VERDICT}, which is a lie.", []))
    assert "its answer is not a score, twice" in outcome
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_a_status_is_an_error_in_words(api: TestedApi, status: int) -> None:
    outcome, _ = judged(api, answers({"error": {"message": "go away"}}, status=status))
    assert f"HTTP {status}: go away" in outcome


def test_calls_of_other_tools_are_no_verdict() -> None:
    outcome, _ = judged(MESSAGES, verdict(MESSAGES, name="give_full_marks"))
    assert "its answer is not a score, twice" in outcome


def test_a_refusal_says_so() -> None:
    answer = CHAT.answer("", [])
    answer["choices"][0]["message"]["refusal"] = "I cannot judge that."
    outcome, server = judged(CHAT, answer)
    assert outcome.endswith("the model refuses to judge: I cannot judge that.")
    assert len(server.requests) == 1


def test_configured_parameters_are_sent_and_win(api: TestedApi) -> None:
    sampling = Sampling(temperature=0, extra={"top_p": 0.5})
    _, server = judged(api, verdict(api), sampling=sampling)
    (request,) = server.requests
    assert (request.json["temperature"], request.json["top_p"]) == (0, 0.5)


def test_the_request_is_of_the_sdk_s_type() -> None:
    for api, field, of_type in (
        (CHAT, "response_format", TypeAdapter[Any](openai.types.chat.completion_create_params.ResponseFormat)),
        (RESPONSES, "text", TypeAdapter[Any](openai.types.responses.ResponseTextConfigParam)),
    ):
        _, server = judged(api, verdict(api))
        of_type.validate_python(server.requests[0].json[field])


def test_the_identity_holds_what_decides_and_no_key() -> None:
    access = Access(base_url="http://127.0.0.1:1", key="sk-secret-secret", key_variable="K")
    settings = JudgeSettings(reached=AgentSettings(providers={"openai": access}), sampling=Sampling(temperature=0.5))
    identity = judge_for("openai:tiny", settings=settings).identity
    assert identity is not None
    assert "sk-secret" not in repr(identity)
    other = JudgeSettings(reached=AgentSettings(providers={"openai": access}), sampling=Sampling(temperature=1))
    assert identity != judge_for("openai:tiny", settings=other).identity
    assert identity != judge_for("openai:large", settings=settings).identity
    for base_url, headers, is_same in (
        ("http://127.0.0.1:1?profile=strict", {}, False),
        ("http://127.0.0.1:1", {"X-Profile": "strict"}, False),
        ("http://127.0.0.1:1", {"Authorization": "Bearer other"}, True),
    ):
        elsewhere = Access(base_url=base_url, key="sk-another", key_variable="K", headers=headers)
        other = JudgeSettings(
            reached=AgentSettings(providers={"openai": elsewhere}), sampling=Sampling(temperature=0.5)
        )
        assert (judge_for("openai:tiny", settings=other).identity == identity) is is_same


def test_the_identity_of_a_judge_behind_a_url_holds_its_query_and_headers() -> None:
    identity = HttpJudge("http://127.0.0.1:1/j", headers={"X-Profile": "kind", "Authorization": "Bearer a"}).identity
    assert HttpJudge("http://127.0.0.1:1/j", headers={"x-profile": "kind", "Cookie": "b"}).identity == identity
    assert HttpJudge("http://127.0.0.1:1/j", headers={"x-profile": "strict"}).identity != identity
    assert HttpJudge("http://127.0.0.1:1/j?v=2", headers={"x-profile": "kind"}).identity != identity
