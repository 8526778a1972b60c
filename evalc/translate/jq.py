"""Writes filters of jq as expressions of Python, whose operators are jq's."""

from __future__ import annotations

import ast
import re
from typing import Final

from evalc.grammar.write_check import NoLine
from evalc.translate import names
from evalc.translate.python import read_python

_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\.?[A-Za-z_]\w*|==|!=|<=|>=|[<>|()\[\];.])')
_CONSTANTS: Final = {"true": "True", "false": "False", "null": "None"}
_OPERATORS: Final = ("==", "!=", "<", "<=", ">", ">=", "and", "or")


def read_jq(code: str) -> ast.expr:
    """The tree of a filter that is asked of the response's JSON."""
    tokens, at = [], 0
    while code[at:].strip():
        found = _TOKEN.match(code, at)
        if found is None:
            raise NoLine
        tokens.append(found[1])
        at = found.end()
    writer = _Writer(tokens)
    try:
        expression = writer.pipe("json")
    except RecursionError:
        raise NoLine from None
    if writer.tokens:
        raise NoLine
    return read_python(expression)


class _Writer:
    """Writes what follows, given the expression that `.` stands for."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]
        self._items = 0

    def taken(self, *tokens: str) -> str:
        """The next token, if it is one of these."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in tokens else ""

    def need(self, token: str) -> None:
        if not self.taken(token):
            raise NoLine

    def pipe(self, dot: str) -> str:
        value = dot
        while True:
            words: list[str] = []
            while self.tokens and self.tokens[-1] not in ("|", ")", "]", ";"):
                words.append(self.taken(*_OPERATORS) or self.postfix(value))
            value = words[0] if len(words) == 1 else f"({' '.join(words)})"
            if not self.taken("|"):
                return value

    def postfix(self, dot: str) -> str:
        value = self.term(dot)
        while self.tokens and (self.tokens[-1] == "[" or re.fullmatch(r"\.\w+", self.tokens[-1])):
            key = self.tokens.pop()
            if key != "[":
                value += f'["{key[1:]}"]'
            elif self.taken("]"):
                value += '["*"]'
            else:
                value += f"[{self.tokens.pop() if self.tokens else ''}]"
                self.need("]")
        return value

    def term(self, dot: str) -> str:
        first = self.tokens.pop()
        if first in ("(", "["):
            value = self.pipe(dot)
            self.need({"(": ")"}.get(first, "]"))
            return value
        if re.fullmatch(r"\.\w*", first):
            return f'{dot}["{first[1:]}"]' if first != "." else dot
        if re.fullmatch(r'".*"|-?\d.*', first, re.DOTALL) or first in _CONSTANTS:
            return _CONSTANTS.get(first, first)
        return self.call(first, dot)

    def call(self, name: str, dot: str) -> str:
        self._items += 1
        item = f"item{self._items}"
        arguments: list[str] = []
        if self.taken("("):
            rest = self.tokens.copy()
            arguments.append(self.pipe(item if name in ("all", "any", "map", "select") else dot))
            if self.taken(";") and name in ("all", "any"):  # `all(.items[]; .price > 0)`
                self.tokens = rest
                dot = self.pipe(dot)
                self.need(";")
                arguments = [self.pipe(item)]
            elif name == "test" and self.taken('"i"'):
                arguments.append("")
            self.need(")")
        template = names.JQ.get(f"{name} {len(arguments)}")
        if template is None or (name == "select" and not dot.endswith('["*"]')):
            raise NoLine
        return template.format(dot.removesuffix('["*"]') if name == "select" else dot, *arguments or [""], item)
