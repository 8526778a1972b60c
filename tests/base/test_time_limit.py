"""A limit of time that a task is under again and again, with one timer."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from evalc.base.guard import TimeLimit

SHORT = 50.0


def under(milliseconds: float, body: Callable[[TimeLimit], Coroutine[Any, Any, None]]) -> None:
    """Run something under a limit, which no task still has at its end."""

    async def run() -> None:
        limit = TimeLimit(milliseconds)
        try:
            await body(limit)
        finally:
            limit.close()
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()

    asyncio.run(run())


async def for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def test_a_task_is_cancelled_when_its_time_is_up() -> None:
    async def body(limit: TimeLimit) -> None:
        deadline = limit.begin()
        with pytest.raises(asyncio.CancelledError):
            await for_ever()
        assert asyncio.get_running_loop().time() >= deadline
        assert limit.end()

    under(SHORT, body)


def test_the_timer_of_an_earlier_turn_ends_no_later_one() -> None:
    async def body(limit: TimeLimit) -> None:
        for _ in range(3):
            limit.begin()
            await asyncio.sleep(SHORT / 2000)
            assert not limit.end()
        deadline = limit.begin()
        with pytest.raises(asyncio.CancelledError):
            await for_ever()
        assert asyncio.get_running_loop().time() >= deadline
        assert limit.end()
        limit.begin()
        await asyncio.sleep(0)
        assert not limit.end()

    under(SHORT, body)


def test_nothing_is_cancelled_between_two_turns() -> None:
    async def body(limit: TimeLimit) -> None:
        limit.begin()
        assert not limit.end()
        await asyncio.sleep(2 * SHORT / 1000)
        limit.begin()
        assert not limit.end()

    under(SHORT, body)


def test_code_that_goes_on_though_it_is_cancelled_was_late() -> None:
    async def body(limit: TimeLimit) -> None:
        limit.begin()
        try:
            await for_ever()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        assert limit.end()

    under(SHORT, body)


def test_a_cancellation_by_others_stays() -> None:
    async def limited() -> int:
        limit = TimeLimit(60_000)
        task = asyncio.current_task()
        assert task is not None
        limit.begin()
        try:
            await for_ever()
        except asyncio.CancelledError:
            assert not limit.end()
        finally:
            limit.close()
        return task.cancelling()

    async def run() -> int:
        task = asyncio.create_task(limited())
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert asyncio.run(run()) == 1
