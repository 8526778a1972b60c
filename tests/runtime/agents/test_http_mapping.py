"""An agent of its own shape behind a URL: bodies, paths, redirects, certificates, and a deadline that retries keep."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable, UsageError
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage
from evalc.runtime.agents import HttpOptions, Sending, Tls
from evalc.runtime.agents.http.agent import HttpAgent
from evalc.runtime.mapping import AnswerPaths, BodyTemplate, JsonPath
from tests.support.asking import PATIENCE, ask, failure
from tests.support.servers import Exchange, answers, answers_bytes, echoes, in_turn, serving


def paths(**texts: str) -> HttpOptions:
    return HttpOptions(answer=AnswerPaths(**{name: JsonPath.of(text) for name, text in texts.items()}))


def send(agent: HttpAgent, request: AgentRequest) -> AgentResponse:
    async def run() -> AgentResponse:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            return await session.send(request)

    return asyncio.run(run())


def test_the_body_and_the_method_are_configured() -> None:
    body = BodyTemplate.of({"q": "{{message}}", "where": "{{input.city}}", "id": "{{id}}", "n": [1]})
    request = AgentRequest(message='"}', case_id="s/c", inputs={"city": {"name": "Rome"}})
    with serving(answers({"text": "ok"})) as server:
        send(HttpAgent(server.url, options=HttpOptions(method="PUT", body=body)), request)
    assert server.requests[0].method == "PUT"
    assert server.requests[0].json == {"q": '"}', "where": {"name": "Rome"}, "id": "s/c", "n": [1]}


def test_an_input_that_is_not_there_breaks_the_case_and_sends_nothing() -> None:
    with serving(echoes) as server:
        raised = failure(HttpAgent(server.url, options=HttpOptions(body=BodyTemplate.of(["{{input.city}}"]))))
        assert server.requests == []
    assert type(raised) is AgentError
    assert str(raised) == "the body needs the input `city`, which the case does not have"


def test_answers_are_read_by_paths() -> None:
    document = {
        "out": [{"text": "Hello"}],
        "steps": [
            {"kind": "tool", "tool": "get_weather", "ok": 1, "ms": 5, "args": '{"city": "Paris"}', "out": [17]},
            {"kind": "tool", "tool": "get_time", "ok": 0, "ms": 1.5, "args": {}, "why": {"code": 7}},
            {"kind": "thought"},
        ],
        "meter": {"in": 3, "dollars": 0.5},
    }
    options = paths(
        response="out[0].text",
        tool_calls="steps[?kind=='tool']",
        name="tool",
        success="ok == `1`",
        duration_ms="ms",
        params="args",
        result="out",
        error="why",
        input_tokens="meter.in",
        output_tokens="meter.out",
        cost_usd="meter.dollars",
    )
    with serving(answers(document)) as server:
        assert ask(HttpAgent(server.url, options=options)) == AgentResponse(
            response="Hello",
            tool_calls=(
                ToolCall(name="get_weather", success=True, duration_ms=5, params={"city": "Paris"}, result=[17]),
                ToolCall(name="get_time", success=False, duration_ms=1.5, error='{"code":7}'),
            ),
            usage=Usage(input_tokens=3, cost_usd=0.5),
        )


def test_an_unmapped_field_is_read_at_its_usual_place() -> None:
    document = {"text": "Hello", "toolsCalled": ["a", {"name": "b", "args": {"x": 1}}]}
    with serving(answers(document)) as server:
        assert ask(HttpAgent(server.url, options=paths(input_tokens="n"))).tool_calls == (
            ToolCall(name="a"),
            ToolCall(name="b", params={"x": 1}),
        )


def test_a_mapped_field_is_read_nowhere_else() -> None:
    call = {"name": "b", "input": {"x": 1}, "parameters": {"type": "object"}}
    document = {"text": "Hello", "tools_called": ["a"], "steps": [call]}
    with serving(answers(document)) as server:
        asked = ask(HttpAgent(server.url, options=paths(tool_calls="steps", params="input")))
        assert asked.tool_calls == (ToolCall(name="b", params={"x": 1}),)
    with serving(answers({**document, "steps": []})) as server:
        assert ask(HttpAgent(server.url, options=paths(tool_calls="steps"))).tool_calls == ()


@pytest.mark.parametrize(
    ("options", "document", "words"),
    [
        (paths(response="a.b"), {"a": {"c": 1}}, 'the path `a.b` of `response` matches nothing: {"a": {"c": 1}}'),
        (paths(response="a"), {"a": 1}, "the path `a` of `response` finds a number, not a text: {"),
        (paths(response="a[].b"), {"a": [{"b": "x"}]}, "`a[].b | [0]` is the first of them"),
        (paths(response="length(a)"), {"a": 1}, "the path `length(a)` cannot be applied"),
        (paths(tool_calls="calls"), {"text": "x"}, "the path `calls` of `toolCalls` matches nothing"),
        (paths(tool_calls="calls"), {"text": "x", "calls": {}}, "`toolCalls` is an object, not a list"),
        (paths(name="tool"), {"text": "x", "toolCalls": [{"name": "t"}]}, "the path `tool` of `name` matches nothing"),
        (paths(params="p"), {"text": "x", "toolCalls": [{"name": "t", "p": "{"}]}, "a text that is not JSON"),
        (paths(params="p"), {"text": "x", "toolCalls": [{"name": "t", "p": "[]"}]}, "is a list, not an object"),
        (paths(success="s"), {"text": "x", "toolCalls": [{"name": "t", "s": "ok"}]}, "not true or false"),
        (paths(response="a"), [1], "matches nothing: [1]"),
    ],
)
def test_a_path_that_does_not_fit_is_named(options: HttpOptions, document: Any, words: str) -> None:
    with serving(answers(document)) as server:
        raised = failure(HttpAgent(server.url, options=options))
    assert type(raised) is AgentProtocolError
    assert words in str(raised)


def test_refusals_carry_their_status() -> None:
    with serving(answers({}, status=429)) as server:
        raised = failure(HttpAgent(server.url, options=HttpOptions(sending=Sending(retries=0))))
    assert isinstance(raised, AgentUnavailable)
    assert raised.status == 429


def test_a_retry_that_would_come_too_late_is_not_waited_for() -> None:
    async def run(agent: HttpAgent) -> AgentResponse:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            deadline = asyncio.get_running_loop().time() + PATIENCE
            return await session.send(AgentRequest(message="m", deadline=deadline))

    with serving(in_turn([answers({}, status=429, headers={"Retry-After": "30"}), echoes])) as server:
        with pytest.raises(AgentUnavailable, match="HTTP 429"):
            asyncio.run(run(HttpAgent(server.url)))
        assert len(server.requests) == 1


def to(location: str, status: int) -> Any:
    return answers({}, status=status, headers={"Location": location})


@pytest.mark.parametrize(("status", "method"), [(307, "POST"), (308, "POST"), (301, "GET"), (302, "GET"), (303, "GET")])
def test_redirects_are_followed_where_they_are_configured(status: int, method: str) -> None:
    options = HttpOptions(redirects=1)
    with serving(in_turn([to("/there?a=b", status), answers({"text": "there"})])) as server:
        assert ask(HttpAgent(server.url, headers={"X-Key": "k"}, options=options)).response == "there"
        first, second = server.requests
    assert (second.method, second.path, second.headers["x-key"]) == (method, "/there?a=b", "k")
    assert second.body == (first.body if method == "POST" else b"")


def test_another_origin_gets_no_secret() -> None:
    with serving(echoes) as other, serving(to(other.url, 307)) as server:
        url = server.url.replace("http://", "http://ann:secret99@")
        agent = HttpAgent(url, headers={"X-Key": "k"}, options=HttpOptions(redirects=3))
        assert ask(agent, "m").response == "m"
        assert not {"x-key", "authorization"} & set(other.requests[0].headers)


def test_redirects_end() -> None:
    with serving(to("/again", 307)) as server:
        raised = failure(HttpAgent(server.url, options=HttpOptions(redirects=3)))
        assert len(server.requests) == 4
    assert "after 3 redirects" in str(raised)


@pytest.mark.parametrize("location", ["http://[", "ftp://host/", "file:///etc/passwd"])
def test_a_redirect_leads_to_http_only(location: str) -> None:
    with serving(to(location, 307)) as server:
        raised = failure(HttpAgent(server.url, options=HttpOptions(redirects=1)))
    assert isinstance(raised, AgentProtocolError)


def test_certificates_that_cannot_be_used_are_a_mistake_of_usage(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate")
    for file, words in ((empty, "it holds no certificates"), (tmp_path / "none.pem", "No such file")):
        with pytest.raises(UsageError, match=words):
            ask(HttpAgent("https://127.0.0.1:1/", options=HttpOptions(sending=Sending(tls=Tls(authorities=file)))))


def test_mapped_bodies_are_sent() -> None:
    seen: list[tuple[str, bytes, Mapping[str, str]]] = []

    async def keeps(exchange: Exchange) -> None:
        request = exchange.request
        seen.append((request.path, request.body, {n: v for n, v in request.headers.items() if n != "connection"}))
        await exchange.respond(200, b'{"text": ""}', {"Set-Cookie": "a=b"})

    with serving(keeps) as server:
        url = server.url + "/a b/ü?q=%2F+x&é"
        for _ in range(2):
            ask(HttpAgent(url), "Grüße")
        host = server.url.split("/")[2]
    path, body, headers = seen[1]
    assert path == "/chat/a%20b/%C3%BC?q=%2F+x&%C3%A9"
    assert body == '{"message":"Grüße"}'.encode()
    assert headers == {
        "host": host,
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "accept-encoding": "identity",
        "user-agent": "evalc",
        "content-length": str(len(body)),
    }


def test_a_configured_host_stands_in_place_of_the_url_s() -> None:
    with serving(answers({"text": ""})) as server:
        options = HttpOptions()
        ask(HttpAgent(server.url, headers={"HOST": "agent.example"}, options=options))
    assert server.requests[0].headers["host"] == "agent.example"


def test_one_answer_after_another_on_one_connection() -> None:
    behaviours = [answers_bytes(b"", status=500), echoes, answers({}, status=404), echoes]

    async def run(agent: HttpAgent) -> list[str]:
        said: list[str] = []
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            for number in range(4):
                try:
                    said.append((await session.send(AgentRequest(message=str(number)))).response)
                except AgentError as error:
                    said.append(str(error))
        return said

    with serving(in_turn(behaviours)) as server:
        options = HttpOptions()
        assert asyncio.run(run(HttpAgent(server.url, options=options))) == ["HTTP 500", "1", "HTTP 404: {}", "3"]
        assert server.connections == 1
