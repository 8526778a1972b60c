"""Writes a check of the model as a one-line check."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

from evalc.compiler.spelling import NAME, NoLine, Speller, quoted
from evalc.grammar.parse import parse_check
from evalc.model import checks as c
from evalc.model.checks.declaration import type_name

_OPENS_TEMPLATE: Final = re.compile(r"\{\{\s*[#/A-Za-z_]")
_BRACES: Final = re.compile(
    r"\{\{(?!\s*(?:seed|snapshot):\s*(?:[^{}\s]|\{(?!\{)|\}(?!\}))(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\})"
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How the texts and patterns of a check are written in a line."""

    text: Callable[[str], str]
    pattern: Callable[[str], str]


def escaped(text: str) -> str:
    r"""A text that is not a template as a template that means it: `{{` becomes `\{{`. Tokens stay."""
    return _BRACES.sub(r"\\{{", text)


def _escaped_text(text: str) -> str:
    """The same, only where needed: in a check's text, braces that open no template are literal."""
    return escaped(text) if "\\{{" in text or _OPENS_TEMPLATE.search(text) else text


def _escaped_pattern(pattern: str) -> str:
    return escaped(pattern) if _OPENS_TEMPLATE.search(pattern) else pattern


LITERALLY: Final = Spelling(text=_escaped_text, pattern=_escaped_pattern)
"""Literal texts, except for seed and snapshot tokens."""

AS_TEMPLATES: Final = Spelling(text=str, pattern=str)
"""Texts that may hold templates."""


KeepSchema = Callable[[object], str]
"""Puts a check's JSON Schema into a file, and says its path."""


def line_of(check: c.Check, spelling: Spelling, keep_schema: KeepSchema) -> str | None:
    """The one-line form of a check; None if it has none."""
    speller = Speller(
        text=lambda text: quoted(spelling.text(text)),
        pattern=lambda pattern, flags: pattern_of(pattern, flags, spelling),
        schema=lambda schema: json.dumps(keep_schema(schema), ensure_ascii=False),
        exact=True,
    )
    try:
        line = speller.line(check)
    except NoLine:
        return None
    parse = parse_check(line)
    return line if parse.node is not None and not parse.faults else None


def linked_to(line: str, criterion: str) -> str:
    """The line of a check that counts for a criterion."""
    return f"{line} for {criterion if NAME.fullmatch(criterion) else json.dumps(criterion, ensure_ascii=False)}"


def mapping_of(check: c.Check, line: str, spelling: Spelling) -> dict[str, Any]:
    """The mapping that says what a line says, so that a weight can be added."""
    match check.__struct_fields__:
        case ():
            return {"type": type_name(check)}
        case ("value",):
            return {"type": type_name(check), "rule": spelling.text(getattr(check, "value"))}  # noqa: B009 - any check
        case _:
            return {"all_of": [line]}


def pattern_of(pattern: str, flags: str, spelling: Spelling) -> str:
    """A pattern as a `/literal/` if it can be one, else in quotes.

    Raises:
        NoLine: it has flags, which a pattern in quotes cannot have, and cannot be a literal.
    """
    written = spelling.pattern(pattern)
    literal = f"/{written}/{flags}"
    parse = parse_check(f"matches {literal}")
    if parse.node is not None and parse.node.check == c.Regex(pattern=written, flags=flags):
        return literal
    if flags:
        raise NoLine
    return quoted(written)
