"""How fast cases go out: by a clock of the test's own, which moves only when everybody sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.errors import AgentUnavailable
from evalc.runtime.agents import Sending, pace
from evalc.runtime.agents.http.transport import Reply, send_with_retries
from evalc.runtime.agents.pace import AdaptiveLimit, Clock, Pace, RateLimit


class TestClock(Clock):
    """A clock that jumps to the next sleeper's time once nothing else can run."""

    __test__ = False

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, wake))
        await wake

    async def drive(self, work: Awaitable[object]) -> None:
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(20):
                await asyncio.sleep(0)
            self._sleepers = [sleeper for sleeper in self._sleepers if not sleeper[1].done()]
            if self._sleepers and not task.done():
                self._sleepers.sort(key=lambda sleeper: sleeper[0])
                self.now, wake = self._sleepers.pop(0)
                wake.set_result(None)
        await task


def driven(work: Callable[[TestClock], Awaitable[object]]) -> None:
    async def run() -> None:
        clock = TestClock()
        await clock.drive(work(clock))

    asyncio.run(run())


@given(st.integers(1, 6000), st.lists(st.floats(0, 200), max_size=40))
def test_no_minute_has_more_than_the_rate(per_minute: int, pauses: list[float]) -> None:
    times: list[float] = []

    async def work(clock: TestClock) -> None:
        limit = RateLimit(per_minute, clock)
        for pause in [*pauses, *[0.0] * 20]:
            await clock.sleep(pause)
            await limit.wait()
            times.append(clock.time())

    driven(work)
    spacing = 60 / per_minute
    assert all(later - earlier > spacing * (1 - 1e-6) for earlier, later in pairwise(times))


def test_the_rate_is_used_up() -> None:
    times: list[float] = []

    async def work(clock: TestClock) -> None:
        limit = RateLimit(120, clock)

        async def worker() -> None:
            for _ in range(5):
                await limit.wait()
                times.append(clock.time() - 1000)

        await asyncio.gather(*(worker() for _ in range(4)))

    driven(work)
    assert times == pytest.approx([number / 2 for number in range(20)])


def run_cases(cases: int, *, seconds: Callable[[int], float], refuses: Callable[[int], bool]) -> list[int]:
    """The limits after each of so many cases; an agent takes `seconds`, or refuses, by how many run beside a case."""
    limits: list[int] = []

    async def work(clock: TestClock) -> None:
        limit = AdaptiveLimit(clock)
        paced = Pace(limit=limit, clock=clock)
        numbers = iter(range(cases))
        running = 0

        async def worker() -> None:
            nonlocal running
            for _ in numbers:
                async with paced.turn():
                    running += 1
                    assert running <= 64
                    if refuses(running):
                        pace.current().answered(429)
                    await clock.sleep(seconds(running))
                    running -= 1
                limits.append(limit.limit)

        await asyncio.gather(*(worker() for _ in range(64)))

    driven(work)
    return limits


def test_the_limit_rises_to_its_bound_while_the_agent_keeps_up() -> None:
    limits = run_cases(400, seconds=lambda _: 1.0, refuses=lambda _: False)
    assert sorted(set(limits)) == [1, 2, 4, 8, 16, 32, 64]


def test_the_limit_does_not_rise_where_answers_get_slower() -> None:
    limits = run_cases(400, seconds=lambda running: max(1.0, running / 4), refuses=lambda _: False)
    assert 4 <= max(limits) < 32


def test_the_limit_halves_once_for_a_crowd_of_refusals_and_rises_by_one_from_then_on() -> None:
    limits = run_cases(600, seconds=lambda _: 1.0, refuses=lambda running: running > 10)
    assert max(limits) == 16
    assert limits[-1] <= 12
    tail = limits[300:]
    assert min(tail) >= 4
    assert all(after - before in (-6, -5, 0, 1) for before, after in pairwise(tail))


def test_one_at_a_time_is_the_least() -> None:
    assert set(run_cases(30, seconds=lambda _: 1.0, refuses=lambda _: True)) == {1}


def test_who_is_cancelled_while_waiting_leaves_no_hole() -> None:
    async def run() -> None:
        limit = AdaptiveLimit(TestClock())
        await limit.enter()
        waiting = [asyncio.create_task(limit.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        limit.leave()  # lets the second in
        waiting[1].cancel()  # which has not noticed yet
        await asyncio.gather(*waiting[:2], return_exceptions=True)
        await waiting[2]
        full = asyncio.create_task(limit.enter())
        await asyncio.sleep(0)
        assert not full.done()
        limit.leave()
        await full

    asyncio.run(asyncio.wait_for(run(), 10))


@pytest.mark.parametrize(
    ("statuses", "requests", "refused"),
    [([200], 1, False), ([429, 200], 2, True), ([502, 200], 2, False), ([529], 1, True)],
)
def test_retries_wait_for_the_rate_and_report_refusals(statuses: list[int], requests: int, refused: bool) -> None:
    times: list[float] = []

    async def work(clock: TestClock) -> None:
        limit = AdaptiveLimit(clock)
        paced = Pace(limit=limit, rate=RateLimit(60, clock), clock=clock)

        async def attempt() -> Reply:
            times.append(clock.time())
            return Reply(status=statuses.pop(0), headers={}, body=b"")

        async with paced.turn():
            await send_with_retries(attempt, Sending(first_wait=0))
            assert pace.current().was_refused is refused
        assert pace.current().was_refused is False

    driven(work)
    assert [time - times[0] for time in times] == pytest.approx(list(range(requests)))


def test_no_pace_where_nothing_asks_for_one() -> None:
    assert Pace.of(8, None) is None
    assert Pace.of("auto", None) is not None
    assert Pace.of(8, 60) is not None


def test_a_status_stays_with_its_error() -> None:
    assert AgentUnavailable("HTTP 429", status=429).status == 429
    assert AgentUnavailable("no connection").status is None
