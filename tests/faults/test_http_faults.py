"""An HTTP agent that hangs, resets, truncates, floods, or answers nonsense."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket

import pytest

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable
from evalc.model.answer import AgentRequest
from evalc.runtime.agents import HttpOptions, Sending
from evalc.runtime.agents.http.agent import HttpAgent
from tests.support.asking import PATIENCE, ask, ask_after_timeout, failure, run_out_of_time
from tests.support.servers import (
    Behaviour,
    Exchange,
    answers,
    answers_bytes,
    closes,
    drips,
    echoes,
    floods,
    hangs,
    in_turn,
    resets,
    resets_midway,
    sends_chunks,
    serving,
    talks_garbage,
    truncates,
)

AT_ONCE = HttpOptions(sending=Sending(retries=2, first_wait=0.001))
SHORT = HttpOptions(sending=Sending(retries=2, first_wait=0.001, max_body=1_000_000))


@pytest.mark.parametrize(
    ("behaviour", "error", "words"),
    [
        (resets, AgentUnavailable, "connection was lost"),
        (resets_midway, AgentUnavailable, "connection was lost"),
        (closes, AgentProtocolError, "not complete HTTP"),
        (truncates, AgentProtocolError, "not complete HTTP"),
        (talks_garbage, AgentProtocolError, "not complete HTTP"),
        (sends_chunks(b'5\r\n{"res\r\n', b"nine\r\n"), AgentProtocolError, "not complete HTTP"),
        (sends_chunks(b'5\r\n{"responses'), AgentProtocolError, "not complete HTTP"),
        (floods, AgentProtocolError, "longer than 1000000 bytes"),
        (answers({"error": "boom"}, status=500), AgentProtocolError, 'HTTP 500: {"error": "boom"}'),
        (answers({}, status=404), AgentProtocolError, "HTTP 404"),
        (answers_bytes(b""), AgentProtocolError, "the answer is empty"),
        (answers_bytes(b"<html>"), AgentProtocolError, "the answer is not JSON: <html>"),
        (answers_bytes(b'{"response": "\xff"}'), AgentProtocolError, "not UTF-8"),
        (answers_bytes(b"[" * 100_000), AgentProtocolError, "nested too deeply"),
        (answers_bytes(b'{"response": NaN}'), AgentProtocolError, "not JSON"),
        (answers([]), AgentProtocolError, "the answer is a list, not an object"),
        (answers({"response": None}), AgentProtocolError, "`response` is null, not a text"),
        (answers_bytes(b"x" * 99, headers={"Content-Encoding": "gzip"}), AgentProtocolError, "compressed (`gzip`)"),
        (answers_bytes(b"", status=302, headers={"Location": "http://["}), AgentProtocolError, "cannot be read"),
    ],
)
def test_a_broken_answer_is_a_named_error(behaviour: Behaviour, error: type[AgentError], words: str) -> None:
    with serving(behaviour) as server:
        raised = failure(HttpAgent(server.url, options=SHORT))
    assert type(raised) is error
    assert words in str(raised)
    assert len(str(raised)) < 400


@pytest.mark.parametrize("broken", [resets, truncates, talks_garbage, floods, closes, sends_chunks(b"nine\r\n")])
def test_the_session_outlives_a_broken_answer(broken: Behaviour) -> None:
    async def run(agent: HttpAgent) -> str:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            with pytest.raises(AgentError):
                await session.send(AgentRequest(message="one"))
            return (await session.send(AgentRequest(message="two"))).response

    with serving(in_turn([broken, echoes])) as server:
        assert asyncio.run(run(HttpAgent(server.url, options=SHORT))) == "two"
        assert server.connections == 2


def test_a_flood_is_cut_off_early() -> None:
    with serving(floods) as server:
        failure(HttpAgent(server.url, options=SHORT))
        assert server.dropped.wait(PATIENCE)
        # What lies in the buffers of both ends comes on top of the limit.
        assert server.bytes_sent < 50_000_000


@pytest.mark.parametrize("slow", [hangs, drips])
def test_a_server_that_does_not_finish_loses_its_connection(slow: Behaviour) -> None:
    with serving(slow) as server:
        run_out_of_time(HttpAgent(server.url))
        assert server.dropped.wait(PATIENCE)


@pytest.mark.parametrize("slow", [hangs, drips])
def test_after_a_time_out_the_next_request_has_a_new_connection(slow: Behaviour) -> None:
    with serving(in_turn([slow, echoes])) as server:
        assert ask_after_timeout(HttpAgent(server.url), message="again").response == "again"
        assert server.connections == 2


def test_answers_are_never_mixed_up_however_many_requests_time_out() -> None:
    turn = random.Random(0)

    async def takes_a_while(exchange: Exchange) -> None:
        await asyncio.sleep(turn.random() * 0.01)
        await echoes(exchange)

    async def work(agent: HttpAgent, name: int) -> list[bool]:
        matches: list[bool] = []
        async with agent.session() as session:
            for number in range(20):
                message = f"{name}-{number}"
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(turn.random() * 0.05):
                        matches.append((await session.send(AgentRequest(message=message))).response == message)
            matches.append((await session.send(AgentRequest(message="last"))).response == "last")
        return matches

    async def run(agent: HttpAgent) -> list[list[bool]]:
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(*(work(agent, name) for name in range(8)))

    with serving(takes_a_while) as server:
        matches = asyncio.run(run(HttpAgent(server.url)))
    assert len(matches) == 8
    assert all(all(of_one_session) for of_one_session in matches)


def test_a_host_that_accepts_and_says_nothing_runs_out_of_time() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        run_out_of_time(HttpAgent(f"http://127.0.0.1:{listener.getsockname()[1]}/"))


def test_a_port_that_nobody_listens_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    url = f"http://me:a-password@127.0.0.1:{port}/chat?key=a-secret#a-fragment"
    raised = failure(HttpAgent(url, options=AT_ONCE))
    assert isinstance(raised, AgentUnavailable)
    assert str(raised) == f"no connection: Connection refused (http://127.0.0.1:{port}/chat?key=***)"


def test_tls_spoken_to_a_server_without_it() -> None:
    with serving(echoes) as server:
        url = server.url.replace("http:", "https:")
        raised = failure(HttpAgent(url, options=AT_ONCE))
    assert isinstance(raised, AgentUnavailable)
    assert str(raised).startswith("no connection: ")


def test_a_lost_connection_is_not_tried_again_because_the_agent_may_have_acted() -> None:
    with serving(in_turn([resets, echoes])) as server:
        failure(HttpAgent(server.url, options=AT_ONCE))
        assert len(server.requests) == 1


def test_lone_surrogates_become_replacement_characters() -> None:
    body = b'{"response": "a\\ud800b \\ud83d\\ude00", "toolCalls": [{"name": "t", "params": {"\\udc00": "\\udc00"}}]}'
    with serving(answers_bytes(body)) as server:
        response = ask(HttpAgent(server.url))
    assert response.response == "a\ufffdb \U0001f600"
    assert response.tool_calls[0].params == {"\ufffd": "\ufffd"}


@pytest.mark.parametrize("pause", [None, 0.02])
@pytest.mark.parametrize("stray", [b'{"response": "stray"}', b"x", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
def test_bytes_behind_an_answer_do_not_answer_the_next_request(pause: float | None, stray: bytes) -> None:
    """The rest closes the connection, and the next case is asked on a fresh one."""

    async def answers_twice(exchange: Exchange) -> None:
        body = json.dumps({"response": exchange.request.json["message"]}).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        more = head % len(stray) + stray if stray.startswith(b"{") else stray
        if pause is None:
            await exchange.write(head % len(body) + body + more)
        else:
            await exchange.respond(200, body)
            await asyncio.sleep(pause)
            await exchange.write(more)

    async def run(agent: HttpAgent) -> list[str]:
        answered = []
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            for message in ("one", "two", "three"):
                answered.append((await session.send(AgentRequest(message=message))).response)
                await asyncio.sleep(0.1 if pause else 0)
        return answered

    with serving(answers_twice) as server:
        assert asyncio.run(run(HttpAgent(server.url))) == ["one", "two", "three"]
        assert server.connections == 3
