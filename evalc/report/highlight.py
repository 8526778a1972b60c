"""The part of a response that a failure is about."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, NamedTuple

from evalc.model.paths import steps
from evalc.model.result import TextFinding
from evalc.terminal import visible

_LONGEST_SEARCHED: Final = 20_000
_LONGEST_ALIGNED: Final = 5_000
_LEAST_ALIKE: Final = 60.0

Kind = Literal["found", "nearest", "differs"]


class Highlight(NamedTuple):
    """A stretch of a text of one line: the response, with nothing in it that a terminal would obey.

    `kind` is what it is: forbidden and `found`, `nearest` to what was not found, or from where it `differs`.
    """

    text: str
    start: int
    end: int
    kind: Kind


def highlight(finding: TextFinding | None, response: str | None) -> Highlight | None:
    """The part of the response that a finding is about; None where there is none that can be shown."""
    if finding is None or not response:
        return None
    text = visible(response[:_LONGEST_SEARCHED])
    begin, end = 0, len(text)
    if finding.path is not None:
        value = _value_at(response, finding.path)
        if value is None or text.count(value) != 1:
            return None
        begin = text.index(value)
        end = begin + len(value)
    part = _part(finding, text[begin:end])
    return None if part is None else Highlight(text, begin + part.start, begin + part.end, part.kind)


def _value_at(response: str, path: str) -> str | None:
    """The text of a place in a JSON response as the response writes it; None where it is no text or not found."""
    try:
        value: Any = json.loads(response)
        for _, step in steps(path):
            value = value[step]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    if not isinstance(value, str) or not value:
        return None
    return next(
        (
            visible(written)
            for written in (json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1])
            if written in response
        ),
        None,
    )


def _part(finding: TextFinding, text: str) -> Highlight | None:
    wanted = visible(finding.text)
    match finding.kind:
        case "forbidden":
            start = text.find(wanted) if wanted else -1
            return Highlight(text, start, start + len(wanted), "found") if start >= 0 else None
        case "missing":
            return _nearest(wanted, text)
        case "differs":
            pairs = enumerate(zip(wanted, text, strict=False))
            common = next((at for at, (one, other) in pairs if one != other), min(len(wanted), len(text)))
            return Highlight(text, common, common + 1, "differs")


def _nearest(wanted: str, text: str) -> Highlight | None:
    from rapidfuzz.fuzz import partial_ratio_alignment  # noqa: PLC0415 - for start-up: only where a text is missing

    near = partial_ratio_alignment(wanted, text[:_LONGEST_ALIGNED], score_cutoff=_LEAST_ALIKE)
    if near is None or near.dest_start == near.dest_end:
        return None
    return Highlight(text, near.dest_start, near.dest_end, "nearest")
