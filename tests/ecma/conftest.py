"""From a script and its input to what Node makes of it: the reference that JavaScript's semantics are held against."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Node = Callable[[str, object], Any]


@pytest.fixture(scope="session")
def node() -> Node:
    """`node(expression, data)`: the JSON of a JavaScript expression in which `data` is the input; one process."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not on PATH")

    def run(expression: str, data: object) -> Any:
        script = (
            'const data = JSON.parse(require("fs").readFileSync(0, "utf8"));'
            f"process.stdout.write(JSON.stringify({expression}));"
        )
        finished = subprocess.run(
            [program, "-e", script],
            input=json.dumps(data),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        return json.loads(finished.stdout)

    return run
