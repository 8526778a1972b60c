"""Writes filters of jq as expressions of Python."""

from __future__ import annotations

import ast
import re
from typing import Final

from evalc.check.translate.lines import NoLine
from evalc.check.translate.python import read_python

_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\.?[A-Za-z_]\w*|==|!=|<=|>=|[<>|()\[\];.])')
_CONSTANTS: Final = {"true": "True", "false": "False", "null": "None"}
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_CALLS: Final = {
    ("length", 0): "len({0})",
    ("not", 0): "(not {0})",
    ("type", 0): "__type__({0})",
    ("keys", 0): "{0}.keys()",
    ("unique", 0): "set({0})",
    ("sort", 0): "sorted({0})",
    ("ascii_downcase", 0): "{0}.lower()",
    ("any", 0): "any({0})",
    ("all", 0): "all({0})",
    ("has", 1): "__has__({0}, {1})",
    ("index", 1): "({1} in {0})",
    ("contains", 1): "({1} in {0})",
    ("startswith", 1): "{0}.startswith({1})",
    ("endswith", 1): "{0}.endswith({1})",
    ("test", 1): "re.search({1}, {0})",
    ("map", 1): "[{1} for {2} in {0}]",
    ("any", 1): "any({1} for {2} in {0})",
    ("all", 1): "all({1} for {2} in {0})",
    ("select", 1): "[{2} for {2} in {0} if {1}]",
}
"""Python for `NAME(ARGUMENT)` of `{0}`; `{2}` is an item."""


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
        value = self.junction(dot, "or")
        while self.taken("|"):
            value = self.junction(value, "or")
        return value

    def junction(self, dot: str, word: str) -> str:
        parts: list[str] = []
        while not parts or self.taken(word):
            parts.append(self.junction(dot, "and") if word == "or" else self.comparison(dot))
        return parts[0] if len(parts) == 1 else f"({f' {word} '.join(parts)})"

    def comparison(self, dot: str) -> str:
        left = self.postfix(dot)
        op = self.taken(*_COMPARISONS)
        return f"({left} {op} {self.postfix(dot)})" if op else left

    def postfix(self, dot: str) -> str:
        value = self.term(dot)
        while self.tokens:
            if self.taken("["):
                key = '"*"' if self.taken("]") else self.tokens.pop()
                if key != '"*"':
                    self.need("]")
                value += f"[{key}]"
            elif re.fullmatch(r"\.\w+", self.tokens[-1]):
                value += f'["{self.tokens.pop()[1:]}"]'
            else:
                break
        return value

    def term(self, dot: str) -> str:
        first = self.tokens.pop() if self.tokens else ""
        if first in ("(", "["):
            value = self.pipe(dot)
            self.need({"(": ")"}.get(first, "]"))
            return value
        if first == ".":
            return dot
        if re.fullmatch(r"\.\w+", first):
            return f'{dot}["{first[1:]}"]'
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
            elif name == "test" and self.tokens[-1:] == ['"i"']:
                self.tokens.pop()
                arguments[0] += ", re.I"
            self.need(")")
        if name == "test" and arguments and arguments[0].endswith(", re.I"):
            return f"re.search({arguments[0].removesuffix(', re.I')}, {dot}, re.I)"
        template = _CALLS.get((name, len(arguments)))
        if template is None or (name == "select" and not dot.endswith('["*"]')):
            raise NoLine
        return template.format(dot.removesuffix('["*"]') if name == "select" else dot, *arguments or [""], item)
