"""The templates of promptfoo, and its tables of tests."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, final

from evalc.base.source import Source
from evalc.compiler.rows import csv_reader
from evalc.dsl.nodes import Mapping as MappingNode
from evalc.dsl.nodes import Node, Scalar
from evalc.extras.importers.imported import NO_COUNTERPART

_TAG: Final = re.compile(r"\{\{(?P<inside>.*?)\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_VARIABLE: Final = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*", re.ASCII)
_OPENING: Final = re.compile(r"\{\{|\{%|\{#")
_NO_VARIABLES: Final = frozenset({"env", "else", "false", "loop", "none", "null", "range", "this", "true"})


class NotPlain(ValueError):
    """The text holds more than plain variables; the message is what it holds."""


def variables_of(text: str) -> tuple[str, ...]:
    """The names of the variables in a text, each once.

    Raises:
        NotPlain: the text holds filters, statements, expressions or comments.
    """
    names: dict[str, str] = {}
    _replaced(text, lambda name: names.setdefault(name, name))
    return tuple(names)


def template_of(text: str) -> str:
    """The template that fills in the same: `{{ name }}` is `{{name}}`.

    Raises:
        NotPlain: as `variables_of`.
    """
    return _replaced(text, lambda name: f"{{{{{name}}}}}")


def rendered(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables filled in; a variable without a value is empty.

    Raises:
        NotPlain: as `variables_of`.
    """
    return _replaced(text, lambda name: values.get(name, ""))


def _replaced(text: str, value_of: Callable[[str], str]) -> str:
    pieces: list[str] = []
    done = 0
    for tag in _TAG.finditer(text):
        variable = None if tag["inside"] is None else _VARIABLE.fullmatch(tag["inside"])
        if variable is None or variable["name"] in _NO_VARIABLES:
            raise NotPlain(f"`{_shortened(tag[0])}` is more than a plain variable")
        pieces += (_before_tag(text[done : tag.start()]), value_of(variable["name"]))
        done = tag.end()
    return "".join((*pieces, _without_tags(text[done:])))


def _before_tag(text: str) -> str:
    if text.endswith("\\"):
        raise NotPlain("a backslash in front of a tag means something else here")
    return _without_tags(text)


def _without_tags(text: str) -> str:
    opening = _OPENING.search(text)
    if opening is not None:
        raise NotPlain(f"`{opening[0]}` opens a tag that is not closed")
    return text


def _shortened(tag: str) -> str:
    line = " ".join(tag.split())
    return line if len(line) <= 40 else f"{line[:37]}..."


_TYPES: Final = frozenset(
    ("agent-rubric", "answer-relevance", "bleu", "classifier", "contains", "contains-all", "contains-any",
     "contains-html", "contains-json", "contains-sql", "contains-xml", "context-faithfulness", "context-recall",
     "context-relevance", "conversation-relevance", "cost", "equals", "factuality", "finish-reason", "g-eval",
     "gleu", "guardrails", "icontains", "icontains-all", "icontains-any", "is-html", "is-json", "is-refusal",
     "is-sql", "is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call", "is-xml",
     "javascript", "latency", "levenshtein", "llm-rubric", "meteor", "model-graded-closedqa",
     "model-graded-factuality", "moderation", "perplexity", "perplexity-score", "pi", "python", "regex", "rouge-n",
     "ruby", "search-rubric", "similar", "similar:cosine", "similar:dot", "similar:euclidean", "skill-used",
     "starts-with", "tool-call-f1", "trace-error-spans", "trace-span-count", "trace-span-duration",
     "trajectory:goal-success", "trajectory:step-count", "trajectory:tool-args-match", "trajectory:tool-sequence",
     "trajectory:tool-used", "webhook", "word-count")
)  # fmt: skip
"""The types of promptfoo 0.121; a text that begins with none of them is what the output has to equal."""
_ASSERTION: Final = re.compile(
    rf"(?P<type>(?:not-)?(?:{'|'.join(sorted(map(re.escape, _TYPES), key=len, reverse=True))}))"
    r"(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?",
    re.DOTALL,
)
_CODE: Final = re.compile(
    r"(?P<language>javascript|fn|eval|python|ruby):|file://.*\.(?:[cm]?[jt]s|(?P<python>py))(?::\w+)?\Z", re.DOTALL
)
_WITH_THRESHOLD: Final = frozenset(
    ("answer-relevance", "classifier", "context-faithfulness", "context-recall", "context-relevance", "cost", "latency",
     "levenshtein", "perplexity", "perplexity-score", "rouge-n", "similar", "starts-with")
)  # fmt: skip
"""The types whose number in parentheses counts in promptfoo."""
_WHY_NOT: Final[dict[str, str]] = {
    "__prefix": "it changes what is sent",
    "__suffix": "it changes what is sent",
    "__providerOutput": "answers come from the agent",
}
_READ: Final = frozenset(("__description", "__metric", "__threshold"))
_METADATA: Final = "__metadata"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TestRow:
    """A row: its place, and what it says.

    Columns without a counterpart, and why: those of `left_out` change the test, those of `ignored` do not.
    """

    node: Node
    description: str
    vars: Mapping[str, str]
    assertions: tuple[Node, ...]
    threshold: float | None
    metadata: Mapping[str, object]
    left_out: tuple[tuple[str, str], ...]
    ignored: tuple[tuple[str, str], ...]


