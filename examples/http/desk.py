"""A desk that knows a library's opening hours and answers in JSON that is not evalc's: an agent to be mapped.

    python desk.py [PORT]

`POST /v2/turns` answers with one document, `POST /v2/stream` with server-sent events. Both want the token `open-sesame`
in the header `X-Desk-Token`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "open-sesame"  # noqa: S105 - no secret: the README tells it
CLOSES = {"Hill Street": "18:00", "Harbour": "20:00"}


class Desk(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_POST(self) -> None:
        """Answer a turn of a conversation."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["X-Desk-Token"] != TOKEN:
            self._send(401, "application/json", b'{"fault": "who are you?"}')
            return
        turn = json.loads(body)["turn"]
        words, lookups = answered(turn["text"], turn["branch"])
        if self.path == "/v2/stream":
            events = "".join(f"data: {json.dumps(event)}\n\n" for event in as_events(words, lookups))
            self._send(200, "text/event-stream", events.encode())
        else:
            self._send(200, "application/json", json.dumps(as_document(words, lookups)).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def answered(question: str, branch: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The words of the answer, and what was looked up for them."""
    if "close" not in question:
        return ["You are welcome."], []
    closes = CLOSES.get(branch)
    status = "ok" if closes else "not found"
    lookup = {"lookup": "get_hours", "status": status, "ms": 3, "arguments": json.dumps({"branch": branch})}
    return [f"{branch} closes", f"at {closes}."] if closes else ["There is no branch", f"called {branch}."], [lookup]


def as_document(words: list[str], lookups: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole answer."""
    return {
        "reply": {"parts": [{"kind": "text", "text": text} for text in words] + [{"kind": "image", "url": "map.png"}]},
        "trace": [{"kind": "thought"}, *({"kind": "lookup", **lookup} for lookup in lookups)],
        "meter": {"read": 12, "written": 7, "dollars": 0.0001},
    }


def as_events(words: list[str], lookups: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The answer, a piece at a time."""
    yield {"lookups": lookups}
    for text in words:
        yield {"delta": f"{text} "}
    yield {"last": True}


def serve(port: int) -> ThreadingHTTPServer:
    """The agent at a port of this machine; 0 is any."""
    return ThreadingHTTPServer(("127.0.0.1", port), Desk)


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8123).serve_forever()
