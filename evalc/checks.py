"""For authors of packages: from an agent's answer to whether it holds what a check of your own asks for.

A check is a function, or an async function, that an installed package offers by an entry point:

    [project.entry-points."evalc.checks"]
    max_links = "my_package.checks:max_links"

It is given the answer, then what the suite says (`check max_links(3, to="example.com")`), and says whether the
check holds, with a reason if it does not:

    from evalc.checks import Answer, Outcome

    def max_links(answer: Answer, most: int, *, to: str = "") -> Outcome:
        count = answer.text.count(f"https://{to}")
        return Outcome(passed=count <= most, reason=f"found {count} links, expected at most {most}")

A check that measures a share returns a number, or an `Outcome` with a `score`, and the suite compares it:
`check overlap("...") >= 0.7`.

Whatever it raises makes the case an error, and so does anything else that it returns, and a number that no line
compares: neither a pass nor a failure. It may take as long as a case may. It runs in a thread of its own, beside the
checks of other cases, so what it keeps outside itself must be safe for threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from evalc.model.answer import ToolCall, Usage

__all__ = ["Answer", "Check", "Outcome", "ToolCall", "Usage"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a check: the answer, and the case that asked for it. It belongs to the check alone.

    Attributes:
        text: the response; under `at PATH`, the text of that place.
        tool_calls: the tool calls, in order.
        duration_ms: how long the answer took.
        usage: what the answer used, where the agent says so.
        case_id: the id of the case.
        message: what was sent; under `turn N`, what the user said in that turn.
        messages: the messages of the case, each with its `role` and `content`; of a conversation all that was said.
        inputs: the variables that the message was made from.
        expected: the case's reference, if it has one.
        reference_data: the case's ground truth, if it has some.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    duration_ms: float = 0.0
    usage: Usage | None = None
    case_id: str = ""
    message: str = ""
    messages: tuple[Mapping[str, str], ...] = ()
    inputs: Mapping[str, Any] = {}
    expected: str | None = None
    reference_data: Mapping[str, Any] = {}


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a check holds, and why it does not; the reason is only shown if it does not.

    `score` is what it measured, which a line may compare.
    """

    passed: bool
    reason: str = ""
    score: float | None = None


class Check(Protocol):
    """The object that an entry point names: called with the answer, and with JSON values by place and by name."""

    def __call__(self, answer: Answer, /, *args: Any, **options: Any) -> Any:
        """Whether the check holds: a `bool`, a number, an `Outcome`, or an awaitable of one of them."""
        ...
