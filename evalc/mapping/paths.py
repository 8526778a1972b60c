"""Evaluates JMESPath expressions. The only module that uses the library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import jmespath
from jmespath import exceptions
from jmespath.functions import Functions

from evalc.mapping.near import or_rather
from evalc.mapping.records import NotSearchable

_FUNCTIONS: Final = tuple(Functions.FUNCTION_TABLE)


class BadPath(Exception):
    """A text that is no JMESPath expression, and why."""


@final
@dataclass(frozen=True, slots=True)
class JsonPath:
    """A JMESPath expression. `text` is how it was written."""

    text: str
    _compiled: Any

    @classmethod
    def of(cls, text: str) -> JsonPath:
        """The expression that a text is.

        Raises:
            BadPath: it is not an expression.
        """
        try:
            compiled = jmespath.compile(text)
        except exceptions.JMESPathError as error:
            raise BadPath(_why(text, error)) from None
        except RecursionError:
            raise BadPath("it is nested too deeply") from None
        for name in _functions(compiled.parsed):
            if name not in _FUNCTIONS:
                raise BadPath(f"unknown function `{name}`{or_rather(name, _FUNCTIONS)}")
        return cls(text, compiled)

    def find(self, document: Any) -> Any:
        """The value there in the document; None if there is none.

        Raises:
            NotSearchable: a function of the expression does not take the value.
        """
        try:
            return self._compiled.search(document)
        except (exceptions.JMESPathError, TypeError, ValueError) as error:
            raise NotSearchable(f"`{self.text}` cannot be applied: {error}") from None


def _why(text: str, error: exceptions.JMESPathError) -> str:
    match error:
        case exceptions.EmptyExpressionError():
            return "it is empty"
        case exceptions.IncompleteExpressionError():
            return "it ends too early"
        case exceptions.LexerError():
            return f"`{error.token_value}` at character {error.lex_position + 1} has no meaning there"
        case exceptions.ParseError():
            return f"`{error.token_value}` at character {error.lex_position + 1} is not allowed there"
        case _:
            return str(error).replace(text, "it")


def _functions(node: Mapping[str, Any]) -> Iterator[str]:
    """The names of the functions that a parsed expression calls."""
    if node["type"] == "function_expression":
        yield node["value"]
    for child in node["children"]:
        if isinstance(child, Mapping):
            yield from _functions(child)
