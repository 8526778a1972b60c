"""Reads expressions of Python, which is the tree that JavaScript and jq are written in, too."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any, Final

from evalc.grammar.write_check import NoLine
from evalc.translate import names
from evalc.translate.trees import Part, none, refuse_if

_AT: Final = names.pattern(r"(<TEXT>)|(?<![\w.$])at\s+([A-Za-z_$][\w$]*(?:\.[\w$]+|\[(?:\d+|\*)\])*)")
_FLAGS: Final = {"I": "i", "IGNORECASE": "i", "M": "m", "MULTILINE": "m", "S": "s", "DOTALL": "s", "A": "", "ASCII": ""}
_ONLY_PYTHON: Final = re.compile(r"\(\?(?![:=!]|<[=!])|\\[AZ\d]|\\N|\[\[|[+*?}]\+|--|&&|\|\||~~")


def with_places(code: str) -> str:
    """Code in which `at PATH` is a call that a parser of the language can read."""
    return _AT.sub(lambda found: found[1] or f'__at__("{found[2]}")', code)


def read_python(code: str) -> ast.expr:
    """The tree of an expression, or of `assert EXPRESSION`."""
    try:
        with warnings.catch_warnings(action="ignore"):  # about odd code, which is not ours
            (statement,) = ast.parse(with_places(code).strip()).body
    except (SyntaxError, ValueError, MemoryError):
        raise NoLine from None
    match statement:
        case ast.Expr(value) | ast.Assert(value):
            return value
    raise NoLine


def _kind(node: ast.expr) -> tuple[type, str]:
    """The type of an expression, and the method that it calls: an idiom is looked for among those of its kind."""
    method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return type(node), names.key(method)


_IDIOMS: Final[dict[tuple[type, str], list[tuple[ast.expr, str]]]] = {}
for _form, _instead in names.IDIOMS.items():
    _IDIOMS.setdefault(_kind(_tree := read_python(_form)), []).append((_tree, _instead))


def rewritten(node: ast.expr) -> ast.expr | None:
    """The expression that is read in the place of an idiom; None for any other."""
    for form, instead in _IDIOMS.get(_kind(node), ()):
        parts: dict[str, Any] = {}
        if _fits(form, node, parts):
            return read_python(instead.format_map(parts))
    return None


def _fits(form: Any, node: Any, parts: dict[str, str]) -> bool:
    """Whether an expression has a form; the parts that stand for its capital letters are gathered."""
    match form:
        case ast.Name(name) if len(name) == 1:
            written = f"({ast.unparse(node)})"
            return parts.setdefault(name, written) == written
        case ast.arg("P"):
            parts["P"] = node.arg
        case ast.Attribute(of, name) if isinstance(node, ast.Attribute):
            return names.key(name) == names.key(node.attr) and _fits(of, node.value, parts)
        case ast.AST():
            return type(form) is type(node) and all(
                _fits(getattr(form, field), getattr(node, field), parts) for field in form._fields
            )
        case list():
            return len(form) == len(node) and all(_fits(*pair, parts) for pair in zip(form, node, strict=True))
        case _:
            return bool(form == node)
    return True


def regex(pattern: str, flags: ast.expr | None = None, whole: str = "{}") -> Part:
    """A pattern of Python in JavaScript's syntax, where both read it alike."""
    letters, pattern = re.fullmatch(r"(?:\(\?([ims]+)\))?(.*)", pattern, re.DOTALL).groups("")  # type: ignore[union-attr]
    named = [each.strip().removeprefix("re.") for each in ast.unparse(flags).split("|")] if flags else []
    given = "".join(sorted({*letters, *(_FLAGS[name] if name in _FLAGS else none() for name in named)}))
    refuse_if(_ONLY_PYTHON.search(pattern) or (whole != "{}" and "m" in given))
    return Part("regex", whole.replace("{}", pattern), given, foreign=bool(re.search(r"\\[dwbsDWBS]|[$.]", pattern)))


def constant(node: ast.expr | str) -> Any:
    """The value of a literal."""
    try:
        value = [ast.literal_eval(each) for each in node.elts] if isinstance(node, ast.Set) else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        raise NoLine from None
    return list(value) if isinstance(value, tuple) else value
