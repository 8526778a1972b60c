"""Reads scalars by YAML 1.2's core schema, without its surprises.

Digits with a leading zero stay text (`007`), and what JSON cannot hold (`.inf`, `.nan`, `1e400`) is an error. That a
scalar could be a number does not make it one: where text is expected, it is taken as it was written. Reasons,
such as why a case is skipped, are read in one way in YAML, in the rows of tables and in eval JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final, Literal, assert_never

from evalc.diagnostics import Finding
from evalc.dsl.nodes import Mapping, Node, Report, Scalar, Sequence, unheard

Kind = Literal["str", "int", "float", "bool", "null"]
Value = str | int | float | bool | None

MAX_DIGITS: Final = 308
"""The longest whole number that is read: each is less than the largest float, 1.8e308, so that they can be compared."""

_INT: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
"""The words for null, one of which is none at all."""
_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(NULLS),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_BEGINS: Final = frozenset("+-.0123456789")
_TAG_KINDS: Final[dict[str, Kind]] = {
    "!!str": "str",
    "!!int": "int",
    "!!float": "float",
    "!!bool": "bool",
    "!!null": "null",
}


def kind_of(scalar: Scalar) -> Kind:
    """The kind of a scalar in YAML; an explicit tag has the last word."""
    if scalar.tag:
        return _TAG_KINDS[scalar.tag]
    return _plain_kind(scalar.text) if scalar.style == "plain" else "str"


def value_of(scalar: Scalar, report: Report) -> Value:
    """The value of a scalar. A scalar without a value is reported, and its text is used instead."""
    text = scalar.text
    kind = kind_of(scalar)
    if kind == "str":
        return text
    # A text has to be of the kind that its tag says; a whole number can be a float.
    if scalar.tag and _plain_kind(text) not in (("int", "float") if kind == "float" else (kind,)):
        report(scalar.span, Finding("EV117", tag=scalar.tag))
        return text
    match kind:
        case "bool" | "null":
            return _WORDS[text]
        case "int" | "float":
            number = _number(text, kind)
            if number is None:
                report(scalar.span, Finding("EV119", text=text))
                return text
            return number
        case _:
            assert_never(kind)


def to_plain(node: Node | None, report: Report = unheard) -> Any:
    """A tree as JSON-like data: dicts with text keys, lists, values; None if there is none."""
    match node:
        case None:
            return None
        case Scalar():
            return value_of(node, report)
        case Sequence():
            return [to_plain(item, report) for item in node.items]
        case Mapping():
            return {key.text: to_plain(value, report) for key, value in node.pairs}
        case _:
            assert_never(node)


def _plain_kind(text: str) -> Kind:
    if text in _WORDS:
        return "null" if _WORDS[text] is None else "bool"
    if text[0] not in _NUMBER_BEGINS:
        return "str"
    if _INT.fullmatch(text):
        return "int"
    return "float" if _FLOAT.fullmatch(text) else "str"


def _number(text: str, kind: Literal["int", "float"]) -> int | float | None:
    """The number, None if it is not finite or has too many digits."""
    if kind == "float":
        if "n" in text.lower():  # .inf and .nan: Python would want them without the point
            return None
        number = float(int(text, 0)) if text[:2] in {"0x", "0o"} else float(text)
        return number if math.isfinite(number) else None
    if len(text) > MAX_DIGITS:
        return None
    return int(text, 0) if text[:2] in {"0x", "0o"} else int(text)


_NO: Final = frozenset({"", "false", "no", "off", "null", "~"})
NO_REASONS: Final = ("true", "yes", "on", "none", "nil", "nan", "nat", "na", "undefined")
"""Words in cells of tables that say neither why nor no, as letters and digits: `<NA>` is `na`."""


def reason_of(text: str, key: str, fault: Callable[[Finding], object]) -> str | None:
    """The reason that a text gives; None if it says no. A text that says neither why nor no is reported.

    Tools that write tables fill cells with words of their own, which say neither that the row has nothing there nor
    that it has something.
    """
    word = text.strip().lower()
    number = _number_of(word)
    if word in _NO or number == 0:
        return None
    if number is not None or not _is_worded(word):
        fault(Finding("EV317", key=key, value=text.strip()))
        return None
    return text


def _is_worded(word: str) -> bool:
    """Whether there is something to read in it: at least a word of two letters, or the number of an issue (`#4711`)."""
    characters = "".join(filter(str.isalnum, word))
    if characters in _NO or characters in NO_REASONS:
        return False
    return word.startswith("#") or (len(characters) > 1 and any(map(str.isalpha, characters)))


def _number_of(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
