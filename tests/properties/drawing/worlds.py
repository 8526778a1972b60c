"""Draws answers of an agent, and texts that an answer is known to contain or not.

Both answers hold every text of `COMMON`, so that a check of one of them holds in any case of a suite.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final, final

from hypothesis import strategies as st

from evalc.model.answer import AgentResponse, ToolCall, Usage

COMMON: Final = ("Paris", "18", "rain")
"""Words in every answer, which serve as inputs: letters and digits, so that a pattern takes them as they are."""

NEVER: Final = ("never: x", "n#ver", "a {b} c", "zzz", "'q\" \\z", "é✗", "- no", "\ttab\nline", "*not", "null-and-void")
"""Words in no answer: full of characters that YAML, JSON and the grammars escape."""


RESOLVED: Final = 2
"""How many of a world's tokens, the first, are found."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """An answer, and what is true of it beyond its text.

    Attributes:
        pieces: texts that it contains.
        patterns: patterns and flags that match it.
        forms: rules of `json` checks that hold.
        fields: paths and types that it has, as JSON.
        headings: its Markdown headings.
        places: paths, and a text that stands there.
        values: paths, and the JSON value that is there.
        tokens: what may stand in texts: those that are found mean texts of `COMMON`, the others are skipped.
    """

    text: str
    pieces: tuple[str, ...]
    patterns: tuple[tuple[str, str], ...]
    forms: tuple[str, ...] = ()
    fields: tuple[tuple[str, str | None], ...] = ()
    headings: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, Any], ...] = ()
    tokens: tuple[str, ...] = ("{{seed:city}}", "{{seed:deep[0].n}}", "{{seed:missing}}")

    def with_snapshot(self) -> World:
        """The same answer, of which may be asserted what a snapshot holds, though none of these runs has one."""
        return replace(self, tokens=(*self.tokens, "{{snapshot:gone}}", "{{snapshot:a[0].b}}"))


PROSE: Final = World(
    text='Dear Ann: it\'s 18 °C & rain in Paris #today, "wet" - 🎉\n\n'
    "# Summary\nTake an umbrella [now].\n\n## Risks\nA \\ b.",
    pieces=("Dear Ann: ", "it's", "18 °C & rain", "#today, ", '"wet" - ', "🎉", "[now]", "A \\ b", "\n\n", ".\n\n## R"),
    patterns=(
        ("^Dear", ""),
        (r"\d{2} ", ""),
        ("umbrella|coat", ""),
        ("DEAR", "i"),
        (r"^## R\w+s$", "m"),
        ("[\"'/]w", ""),
    ),
    headings=("Summary", "Risks"),
)

_DATA: Final = {
    "title": "Paris: rain, 18°",
    "meta": {"title": "a #b", "sure": True, "none": None, "for": "x"},
    "items": [{"id": 1, "name": "it's"}, {"id": 2.5, "name": '"q"'}],
    "x-y": [],
    "v1.2 [b]": {"a.b": "dot"},
}
DATA: Final = World(
    text=json.dumps(_DATA, ensure_ascii=False, separators=(",", ": ")),
    pieces=("Paris: rain", "18°", "a #b", "it's", '"items"', ': [{"id', '\\"q\\"', "null", "{", "}]"),
    patterns=(('^\\{"title"', ""), (r'"id": \d', ""), ("PARIS", "i"), ("[{\\[]", "u"), (r"\}$", "m")),
    forms=("strict", "lenient", "object"),
    fields=(
        ("title", None),
        ("title", "string"),
        ("meta.title", "string"),
        ("meta.sure", "boolean"),
        ("meta.none", "null"),
        ("meta.for", None),
        ("items", "array"),
        ("items[].id", "number"),
        ("items[0].id", "integer"),
        ("x-y", "array"),
        ("meta", "object"),
        ('["v1.2 [b]"]', None),
        ('["v1.2 [b]"]', "object"),
    ),
    places=(
        ("title", "Paris"),
        ("items[0].name", "it's"),
        ("meta.title", "a #b"),
        ("items[1]", "2.5"),
        ('["v1.2 [b]"]', "dot"),
    ),
    values=(
        ("items[1].id", 2.5),
        ("items[0].id", 1),
        ("meta.sure", True),
        ("meta.none", None),
        ("x-y", []),
        ("items[0]", {"id": 1, "name": "it's"}),
        ("items", [{"id": 1, "name": "it's"}, {"id": 2.5, "name": '"q"'}]),
    ),
)

CALLS: Final = (
    ToolCall(
        name="get_weather",
        success=True,
        duration_ms=3.0,
        params={"city": "Paris", "days": 3, "unit": "°C"},
        result={"pages": [PROSE.text, DATA.text]},
    ),
    ToolCall(name="book.table", success=True, duration_ms=4.0, params={"for": "it's 2"}),
)
"""The calls behind both answers."""

PARAMS: Final = (
    ("get_weather", "city", "Paris", "ari", "^P.*s$"),
    ("get_weather", "days", "3", "3", r"^\d$"),
    ("get_weather", "unit", "°C", "°", "C"),
    ("book.table", "for", "it's 2", "'s", "it.s"),
)
"""Parameters of the calls: tool, name, value as a text, a piece of it, a pattern that matches it."""

DATA_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["title"],
    "properties": {"items": {"type": "array"}},
}
"""A JSON Schema that the data fit."""

SEED: Final = {"city": "Paris", "deep": [{"n": 18}]}

worlds: Final = st.sampled_from([PROSE, DATA])


def answer(world: World) -> AgentResponse:
    """The agent's answer in a world."""
    return AgentResponse(
        response=world.text, tool_calls=CALLS, tool_mode="executed", usage=Usage(output_tokens=50, cost_usd=0.01)
    )
