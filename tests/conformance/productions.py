"""Finds the productions of the grammars that no conformance case reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from lark.exceptions import UnexpectedInput

from evalc.grammar.build_tables import STARTS, lark_parser
from evalc.grammar.lalr import Language

GRAMMAR_OF: Final[dict[str, Language]] = {
    "check": "check",
    "rule": "rule",
    "criterion": "criterion",
    "template": "template",
    "text": "template",
}
"""The grammar that a case's `language` is of: the texts of checks are templates that are read leniently."""


def unreached(cases: Iterable[dict[str, Any]]) -> list[str]:
    """The alternatives of rules that lark reduces by for no case that is accepted, as they are written.

    lark writes a grammar out before it builds its table: what may be left out, or stand several times, is alternatives
    of their own.
    """
    parsers = {language: lark_parser(language) for language in STARTS}
    missing: dict[str, None] = {}
    for language, parser in parsers.items():
        reducers: dict[Any, Any] = parser.parser.parser.parser.callbacks
        for rule in parser.rules:
            said = f"{language}: {rule.origin.name} -> {' '.join(symbol.name for symbol in rule.expansion)}"
            missing[said] = None
            reducers[rule] = _noting(reducers[rule], partial(missing.pop, said, None))
    for case in cases:
        if "rejected" not in case:
            language = GRAMMAR_OF[case["language"]]
            with suppress(UnexpectedInput):  # keys in quotes are taken out of `fields:...` before its grammar reads it
                parsers[language].parse(case["text"], start=case.get("type", STARTS[language][0]))
    return list(missing)


def _noting(reduce: Callable[[list[Any]], Any], note: Callable[[], object]) -> Callable[[list[Any]], Any]:
    """A reducer that notes that it was called."""

    def noting(children: list[Any]) -> Any:
        note()
        return reduce(children)

    return noting
