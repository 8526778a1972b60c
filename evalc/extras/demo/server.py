"""Serves the demo agent over HTTP."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, final

import msgspec

from evalc.model.answer import AgentResponse
from evalc.runtime.agents import wire

_LONGEST_REQUEST: Final = 1024 * 1024


class _Incoming(msgspec.Struct):
    """A request; other keys are ignored."""

    message: str


@final
class DemoServer(ThreadingHTTPServer):
    """A server that closes its connections with itself: clients keep theirs open for the next request."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, answer: Callable[[str], AgentResponse]) -> None:
        self.answer = answer
        self._connections: set[socket.socket] = set()
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        """The agent's URL."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/chat"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note the connection."""
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close the server and what is connected to it."""
        super().server_close()
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not an error of the server."""


@final
class _Handler(BaseHTTPRequestHandler):
    server: DemoServer
    protocol_version = "HTTP/1.1"
    server_version = "evalc-demo"
    # Small answers go out at once, and in one piece.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            return
        try:
            incoming = msgspec.json.decode(body, type=_Incoming)
        except (ValueError, RecursionError) as error:
            self._respond(400, {"error": f"the request is not JSON with a text `message`: {error}"})
            return
        self._respond(200, wire.answer_fields(self.server.answer(incoming.message)))

    def do_GET(self) -> None:
        self._respond(405, {"error": "send a POST request with a JSON object that has a text `message`"})

    def _body(self) -> bytes | None:
        """The request's body; None if it cannot be read, which has then been answered."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            self._respond(411, {"error": "the request has no Content-Length"})
            return None
        if len(length) > 9 or int(length) > _LONGEST_REQUEST:
            self.close_connection = True
            self._respond(413, {"error": f"the request is longer than {_LONGEST_REQUEST} bytes"})
            return None
        return self.rfile.read(int(length))

    def _respond(self, status: int, document: object) -> None:
        body = msgspec.json.encode(document)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: an access log has no use here."""
