"""Decides which HTTP failures are retried, and how long to wait."""

from __future__ import annotations

import asyncio
import email.utils
import random
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, final

from evalc.runtime.agents import pace
from evalc.runtime.agents.http.transport import NotConnected, Reply
from evalc.runtime.mapping import INCOMPLETE_STATUSES

RETRIED: Final = frozenset({429, 502, 503, 504})
"""The statuses that say "not now"."""


def is_complete(status: int, accepted: Collection[int] = ()) -> bool:
    """Whether the body of a reply with this status is a whole answer; `accepted` are those that always are."""
    return 200 <= status < 300 and (status not in INCOMPLETE_STATUSES or status in accepted)


_LONGEST_WAIT = 8.0
_LONGEST_RETRY_AFTER = 60.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How often to try again, and how long to wait before the first time; the wait doubles from then on.

    The caller bounds the whole by cancelling, so no deadline is kept here.
    """

    retries: int = 2
    first_wait: float = 0.25

    def wait(self, attempt: int, retry_after: float) -> float:
        """Seconds to wait after the attempt of this number (0 first): what the server asked, and jitter on top."""
        longest: float = min(_LONGEST_WAIT, self.first_wait * 2.0**attempt)
        jitter = random.uniform(0.5, 1.0)  # noqa: S311
        return retry_after + longest * jitter


async def send_with_retries(
    attempt: Callable[[], Awaitable[Reply]], backoff: Backoff, *, deadline: float | None = None
) -> Reply:
    """The first reply that is not a "not now", or the last one; waits between attempts.

    A request is sent again only when nothing of it was sent or the server refused it: agents act on what they get.
    It is not waited for what would come after the deadline, a time of the event loop's clock.

    Raises:
        AgentError: what the last attempt raised, or what any attempt did that must not be repeated.
    """
    turn = pace.current()
    for number in range(backoff.retries):
        await turn.before_request()
        try:
            reply = await attempt()
        except NotConnected:
            wait = backoff.wait(number, 0.0)
            if _is_too_late(wait, deadline):
                raise
        else:
            if reply.status not in RETRIED:
                return reply
            turn.refused(reply.status)
            asked = _retry_after(reply.headers.get("retry-after", ""))
            wait = backoff.wait(number, asked)
            if asked > _LONGEST_RETRY_AFTER or _is_too_late(wait, deadline):
                return reply
        await asyncio.sleep(wait)
    await turn.before_request()
    reply = await attempt()
    if reply.status in RETRIED:
        turn.refused(reply.status)
    return reply


def _is_too_late(wait: float, deadline: float | None) -> bool:
    return deadline is not None and asyncio.get_running_loop().time() + wait >= deadline


def _retry_after(value: str) -> float:
    """Seconds that a Retry-After header asks for, given as a number or a date; 0 if it makes no sense."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, IndexError, OverflowError):
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
