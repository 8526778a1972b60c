"""Reads the paths that a configured mapping gives for its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import msgspec

if TYPE_CHECKING:
    from evalc.mapping.paths import JsonPath


INCOMPLETE_STATUSES: Final = frozenset({202, 206})
"""The statuses of success that say that the answer is still to come, or that it is a part of it."""


class NotSearchable(Exception):
    """An expression that has no result in a document, such as the length of a number."""


@final
class AnswerPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths into an agent's answer; None for what is as the contract says.

    The paths from `name` to `error` are applied to each of the `tool_calls`.
    """

    response: JsonPath | None = None
    tool_calls: JsonPath | None = None
    name: JsonPath | None = None
    success: JsonPath | None = None
    duration_ms: JsonPath | None = None
    params: JsonPath | None = None
    result: JsonPath | None = None
    error: JsonPath | None = None
    input_tokens: JsonPath | None = None
    output_tokens: JsonPath | None = None
    cost_usd: JsonPath | None = None


@final
class StreamPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths into each event of a stream; what an event lacks adds nothing.

    `done` finds something true in the event that ends the stream; where it is None, the end of the body does.
    """

    text: JsonPath
    tool_calls: JsonPath | None = None
    done: JsonPath | None = None
