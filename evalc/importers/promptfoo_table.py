"""Reads promptfoo's tables of tests, CSV or TSV: columns are variables, `__expected` asserts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, final

from evalc.compiler.merge.row_places import csv_reader
from evalc.dsl.nodes import Mapping as MappingNode
from evalc.dsl.nodes import Node, Scalar, Sequence
from evalc.source import Source

_ASSERTION: Final = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z0-9-]*)(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?", re.DOTALL
)
_CODE: Final = re.compile(r"(?P<language>javascript|fn|eval|python|ruby):", re.DOTALL)
_LISTS: Final = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
_WITH_THRESHOLD: Final = frozenset({"latency", "cost", "similar", "levenshtein", "rouge-n"})
_KNOWN: Final = _LISTS | _WITH_THRESHOLD | frozenset(
    {"contains", "icontains", "equals", "regex", "starts-with", "is-json", "contains-json", "word-count", "is-refusal",
     "llm-rubric", "model-graded-closedqa", "factuality", "answer-relevance", "webhook", "is-xml", "is-sql"}
)  # fmt: skip
_NO_VARIABLES: Final[dict[str, str]] = {
    "__prefix": "it changes what is sent",
    "__suffix": "it changes what is sent",
    "__providerOutput": "answers come from the agent",
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TestRow:
    """A row: its place, and what it says. `left_out` are columns without a counterpart, and why."""

    node: Node
    description: str
    vars: Mapping[str, str]
    assertions: tuple[Node, ...]
    threshold: float | None
    left_out: tuple[tuple[str, str], ...]


def rows_of(source: Source, delimiter: str) -> Iterator[TestRow]:
    """The rows below the header.

    Raises:
        csv.Error: the text is not a table: a cell is too long, or a quote is never closed.
    """
    reader = csv_reader(io.StringIO(source.text, newline=""), delimiter=delimiter)
    header = next(reader, [])
    starts = _line_starts(source.text)
    line = reader.line_num
    for cells in reader:
        at = starts[min(line, len(starts) - 1)]
        line = reader.line_num
        if any(cells):
            yield _row(dict(zip(header, cells, strict=False)), at)


def _row(cells: Mapping[str, str], at: int) -> TestRow:
    metric = cells.get("__metric", "")
    threshold = cells.get("__threshold", "")
    assertions = [
        _assertion(text, metric, at) for key, text in cells.items() if key.startswith("__expected") and text.strip()
    ]
    special = ("__expected", "__description", "__metric", "__threshold")
    left_out = {key: _NO_VARIABLES.get(key, "it has no counterpart here") for key in cells if key.startswith("__")}
    return TestRow(
        node=Scalar(at, at, "", "plain"),
        description=cells.get("__description", ""),
        vars={key: text for key, text in cells.items() if not key.startswith("__")},
        assertions=tuple(assertions),
        threshold=float(threshold) if re.fullmatch(r"\d+(?:\.\d+)?", threshold) else None,
        left_out=tuple((key, why) for key, why in left_out.items() if not key.startswith(special) and cells[key]),
    )


def _assertion(text: str, metric: str, at: int) -> Node:
    """An assertion that is written as a text, `contains-any: a, b`; any other text is what the output has to equal."""
    code = _CODE.match(text)
    match = _ASSERTION.fullmatch(text.strip())
    fields: dict[str, Node] = {}
    if code is not None:
        fields["type"] = _scalar("python" if code["language"] == "python" else "javascript", at)
    elif text.startswith("grade:"):
        fields |= {"type": _scalar("llm-rubric", at), "value": _scalar(text[6:].strip(), at)}
    elif match is not None and match["type"].removeprefix("not-") in _KNOWN:
        fields["type"] = _scalar(match["type"], at)
        if match["value"] is not None and match["value"].strip():
            fields["value"] = _value(match["type"].removeprefix("not-"), match["value"].strip(), at)
        if match["threshold"] is not None:
            fields["threshold"] = Scalar(at, at, match["threshold"], "plain")
    else:
        fields |= {"type": _scalar("equals", at), "value": _scalar(text, at)}
    if metric:
        fields["metric"] = _scalar(metric, at)
    return MappingNode(at, at, tuple((_scalar(key, at), value) for key, value in fields.items()))


def _value(type_: str, text: str, at: int) -> Node:
    if type_ in _LISTS:
        return Sequence(at, at, tuple(_scalar(item.strip(), at) for item in text.split(",")))
    return Scalar(at, at, text, "plain") if type_ == "word-count" else _scalar(text, at)


def _scalar(text: str, at: int) -> Scalar:
    return Scalar(at, at, text, "double")


def _line_starts(text: str) -> list[int]:
    """The offset of each line, as the reader of tables counts lines."""
    return [0, *accumulate(len(line) for line in io.StringIO(text, newline=""))]
