"""The types of checks, each with one sentence that says when it holds, and the shape and examples of its rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalc.schema.shapes import Schema, any_of, filled_list_of, text

_NAMES = {"type": "array", "items": text()}
_SETS = {"type": "array", "items": any_of({"const": "none"}, _NAMES)}


class CheckType(NamedTuple):
    """When a check of the type holds, the shape of its rule (None: it has none), and rules that it may have."""

    sentence: str
    rule: Schema | None = None
    examples: tuple[Any, ...] = ()


CHECK_TYPE_WORDS: Mapping[str, CheckType] = {
    "contains": CheckType("The response contains the text.", text(), ("type hint",)),
    "not_contains": CheckType("The response does not contain the text.", text(), ("I don't know",)),
    "icontains": CheckType("The response contains the text, whatever the case of its letters.", text(), ("refund",)),
    "contains_any": CheckType(
        "The response contains at least one of the texts.", filled_list_of(text()), (["rain", "umbrella"],)
    ),
    "equals": CheckType("The response is exactly the text.", text(), ("42",)),
    "starts_with": CheckType("The response starts with the text.", text(), ("Dear",)),
    "non_empty": CheckType("The response holds more than white space."),
    "regex": CheckType("The response matches the pattern, as ECMAScript matches.", text(), ("/^def .*:/m",)),
    "length": CheckType(
        "The response is so long: in chars, words, lines or bytes.",
        text(),
        ("min:100", "max:2000", "min:20,max:80 words"),
    ),
    "json": CheckType(
        "The response is JSON.", text(), ("strict", "lenient", "object", "array", "schema:answer.schema.json")
    ),
    "structure": CheckType(
        "The response has these JSON fields, or these Markdown headings.",
        text(),
        ("fields:title,content", "fields:meta.title:string,items[].id:number", "headings:Summary,Risks"),
    ),
    "similar": CheckType("The response says much the same as the text.", text()),
    "tools_called": CheckType("Exactly these tools were called, in this order.", _NAMES, (["get_weather"], [])),
    "tools_acceptable": CheckType(
        "The tools that were called are one of these sets; `none` is the empty set.",
        _SETS,
        ([["get_weather"], ["get_weather", "get_forecast"], "none"],),
    ),
    "tools_not_called": CheckType("None of these tools was called.", _NAMES, (["delete_account"],)),
    "tool_count": CheckType("So many calls of tools were made.", text(), ("min:1,max:3",)),
    "tool_param": CheckType("A parameter of the first call of a tool has this value."),
    "no_tool_errors": CheckType("No call of a tool failed."),
    "latency": CheckType("The answer took at most so long.", text(), ("30s", "500ms")),
    "tokens": CheckType("The response has at most so many tokens.", text(), (500,)),
    "cost": CheckType("The answer cost at most so much.", text(), ("$0.02",)),
    "judge": CheckType("A judge answers the question with at least the score.", text(), ("Is the tone kind?",)),
}
"""What the checker's `CHECK_TYPES` mean; a type that is not here breaks a test."""
