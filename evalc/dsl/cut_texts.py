"""Reports plain texts that a `#` has cut off: of `Where is order #4711?` YAML reads `Where is order` and a comment."""

from __future__ import annotations

import re
from typing import Final, Literal, final

from evalc.diagnostics.catalogue.syntax_yaml import CutOffText, CutOffWords
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.build_prompt import INPUT_KEYS
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.quoting import cut_off, quoted_line
from evalc.grammar.parse import parse_criterion
from evalc.source import Source, Span

_Holds = Literal["data", "own", "words", "checks", "declarations", "criteria", "settings"]
"""What a value holds.

`data`: texts that are sent or checked, below keys of the author's. `own`: the same below keys of evalc's. `words`:
texts that are neither sent nor checked. `settings`: no free text.
"""

HOLDS: Final[dict[str, _Holds]] = {
    **dict.fromkeys(
        ("message", "messages", "say", "prompt", "prompts", "role", "instructions", "expected", "stubs", "facts",
         "rows", "reference_data"),
        "data",
    ),
    **dict.fromkeys(("turns", "user", "label", "for_each", "expect", "rubric"), "own"),
    **dict.fromkeys(("validate", "rules", "any_of", "all_of", "not"), "checks"),
    "inputs": "data",
    "criteria": "criteria",
    **dict.fromkeys(
        (
            "tier", "difficulty", "registry_size", "threshold", "gates", "weight", "repeat", "require", "inherit",
            "max_turns", "type", "from", "op", "which", "assertion", "scale", "min", "max_score", "maxScore",
            "min_score", "minScore", "noToolErrors", "responseNonEmpty", "maxLatencyMs", "maxTokens", "minLength",
            "maxLength", "jsonValid", "typeChecks", "minToolCalls", "maxToolCalls", "maxCost",
        ),
        "settings",
    ),
}  # fmt: skip
"""What the value of a key holds, if not what its mapping does."""

_COLLECTIONS: Final = frozenset(
    ("messages", "turns", "user", "inputs", "for_each", "rows", "validate", "expect", "criteria", "stubs", "facts",
     "label", "rubric", "reference_data", "prompts", "rules", "defaults", "eval", "test_cases", "tags", "include",
     "allow", "any_of", "all_of", "not")
)  # fmt: skip
"""The keys whose value is a list or a mapping: a comment in its place hides no text."""

_CUT: Final = re.compile(r"#(?<=[ \t]#)\S")
_INSIDE_BRACKETS: Final = re.compile(r"[\[\]{},]")
_DATA_OF_INPUT: Final = frozenset(("default", "options"))


def report_cut_texts(source: Source, node: Mapping, problems: Diagnostics) -> None:
    """Report the plain texts of a document behind which a `#` begins a comment without a space after it.

    Lines of checks are left to `build_check`, which knows what can be parsed.
    """
    if _CUT.search(source.text) is not None:
        walk = _Walk(source)
        walk.mapping(node, "words", is_document=True)
        for cut, finding in walk.found.values():
            problems.add(source, cut, finding)


@final
class _Walk:
    def __init__(self, source: Source) -> None:
        self.found: dict[int, tuple[Span, CutOffText | CutOffWords]] = {}
        self._source = source
        self._seen: set[tuple[int, int, _Holds]] = set()  # aliases: what was looked at is not looked at again

    def _value(self, node: Node, holds: _Holds, *, in_flow: bool = False) -> None:
        if holds == "settings":
            return
        if isinstance(node, Scalar):
            if holds != "checks":
                self._scalar(node, holds, in_flow=in_flow)
            return
        place = (node.start, node.end, holds)
        if place in self._seen:
            return
        self._seen.add(place)
        if isinstance(node, Mapping):
            self.mapping(node, holds)
            return
        in_flow = self._source.text.startswith("[", node.start)
        for item in node.items:
            self._value(item, holds, in_flow=in_flow)

    def mapping(self, node: Mapping, holds: _Holds, *, is_document: bool = False) -> None:
        in_flow = self._source.text.startswith("{", node.start)
        for key, value in node.pairs:
            name = key.text
            if holds != "data" and name in _COLLECTIONS and isinstance(value, Scalar) and not value.text:
                continue
            below = self._below(name, value, holds, is_document=is_document)
            self._value(value, below, in_flow=in_flow)

    def _below(self, name: str, value: Node, holds: _Holds, *, is_document: bool) -> _Holds:
        """What the value of a key holds."""
        match holds:
            case "data":
                return "data"
            case "declarations":
                return "declarations" if name not in INPUT_KEYS else "data" if name in _DATA_OF_INPUT else "words"
            case "checks":
                return HOLDS.get(name, "data")
            case _ if is_document and name == "inputs":
                return "declarations"
            case _ if name == "rules" and isinstance(value, Mapping):
                for _, checks in value.pairs:
                    self._value(checks, "checks")
                return "settings"
            case _ if name == "for_each" and isinstance(value, Sequence):
                return "data"
            case _:
                below = HOLDS.get(name)
                return below or ("own" if holds == "criteria" else holds)

    def _scalar(self, node: Scalar, holds: _Holds, *, in_flow: bool) -> None:
        cut = cut_off(self._source, node)
        if cut is None:
            return
        raw = self._source.text[cut.start : cut.end]
        is_sound = not (
            re.search(r"[\r\n]", raw)
            or (in_flow and _INSIDE_BRACKETS.search(self._source.text, node.end, cut.end))
            or (holds == "criteria" and parse_criterion(raw).faults)
        )
        quoted = quoted_line(raw) if is_sound else ""
        if holds != "words":
            self.found[cut.start] = (cut, CutOffText(quoted=quoted))
        else:
            self.found.setdefault(cut.start, (cut, CutOffWords(quoted=quoted)))
