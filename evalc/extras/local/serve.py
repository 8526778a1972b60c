"""The server process of a local model: this file, as a script of its own.

Runs in a process of its own, which ends when its standard input does: with its parent, however that ended. Its one
line of output is `ready URL`.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import Any


def main(model: str, context_tokens: int) -> int:
    """Serve the model until standard input ends."""
    # llama.cpp may print: what was standard output is standard error's from here on.
    announcements = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    server = _server(model, context_tokens)
    announcements.write(f"ready {server.listening_address}\n")
    announcements.flush()
    threading.Event().wait()
    return 0


def _server(model: str, context_tokens: int) -> Any:
    llama: Any = importlib.import_module("xllamacpp")  # without types
    params = llama.CommonParams()
    params.model.path = model
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx = context_tokens
    # One request at a time: of requests that are computed together each would change the others' last digits.
    params.n_parallel = 1
    params.use_jinja = True
    params.warmup = False
    params.ui = False
    return llama.Server(params)


def _end_with_parent() -> None:
    # Not the buffered stream, whose lock would be held here while the interpreter shuts down.
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)  # at once, even in the middle of an answer or while the model is loaded


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
