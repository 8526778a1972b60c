"""Nunjucks as far as promptfoo's files use it: variables in a text, and a text that stands in quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from typing import Final, final

from evalc.base.terminal import shortened

_TAG: Final = re.compile(r"\{\{(?P<inside>(?:\s*'[^'\\\n]*'\s*(?=\}\}))|.*?)\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_VARIABLE: Final = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*", re.ASCII)
_QUOTED: Final = re.compile(r"\s*'(?P<text>[^'\\\n]*)'\s*")
_ROOT: Final = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)", re.ASCII)
_OPENING: Final = re.compile(r"\{\{|\{%|\{#")
_ENVIRONMENT: Final = re.compile(
    r"""\{\{\s*env(?:\.(?P<name>\w+)|\[(['"])(?P<key>\w+)\2\])\s*(?:\|\s*default\(\s*(['"])(?P<default>[^'"\\]*)\4\s*\))?\s*\}\}"""
)
_LONGEST_TAG: Final = 40
_NO_VARIABLES: Final = frozenset({"env", "else", "false", "loop", "none", "null", "range", "this", "true"})


@final
class Unmappable(Exception):
    """Nothing here means the same; the message says why."""


def require(condition: object, why_not: str) -> None:
    """Go on where the condition holds.

    Raises:
        Unmappable: it does not.
    """
    if not condition:
        raise Unmappable(why_not)


def variables_of(text: str) -> tuple[str, ...]:
    """The names of the variables in a text, each once.

    Raises:
        Unmappable: the text holds filters, statements, expressions or comments.
    """
    names: dict[str, str] = {}
    _replaced(text, lambda name: names.setdefault(name, name))
    return tuple(names)


def template_of(text: str, known: Container[str] | None = None) -> str:
    """The template that fills in the same: `{{ name }}` is `{{name}}`, and empty if it is not among those `known`.

    Raises:
        Unmappable: as `variables_of`.
    """
    return _replaced(
        text,
        lambda name: f"{{{{{name}}}}}" if known is None or name in known else "",
        literal=lambda quoted: quoted.replace("{{", r"\{{"),
    )


def rendered(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables filled in; a variable without a value is empty.

    Raises:
        Unmappable: as `variables_of`.
    """
    return _replaced(text, lambda name: values.get(name, ""))


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text of a variable with other variables filled in.

    Promptfoo leaves it as it is where a tag is not closed, and where one is about a variable that there is not.

    Raises:
        Unmappable: as `variables_of`.
    """
    known = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda tag: values.get(tag[1], tag[0]), text)
    is_left = _OPENING.search(_TAG.sub(" ", known)) or any(
        name not in {*values, "env"} for name in _ROOT.findall(known)
    )
    return known if is_left else rendered(known, values)


def without_environment(text: str, given: Mapping[str, str]) -> tuple[str, str]:
    """The text with variables of the environment filled in, and the first that is not `given`, which is empty then."""
    lacking: list[str] = []

    def value(tag: re.Match[str]) -> str:
        name = tag["name"] or tag["key"]
        if name not in given:
            lacking.append(tag[0])
        return given.get(name, tag["default"] or "")

    filled_in = _ENVIRONMENT.sub(value, text)
    return filled_in, next(iter(lacking), "")


def uses(text: str, name: str) -> bool:
    """Whether a text of data or code may use a variable; of the name `*`, any."""
    named = r"\w" if name == "*" else rf"\b{re.escape(name)}\b"
    return re.search(rf"\{{[{{%][^}}]*{named}", text) is not None or (
        "vars" in text and re.search(named, text) is not None
    )


def has_template(text: str) -> bool:
    """Whether a text holds anything that is filled in."""
    return "{{" in text or "{%" in text


def _replaced(
    text: str, value_of: Callable[[str], str], *, literal: Callable[[str], str] = lambda quoted: quoted
) -> str:
    def value(tag: re.Match[str]) -> str:
        inside = tag["inside"]
        if inside is not None and (quoted := _QUOTED.fullmatch(inside)):
            return literal(quoted["text"])
        variable = None if inside is None else _VARIABLE.fullmatch(inside)
        if variable is None or variable["name"] in _NO_VARIABLES:
            named = shortened(" ".join(tag[0].split()), _LONGEST_TAG, "...")
            raise Unmappable(f"`{named}` is more than a plain variable")
        if text.endswith("\\", 0, tag.start()):
            raise Unmappable("a backslash in front of a tag means something else here")
        return value_of(variable["name"])

    opening = _OPENING.search(_TAG.sub(" ", text))
    if opening is not None:
        raise Unmappable(f"`{opening[0]}` opens a tag that is not closed")
    return _TAG.sub(value, text)
