"""The subjects of checks: how each is written in front of a predicate, and what editors say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from evalc.check.predicates import Kind
from evalc.check.tree import OF_TEXT, Measured


class Subject(NamedTuple):
    """A subject.

    Attributes:
        line: how a line begins that is about it; capitals stand for what the author writes.
        gives: what it is, by which a predicate may be asked of it.
        sentence: what editors and pages say of it.
    """

    line: str
    gives: Kind
    sentence: str


MEASURES: Final[Mapping[Measured, Subject]] = {
    "chars": Subject("length {} chars", "number", "The number of characters of a text, as Unicode code points."),
    "words": Subject("length {} words", "number", "The number of words of a text."),
    "lines": Subject("length {} lines", "number", "The number of lines of a text."),
    "bytes": Subject("length {} bytes", "number", "The number of bytes of a text in UTF-8."),
    "sentences": Subject("sentences {}", "number", "The number of sentences of a text."),
    "items": Subject("count {}", "number", "The number of items of a list."),
    "calls": Subject("tool count {}", "number", "The number of calls of tools."),
    "errors": Subject("tool errors {}", "number", "The number of calls that failed."),
    "ms": Subject("latency {}", "number", "The time that the answer took."),
    "tokens": Subject("tokens {}", "number", "The tokens of the response, estimated as the contract does."),
    "total_tokens": Subject("total tokens {}", "number", "The tokens that the agent reports, of input and output."),
    "input_tokens": Subject("input tokens {}", "number", "The tokens of the input that the agent reports."),
    "output_tokens": Subject("output tokens {}", "number", "The tokens of the output that the agent reports."),
    "dollars": Subject("cost {}", "number", "The price of the answer in US dollars."),
}
"""The measures, each with its bounds in the place of `{}`."""

SUBJECTS: Final[tuple[Subject, ...]] = (
    Subject("response", "value", "The response: a text, or the JSON value that it is."),
    Subject("at PATH", "value", "The value at a place of a JSON response, such as `items[0].price`."),
    Subject("every item of PATH", "value", "Each item of a list; after `has`, the values of its fields."),
    Subject("any item of PATH", "value", "At least one item of a list; after `has`, the values of its fields."),
    Subject("no item of PATH", "value", "None of the items of a list; after `has`, the values of its fields."),
    Subject("tool NAME.PARAM", "value", "An argument of the first call of a tool, by its whole name."),
    Subject("any call of TOOL", "call", "At least one call of a tool: its arguments, its result or its error."),
    Subject("every call of TOOL", "call", "Each call of a tool: its arguments, its result or its error."),
    Subject("no call of TOOL", "call", "None of the calls of a tool: its arguments, its result or its error."),
    Subject("call N of TOOL", "call", "The Nth call of a tool: its arguments, its result or its error."),
    Subject("tool NAME called", "number", "The number of calls of a tool; without a number, at least one."),
    Subject("tools", "names", "The names of the tools that were called, in order."),
    *(
        measure._replace(line=of if of in OF_TEXT - {"chars", "tokens"} else measure.line.partition(" {}")[0])
        for of, measure in MEASURES.items()
    ),
    Subject("turn N", "value", "What follows, of one turn of a conversation alone."),
)
"""The subjects, in the order of the pages."""

GIVES: Final[Mapping[Kind, str]] = {
    "value": "is a value",
    "number": "is a number",
    "names": "is about the tools called",
    "call": "is a call",
}
"""How messages describe a subject of each kind: `latency` is "a number"."""
ASKS: Final[Mapping[frozenset[Kind], str]] = {
    frozenset({"value"}): "a text or a list",
    frozenset({"value", "number"}): "a value or a number",
    frozenset({"names"}): "which tools were called",
    frozenset({"call"}): "a call",
    frozenset({"value", "call"}): "a value or a call",
}
"""How messages name the kinds of subjects that a predicate or a step takes."""
