"""Reports plain texts that a `#` has cut off: of `Where is order #4711?` YAML reads `Where is order` and a comment."""

from __future__ import annotations

import re
from typing import Final, final

from evalc.base.source import Source, Span
from evalc.diagnostics import Diagnostics, Finding
from evalc.dsl.build_prompt import INPUT
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.quoting import cut_off, in_quotes, quoted_line
from evalc.grammar.parse import parse_criterion

_Holds = str
"""Kinds of contents of a value.

`data`: texts that are sent or checked, below keys of the author's. `own`: the same below keys of evalc's. `words`:
texts that are neither sent nor checked. `checks`, `criteria`, `declarations`: what they say. `settings`: no free text.
"""

OF_CHECKS: Final[dict[str, str]] = {
    **dict.fromkeys(("any_of", "all_of", "not"), "checks"),
    **dict.fromkeys(
        (
            "type", "op", "which", "assertion", "scale", "min", "max_score", "maxScore", "min_score", "minScore",
            "noToolErrors", "responseNonEmpty", "maxLatencyMs", "maxTokens", "minLength", "maxLength", "jsonValid",
            "typeChecks", "minToolCalls", "maxToolCalls", "maxCost",
        ),
        "settings",
    ),
}  # fmt: skip
"""Contents of the keys of checks and rubrics, where they differ from those of the mapping."""

_COLLECTIONS: Final = frozenset(
    ("messages", "turns", "user", "inputs", "for_each", "rows", "validate", "expect", "criteria", "stubs", "facts",
     "label", "rubric", "reference_data", "prompts", "rules", "defaults", "eval", "test_cases", "tags", "include",
     "allow", "files", "any_of", "all_of", "not")
)  # fmt: skip
"""The keys whose value is a list or a mapping: a comment in its place hides no text."""

_CUT: Final = re.compile(r"#(?<=[ \t,\[]#)\S")
_EMPTIED: Final = re.compile(r"\s*:[ \t]+(#(?!evalc: ignore)\S[^\r\n]*)")
"""Behind a key, a comment in the place of its value."""
_COMMENTS: Final = re.compile(r"([^#\r\n]*)(#[^\r\n]*)?")
_LEFT_OUT: Final = re.compile(r"#(?!evalc: ignore)\S.*")
_INSIDE_BRACKETS: Final = re.compile(r"[\[\]{},]")
_DATA_OF_INPUT: Final = frozenset(("default", "options"))


def report_cut_texts(source: Source, node: Mapping, holds: dict[str, str], problems: Diagnostics) -> None:
    """Report the plain texts of a document behind which a `#` begins a comment without a space after it.

    `holds` says what the value of a key holds, if not what its mapping does. Lines of checks are left to `build_check`,
    which knows what can be parsed.
    """
    walk = _Walk(source, holds)
    walk.mapping(node, "words", is_document=True)
    for cut, finding in walk.found.values():
        problems.add(source, cut, finding)


def may_have_cut_texts(source: Source) -> bool:
    """Whether there may be such texts in a source."""
    return _CUT.search(source.text) is not None


@final
class _Walk:
    def __init__(self, source: Source, holds: dict[str, str]) -> None:
        self.found: dict[int, tuple[Span, Finding]] = {}
        self._source = source
        self._holds = holds
        self._seen: set[tuple[int, int, _Holds]] = set()  # aliases: what was looked at is not looked at again

    def _value(self, node: Node, holds: _Holds, *, in_flow: bool = False) -> None:
        if holds == "settings":
            return
        if isinstance(node, Scalar):
            cut = cut_off(self._source, node) if holds != "checks" else None
            if cut is not None:
                is_torn = in_flow and _INSIDE_BRACKETS.search(self._source.text, node.end, cut.end)
                self._report(cut, holds, is_sound=not is_torn)
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
        if in_flow and holds not in ("checks", "criteria"):
            self._items_left_out(node, holds)

    def mapping(self, node: Mapping, holds: _Holds, *, is_document: bool = False) -> None:
        in_flow = self._source.text.startswith("{", node.start)
        for key, value in node.pairs:
            name = key.text
            if holds != "data" and name in _COLLECTIONS and isinstance(value, Scalar) and not value.text:
                continue
            below = self._below(name, value, holds, is_document=is_document)
            if in_flow and _is_empty(value) and below not in ("checks", "settings"):
                # YAML puts such a value where the brackets go on, behind the comment that took its place.
                if (emptied := _EMPTIED.match(self._source.text, key.end)) is not None:
                    cut = Span(emptied.start(1), emptied.start(1) + len(emptied[1].rstrip()))
                    self._report(cut, below, is_sound=_INSIDE_BRACKETS.search(emptied[1]) is None)
                continue
            self._value(value, below, in_flow=in_flow)

    def _items_left_out(self, node: Sequence, holds: _Holds) -> None:
        """Report comments in the place of an item: behind a comma or the bracket, on the same line."""
        ends = [node.start + 1, *(item.end for item in node.items)]
        starts = [*(item.start for item in node.items), node.end - 1]
        for start, end in zip(ends, starts, strict=True):
            for line in _COMMENTS.finditer(self._source.text, start, end):
                before, comment = line.groups()
                is_in_place = before.rstrip().endswith(",") or (line.start() == node.start + 1 and not before.strip())
                if is_in_place and comment and _LEFT_OUT.fullmatch(comment):
                    span = Span(line.start(2), line.start(2) + len(comment.rstrip()))
                    is_last = end == node.end - 1
                    self._report(span, holds, is_sound=is_last and _INSIDE_BRACKETS.search(comment) is None)

    def _below(self, name: str, value: Node, holds: _Holds, *, is_document: bool) -> _Holds:
        """The contents of the value of a key."""
        match holds:
            case "data":
                return "data"
            case "declarations":
                return "declarations" if name not in INPUT.keys else "data" if name in _DATA_OF_INPUT else "words"
            case "checks":
                return self._holds.get(name, "data")
            case _ if is_document and name == "inputs":
                return "declarations"
            case _ if name == "rules" and isinstance(value, Mapping):
                for _, checks in value.pairs:
                    self._value(checks, "checks")
                return "settings"
            case _ if name == "for_each" and isinstance(value, Sequence):
                return "data"
            case _:
                below = self._holds.get(name)
                return below or ("own" if holds == "criteria" else holds)

    def _report(self, cut: Span, holds: _Holds, *, is_sound: bool = True) -> None:
        """Report a text, with a fix if the whole text can be in quotes in its place."""
        raw = self._source.text[cut.start : cut.end]
        is_sound = is_sound and not (re.search(r"[\r\n]", raw) or (holds == "criteria" and parse_criterion(raw).faults))
        fix, quoted = (in_quotes(self._source, *cut), quoted_line(raw)) if is_sound else (None, "")
        if holds != "words":
            self.found[cut.start] = (cut, Finding("EV156", fix=fix, quoted=quoted))
        else:
            self.found.setdefault(cut.start, (cut, Finding("EV157", fix=fix, quoted=quoted)))


def _is_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.style == "plain" and node.start == node.end and node.alias is None
