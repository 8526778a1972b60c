"""Stands for llama.cpp in the process that serves a model: what it does stands in the model's file, behind `GGUF`.

`refuse` logs an error and raises, `hang` never comes up, `die N` ends the process at the request after N answers, and
anything else is what every request is answered.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(path=""))


class Server:
    def __init__(self, params: Any) -> None:
        script = Path(params.model.path).read_text().removeprefix("GGUF").strip()
        print("llama.cpp prints what it likes")
        if script == "refuse":
            sys.stderr.write("0.00.1 I load: begins\n0.00.2 E load: the model is incomplete\n0.00.3 E srv: exiting\n")
            raise RuntimeError("Failed to init server, please check the input params.")
        if script == "hang":
            threading.Event().wait()
        left = int(script.removeprefix("die ")) if script.startswith("die ") else None
        text = "Paris" if left is not None else script
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(text, left))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"


def _handler(text: str, left: int | None) -> type[BaseHTTPRequestHandler]:
    counted = [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            counted[0] += 1
            if left is not None and counted[0] > left:
                sys.stderr.write("0.01.0 E ggml: out of memory\n")
                sys.stderr.flush()
                os._exit(3)
            content = text
            if body.get("response_format") and left is None and not text.startswith("{"):
                content = json.dumps({"reason": "it says so", "score": 4})
            answer = {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
            said = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
