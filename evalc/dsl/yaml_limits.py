"""How far a YAML document may go, and which characters may stand in it."""

from __future__ import annotations

import re
from typing import Final, final

import msgspec


@final
class YamlLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How far a document may go: levels of nesting, and nodes that aliases and merge keys may add to it."""

    depth: int = 100
    expanded_nodes: int = 1_000_000


# What YAML's production c-printable leaves out, and the three breaks on which libyaml miscounts lines.
FORBIDDEN: Final = r"[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
"""A pattern of one character that may not stand in YAML."""

_PLAIN: Final = re.compile(r"[\t\n\r -~]*")
"""A text of ASCII that holds none of these; it is spared the pattern above, which takes 5 ms to compile."""


def has_forbidden(text: str) -> bool:
    """Whether a character of a text may not stand in YAML."""
    return not _PLAIN.fullmatch(text) and re.search(FORBIDDEN, text) is not None
