"""Nunjucks as far as promptfoo's files use it: variables as evalc's, and the rest with the values at hand."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from evalc import ecma
from evalc.base.terminal import shortened
from evalc.ecma import Undefined
from evalc.extras.importers.imported import Unmappable, require

_TAG: Final = re.compile(r"\{\{(?P<inside>(?:\s*'[^'\\\n]*'\s*(?=\}\}))|.*?)\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_VARIABLE: Final = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*", re.ASCII)
_QUOTED: Final = re.compile(r"\s*'(?P<text>[^'\\\n]*)'\s*")
_ROOT: Final = re.compile(r"(?:\{\{-?|\{%\s*(?:if|for\s+\w+\s+in)\s)\s*([A-Za-z_]\w*)", re.ASCII)
_OPENING: Final = re.compile(r"\{\{|\{%|\{#")
_ENVIRONMENT: Final = re.compile(
    r"""\{\{\s*env(?:\.(?P<name>\w+)|\[(['"])(?P<key>\w+)\2\])\s*(?:\|\s*default\(\s*(['"])(?P<default>[^'"\\]*)\4\s*\))?\s*\}\}"""
)
_LONGEST_TAG: Final = 40
Scope = Mapping[str, Any] | None
"""The values of variables; None where a part is only looked at."""
_NO_VARIABLES: Final = frozenset({"env", "else", "false", "loop", "none", "null", "range", "this", "true"})

_ANY_TAG: Final = re.compile(
    r"""(\{\{|\{%|\{\#)((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|.)*?)(?:\}\}|%\}|\#\})""", re.DOTALL | re.VERBOSE
)
_LEFT: Final = re.compile(r"\s*(\{[{%#])-")
_RIGHT: Final = re.compile(r"-([}%#]\})\s*")
_LOOP: Final = re.compile(r"([A-Za-z_]\w*)(?:\s*,\s*([A-Za-z_]\w*))?\s+in\s+(.+)", re.ASCII | re.DOTALL)
_SET: Final = re.compile(r"([A-Za-z_]\w*)\s*=\s*([^=].*)", re.ASCII | re.DOTALL)
_SAFE: Final = re.compile(r"([\w.]+(?:\s*\|\s*\w+(?:\([^()]*\))?)*)\s*\|\s*safe")
_ESCAPED: Final = re.compile(r"\\(?:([nrt\\'\"])|(.))", re.DOTALL)
_LONGEST: Final = 1000
_MOST_TEXT: Final = 1_000_000
_CONSTANTS: Final[Mapping[str, Any]] = {"true": True, "false": False, "none": None, "null": None}
_NO_VALUES: Final = ("env", "True", "False", "None")


def variables_of(text: str) -> tuple[str, ...]:
    """The names of the variables in a text, each once.

    Raises:
        Unmappable: the text holds filters, statements, expressions or comments.
    """
    names: dict[str, str] = {}
    _replaced(text, lambda name: names.setdefault(name, name))
    return tuple(names)


def template_of(text: str, values: Scope = None) -> str:
    """The template that fills in the same: `{{ name }}` is `{{name}}`, and empty if there are values, and none of it.

    If there are values, a text with more than plain variables is filled in with them.

    Raises:
        Unmappable: as `variables_of`, and as `rendered`.
    """
    try:
        return _replaced(
            text,
            lambda name: f"{{{{{name}}}}}" if values is None or name in values else "",
            literal=lambda quoted: quoted.replace("{{", r"\{{"),
        )
    except Unmappable:
        if values is None:
            raise
        return rendered(text, values).replace("{{", r"\{{")


def rendered(text: str, values: Scope) -> str:
    """The text with its values filled in; a variable without a value is empty. Without values, only whether it can be.

    Raises:
        Unmappable: the template has parts that are not known here, or values that JavaScript would write its own way.
    """
    opening = _OPENING.search(_ANY_TAG.sub(" ", text))
    require(opening is None, f"`{opening and opening[0]}` opens a tag that is not closed")
    found, _ = _Rendering(text).block(None if values is None else dict(values), ())
    return found


def filled(text: str, values: Mapping[str, Any]) -> str:
    """The text of a variable with other variables filled in.

    Promptfoo leaves it as it is where a tag is not closed, and where one is about a variable that there is not.

    Raises:
        Unmappable: as `rendered`.
    """
    texts = {name: value if isinstance(value, str) else ecma.to_string(value) for name, value in values.items()}
    known = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda tag: texts.get(tag[1], tag[0]), text)
    is_left = _OPENING.search(_ANY_TAG.sub(" ", known)) or any(
        name not in {*values, "env"} for name in _ROOT.findall(known)
    )
    return known if is_left else rendered(known, values)


def without_environment(text: str, given: Mapping[str, str]) -> tuple[str, str]:
    """The text with variables of the environment filled in, and the first that is not `given`, which is empty then."""
    lacking: list[str] = []

    def value(tag: re.Match[str]) -> str:
        name = tag["name"] or tag["key"]
        if name not in given:
            lacking.append(tag[0])
        return given.get(name, tag["default"] or "")

    filled_in = _ENVIRONMENT.sub(value, text)
    return filled_in, next(iter(lacking), "")


def uses(text: str, name: str) -> bool:
    """Whether a text of data or code may use a variable; of the name `*`, any."""
    named = r"\w" if name == "*" else rf"\b{re.escape(name)}\b"
    return re.search(rf"\{{[{{%][^}}]*{named}", text) is not None or (
        "vars" in text and re.search(named, text) is not None
    )


def has_template(text: str) -> bool:
    """Whether a text holds anything that is filled in."""
    return "{{" in text or "{%" in text


def _replaced(
    text: str, value_of: Callable[[str], str], *, literal: Callable[[str], str] = lambda quoted: quoted
) -> str:
    def value(tag: re.Match[str]) -> str:
        inside = tag["inside"]
        if inside is not None and (quoted := _QUOTED.fullmatch(inside)):
            return literal(quoted["text"])
        variable = None if inside is None else _VARIABLE.fullmatch(inside)
        if variable is None or variable["name"] in _NO_VARIABLES:
            named = shortened(" ".join(tag[0].split()), _LONGEST_TAG, "...")
            raise Unmappable(f"`{named}` is more than a plain variable")
        if text.endswith("\\", 0, tag.start()):
            raise Unmappable("a backslash in front of a tag means something else here")
        return value_of(variable["name"])

    opening = _OPENING.search(_TAG.sub(" ", text))
    if opening is not None:
        raise Unmappable(f"`{opening[0]}` opens a tag that is not closed")
    return _TAG.sub(value, text)


# --- the rest, with the values at hand --------------------------------------------------------------------------------


class _Rendering:
    def __init__(self, text: str) -> None:
        text = _RIGHT.sub(r"\1", _LEFT.sub(r"\1", text))
        self._parts: list[tuple[str, str]] = []
        end = 0
        for tag in _ANY_TAG.finditer(text):
            self._parts += [("", text[end : tag.start()]), (tag[1], tag[2].strip())]
            end = tag.end()
        self._parts.append(("", text[end:]))
        self._at = 0
        self._room = _MOST_TEXT

    def block(self, scope: Scope, ends: Sequence[str]) -> tuple[str, str]:
        """The text up to a statement that begins with one of the words, and that statement."""
        found: list[str] = []
        while self._at < len(self._parts):
            kind, inside = self._parts[self._at]
            self._room -= len(inside) + 1
            require(self._room > 0, "it is too long")
            self._at += 1
            word, _, rest = inside.partition(" ")
            if kind == "":
                found.append(inside)
            elif kind == "{{":
                expression = _parsed(_SAFE.sub(r"\1", inside) if _SAFE.fullmatch(inside) else inside)
                found.append("" if scope is None else _text(_value(expression, scope), inside))
                self._room -= len(found[-1])
            elif kind == "{%":
                if word in ends:
                    return "".join(found), inside
                found.append(self._statement(word, rest, scope))
        require(not ends, "a statement is not closed")
        return "".join(found), ""

    def _statement(self, word: str, rest: str, scope: Scope) -> str:
        if word == "if":
            return self._condition(rest, scope)
        if word == "for" and (loop := _LOOP.fullmatch(rest)):
            return self._loop(loop[1], loop[2], _parsed(loop[3]), scope)
        if word == "set" and (given := _SET.fullmatch(rest)):
            value = _parsed(given[2])
            if isinstance(scope, dict):
                scope[given[1]] = _value(value, scope)
            return ""
        raise Unmappable(f"`{word}` in a template is not known here")

    def _condition(self, condition: str, scope: Scope) -> str:
        chosen, is_done, ended = "", False, f"if {condition}"
        while not ended.startswith("endif"):
            word, _, condition = ended.partition(" ")
            asked = None if word == "else" else _parsed(condition)
            holds = scope is not None and not is_done and (asked is None or _is_true(_value(asked, scope)))
            text, ended = self.block(scope if holds else None, ("elif", "elseif", "else", "endif"))
            chosen, is_done = (text, True) if holds else (chosen, is_done)
        return chosen

    def _loop(self, name: str, second: str | None, listed: ast.expr, scope: Scope) -> str:
        given = None if scope is None else _value(listed, scope)
        items = [*given.items()] if second is not None and isinstance(given, dict) else given or []
        items = [] if given is Undefined.UNDEFINED else items
        require(
            isinstance(items, list) and (second is None or not isinstance(given, list)), "a loop is not over a list"
        )
        start, found, ended = self._at, list[str](), ""
        for index, item in enumerate(items):
            self._at = start
            loop = {"index": index + 1, "index0": index, "first": index == 0, "last": index == len(items) - 1,
                    "length": len(items)}  # fmt: skip
            named = {name: item} if second is None else {name: item[0], second: item[1]}
            text, ended = self.block({**(scope or {}), **named, "loop": loop}, ("else", "endfor"))
            found.append(text)
        if not items:
            _, ended = self.block(None, ("else", "endfor"))
        if ended == "else":
            text, _ = self.block(None if items else scope, ("endfor",))
            found += [] if items else [text]
        return "".join(found)


# --- expressions, which are written as those of Python ----------------------------------------------------------------


def _parsed(text: str) -> ast.expr:
    """The expression, if all of it is known."""
    shown = shortened(" ".join(text.split()), _LONGEST_TAG, "...")
    try:
        require(len(text) < _LONGEST, f"`{shown}` in a template is not known here")
        known = _ESCAPED.sub(lambda found: found[0] if found[1] else found[2], text)
        tree = ast.parse(f"({known})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unmappable(f"`{shown}` in a template is not known here") from None
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(_, ast.BitOr(), ast.Name(name) | ast.Call(ast.Name(name), _, [])) if name in _FILTERS:
                continue
            case ast.Call(ast.Name(name)) if name in _FILTERS:
                continue
            case ast.Name(name) if name not in _NO_VALUES:
                continue
            case ast.Constant(bool()):
                pass  # which Nunjucks takes for variables
            case ast.Constant(str() | int() | float()) | ast.BoolOp() | ast.IfExp() | ast.List() | ast.Attribute():
                continue
            case ast.UnaryOp(ast.Not()) | ast.Compare(_, [_], [_]) | ast.Subscript(_, ast.Constant() | ast.Name()):
                continue
            case ast.boolop() | ast.unaryop() | ast.operator() | ast.cmpop() | ast.expr_context():
                continue
        raise Unmappable(f"`{shown}` in a template is not known here")
    return tree


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    def of(each: ast.expr) -> Any:
        return _value(each, scope)

    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return scope[name] if name in scope else _CONSTANTS.get(name, Undefined.UNDEFINED)
        case ast.List(items):
            return [*map(of, items)]
        case ast.Attribute(inner, key):
            return _member(of(inner), key)
        case ast.Subscript(inner, key):
            return _member(of(inner), of(key))
        case ast.IfExp(test, body, other):
            return of(body) if _is_true(of(test)) else of(other)
        case ast.UnaryOp(_, inner):
            return not _is_true(of(inner))
        case ast.BoolOp(operator, values):
            return _last_of(map(of, values), until=isinstance(operator, ast.Or))
        case ast.Compare(left, [ast.Is() | ast.IsNot() as operator], [ast.Name("defined" | "undefined" as asked)]):
            is_defined = of(left) is not Undefined.UNDEFINED
            return (is_defined == (asked == "defined")) == isinstance(operator, ast.Is)
        case ast.Compare(left, [operator], [right]):
            return _compared(of(left), operator, of(right))
        case ast.BinOp(left, _, ast.Call(ast.Name(name), given)):
            return _FILTERS[name](of(left), *map(of, given))
        case ast.BinOp(left, _, ast.Name(name)):
            return _FILTERS[name](of(left))
    raise Unmappable("an expression is not known here")


def _last_of(values: Iterator[Any], *, until: bool) -> Any:
    """The first value that is true, or the first that is not, else the last."""
    value = None
    for value in values:
        if _is_true(value) == until:
            break
    return value


def _member(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return value.get(str(key), Undefined.UNDEFINED)
    if key == "length" and isinstance(value, str | list):
        return _length(value)
    if isinstance(value, list) and type(key) is int:
        return value[key] if 0 <= key < len(value) else Undefined.UNDEFINED
    require(value is None or value is Undefined.UNDEFINED, f"a member `{key}` of a text is not known here")
    return Undefined.UNDEFINED


def _is_true(value: Any) -> bool:
    return isinstance(value, list | dict) or (value is not Undefined.UNDEFINED and bool(value))


def _compared(left: Any, operator: ast.cmpop, right: Any) -> bool:
    is_missing = [each is None or each is Undefined.UNDEFINED for each in (left, right)]
    if isinstance(operator, ast.Eq | ast.NotEq):
        are_alike = any(is_missing) or (isinstance(left, bool) == isinstance(right, bool))
        are_alike &= any(is_missing) or isinstance(left, str) == isinstance(right, str)
        require(are_alike and not isinstance(left, list | dict), "values of two types are compared")
        return (all(is_missing) if any(is_missing) else left == right) == isinstance(operator, ast.Eq)
    if isinstance(operator, ast.In | ast.NotIn):
        require(
            isinstance(right, list) or (isinstance(left, str) and isinstance(right, str | dict)), "`in` is of a text"
        )
        require(not (isinstance(right, list) and isinstance(left, list | dict)), "`in` is of a list")
        found = (
            any(each == left and type(each) is type(left) for each in right)
            if isinstance(right, list)
            else left in right
        )
        return found == isinstance(operator, ast.In)
    are_numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (left, right))
    require(are_numbers, "no numbers are compared")
    orders: dict[type[ast.cmpop], bool] = {
        ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right, ast.GtE: left >= right
    }  # fmt: skip
    require(type(operator) in orders, "an expression is not known here")
    return orders[type(operator)]


def _text(value: Any, of: str) -> str:
    """The text that JavaScript makes of a value."""
    if value is None or value is Undefined.UNDEFINED:
        return ""
    require(not isinstance(value, dict), f"`{of}` is no text")
    return ecma.to_string(value)


# --- filters ----------------------------------------------------------------------------------------------------------


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-16-le", "surrogatepass")) // 2
    require(isinstance(value, list | dict) or value is Undefined.UNDEFINED, "`length` is of a number")
    return 0 if value is Undefined.UNDEFINED else len(value)


def _of_text(change: Callable[[str], str]) -> Callable[..., str]:
    def changed(value: Any, *given: Any) -> str:
        require(isinstance(value, str) and not given, "a filter of texts is given something else")
        return change(value)

    return changed


def _default(value: Any, other: Any = Undefined.UNDEFINED, also: Any = False) -> Any:
    return other if value is Undefined.UNDEFINED or (_is_true(also) and not _is_true(value)) else value


def _dump(value: Any, *given: Any) -> str:
    require(not given and value is not Undefined.UNDEFINED, "`dump` is given something else")
    return ecma.to_json(value)


def _join(value: Any, between: Any = "", *given: Any) -> str:
    require(isinstance(value, list) and isinstance(between, str) and not given, "`join` is given something else")
    return str(between).join(_text(each, "join") for each in value)


def _replace(value: Any, old: Any, new: Any, *given: Any) -> str:
    are_texts = all(isinstance(each, str) for each in (value, old, new))
    is_short = are_texts and len(value) * (len(new) + 1) < _MOST_TEXT
    require(is_short and old and not given, "`replace` is given something else")
    return str(value).replace(str(old), str(new))


def _item(value: Any, index: int) -> Any:
    require(isinstance(value, list), "a filter of lists is given something else")
    return value[index] if value else Undefined.UNDEFINED


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:].lower()


_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "capitalize": _of_text(_capitalized),
    "d": _default,
    "default": _default,
    "dump": _dump,
    "first": lambda value: _item(value, 0),
    "join": _join,
    "last": lambda value: _item(value, -1),
    "length": _length,
    "lower": _of_text(str.lower),
    "replace": _replace,
    "title": _of_text(lambda text: " ".join(map(_capitalized, text.split(" ")))),
    "trim": _of_text(ecma.trim),
    "upper": _of_text(str.upper),
}
