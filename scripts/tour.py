"""Shows most of evalc on the example suites: `make tour`. Exits with 0 if all went as planned."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
SUITES: Final = ("weather", "code-review")
REPORT: Final = "evals/results/report.json"
PLANNED_FAILURE: Final = "code-review-v1/sql_injection"


def main() -> int:
    """Run the tour."""
    heading("Compile the examples: YAML and eval JSON in, one JSON file for each tool and tier out")
    evalc("compile", *SUITES, exit_code=0)

    heading("A file with mistakes: all of them are found at once, before anything runs")
    evalc("check", "mistakes", exit_code=2)

    heading("Start the demo agent, which needs no key and always gives the same answers")
    with demo_agent() as url:
        heading("Run the examples against it over HTTP (one case fails on purpose)")
        evalc("run", *SUITES, "--agent", url, "--output", REPORT, exit_code=1)
    require_only_the_planned_failure()

    heading("Hold conversations with an agent that remembers, written down and with a simulated user")
    desk, guest = "python:conversations.desk:Desk", "python:conversations.guest:play"
    evalc("run", "conversations", "--agent", desk, "--user", guest, exit_code=0)

    heading("Classify tickets: the confusion of the classes, and gates on them")
    evalc("run", "intents", "--agent", "python:intents.router:route", "--quiet", exit_code=0)

    heading("Would these evals notice a broken agent?")
    evalc("challenge", "code-review", exit_code=0)
    return 0


def heading(text: str) -> None:
    """Say what comes next."""
    print(f"\n# {text}\n", flush=True)


def evalc(*arguments: str, exit_code: int) -> None:
    """Run a command as a user would, and insist on its exit code."""
    show_command(arguments)
    ended = subprocess.run([sys.executable, "-m", "evalc", *arguments], cwd=EXAMPLES, check=False)
    if ended.returncode != exit_code:
        raise Unplanned(f"`evalc {arguments[0]}` ended with {ended.returncode}, planned was {exit_code}")


def show_command(arguments: tuple[str, ...]) -> None:
    """Print a command line."""
    print(f"$ evalc {' '.join(arguments)}", flush=True)


@contextmanager
def demo_agent() -> Iterator[str]:
    """Serve the demo agent from a process of its own, on a free port; gives its URL."""
    arguments = ("demo-agent", "--port", "0")
    show_command(arguments)
    command = [sys.executable, "-m", "evalc", *arguments]
    with subprocess.Popen(command, cwd=EXAMPLES, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            announcement = process.stdout.readline()
            url = next((word for word in announcement.split() if word.startswith("http://")), None)
            if url is None:
                raise Unplanned("the demo agent did not start")
            print(announcement, end="", flush=True)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()


def require_only_the_planned_failure() -> None:
    """Look into the report: only the planned case failed."""
    report = json.loads((EXAMPLES / REPORT).read_text(encoding="utf-8"))
    failed = [case["id"] for suite in report["suites"] for case in suite["cases"] if not case["passed"]]
    if failed != [PLANNED_FAILURE]:
        raise Unplanned(f"these cases failed: {', '.join(failed) or 'none'}; planned was {PLANNED_FAILURE}")


class Unplanned(Exception):
    """Something went otherwise than planned."""


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unplanned as unplanned:
        print(f"tour: {unplanned}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