def rows_of(source: Source, delimiter: str) -> Iterator[TestRow]:
    """The rows below the header.

    Raises:
        csv.Error: the text is not a table: a cell is too long, or a quote is never closed.
    """
    reader = csv_reader(io.StringIO(source.text, newline=""), delimiter=delimiter)
    header = [name.strip() for name in next(reader, [])]
    starts = [0, *accumulate(map(len, io.StringIO(source.text, newline="")))]  # as the reader of tables counts lines
    line = reader.line_num
    for cells in reader:
        at = starts[min(line, len(starts) - 1)]
        line = reader.line_num
        if any(cells):
            yield _row(dict(zip(header, cells, strict=False)), cells[len(header) :], at)


def _row(cells: Mapping[str, str], more: list[str], at: int) -> TestRow:
    metric = cells.get("__metric", "")
    threshold = cells.get("__threshold", "").strip()
    is_number = re.fullmatch(r"\d+(?:\.\d+)?", threshold) is not None
    left_out = [
        (key, _WHY_NOT.get(key, NO_COUNTERPART))
        for key in cells
        if cells[key] and key.startswith("__") and not key.startswith(("__expected", _METADATA)) and key not in _READ
    ]
    ignored = [("__threshold", f"`{threshold}` is not a number")] if threshold and not is_number else []
    ignored += [("__metadata", "it names no key")] if cells.get("__metadata") else []
    ignored += [(text, "it has no heading") for text in more if text]
    return TestRow(
        node=Scalar(at, at, "", "plain"),
        description=cells.get("__description", ""),
        vars={key: text for key, text in cells.items() if not key.startswith("__")},
        assertions=tuple(
            _assertion(text.strip(), metric, at)
            for key, text in cells.items()
            if key.startswith("__expected") and text.strip()
        ),
        threshold=float(threshold) if is_number else None,
        metadata=dict(_metadata(cells)),
        left_out=tuple(left_out),
        ignored=tuple(ignored),
    )


def _metadata(cells: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    """The metadata in the columns `__metadata:key` and, for lists, `__metadata:key[]`."""
    for column, text in cells.items():
        if column.startswith(f"{_METADATA}:") and text.strip():
            key = column.removeprefix(f"{_METADATA}:")
            items = [item.strip().replace("\\,", ",") for item in re.split(r"(?<!\\),", text)]
            yield (key[:-2], items) if key.endswith("[]") else (key, text)


def _assertion(text: str, metric: str, at: int) -> Node:
    """An assertion that is written as a text, `contains-any: a, b`; any other text is what the output has to equal."""
    code = _CODE.match(text)
    match = _ASSERTION.fullmatch(text)
    fields: dict[str, Node] = {}
    if code is not None:
        language = "python" if code["python"] else code["language"]
        fields["type"] = _scalar(language if language in ("python", "ruby") else "javascript", at)
    elif text.startswith("grade:"):
        fields |= {"type": _scalar("llm-rubric", at), "value": _scalar(text[6:].strip(), at)}
    elif match is not None:
        name = match["type"].removeprefix("not-")
        fields["type"] = _scalar(match["type"], at)
        if match["value"] is not None and match["value"].strip():
            value = match["value"].strip()
            fields["value"] = Scalar(at, at, value, "plain") if name == "word-count" else _scalar(value, at)
        if match["threshold"] is not None and name in _WITH_THRESHOLD:
            fields["threshold"] = Scalar(at, at, match["threshold"], "plain")
    else:
        fields |= {"type": _scalar("equals", at), "value": _scalar(text, at)}
    if metric:
        fields["metric"] = _scalar(metric, at)
    return MappingNode(at, at, tuple((_scalar(key, at), value) for key, value in fields.items()))


def _scalar(text: str, at: int) -> Scalar:
    return Scalar(at, at, text, "double")
