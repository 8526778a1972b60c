"""Times a kind of HTTP client in this process.

    python -m benchmarks.http_clients evalc http://127.0.0.1:8000/chat 64 2000

Prints the seconds by the clock and those of the processor. What is imported and compiled before the first request, and
summed up after the last, is not counted: it is the same for one case and for a million.
"""
# ruff: noqa: PLC0415 - each client imports what it needs, and nothing that another one needs

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Final

BODY: Final = json.dumps({"message": "What is the weather in Paris?"}).encode()
HEADERS: Final = {"Content-Type": "application/json", "Accept-Encoding": "identity"}

Client = Callable[[str, int, int], Coroutine[Any, Any, float]]
"""Sends so many requests, so many at a time, and returns the seconds of the processor that went before the first."""


async def bare(url: str, concurrency: int, cases: int) -> float:
    """The best-shaped httpx: a transport with one connection for each worker, and nothing else."""
    import httpx

    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    tls = httpx.create_ssl_context()
    numbers = iter(range(cases))
    started = time.process_time()

    async def work(numbers: Iterator[int]) -> None:
        async with httpx.AsyncHTTPTransport(verify=tls, limits=limits) as transport:
            for _ in numbers:
                request = httpx.Request("POST", url, headers=HEADERS, content=BODY)
                response = await transport.handle_async_request(request)
                json.loads(await response.aread())["response"]

    await _in_parallel(work, numbers, concurrency)
    return started


async def shared(url: str, concurrency: int, cases: int) -> float:
    """Send with one httpx client for all workers, as people write it first."""
    import httpx

    numbers = iter(range(cases))
    started = time.process_time()
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=concurrency), timeout=None) as client:

        async def work(numbers: Iterator[int]) -> None:
            for _ in numbers:
                (await client.post(url, headers=HEADERS, content=BODY)).json()["response"]

        await _in_parallel(work, numbers, concurrency)
    return started


async def evalc(url: str, concurrency: int, cases: int) -> float:
    """evalc: cases with three checks each, scored, journaled, and their results written."""
    from evalc.model.case import Case, Expect, Input
    from evalc.model.suite import LocatedCase, Suite
    from evalc.runtime.agents.http.agent import HttpAgent
    from evalc.runtime.run.engine import RunOptions
    from evalc.runtime.run.run import run_suites

    expect = Expect(response_contains=("sunny",), response_not_contains=("error",), response_matches=(r"\d+ degrees",))
    located = tuple(
        LocatedCase(Case(id=f"weather/{n}", description="d", input=Input(message="What is it?"), expect=expect), {})
        for n in range(cases)
    )
    suite = Suite(
        metadata=None,
        name="weather",
        tool_name="weather",
        tier="labeled",
        cases=located,
        size=cases,
        file_hash="",
        origin="bench",
    )
    agent = HttpAgent(url)
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(output_dir=Path(folder), concurrency=concurrency)
        started = time.process_time()
        finished = await run_suites([suite], agent, options)
    assert finished.summary.passed == cases, finished.summary
    return started


async def _in_parallel(
    work: Callable[[Iterator[int]], Awaitable[None]], numbers: Iterator[int], concurrency: int
) -> None:
    await asyncio.gather(*(work(numbers) for _ in range(concurrency)))


CLIENTS: Final[dict[str, Client]] = {
    "bare httpx": bare,
    "shared httpx": shared,
    "evalc": evalc,
}


def main() -> None:
    """Run one client."""
    kind, url, concurrency, cases = sys.argv[1:]
    client = CLIENTS[kind]
    asyncio.run(client(url, 1, 1))  # imports
    began = time.perf_counter()
    before = asyncio.run(client(url, int(concurrency), int(cases)))
    print(time.perf_counter() - began, time.process_time() - before)


if __name__ == "__main__":
    main()
