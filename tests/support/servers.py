"""Real HTTP servers on the loopback interface, with a given behaviour, for as long as a `with` block lasts.

    with serving(answers({"response": "Hi"})) as server:
        ...  # server.url, server.requests, server.connections

A behaviour answers one request and says nothing of connections: the server keeps them open between requests, as
HTTP/1.1 does, until the behaviour closes the writer. The server has a thread and an event loop of its own, so that
tests may be synchronous, asynchronous or in another process.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, final


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it came: header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@final
@dataclass(slots=True)
class Server:
    """A running server, and what has come to it so far."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    bytes_sent: int = 0
    dropped: threading.Event = field(default_factory=threading.Event)
    """Set once a client closed its connection before the answer was complete."""


@final
@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the way to answer it."""

    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    server: Server

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        self.server.bytes_sent += len(data)
        await self.writer.drain()

    async def respond(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Send a whole answer."""
        lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await self.write(f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode() + body)

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        """End the connection with a reset rather than an end of file."""
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Behaviour = Callable[[Exchange], Awaitable[None]]


def answers(document: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer every request with this JSON."""
    return answers_bytes(json.dumps(document).encode(), status=status, headers=headers)


def answers_bytes(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer every request with this body."""

    async def behave(exchange: Exchange) -> None:
        await exchange.respond(status, body, headers)

    return behave


def in_turn(behaviours: Sequence[Behaviour]) -> Behaviour:
    """Behave in one way after another, and in the last way from then on."""
    remaining = list(behaviours)

    async def behave(exchange: Exchange) -> None:
        await (remaining.pop(0) if len(remaining) > 1 else remaining[0])(exchange)

    return behave


async def echoes(exchange: Exchange) -> None:
    """Answer with the message."""
    await exchange.respond(200, json.dumps({"response": exchange.request.json["message"]}).encode())


async def hangs(exchange: Exchange) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def resets(exchange: Exchange) -> None:
    """Reset the connection instead of answering."""
    exchange.reset()


async def closes(exchange: Exchange) -> None:
    """Close the connection instead of answering."""
    exchange.close()


async def truncates(exchange: Exchange) -> None:
    """Promise more than is sent."""
    await exchange.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"response": "cut')
    exchange.close()


async def resets_midway(exchange: Exchange) -> None:
    """Reset the connection in the middle of the body."""
    await exchange.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"response": "cut')
    await asyncio.sleep(0.05)
    exchange.reset()


async def talks_garbage(exchange: Exchange) -> None:
    """Answer with something that is not HTTP."""
    await exchange.write(b"\x00\xff\x16\x03 this is not HTTP\r\n\r\n")
    exchange.close()


def sends_chunks(*raw: bytes) -> Behaviour:
    """Send these bytes as a body in chunks, one write each, and keep the connection open."""

    async def behave(exchange: Exchange) -> None:
        await exchange.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in raw:
            await asyncio.sleep(0.05)  # so that it comes by itself
            await exchange.write(piece)
        await hangs(exchange)

    return behave


async def drips(exchange: Exchange) -> None:
    """Send the body a byte at a time, and never finish."""
    await exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        await exchange.write(b" ")
        await asyncio.sleep(0.02)


async def drips_headers(exchange: Exchange) -> None:
    """Send the head of an answer a byte at a time, and never finish."""
    await exchange.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        await exchange.write(b"x")
        await asyncio.sleep(0.02)


async def floods(exchange: Exchange) -> None:
    """Send a body without end."""
    await exchange.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    while True:
        await exchange.write(chunk)


def streams(*pieces: bytes, then: Behaviour | None = None) -> Behaviour:
    """Send these pieces of an event stream one by one, and end the body, or go on in another way."""

    async def behave(exchange: Exchange) -> None:
        await exchange.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for piece in pieces:
            await exchange.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        await (ends_body if then is None else then)(exchange)

    return behave


async def ends_body(exchange: Exchange) -> None:
    """End a body that came in chunks."""
    await exchange.write(b"0\r\n\r\n")


@contextmanager
def serving(behaviour: Behaviour, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server that behaves so; on leaving, its connections are closed and its thread has ended.

    With `tls` it speaks HTTPS.
    """
    server = Server()
    ready = threading.Event()
    stop: list[Callable[[], object]] = []

    def run() -> None:
        asyncio.run(_serve(behaviour, server, tls, ready, stop))

    thread = threading.Thread(target=run, name="test-server")
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        stop[0]()
        thread.join()


async def _serve(
    behaviour: Behaviour,
    server: Server,
    tls: ssl.SSLContext | None,
    ready: threading.Event,
    stop: list[Callable[[], object]],
) -> None:
    handlers: set[asyncio.Task[None]] = set()
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        handlers.add(asyncio.create_task(_converse(behaviour, server, reader, writer)))

    listener = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    host, port = listener.sockets[0].getsockname()
    server.url = f"{'http' if tls is None else 'https'}://{host}:{port}/chat"
    stop.append(lambda: loop.call_soon_threadsafe(stopped.set))
    ready.set()
    await stopped.wait()
    listener.close()
    for handler in handlers:
        handler.cancel()
    await asyncio.gather(*handlers, return_exceptions=True)


async def _converse(
    behaviour: Behaviour, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer request after request, until either side closes; a client that leaves ends the answer under way."""
    try:
        while (request := await _read_request(reader)) is not None:
            server.requests.append(request)
            answering = asyncio.ensure_future(behaviour(Exchange(request, reader, writer, server)))
            leaving = asyncio.create_task(_left(reader))
            try:
                await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if not answering.done() or answering.exception() is not None:
                    server.dropped.set()
                    return
            finally:
                answering.cancel()
                leaving.cancel()
                await asyncio.gather(answering, leaving, return_exceptions=True)
            if writer.is_closing():
                return
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _left(reader: asyncio.StreamReader) -> None:
    """Return once the client has closed its end; a second request sent early would not be noticed as such."""
    while not reader.at_eof() and reader.exception() is None:
        await asyncio.sleep(0.005)


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        first = await reader.readexactly(1)
        if not first.isalpha():
            return None  # a client that speaks TLS, or nothing at all
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, OSError):
        return None
    return Request(method=method, path=path, headers=headers, body=body)
