"""Asks Node, the reference for JavaScript's semantics."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest

Node = Callable[[str, Iterable[object]], Any]


@pytest.fixture(scope="session")
def node() -> Node:
    """`node(expression, items)`: the JSON of a JavaScript expression in which `data` are the items; one process.

    The items are handed over in lines of JSON. Where there is no Node, the tests that ask it say so in one line.
    """
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not on PATH")

    def run(expression: str, items: Iterable[object]) -> Any:
        script = (
            'const data = require("fs").readFileSync(0, "utf8").trimEnd().split("\\n").map((line) => JSON.parse(line));'
            f"process.stdout.write(JSON.stringify({expression}));"
        )
        finished = subprocess.run(
            [program, "-e", script],
            input="\n".join(map(json.dumps, items)),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        return json.loads(finished.stdout)

    return run


def drawn(number: int) -> Random:
    """A source of inputs, the same in every run; EVALC_EXPLORE=1 draws others, and a test that fails says which."""
    if os.environ.get("EVALC_EXPLORE") == "1":
        number = secrets.randbits(32)
        print(f"the inputs are those of drawn({number})")
    return Random(number)
