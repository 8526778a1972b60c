"""From a check of the model to the line that says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, assert_never, final

from evalc.compiler.emit.check import dimension_of
from evalc.grammar.parse import parse_check
from evalc.model import checks as c
from evalc.model.assertions import type_name
from evalc.model.paths import only_key

_NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_PARAM: Final = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*", re.ASCII)
_PATH: Final = re.compile(r"(?:[A-Za-z_$][\w$-]*|\[[0-9]{0,9}\])(?:\.[\w$-]+|\[[0-9]{0,9}\])*", re.ASCII)
_NEVER_A_NAME: Final = frozenset({"and", "or", "not", "none", "for", "count"})
_NONE: Final = ("__none__",)
_TOOL_TESTS: Final = {"equals": "equals", "contains": "contains", "oneOf": "one of", "matches": "matches"}
_COMPOSITION: Final = c.AnyOf | c.AllOf

_OPENS_TEMPLATE: Final = re.compile(r"\{\{\s*[#/A-Za-z_]")
_BRACES: Final = re.compile(
    r"\{\{(?!\s*(?:seed|snapshot):\s*(?:[^{}\s]|\{(?!\{)|\}(?!\}))(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\})"
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How the texts of a check, and its patterns, stand in a line."""

    text: Callable[[str], str]
    pattern: Callable[[str], str]


def escaped(text: str) -> str:
    r"""A text that is no template as one that means it: `{{` becomes `\{{`. Tokens stay."""
    return _BRACES.sub(r"\\{{", text)


def _escaped_text(text: str) -> str:
    """The same, only where it must be: in a check's text, braces that open no template stand for themselves."""
    return escaped(text) if "\\{{" in text or _OPENS_TEMPLATE.search(text) else text


def _escaped_pattern(pattern: str) -> str:
    return escaped(pattern) if _OPENS_TEMPLATE.search(pattern) else pattern


LITERALLY: Final = Spelling(text=_escaped_text, pattern=_escaped_pattern)
"""Texts that stand for themselves, but for seed and snapshot tokens."""

AS_TEMPLATES: Final = Spelling(text=str, pattern=str)
"""Texts that may hold templates."""


KeepSchema = Callable[[object], str]
"""Puts a check's JSON Schema into a file, and says its path."""


def line_of(check: c.Check, spelling: Spelling, keep_schema: KeepSchema) -> str | None:
    """The one-line form of a check; None when it has none."""
    try:
        line = _line(check, spelling, keep_schema)
    except _NoLine:
        return None
    parse = parse_check(line)
    return line if parse.node is not None and not parse.faults else None


def linked_to(line: str, criterion: str) -> str:
    """The line of a check that counts for a criterion."""
    return f"{line} for {criterion if _NAME.fullmatch(criterion) else json.dumps(criterion, ensure_ascii=False)}"


def mapping_of(check: c.Check, line: str, spelling: Spelling) -> dict[str, Any]:
    """The mapping that says what a line says, so that a weight can stand beside it."""
    match check:
        case c.Contains() | c.NotContains() | c.IContains() | c.Equals() | c.StartsWith():
            return {"type": type_name(check), "rule": spelling.text(check.value)}
        case c.NonEmpty() | c.NoToolErrors():
            return {"type": type_name(check)}
        case _:
            return {"all_of": [line]}


class _NoLine(Exception):
    """A part of a check that no line can say."""


def _line(check: c.Check, spelling: Spelling, keep_schema: KeepSchema) -> str:  # noqa: C901 - one arm a check
    def quoted(text: str) -> str:
        return quoted_text(spelling.text(text))

    match check:
        case c.Contains():
            return f"contains {quoted(check.value)}"
        case c.NotContains():
            return f"not contains {quoted(check.value)}"
        case c.IContains():
            return f"contains {quoted(check.value)} ignoring case"
        case c.ContainsAny():
            return f"contains any of [{', '.join(map(quoted, check.values))}]"
        case c.Regex():
            return f"matches {pattern_of(check.pattern, check.flags, spelling)}"
        case c.Length():
            return f"length {_bounds(check.min, check.max)} {check.unit}"
        case c.Json():
            return _json(check, keep_schema)
        case c.Structure():
            return _structure(check, spelling)
        case c.Equals():
            return f"equals {quoted(check.value)}"
        case c.StartsWith():
            return f"starts with {quoted(check.value)}"
        case c.NonEmpty():
            return "non-empty"
        case c.ToolsCalled():
            return f"tools called {_names(check.names, spelling)}"
        case c.ToolsAcceptable():
            sets = ("none" if names == _NONE else _names(names, spelling) for names in check.sets)
            return f"tools one of [{', '.join(sets)}]"
        case c.ToolsNotCalled():
            return f"tools not called {_names(check.names, spelling)}"
        case c.ToolCount():
            return f"tool count {_bounds(check.min, check.max)}"
        case c.ToolParam():
            return _tool_param(check, spelling)
        case c.NoToolErrors():
            return "no tool errors"
        case c.Latency():
            return f"latency <= {_duration(check.max)}"
        case c.Tokens():
            return f"tokens <= {_number(check.max)}"
        case c.Cost():
            return f"cost <= ${_number(check.max)}"
        case c.At():
            if isinstance(check.check, _COMPOSITION):
                raise _NoLine
            return f"at {_path(check.path)} {_line(check.check, spelling, keep_schema)}"
        case c.Similar():
            return f"similar to {quoted(check.value)} >= {_number(check.threshold)}"
        case c.Custom():
            return _custom(check, spelling)
        case c.Judge():
            return _judge(check, spelling)
        case c.AnyOf():
            return " or ".join(_operands(check.checks, spelling, keep_schema))
        case c.AllOf():
            return " and ".join(_operands(check.checks, spelling, keep_schema))
        case c.Not():
            inner = _line(check.check, spelling, keep_schema)
            return f"not ({inner})" if isinstance(check.check, _COMPOSITION | c.NotContains) else f"not {inner}"
        case _:
            assert_never(check)


