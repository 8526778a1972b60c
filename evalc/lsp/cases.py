"""The places of the cases of a text, kept through edits, so that a case can be read without all the others."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, final

from evalc.base.source import Source, Span
from evalc.dsl.nodes import Mapping, Node, Sequence
from evalc.dsl.read_yaml import read_yaml

_FEWEST: Final = 20
"""Files with fewer cases are read whole: that takes no time."""
_MORE_THAN_A_BREAK: Final = re.compile(r"[^\r\n]")
_ANCHOR: Final = re.compile(r"(?:^[ ]*|[:,\[{-][ ]+)[&*]\w", re.MULTILINE)
_DASH: Final = re.compile(r"[ ]*-[ ]+")


@final
class CaseSpans:
    """The stretches of a text that hold one case each, from the line of its dash to that of the next.

    There are none if a case may need another: with anchors, several documents, a list in brackets.
    """

    def __init__(self, source: Source) -> None:
        self._starts = _starts(source)  # and the end of the last one
        self._blank = _MORE_THAN_A_BREAK.sub(" ", source.text) if self._starts else ""
        self._dash = len(_DASH.match(source.text, self._starts[0])[0]) if self._starts else 0  # type: ignore[index]

    def __bool__(self) -> bool:
        """Whether it is known where the cases are."""
        return bool(self._starts)

    def edited(self, start: int, end: int, inserted: str) -> None:
        """The characters `[start, end)` have been replaced: what follows them has moved.

        An edit of a dash, or over the bounds of a case, makes other cases of them, which only the whole text tells.
        """
        case = self.around(start)
        if case is None or start < case.start + self._dash or end >= case.end or _ANCHOR.search(inserted):
            self._starts = []
            return
        delta = len(inserted) - (end - start)
        behind = bisect_right(self._starts, start)
        self._starts[behind:] = [each + delta for each in self._starts[behind:]]
        self._blank = self._blank[:start] + _MORE_THAN_A_BREAK.sub(" ", inserted) + self._blank[end:]

    def around(self, offset: int) -> Span | None:
        """The case at an offset; None if there is none."""
        behind = bisect_right(self._starts, offset)
        return Span(*self._starts[behind - 1 : behind + 1]) if 0 < behind < len(self._starts) else None

    def alone(self, text: str, case: Span) -> str:
        """The text with all other cases left blank, so that everything left keeps its place."""
        first, last = self._starts[0], self._starts[-1]
        before, behind = self._blank[first : case.start], self._blank[case.end : last]
        return "".join((text[:first], before, text[slice(*case)], behind, text[last:]))


def _starts(source: Source) -> list[int]:
    """Where the line of each case begins, and where the last case ends; nothing if they cannot be told apart."""
    nodes = read_yaml(source, lambda _span, _finding: None)
    cases = _cases_of(nodes[0]) if len(nodes) == 1 else None
    if cases is None or len(cases.items) < _FEWEST or cases.cut or _ANCHOR.search(source.text):
        return []
    starts = [source.text.rfind("\n", 0, item.start) + 1 for item in cases.items]
    stand_apart = all(
        _DASH.fullmatch(source.text, start, item.start) for start, item in zip(starts, cases.items, strict=True)
    )
    end = source.text.find("\n", cases.items[-1].end)
    return [*starts, len(source.text) if end < 0 else end + 1] if stand_apart else []


def _cases_of(node: Node | None) -> Sequence | None:
    """The list of test cases of a document, which may be in its `eval:`."""
    if not isinstance(node, Mapping) or node.cut:
        return None
    by_key = {key.text: value for key, value in node.pairs}
    found = by_key.get("test_cases")
    if found is None:
        return _cases_of(by_key.get("eval"))
    return found if isinstance(found, Sequence) else None
