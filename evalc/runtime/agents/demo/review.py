"""Reviews the Python code in a message by looking at its syntax tree."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

NO_CODE = "Please show me the Python code that I should review."

_REVIEW = re.compile(r"\breview\w*\b", re.IGNORECASE)
_CODE_WORD = re.compile(r"\b(code|python|function|class|script|snippet|module|pull request|diff)\b", re.IGNORECASE)
_FENCED = re.compile(r"```[ \t]*(?:\w+[ \t]*\n|\n)?(.*?)(?:```|\Z)", re.DOTALL)
_CODE_START = re.compile(r"(?:async[ \t]+def|def|class|import|from|try|with|for|while|if|@\w+)\b[^\n]*", re.MULTILINE)

_MOST_STARTS = 8

_MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)

# Changing the warning filters is not safe in threads, and the server has many.
_filters = threading.Lock()


@final
@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _Remark:
    line: int
    issue: str
    suggestion: str


def asks_for_review(message: str) -> bool:
    """Whether the message wants a review of code, shown or not."""
    return bool(_REVIEW.search(message)) and bool(_CODE_WORD.search(message) or _shown_code(message))


def review_message(message: str) -> str:
    """The review of the code that the message shows: a summary, the issues and suggestions."""
    code = _shown_code(message)
    if not code.strip():
        return NO_CODE
    try:
        tree = _parse(code)
    except SyntaxError as error:
        return (
            f"Summary: the code is not valid Python.\n\nIssues:\n- line {error.lineno or 1}: syntax error: {error.msg}"
        )
    except (ValueError, RecursionError, MemoryError):
        return "Summary: the code cannot be read as Python."
    return _written(tree, sorted(set(_remarks(tree))))


def _shown_code(message: str) -> str:
    """The part of the message that is code: between fences, else from where it begins to look like code."""
    if fenced := _FENCED.search(message):
        return textwrap.dedent(fenced[1]).strip("\n")
    # Prose has words like `for` and `if` too, so the first part that can be parsed wins; a bound keeps this linear.
    starts = itertools.islice(_CODE_START.finditer(message), _MOST_STARTS)
    candidates = [message[start.start() :] for start in starts]
    if ":" in message:
        candidates.append(message.partition(":")[2])
    for candidate in candidates:
        if _parses(candidate):
            return textwrap.dedent(candidate).strip()
    looks_like_code = (text for text in candidates if re.match(r"\s*(def|class|import|@)\b", text))
    return next(looks_like_code, "")


def _parses(code: str) -> bool:
    try:
        tree = _parse(textwrap.dedent(code).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(node, ast.Expr | ast.AnnAssign) or isinstance(node.value, ast.Call) for node in tree.body)


def _parse(code: str) -> ast.Module:
    with _filters, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _written(tree: ast.Module, remarks: Sequence[_Remark]) -> str:
    functions = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))
    classes = sum(isinstance(node, ast.ClassDef) for node in ast.walk(tree))
    counted = f"{_count(functions, 'function')}, {_count(classes, 'class', 'classes')}"
    if not remarks:
        return f"Summary: {counted}; no issues found. The code looks good."
    issues = "\n".join(f"- line {remark.line}: {remark.issue}" for remark in remarks)
    suggestions = "\n".join(f"- {text}" for text in dict.fromkeys(remark.suggestion for remark in remarks))
    return f"Summary: {counted}; {_count(len(remarks), 'issue')}.\n\nIssues:\n{issues}\n\nSuggestions:\n{suggestions}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _remarks(tree: ast.Module) -> Iterator[_Remark]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _of_docstring(node)
                yield from _of_type_hints(node)
                yield from _of_defaults(node)
            case ast.ClassDef():
                yield from _of_docstring(node)
            case ast.ExceptHandler():
                yield from _of_handler(node)
            case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                yield _Remark(
                    line=node.lineno,
                    issue=f"`{name}` runs any code that its text holds",
                    suggestion=f"Consider replacing `{name}`, for data with `ast.literal_eval` or `json.loads`.",
                )
            case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
                yield _Remark(
                    line=node.lineno,
                    issue="comparison with `None` by equality",
                    suggestion="Consider `is None` or `is not None`.",
                )
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                yield _Remark(
                    line=node.lineno,
                    issue="wildcard import",
                    suggestion="Consider importing the names that are used.",
                )


def _of_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[_Remark]:
    if ast.get_docstring(node) is None:
        yield _Remark(
            line=node.lineno,
            issue=f"missing docstring in `{node.name}`",
            suggestion=f"Consider adding a docstring to `{node.name}`.",
        )


def _of_type_hints(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Remark]:
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    for parameter in parameters:
        if parameter.annotation is None and parameter.arg not in ("self", "cls"):
            yield _Remark(
                line=parameter.lineno,
                issue=f"missing type hint for `{parameter.arg}` of `{node.name}`",
                suggestion=f"Consider adding a type hint to `{parameter.arg}` of `{node.name}`.",
            )
    if node.returns is None and node.name != "__init__":
        yield _Remark(
            line=node.lineno,
            issue=f"missing return type hint of `{node.name}`",
            suggestion=f"Consider adding a type hint for what `{node.name}` returns.",
        )


def _of_defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Remark]:
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if isinstance(default, _MUTABLE) or (
            isinstance(default, ast.Call)
            and isinstance(default.func, ast.Name)
            and default.func.id in ("list", "dict", "set")
        ):
            yield _Remark(
                line=default.lineno,
                issue=f"mutable default argument in `{node.name}`",
                suggestion="Consider `None` as the default, and a new value inside the function.",
            )


def _of_handler(node: ast.ExceptHandler) -> Iterator[_Remark]:
    if node.type is None:
        yield _Remark(
            line=node.lineno,
            issue="bare `except` catches everything, Ctrl-C included",
            suggestion="Consider naming the exceptions that you expect.",
        )
    if all(isinstance(statement, ast.Pass) for statement in node.body):
        yield _Remark(
            line=node.lineno,
            issue="the exception is swallowed",
            suggestion="Consider handling the exception, or logging it.",
        )
