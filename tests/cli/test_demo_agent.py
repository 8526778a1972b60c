"""`evalc demo-agent`, as a process."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request


def test_it_answers_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "evalc", "demo-agent", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        announced = re.fullmatch(r"the demo agent answers at (\S+) .*\n", process.stdout.readline())
        assert announced is not None
        body = json.dumps({"message": "What is the weather in Paris?"}).encode()
        with urllib.request.urlopen(urllib.request.Request(announced[1], data=body)) as answer:
            assert "Paris" in json.load(answer)["response"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "\n")


def test_an_address_that_cannot_be_had() -> None:
    command = [sys.executable, "-m", "evalc", "demo-agent", "--host", "256.0.0.1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("error: nobody can listen at `256.0.0.1`, port 3000: ")
    assert len(result.stderr.splitlines()) == 1
