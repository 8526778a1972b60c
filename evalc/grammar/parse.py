"""Parses a text of one of the small languages into its node, or says what is wrong with it.

No text raises. Parses are remembered by text, since suites repeat themselves; the table of a language is loaded by the
first one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from evalc.check.tree import At, Of, Test
from evalc.diagnostics.problem import Fault, Finding
from evalc.grammar.lalr import Following, following, load
from evalc.grammar.nodes import LONGEST_REMEMBERED, REMEMBERED, CriterionLine, Parsed, ReadCheck, Template, Words
from evalc.grammar.read_check import MAX_LINE, read_check
from evalc.grammar.read_rule import RULE_TYPES, read_rule
from evalc.grammar.template_nodes import criterion_line, template

__all__ = [
    "OPENS_TEMPLATE",
    "RULE_TYPES",
    "Parsed",
    "follow_check",
    "parse_check",
    "parse_criterion",
    "parse_place",
    "parse_rule",
    "parse_template",
]

OPENS_TEMPLATE: Final = re.compile(r"\{\{\s*[#/A-Za-z_]")
"""The beginning of a template in a pattern, where braces may as well be its own."""
MAX_TEMPLATE: Final = 1_000_000
"""The most characters of a text that holds tags; a text without any may have any length."""


parse_check: Final = read_check


def follow_check(text: str) -> Following:
    """The continuations of the beginning of a one-line check; text after a mistake is ignored."""
    return following(load("check"), "line", text[:MAX_LINE])


def parse_place(text: str) -> str | None:
    """The path that `at PATH` names; None for any other text."""
    match parse_check(f"{text} non-empty").node:
        case ReadCheck(check=Of(At(path), Test("non_empty"))):
            return path
        case _:
            return None


def parse_rule(type: str, text: str) -> Parsed[ReadCheck]:  # noqa: A002 - the key of its mapping
    """The check that `rule: TEXT` means beside `type: TYPE`, one of `RULE_TYPES`.

    A `regex` rule is a literal where it is wholly `/pattern/flags` as ECMAScript writes it (inner slashes escaped or
    in a class, flags of letters only); any other text is taken as a pattern literally.

    Raises:
        ValueError: the type has no rule to parse.
    """
    if type not in RULE_TYPES:
        raise ValueError(f"the rule of a {type!r} check is not parsed")
    return read_rule(type, text) if len(text) <= MAX_LINE else _too_long(text)


def parse_criterion(text: str) -> Parsed[CriterionLine]:
    """A criterion in its one-line form; a weight in percent comes out as a fraction."""
    if len(text) <= LONGEST_REMEMBERED:
        return _criterion(text)
    return criterion_line(text) if len(text) <= MAX_LINE else _too_long(text)


def parse_template(text: str, *, lenient: bool = False) -> Parsed[Template]:
    """A text with templates in it.

    Where it is `lenient`, braces that open no tag and tags that close none are texts. So checks are read; in a prompt
    they are faults.
    """
    if "{{" not in text:
        parts = (Words(start=0, end=len(text), value=text),) if text else ()
        return Parsed(Template(start=0, end=len(text), parts=parts), ())
    if len(text) <= LONGEST_REMEMBERED:
        return _template(text, lenient)
    return template(text, lenient=lenient) if len(text) <= MAX_TEMPLATE else _too_long(text, MAX_TEMPLATE)


def _too_long(text: str, limit: int = MAX_LINE) -> Parsed[Any]:
    return Parsed(None, (Fault(limit, len(text), Finding("EV139", what="length", limit=limit)),))


_criterion = lru_cache(REMEMBERED)(criterion_line)


@lru_cache(REMEMBERED)
def _template(text: str, lenient: bool) -> Parsed[Template]:
    return template(text, lenient=lenient)
