"""Reads expressions of Python; JavaScript, TypeScript and jq are written as Python first.

Scripts are parsed by tree-sitter; jq's operators are Python's.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from evalc.ecma.modules import parsed, text_of
from evalc.grammar.write_check import NoLine
from evalc.translate import names
from evalc.translate.trees import Part, none, refuse_if

if TYPE_CHECKING:
    from tree_sitter import Node

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
    """The value of a literal, or of two numbers."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() as op, right):
            a, b = constant(left), constant(right)
            refuse_if(not isinstance(a, int | float) or not isinstance(b, int | float))
            return round(a * b if isinstance(op, ast.Mult) else a + b if isinstance(op, ast.Add) else a - b, 9)
    try:
        value = [ast.literal_eval(each) for each in node.elts] if isinstance(node, ast.Set) else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        raise NoLine from None
    return list(value) if isinstance(value, tuple) else value


def read_javascript(code: str) -> ast.expr:
    """The tree of an expression, or of what constants and a `return` at the end come to, also in a function."""
    code = re.sub(r"\s// (?:in )?(?:ms|milliseconds)$", "", with_places(code)).strip().rstrip(";")
    # The parentheses make an expression of what would be a block.
    for text in (f"({code.removeprefix('return ')})", code):
        root = parsed(text)
        if not root.has_error:
            return _value_of(_body_of_call(root) or root)
    raise NoLine


def _body_of_call(root: Node) -> Node | None:
    """The block of a function that is only called, `(() => { ... })()`."""
    node = root
    for type_ in ("expression_statement", "parenthesized_expression", "call_expression"):
        (node, *more) = node.named_children or [node]
        if node.type != type_ or more:
            return None
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    called = function.named_children[0] if function and function.type == "parenthesized_expression" else None
    if called is None or called.type not in ("arrow_function", "function_expression") or text_of(arguments) != "()":
        return None
    body = called.child_by_field_name("body")
    is_plain = text_of(called.child_by_field_name("parameters")) == "()" and not text_of(called).startswith("async")
    return body if is_plain and body is not None and body.type == "statement_block" else None


def _value_of(block: Node) -> ast.expr:
    """The value of the last statement, in which the constants of those before it are written out."""
    *before, last = [each for each in block.named_children if each.type != "comment"] or none()
    constants: dict[str, ast.expr] = {}
    for each in before:
        declared = (
            each.named_children[0] if each.type == "lexical_declaration" and each.named_child_count == 1 else None
        )
        refuse_if(declared is None or not text_of(each).startswith("const"))
        name, value = (declared.child_by_field_name(field) for field in ("name", "value"))  # type: ignore[union-attr]
        refuse_if(name is None or name.type != "identifier")
        constants[text_of(name)] = _read(value, constants)
    refuse_if(last.type not in ("expression_statement", "return_statement") or last.named_child_count != 1)
    refuse_if(last.type == "expression_statement" and block.type == "statement_block")
    return _read(last.named_children[0], constants)


