"""Translates promptfoo's Nunjucks templates, as far as they are plain variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

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
