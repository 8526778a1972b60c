"""The HTTP agent against a real server: what it sends, accepts, keeps, and tries again."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evalc.base.errors import AgentProtocolError, AgentUnavailable, UsageError
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import HttpOptions, Sending
from evalc.runtime.agents.http.agent import HttpAgent
from evalc.runtime.agents.http.transport import _retry_after, headers_of, wait_of
from evalc.runtime.mapping import AnswerPaths, JsonPath
from tests.support.asking import PATIENCE, ask, ask_all, failure
from tests.support.servers import answers, answers_bytes, echoes, in_turn, serving


def test_names_of_headers_are_in_lower_case_and_repeated_ones_are_joined() -> None:
    assert headers_of([(b"Content-Type", b"text/plain"), (b"RETRY-AFTER", b"3")]) == {
        "content-type": "text/plain",
        "retry-after": "3",
    }
    assert headers_of([(b"via", b"a"), (b"Via", b"b")]) == {"via": "a, b"}


def test_bytes_beyond_ascii_are_utf_8_or_latin_1() -> None:
    headers = headers_of([(b"location", "/é".encode()), (b"server", "é".encode("latin-1"))])
    assert (headers["location"], headers["server"]) == ("/é", "é")


AT_ONCE = HttpOptions(sending=Sending(retries=2, first_wait=0.001))


def test_sends_the_message_and_headers() -> None:
    with serving(echoes) as server:
        agent = HttpAgent(server.url, headers={"X-Key": "secret", "accept": "text/json"})
        assert ask(agent, "Grüße").response == "Grüße"
    (request,) = server.requests
    assert (request.method, request.path, request.json) == ("POST", "/chat", {"message": "Grüße"})
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["x-key"] == "secret"
    assert request.headers["accept"] == "text/json"


def test_sends_messages_where_the_case_has_them() -> None:
    async def run(agent: HttpAgent) -> AgentResponse:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            return await session.send(AgentRequest(message="m", messages=({"role": "user", "content": "c"},)))

    with serving(echoes) as server:
        asyncio.run(run(HttpAgent(server.url)))
    assert server.requests[0].json == {"message": "m", "messages": [{"role": "user", "content": "c"}]}


def test_a_session_keeps_its_connection_and_no_cookies() -> None:
    cookie = answers({"response": "ok"}, headers={"Set-Cookie": "session=1; Path=/"})
    with serving(cookie) as server:
        ask_all(HttpAgent(server.url), "one", "two", "three")
    assert server.connections == 1
    assert len(server.requests) == 3
    assert not any("cookie" in request.headers for request in server.requests)


def test_sessions_have_connections_of_their_own() -> None:
    async def run(agent: HttpAgent) -> None:
        async with asyncio.timeout(PATIENCE), agent.session() as one, agent.session() as other:
            await asyncio.gather(*(session.send(AgentRequest(message="m")) for session in (one, other)))

    with serving(echoes) as server:
        asyncio.run(run(HttpAgent(server.url)))
        assert server.connections == 2


def test_big_integers_stay_exact() -> None:
    body = b'{"response": "", "toolCalls": [{"name": "t", "params": {"n": 123456789012345678901234567890}}]}'
    with serving(answers_bytes(body)) as server:
        response = ask(HttpAgent(server.url))
    assert response.tool_calls[0].params == {"n": 123456789012345678901234567890}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_not_now_is_tried_again(status: int) -> None:
    with serving(in_turn([answers({}, status=status), answers({}, status=status), echoes])) as server:
        assert ask(HttpAgent(server.url, options=AT_ONCE), "m").response == "m"
        assert len(server.requests) == 3


@pytest.mark.parametrize("status", [429, 503])
def test_not_now_for_good_is_unavailable(status: int) -> None:
    with serving(answers_bytes(b"busy", status=status)) as server:
        raised = failure(HttpAgent(server.url, options=AT_ONCE))
        assert type(raised) is AgentUnavailable
        assert str(raised) == f"HTTP {status}: busy"
        assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 500, 501])
def test_other_statuses_are_not_tried_again(status: int) -> None:
    with serving(answers({}, status=status)) as server:
        assert isinstance(failure(HttpAgent(server.url, options=AT_ONCE)), AgentProtocolError)
        assert len(server.requests) == 1


def test_retry_after_is_waited_for() -> None:
    # A wait that outlasts the deadline is cancelled with it; without Retry-After the answer would come at once.
    async def run(agent: HttpAgent) -> None:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await session.send(AgentRequest(message="m"))

    with serving(in_turn([answers({}, status=429, headers={"Retry-After": "30"}), echoes])) as server:
        asyncio.run(run(HttpAgent(server.url, options=AT_ONCE)))
        assert len(server.requests) == 1


def test_a_retry_after_of_more_than_a_minute_is_not_waited_for() -> None:
    with serving(in_turn([answers({}, status=429, headers={"Retry-After": "3600"}), echoes])) as server:
        assert str(failure(HttpAgent(server.url, options=AT_ONCE))) == "HTTP 429: {}"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", 0),
        ("0", 0),
        (" 7 ", 7),
        ("-5", 0),
        ("1e9", 0),
        ("nan", 0),
        ("²", 0),
        ("9" * 40, 999_999_999),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("soon", 0),
    ],
)
def test_retry_after_is_read_with_care(value: str, seconds: float) -> None:
    assert _retry_after(value) == seconds


def test_retry_after_may_be_a_date() -> None:
    moment = datetime.now(UTC) + timedelta(hours=1)
    assert 3500 < _retry_after(format_datetime(moment, usegmt=True)) <= 3600


def test_waits_double_with_jitter_and_are_capped() -> None:
    assert 0.125 <= wait_of(0, 0.25, 0) <= 0.25
    assert 0.25 <= wait_of(1, 0.25, 0) <= 0.5
    assert 4 <= wait_of(30, 0.25, 0) <= 8
    assert 5.125 <= wait_of(0, 0.25, 5) <= 5.25


@pytest.mark.parametrize("status", [202, 206])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_status_that_says_that_the_answer_is_not_whole_is_an_error(status: int, streamed: bool) -> None:
    body = b'data: {"response": "ok"}\n\n' if streamed else b'{"response": "ok"}'
    headers = {"Content-Type": "text/event-stream"} if streamed else {}
    with serving(answers_bytes(body, status=status, headers=headers)) as server:
        raised = failure(HttpAgent(server.url))
        assert str(raised).startswith(f"HTTP {status}: this is not the whole answer; if it is, list the status in ")
        options = HttpOptions(accepted=(status,))
        assert ask(HttpAgent(server.url, options=options)).response == "ok"


@pytest.mark.parametrize("options", [HttpOptions(), HttpOptions(answer=AnswerPaths(response=JsonPath.of("response")))])
def test_an_error_beside_an_answer_is_an_error(options: HttpOptions) -> None:
    with serving(answers({"response": "ok", "error": {"message": "boom"}})) as server:
        assert str(failure(HttpAgent(server.url, options=options))) == "the answer has an `error`: boom"
    with serving(answers({"response": "ok", "error": None})) as server:
        assert ask(HttpAgent(server.url, options=options)).response == "ok"


def test_redirects_are_named_and_not_followed() -> None:
    location = {"Location": "https://user:hunter22@elsewhere.example/login?token=abc#frag"}
    with serving(answers({}, status=307, headers=location)) as server:
        raised = failure(HttpAgent(server.url))
    assert str(raised) == ("HTTP 307: redirects are not followed, here to https://elsewhere.example/login?token=***")


def test_credentials_in_the_url_are_sent_as_a_header_and_shown_nowhere() -> None:
    with serving(echoes) as server:
        url = server.url.replace("http://", "http://ann:p%40ss@") + "?key=abc&flag"
        agent = HttpAgent(url)
        ask(agent)
        assert agent.endpoint == f"{server.url}?key=***&***"
    request = server.requests[0]
    assert request.headers["authorization"] == "Basic " + base64.b64encode(b"ann:p@ss").decode()
    assert request.path == "/chat?key=abc&flag"
    assert "ann" not in request.headers["host"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://host/", "begins with `ftp:`"),
        ("http://", "names no host"),
        ("http://host:99999/", "cannot be read"),
        ("http://[::1/", "cannot be read"),
        ("http://a:secretpw@host:port/", "cannot be read"),
        ("http://host\x00/", "cannot be read"),
        ("http://" + "h" * 64 + "/", "cannot be read"),
        ("http://a..b/", "cannot be read"),
    ],
)
def test_an_unusable_url_is_a_mistake_of_usage(url: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        HttpAgent(url)
    assert "secretpw" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("X Y", "v"), ("", "v"), ("X", "top\r\nsecret"), ("X", "gehe\u0456m"), ("content-Length", "v")]
)
def test_an_unusable_header_is_a_mistake_of_usage(name: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        HttpAgent("http://host/", headers={name: value})
    assert value not in str(caught.value) or value == "v"
