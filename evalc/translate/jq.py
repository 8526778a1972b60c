"""Writes filters of jq as expressions of Python, whose operators are jq's."""

from __future__ import annotations

import ast
import re
from typing import Final

from evalc.translate import names
from evalc.translate.python import read_python
from evalc.translate.trees import none, refuse_if

_TOKEN: Final = re.compile(r'("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\.?[A-Za-z_]\w*|==|!=|<=|>=|[<>|()\[\];.])')
_OPERATORS: Final = ("==", "!=", "<", "<=", ">", ">=", "and", "or")


def read_jq(code: str) -> ast.expr:
    """The tree of a filter that is asked of the response's JSON."""
    pieces = _TOKEN.split(code)
    writer = _Writer(pieces[1::2])
    expression = writer.pipe("json")
    refuse_if(writer.tokens or any(map(str.strip, pieces[::2])))
    return read_python(expression)


class _Writer:
    """Writes what follows, given the expression that `.` stands for."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]
        self._items = 0

    def taken(self, *tokens: str) -> str:
        """The next token, if it is one of these."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in tokens else ""

    def pipe(self, dot: str, *ends: str) -> str:
        """A filter, and the bracket that ends it."""
        while True:
            words: list[str] = []
            while self.tokens and self.tokens[-1] not in ("|", ")", "]", ";"):
                words.append(self.taken(*_OPERATORS) or self.postfix(dot))
            dot = words[0] if len(words) == 1 else f"({' '.join(words)})"
            if not self.taken("|"):
                return dot if not ends or self.taken(*ends) else none()

    def postfix(self, dot: str) -> str:
        value = self.term(self.tokens.pop(), dot)
        while self.tokens and (key := re.fullmatch(r"\.(\w+)|\[", self.tokens[-1])):
            self.tokens.pop()
            if key[1]:
                value += f'["{key[1]}"]'
            elif self.taken("]"):
                value += '["*"]'
            else:
                value += f"[{self.tokens.pop() if self.tokens else ''}{self.taken(']') or none()}"
        return value

    def term(self, first: str, dot: str) -> str:
        if first in ("(", "["):
            return self.pipe(dot, ")" if first == "(" else "]")
        if first[0] == ".":
            return f'{dot}["{first[1:]}"]' if first != "." else dot
        if re.match(r'"|-?\d|(?:true|false|null)$', first):
            return names.CONSTANTS.get(first, first)
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
                dot = self.pipe(dot, ";")
                arguments = [self.pipe(item)]
            elif name == "test" and self.taken('"i"'):
                arguments.append("")
            refuse_if(not self.taken(")"))
        template = names.JQ.get(f"{name} {len(arguments)}") or none()
        refuse_if(name == "select" and not dot.endswith('["*"]'))
        written: str = template.format(dot.removesuffix('["*"]') if name == "select" else dot, *arguments or [""], item)
        return written