def _read(node: Node | None, constants: Mapping[str, ast.expr]) -> ast.expr:
    tree = read_python(_written(node))
    named = {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    refuse_if(named & constants.keys())
    return _WrittenOut(constants).visit(tree)  # type: ignore[no-any-return]


class _WrittenOut(ast.NodeTransformer):
    """Writes the values of constants for their names."""

    def __init__(self, constants: Mapping[str, ast.expr]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._constants.get(node.id, node)


def free_names(tree: ast.expr) -> frozenset[str]:
    """The names that code uses, less those of its own parameters and items."""
    own = {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    names_ = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    own |= {each.id for each in names_ if isinstance(each.ctx, ast.Store)}
    return frozenset(each.id for each in names_ if not each.id.startswith("__")) - own


_VERDICTS: Final = frozenset(
    {"all", "any", "endsWith", "endswith", "every", "includes", "isArray", "isinstance", "len", "some", "startsWith",
     "startswith", "test"}
)  # fmt: skip
"""The functions and methods that return true or false, or a number."""


def is_verdict(tree: ast.expr) -> bool:
    """Whether code is true, false or a number wherever it holds, and no text, list or match."""
    match tree:
        case ast.Compare() | ast.UnaryOp(ast.Not()) | ast.Attribute(attr="length"):
            return True
        case ast.BoolOp(ast.And(), [*_, last]):
            return is_verdict(last)
        case ast.BoolOp(ast.Or(), operands):
            return all(map(is_verdict, operands))
        case ast.Call(ast.Name(name)) | ast.Call(ast.Attribute(attr=name)):
            return name in _VERDICTS
    return False


def _written(node: Node | None) -> str:
    """The Python of a node."""
    if node is None or any(child.type == "comment" for child in node.children):
        raise NoLine
    text, field = text_of(node), node.child_by_field_name
    match node.type:
        case "string" | "template_string":  # a template behind a name is a call of it, which this is not
            return f"({''.join(map(_piece, node.named_children))!r})"
        case "number":
            return repr(constant(text))
        case "identifier" | "true" | "false" | "null" | "undefined":
            return names.CONSTANTS.get(text) or (text if _is_name(text) else none())
        case "property_identifier":
            return repr(text)
        case "regex":
            return f"__regex__({text_of(field('pattern'))!r}, {text_of(field('flags'))!r})"
        case "member_expression":
            name = text_of(field("property"))
            return _written(field("object")) + (f".{name}" if _is_name(name) else f"[{name!r}]")
        case "as_expression":
            return _written(node.named_children[0])
        case "arrow_function":
            return _function(text_of(field("parameters") or field("parameter")), field("body"))
    return _composed(node)


def _composed(node: Node) -> str:
    """The Python of a node by its form."""
    field, kind = node.child_by_field_name, text_of(node.child_by_field_name("operator")) or node.type
    if kind in ("==", "!=") and text_of(field("right")) in ("null", "undefined"):
        kind += " null"
    form = names.JAVASCRIPT.get("- of" if kind == "-" and field("argument") else kind) or none()
    parts = {name: _written(field(name)) for name in re.findall(r"(?<!\{)\{(\w+)\}", form) if name != "all"}
    return str(form.format(**parts, all=", ".join(map(_written, node.named_children)) if "all" in form else ""))


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _function(parameters: str, body: Node | None) -> str:
    """A function of one parameter, whose body is an expression or returns one."""
    parameter = re.fullmatch(r"\(?\s*([A-Za-z_]\w*)\s*(?::[^,()]*)?\)?", parameters)
    if body is not None and body.type == "statement_block":
        (statement, *more) = body.named_children or [body]
        body = statement.named_children[0] if statement.type == "return_statement" and not more else None
    name = parameter[1] if parameter and not keyword.iskeyword(parameter[1]) else none()
    return f"(lambda {name}: {_written(body)})"


def _piece(node: Node) -> str:
    """The text of a piece of a string."""
    text = text_of(node)
    refuse_if(node.type == "template_substitution")
    if node.type == "escape_sequence":
        return str(constant(f'"{text}"')) if text[1] in "nrtbfv0ux" else text[1:]
    return text


# --- jq --------------------------------------------------------------------------------------------------------------

_SCALAR: Final = r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?'
_LIST: Final = rf"\[(?:(?:{_SCALAR}),\s*)+(?:{_SCALAR})\]"
_TOKEN: Final = re.compile(rf"({_LIST}|{_SCALAR}|\.?[A-Za-z_]\w*|==|!=|<=|>=|[<>|()\[\];.])")
_IN: Final = re.compile(rf"{_SCALAR}|\bIN\(([^()\[\]]+)\)")
_OPERATORS: Final = ("==", "!=", "<", "<=", ">", ">=", "and", "or")


def read_jq(code: str) -> ast.expr:
    """The tree of a filter that is asked of the response's JSON."""
    pieces = _TOKEN.split(_IN.sub(lambda found: f"IN([{found[1]}])" if found[1] else found[0], code))
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

    def is_followed_by_step(self) -> bool:
        return bool(self.tokens) and self.tokens[-1][0] in ".["

    def term(self, first: str, dot: str) -> str:
        if first in ("(", "["):
            return self.pipe(dot, ")" if first == "(" else "]")
        if first[0] == ".":
            if dot == "json" and names.key(first) in names.NAMES["calls"]:
                return "tool_calls"  # of the answer, whose text has the JSON
            if dot == "json" and (first == ".usage" or (first == ".response" and not self.is_followed_by_step())):
                return first[1:]
            return f'{dot}["{first[1:]}"]' if first != "." else dot
        if re.match(r'"|-?\d|\[.|(?:true|false|null)$', first):
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
