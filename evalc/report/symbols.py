"""The marks and lines that reports draw, as far as the screen can show them."""

from __future__ import annotations

from typing import Final, NamedTuple

from evalc.model.result import Status
from evalc.terminal import Color, Screen


class Symbols(NamedTuple):
    """The characters that summaries and tables are drawn with."""

    marks: dict[Status, str]
    arrow: str
    warning: str
    title: str
    rule: str
    dash: str
    full: str
    empty: str
    ellipsis: str


_UNICODE: Final = Symbols(
    marks={
        "passed": "✓",
        "failed": "✗",
        "error": "!",
        "unverified": "?",
        "expected-failure": "⊘",
        "unexpected-pass": "✘",
    },
    arrow="→",
    warning="⚠",
    title="═",
    rule="─",
    dash="—",
    full="█",
    empty="░",
    ellipsis="…",
)
_ASCII: Final = Symbols(
    marks={
        "passed": "+",
        "failed": "x",
        "error": "!",
        "unverified": "?",
        "expected-failure": "~",
        "unexpected-pass": "X",
    },
    arrow="->",
    warning="!",
    title="=",
    rule="-",
    dash="-",
    full="#",
    empty=".",
    ellipsis="...",
)
COLORS: Final[dict[Status, Color]] = {
    "passed": "green",
    "failed": "red",
    "error": "red",
    "unverified": "yellow",
    "expected-failure": "yellow",
    "unexpected-pass": "red",
}


def symbols_of(screen: Screen) -> Symbols:
    """What is drawn with on the screen."""
    return _UNICODE if screen.unicode else _ASCII
