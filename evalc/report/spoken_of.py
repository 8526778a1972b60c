"""From why an assertion failed, and the response, to the part of the response that this speaks of."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from evalc.terminal import visible

_LONGEST_SEARCHED: Final = 20_000
_LONGEST_ALIGNED: Final = 5_000
_LONGEST_MESSAGE: Final = 1_000
_LEAST_ALIKE: Final = 60.0

# The wording of the checks in `runtime/checks/texts.py`.
_MISSING: Final = re.compile(r"expected '(.*)' in response(?:, ignoring case,)? but not found$")
_FOUND: Final = re.compile(r'found "(.*)" in response$')
_OTHER: Final = re.compile(r"expected response to (?:equal|start with) '(.*?)' but got '(.*)'$")

Kind = Literal["found", "nearest", "differs"]


class Part(NamedTuple):
    """A stretch of a text of one line: the response, with nothing in it that a terminal would obey.

    `kind` is what it is: forbidden and `found`, `nearest` to what was not found, or from where it `differs`.
    """

    text: str
    start: int
    end: int
    kind: Kind


def spoken_of(message: str, response: str | None) -> Part | None:
    """The part of the response that a failure's message speaks of; None where it speaks of none that can be shown."""
    if not response or len(message) > _LONGEST_MESSAGE:
        return None
    text = visible(response[:_LONGEST_SEARCHED])
    if match := _FOUND.search(message):
        return _found(_whole(match[1]), text)
    if match := _MISSING.search(message):
        return _nearest(_whole(match[1]), text)
    if (match := _OTHER.search(message)) and text.startswith(_whole(match[2])):  # not of a value within it
        return _differs(_whole(match[1]), text)
    return None


def _whole(quoted: str) -> str:
    """What a message quotes, less the ellipsis where it was cut."""
    return visible(quoted.removesuffix("…"))


def _found(wanted: str, text: str) -> Part | None:
    start = text.find(wanted) if wanted else -1
    return Part(text, start, start + len(wanted), "found") if start >= 0 else None


def _nearest(wanted: str, text: str) -> Part | None:
    from rapidfuzz.fuzz import partial_ratio_alignment  # noqa: PLC0415 - for start-up: only where a text is missing

    near = partial_ratio_alignment(wanted, text[:_LONGEST_ALIGNED], score_cutoff=_LEAST_ALIKE)
    if near is None or near.dest_start == near.dest_end:
        return None
    return Part(text, near.dest_start, near.dest_end, "nearest")


def _differs(wanted: str, text: str) -> Part | None:
    pairs = enumerate(zip(wanted, text, strict=False))
    common = next((at for at, (one, other) in pairs if one != other), min(len(wanted), len(text)))
    return Part(text, common, common + 1, "differs")
