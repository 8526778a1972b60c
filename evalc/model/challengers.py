"""Names the faults that `evalc challenge` gives an agent, and says what each is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BROKEN_AGENTS: Final[Mapping[str, str]] = {
    "silent": "answers with an empty text",
    "echo-message": "repeats the message",
    "echo-prompt": "repeats the system prompt and the message",
    "refusal": "refuses to help",
    "apology": "apologises and does nothing",
    "leaked-prompt": "puts the system prompt in front of a good answer",
    "leaked-json": "answers with the raw JSON of a model's API",
    "truncated": "stops halfway through a good answer",
    "tools-reordered": "calls the right tools in the wrong order",
    "tool-extra": "calls a tool that was not needed",
    "tool-missing": "leaves out one of the right tools",
    "wrong-arguments": "calls the right tools with wrong arguments",
    "tool-errors": "calls the right tools, but every call fails",
    "neighbour": "gives a good answer to another case",
}
"""The faults of a whole agent, which need no recorded answer."""

MUTATIONS: Final[Mapping[str, str]] = {
    "sentence-dropped": "a sentence is missing",
    "number-changed": "a number is changed",
    "negated": "a negation was added or removed",
    "entity-swapped": "a name or value comes from another case of the suite",
    "truncated": "the second half is missing",
    "field-dropped": "a field of a JSON answer is missing",
    "call-dropped": "a tool call is missing",
    "call-repeated": "a tool call was made twice",
    "calls-reordered": "two tool calls changed places",
    "argument-changed": "an argument of a tool call is changed",
}
"""The faults that are put into a recorded answer."""

CHALLENGERS: Final = tuple(dict.fromkeys((*BROKEN_AGENTS, *MUTATIONS)))
"""All names, as `allow` of a case has them."""
