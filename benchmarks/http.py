"""Writes `benchmarks/results/http.md`: how many cases a second go over HTTP, and over what.

    python -m benchmarks.http

Each client is a process of its own (benchmarks/http_clients.py), the server another (benchmarks/answering_server.py);
the clients run in turn, and a ratio is that of medians. Processor time says more than the clock where other programs
run beside the benchmark.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.http_clients import CLIENTS

RESULTS: Final = Path(__file__).parent / "results" / "http.md"
CASES: Final = 2_000
ROUNDS: Final = 3
SETTINGS: Final = ((0, 64), (0, 200), (200, 64), (200, 200))


class Cost(NamedTuple):
    """The cost of the cases: seconds by the clock, and seconds of the client's processor."""

    seconds: float
    processor: float


Costs = dict[str, Cost]


def main() -> None:
    """Measure, and write the results down."""
    sections = [_section(milliseconds, concurrency) for milliseconds, concurrency in SETTINGS]
    RESULTS.write_text(_report(sections), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _section(milliseconds: int, concurrency: int) -> str:
    with _server(milliseconds) as url:
        # The shared client takes minutes, and its shape does not change with the answer's latency.
        clients = [client for client in CLIENTS if milliseconds == 0 or client != "shared httpx"]
        costs = _in_turn(clients, url, concurrency)
    how = "at once" if milliseconds == 0 else f"after {milliseconds} ms"
    return "\n".join(
        [f"## Concurrency {concurrency}, answers {how}", "", *_table(costs), "", *_goals(costs, milliseconds)]
    )


@contextmanager
def _server(milliseconds: int) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.answering_server", str(milliseconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/chat"
        finally:
            process.terminate()


def _in_turn(clients: list[str], url: str, concurrency: int) -> Costs:
    seen: dict[str, list[Cost]] = {client: [] for client in clients}
    for round_ in range(ROUNDS):
        for client in clients:
            if client != "shared httpx" or round_ == 0:
                seen[client].append(_run(client, url, concurrency))
    return {client: Cost(*map(statistics.median, zip(*costs, strict=True))) for client, costs in seen.items()}


def _run(client: str, url: str, concurrency: int) -> Cost:
    command = [sys.executable, "-m", "benchmarks.http_clients", client, url, str(concurrency), str(CASES)]
    seconds, processor = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return Cost(float(seconds), float(processor))


def _table(costs: Costs) -> list[str]:
    lines = [
        f"| {client} | {CASES / cost.seconds:,.0f} | {cost.processor / CASES * 1e6:,.0f} us |"
        for client, cost in costs.items()
    ]
    return ["| client | cases a second | processor a case |", "|---|---:|---:|", *lines]


def _goals(costs: Costs, milliseconds: int) -> list[str]:
    if milliseconds:
        return [_goal(costs, "evalc", "bare httpx", 0.97)]
    return [_goal(costs, "evalc", "bare httpx", 0.85), _goal(costs, "evalc", "shared httpx", 3)]


def _goal(costs: Costs, client: str, peer: str, goal: float) -> str:
    ours, theirs = costs[client], costs[peer]
    by_clock, by_processor = theirs.seconds / ours.seconds, theirs.processor / ours.processor
    return (
        f"- {client} / {peer}: {by_clock:.2f} by the clock, {by_processor:.2f} by the processor; the goal is {goal:g}"
    )


def _report(sections: list[str]) -> str:
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return "\n".join(
        [
            "<!-- Written by `make bench-http` (benchmarks/http.py). -->",
            "# What a case over HTTP costs",
            "",
            f"{datetime.now(UTC):%d %B %Y}, {system}, load average at the end {os.getloadavg()[0]:.1f}.",
            "",
            f"{CASES:,} cases with three checks each, scored, journaled, results on disk, against a server in a",
            "process of its own on the same machine; medians of three rounds, in turn (the shared client: one round).",
            "The bare loops send the same requests and read the same answers, one client and one connection for each",
            "worker, and do nothing else. Cases a second are of the whole run; the processor is the client's alone.",
            "",
            "\n\n".join(sections),
            "",
        ]
    )


if __name__ == "__main__":
    main()
