"""A hotel desk that asks for what it needs: an agent with a memory, as a class and behind a URL.

    evalc run conversations/booking.eval.yaml --agent python:conversations.desk:Desk
    python conversations/desk.py [PORT]     # the same at http://127.0.0.1:8124

evalc makes a `Desk` for each conversation. The server keeps one for each `session` that it is sent.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PRICES = {"Paris": 120, "Oslo": 95}
NIGHTS = {"one": 1, "two": 2, "three": 3}


class Desk:
    """One conversation."""

    def __init__(self) -> None:
        self.city: str | None = None
        self.nights: int | None = None

    def run(self, message: str) -> dict[str, Any]:
        """Answer what the guest says, remembering what was said before."""
        calls: list[dict[str, Any]] = []
        city = next((city for city in PRICES if city in message), None)
        if city is not None:
            self.city = city
            calls.append(call("search", {"city": city}, {"hotel": "Ritz", "price": PRICES[city]}))
        nights = re.search(r"\b(\d+|one|two|three) nights?\b", message.lower())
        if nights is not None:
            self.nights = NIGHTS.get(nights[1]) or int(nights[1])
        return {"response": self._answer(calls), "toolCalls": calls}

    def _answer(self, calls: list[dict[str, Any]]) -> str:
        if self.city is None:
            return "Which city would you like to stay in?"
        if self.nights is None:
            return f"The Ritz in {self.city} has rooms for {PRICES[self.city]} euros. How many nights?"
        total = PRICES[self.city] * self.nights
        booked = {"city": self.city, "nights": self.nights, "total": total}
        calls.append(call("book", {"city": self.city, "nights": self.nights}, booked))
        return f"Booked: {self.nights} nights in {self.city} for {total} euros."


def call(name: str, params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """A call of a tool, as evalc reads it."""
    return {"name": name, "params": params, "result": result, "success": True}


class Server(ThreadingHTTPServer):
    """A desk for each session."""

    desks: dict[str, Desk]


class Handler(BaseHTTPRequestHandler):
    """Answers one turn."""

    server: Server

    def do_POST(self) -> None:
        """Answer `{"message", "session"}`."""
        turn = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        desk = self.server.desks.setdefault(turn.get("session", ""), Desk())
        body = json.dumps(desk.run(turn["message"])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def serve(port: int) -> Server:
    """The agent at a port of this machine; 0 is any."""
    server = Server(("127.0.0.1", port), Handler)
    server.desks = {}
    return server


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8124).serve_forever()
