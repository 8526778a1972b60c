"""Adapts how many cases run at a time to the agent, and holds requests to a rate."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from statistics import fmean
from typing import Final, Literal, Protocol, final

import msgspec

Concurrency = int | Literal["auto"]
"""How many cases run at a time; `auto` finds it out."""

MOST_AT_A_TIME: Final = 64
"""As far as `auto` goes."""

_REFUSALS: Final = frozenset({429, 503, 529})
_ROUND: Final = 4
_SLOWER: Final = 2.0
_FORGETTING: Final = 1.05


class Clock:
    """The clock of the running event loop, in seconds."""

    def time(self) -> float:
        """Now."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Return when so many seconds have passed."""
        await asyncio.sleep(seconds)


class RequestRate(Protocol):
    """When each request may go out."""

    async def wait(self) -> None:
        """Return when one more request may go out."""
        ...


@final
class RateLimit:
    """So many requests a minute, evenly spaced: no minute, wherever it begins, has more of them.

    It is a token bucket that holds one token. One that holds a minute's would let twice the rate through at first.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._start = float("-inf")
        self._given = 0

    async def wait(self) -> None:
        """Return when one more request may go out; a turn that is cancelled is lost, never given twice."""
        # Counted from a start, so that no error of rounding adds up.
        due = self._start + self._given * 60 / self._per_minute
        if (now := self._clock.time()) >= due:
            self._start = due = now
            self._given = 0
        self._given += 1
        while (left := due - self._clock.time()) > 0:
            await self._clock.sleep(left)


@final
class AdaptiveLimit:
    """How many cases run at a time: more while the agent keeps up, half as many when it refuses one.

    The number doubles until something first goes wrong, and grows by one from then on: after each round of as many
    answers as there are cases at a time, where these took no more than twice as long as those of the fastest round.
    Which was the fastest is slowly forgotten, so that one lucky round decides nothing for good.
    """

    def __init__(self, clock: Clock, *, most: int = MOST_AT_A_TIME) -> None:
        self.limit = 1
        self._clock = clock
        self._most = most
        self._active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._round: list[float] = []
        self._fastest = float("inf")
        self._doubles = True
        self._halved_at = float("-inf")

    async def enter(self) -> None:
        """Return when one more case may run."""
        if self._active < self.limit and not self._waiting:
            self._active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # it was this one's turn already
            else:
                self._waiting.remove(turn)
            raise

    def leave(self) -> None:
        """A case that ran has ended."""
        self._active -= 1
        self._admit()

    def kept_up(self, seconds: float) -> None:
        """An answer came, after so many seconds."""
        self._round.append(seconds)
        if len(self._round) < max(self.limit, _ROUND):
            return
        took = fmean(self._round)
        self._round.clear()
        self._fastest = min(took, self._fastest * _FORGETTING)
        if took <= self._fastest * _SLOWER:
            self.limit = min(self._most, self.limit * 2 if self._doubles else self.limit + 1)
            self._admit()
        else:
            self._doubles = False

    def refused(self, since: float) -> None:
        """The agent refused a case that has run since then. A crowd of them, refused together, halves once."""
        if since < self._halved_at:
            return
        self.limit = max(1, self.limit // 2)
        self._doubles = False
        self._round.clear()
        self._halved_at = self._clock.time()

    def _admit(self) -> None:
        while self._waiting and self._active < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._active += 1
                turn.set_result(None)


@final
class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """When each case of a run may be sent, and each request of it; shared by all workers."""

    limit: AdaptiveLimit | None = None
    rate: RequestRate | None = None
    clock: Clock = msgspec.field(default_factory=Clock)

    @classmethod
    def of(cls, concurrency: Concurrency, rpm: int | None, clock: Clock | None = None) -> Pace | None:
        """The pace of a run; None if nothing holds it back but the number of its workers."""
        if concurrency != "auto" and rpm is None:
            return None
        clock = clock or Clock()
        return cls(
            limit=AdaptiveLimit(clock) if concurrency == "auto" else None,
            rate=None if rpm is None else RateLimit(rpm, clock),
            clock=clock,
        )

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for one's turn. Within it, `current` is that turn."""
        limit = self.limit
        if limit is not None:
            await limit.enter()
        try:
            if self.rate is not None:
                await self.rate.wait()
            turn = Permit(self, self.clock.time())
            before = _TURN.set(turn)
            try:
                yield
            finally:
                _TURN.reset(before)
            if limit is not None and not turn.was_refused:
                limit.kept_up(self.clock.time() - turn.since)
        finally:
            if limit is not None:
                limit.leave()


@final
class Permit:
    """A case's turn. Its first request is part of it; each further one waits for the rate, too."""

    def __init__(self, pace: Pace | None = None, since: float = 0.0) -> None:
        self.since = since
        self.was_refused = False
        self._pace = pace
        self._has_sent = False

    async def before_request(self) -> None:
        """Return when a request may go out."""
        if self._pace is not None and self._pace.rate is not None and self._has_sent:
            await self._pace.rate.wait()
        self._has_sent = True

    async def before_turn(self) -> None:
        """Return when a further turn of a conversation may be sent, to an agent whose requests nobody here sends."""
        if self._pace is not None and self._pace.rate is not None and not self._has_sent:
            await self._pace.rate.wait()

    def answered(self, status: int) -> None:
        """A request was answered by this HTTP status, which may say that there are too many of them."""
        if self._pace is None or status not in _REFUSALS:
            return
        self.was_refused = True
        if self._pace.limit is not None:
            self._pace.limit.refused(self.since)


_TURN: Final[ContextVar[Permit | None]] = ContextVar("turn", default=None)
_UNPACED: Final = Permit()


def current() -> Permit:
    """The turn of the case that is being sent."""
    return _TURN.get() or _UNPACED