def _operands(checks: Iterable[c.Check], spelling: Spelling, keep_schema: KeepSchema) -> Iterable[str]:
    """The operands of `and` and `or`, in parentheses where they would run into each other."""
    for check in checks:
        line = _line(check, spelling, keep_schema)
        last = check.check if isinstance(check, c.Not) else check
        yield f"({line})" if isinstance(check, _COMPOSITION) or isinstance(last, c.ToolParam) else line


def _names(names: Iterable[str], spelling: Spelling) -> str:
    return f"[{', '.join(_name(name, spelling) for name in names)}]"


def _name(name: str, spelling: Spelling) -> str:
    if _NAME.fullmatch(name) and name not in _NEVER_A_NAME:
        return name
    return quoted_text(spelling.text(name))


def _path(path: str) -> str:
    """A path as it stands on a line.

    Raises:
        _NoLine: it has several steps, one of which only quotes could hold.
    """
    if _PATH.fullmatch(path):
        return path
    key = only_key(path)
    if key is None:
        raise _NoLine
    return json.dumps(key, ensure_ascii=False)


def pattern_of(pattern: str, flags: str, spelling: Spelling) -> str:
    """A pattern as a `/literal/` where it can be one, else in quotes.

    Raises:
        _NoLine: it has flags, which a pattern in quotes cannot have, and cannot be a literal.
    """
    written = spelling.pattern(pattern)
    literal = f"/{written}/{flags}"
    parse = parse_check(f"matches {literal}")
    regexp = getattr(parse.node and parse.node.check, "regexp", None)
    if regexp is not None and not parse.faults and (regexp.pattern, regexp.flags) == (written, flags):
        return literal
    if flags:
        raise _NoLine
    return quoted_text(written)


def quoted_text(text: str) -> str:
    r"""A text in double quotes; `\{{` is a template's own literal, and stays as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\\\\{{", "\\{{")


def _json(check: c.Json, keep_schema: KeepSchema) -> str:
    words = ["json"] if check.mode == "strict" else ["json", check.mode]
    if check.schema is not None:
        words.append(f"matching {json.dumps(keep_schema(check.schema), ensure_ascii=False)}")
    return " ".join(words)


def _structure(check: c.Structure, spelling: Spelling) -> str:
    if bool(check.fields) == bool(check.headings):
        raise _NoLine
    if check.headings:
        return f"has headings {', '.join(quoted_text(spelling.text(heading)) for heading in check.headings)}"
    fields = (_path(field.path) + (f" as {field.type}" if field.type else "") for field in check.fields)
    return f"has fields {', '.join(fields)}"


def _judge(check: c.Judge, spelling: Spelling) -> str:
    if check.min_score is None or check.dimension != dimension_of(check.criteria):
        raise _NoLine
    question = f"judge {quoted_text(spelling.text(check.criteria))}"
    is_yes = check.min_score == check.max_score == 1
    return question if is_yes else f"{question} >= {_number(check.min_score)}/{_number(check.max_score)}"


def _custom(check: c.Custom, spelling: Spelling) -> str:
    if not all(map(_NAME.fullmatch, check.options)):
        raise _NoLine
    by_place = [_argument(value, spelling) for value in check.args]
    by_name = [f"{name}={_argument(value, spelling)}" for name, value in check.options.items()]
    return f"check {_name(check.name, LITERALLY)}({', '.join([*by_place, *by_name])})"


def _argument(value: Any, spelling: Spelling) -> str:
    """A JSON value whose texts are spelled like those of checks."""
    match value:
        case str():
            return quoted_text(spelling.text(value))
        case list():
            return f"[{', '.join(_argument(item, spelling) for item in value)}]"
        case dict():
            pairs = (f"{quoted_text(key)}: {_argument(item, spelling)}" for key, item in value.items())
            return f"{{{', '.join(pairs)}}}"
        case _:
            return json.dumps(value)


def _tool_param(check: c.ToolParam, spelling: Spelling) -> str:
    def quoted(text: str) -> str:
        return quoted_text(spelling.text(text))

    param = check.param_name if _PARAM.fullmatch(check.param_name) else quoted(check.param_name)
    place = f"tool {_name(check.tool, spelling)}.{param}"
    if check.assertion == "exists":
        return f"{place} exists"
    if check.assertion == "notExists":
        return f"{place} not exists"
    if check.assertion == "oneOf" and isinstance(check.value, tuple):
        return f"{place} one of [{', '.join(map(quoted, check.value))}]"
    if not isinstance(check.value, str):
        raise _NoLine
    value = pattern_of(check.value, "", spelling) if check.assertion == "matches" else quoted(check.value)
    return f"{place} {_TOOL_TESTS[check.assertion]} {value}"


def _bounds(least: int | None, most: int | None) -> str:
    if least is None and most is None:
        raise _NoLine
    if least is None:
        return f"<= {most}"
    if most is None:
        return f">= {least}"
    return f"== {least}" if least == most else f"{least}..{most}"


def _duration(milliseconds: int | float) -> str:
    whole_seconds = milliseconds >= 1000 and milliseconds % 500 == 0
    return f"{_number(milliseconds / 1000)}s" if whole_seconds else f"{_number(milliseconds)}ms"


def _number(value: int | float) -> str:
    """The number in digits, without an exponent."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return format(Decimal(repr(value)), "f")
