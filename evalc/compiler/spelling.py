"""Writes checks in their one-line form, for messages and for imported suites."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, final

import msgspec

from evalc.compiler.fill import OPENS_TEMPLATE
from evalc.compiler.slug import dimension_of
from evalc.grammar.parse import parse_check
from evalc.model import checks as c
from evalc.model.checks.declaration import Declared, type_name
from evalc.model.json import only_key

NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_PARAM: Final = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*", re.ASCII)
_PATH: Final = re.compile(r"(?:[A-Za-z_$][\w$-]*|\[[0-9]{0,9}\])(?:\.[\w$-]+|\[[0-9]{0,9}\])*", re.ASCII)
_FIELD: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")
_NEVER_A_NAME: Final = frozenset({"and", "or", "not", "none", "for", "count"})
_TOOL_TESTS: Final = {
    "equals": "equals",
    "contains": "contains",
    "oneOf": "one of",
    "matches": "matches",
    "exists": "exists",
    "notExists": "not exists",
}
_COMPOSITION: Final = c.AnyOf | c.AllOf
_LONGEST_SHOWN: Final = 60


class NoLine(Exception):
    """A part of a check that no line can say."""


def describe(check: c.Check) -> str:
    """The check as an author would write it on one line, long texts cut; for messages."""
    return _SHORTENED.line(check)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Speller:
    """Writes checks on one line."""

    text: Callable[[str], str]  # a text in its quotes
    pattern: Callable[[str, str], str]  # a pattern with its flags
    schema: Callable[[object], str]  # what follows `matching` for a JSON Schema
    exact: bool  # whether the line must mean the same check: what has no line then raises `NoLine`

    def line(self, check: c.Check) -> str:
        """The one-line form of a check.

        Raises:
            NoLine: it has none, and `exact` asks for it.
        """
        match check:
            case c.Regex():
                return f"matches {self.pattern(check.pattern, check.flags)}"
            case c.Json():
                mode = "" if check.mode == "strict" else f" {check.mode}"
                return f"json{mode}" if check.schema is None else f"json{mode} matching {self.schema(check.schema)}"
            case c.Structure():
                return self._structure(check)
            case c.Number() | c.Count() | c.Value():
                self._only_if(not isinstance(check, c.Value) or not isinstance(check.value, str))
                return f"{'' if isinstance(check, c.Value) else 'response '}{self._of_value(check)}"
            case c.NumbersFrom() | c.QuotesFrom():
                return self._grounded(check)
            case c.ToolParam():
                return self._tool_param(check)
            case c.CallHas():
                return self._call_has(check)
            case c.Judge():
                return self._judge(check)
            case c.Custom():
                return self._custom(check)
            case c.At():
                self._only_if(not isinstance(check.check, _COMPOSITION))
                return f"at {self._path(check.path)} {self._of_place(check.check)}"
            case c.InTurn():
                inner = self.line(check.check)
                return f"turn {check.turn} {f'({inner})' if isinstance(check.check, _COMPOSITION) else inner}"
            case c.AnyOf() | c.AllOf():
                return (" or " if isinstance(check, c.AnyOf) else " and ").join(map(self._operand, check.checks))
            case c.Not():
                inner = self.line(check.check)
                return f"not ({inner})" if isinstance(check.check, _COMPOSITION | c.NotContains) else f"not {inner}"
            case _:
                return _FIELD.sub(lambda field: self._field(check, field[1], field[2]), check.line)

    def _field(self, check: Declared, name: str, form: str | None) -> str:
        """A field of a check in the place that its declaration gives it."""
        if name == "bounds":
            return self._bounds(check)
        value = getattr(check, name)
        match value:
            case str():
                return self.text(value) if name == "value" else value
            case int() | float():
                return _duration(value) if form == "duration" else _number(value)
            case _ if name == "values":
                return self._list(map(self.text, value))
            case _ if name == "sets":
                return self._list("none" if names == (c.NO_TOOL,) else self._names(names) for names in value)
            case _:
                return self._names(value)

    def _of_place(self, check: c.Check) -> str:
        """The part after `at PATH`."""
        match check:
            case c.Not(check=c.Number() | c.Count() | c.Value() as inner):
                return f"not {self._of_place(inner)}"
            case c.Number() | c.Count() | c.Value():
                self._only_if(not isinstance(check, c.Value) or not isinstance(check.value, str))
                return self._of_value(check)
            case _:
                return self.line(check)

    def _of_value(self, check: c.Number | c.Count | c.Value) -> str:
        match check:
            case c.Value():
                return f"equals {self._argument(check.value)}"
            case c.Count():
                return f"count {self._bounds(check)}"
            case c.Number():
                return self._bounds(check)

    def _grounded(self, check: c.NumbersFrom | c.QuotesFrom) -> str:
        self._only_if(bool(check.sources))
        return f"{'numbers' if isinstance(check, c.NumbersFrom) else 'quotes'} from {', '.join(check.sources)}"

    def _operand(self, check: c.Check) -> str:
        """An operand of `and` and `or`, in parentheses where it would run into the next one."""
        last = check.check if isinstance(check, c.Not) else check
        runs_on = isinstance(check, _COMPOSITION) or isinstance(last, c.ToolParam)
        return f"({self.line(check)})" if runs_on else self.line(check)

    def _list(self, items: Iterable[str]) -> str:
        return f"[{', '.join(items)}]"

    def _names(self, names: Iterable[str]) -> str:
        return self._list(map(self._name, names))

    def _name(self, name: str) -> str:
        return name if NAME.fullmatch(name) and name not in _NEVER_A_NAME else self.text(name)

    def _path(self, path: str) -> str:
        if _PATH.fullmatch(path):
            return path
        key = only_key(path)
        self._only_if(key is not None)  # of several steps, at least one needs quotes
        return path if key is None else json.dumps(key, ensure_ascii=False)

    def _bounds(self, check: Any) -> str:
        least, most = check.min, check.max
        self._only_if((least, most) != (None, None))
        if least is None:
            return ">= 0" if most is None else f"<= {_number(most)}"
        if most is None:
            return f">= {_number(least)}"
        return f"== {_number(least)}" if least == most else f"{_number(least)}..{_number(most)}"

    def _structure(self, check: c.Structure) -> str:
        self._only_if(bool(check.fields) != bool(check.headings))
        fields = [self._path(field.path) + (f" as {field.type}" if field.type else "") for field in check.fields]
        parts = [("fields", fields), ("headings", [self.text(heading) for heading in check.headings])]
        return "has " + " and ".join(f"{word} {', '.join(items)}" for word, items in parts if items)

    def _tool_param(self, check: c.ToolParam) -> str:
        param = check.param_name if _PARAM.fullmatch(check.param_name) else self.text(check.param_name)
        tested = f"tool {self._name(check.tool)}.{param} {_TOOL_TESTS[check.assertion]}"
        if check.assertion in ("exists", "notExists"):
            return tested
        self._only_if(check.value is not None and isinstance(check.value, tuple) == (check.assertion == "oneOf"))
        if isinstance(check.value, tuple):
            return f"{tested} {self._list(map(self.text, check.value))}"
        value = check.value or ""
        return f"{tested} {self.pattern(value, '') if check.assertion == 'matches' else self.text(value)}"

    def _call_has(self, check: c.CallHas) -> str:
        which = f"call {check.which}" if isinstance(check.which, int) else f"{check.which} call"
        tests = [f"{self._path(path)} {test}" for path, args in check.args.items() for test in self._arg_tests(args)]
        self._only_if(bool(tests))
        return f"{which} of {self._name(check.tool)} has {', '.join(tests)}"

    def _arg_tests(self, test: c.ArgTest) -> Iterator[str]:
        if test.equals is not msgspec.UNSET:
            yield self._argument(test.equals)
        if test.contains is not None:
            yield f"contains {self.text(test.contains)}"
        if test.matches is not None:
            yield f"matches {self.pattern(test.matches, '')}"
        if test.one_of is not None:
            yield f"one of {self._list(map(self._argument, test.one_of))}"
        if test.min is not None and test.max is not None:
            yield f"{_number(test.min)}..{_number(test.max)}"
        elif test.min is not None:
            yield f">= {_number(test.min)}"
        elif test.max is not None:
            yield f"<= {_number(test.max)}"
        if test.exists is not None:
            yield "exists" if test.exists else "not exists"

    def _judge(self, check: c.Judge) -> str:
        self._only_if(check.min_score is not None and check.dimension == dimension_of(check.criteria))
        question = f"judge {self.text(check.criteria)}"
        if check.min_score is None:
            return f"{question} of {_number(check.max_score)}"
        is_yes = check.min_score == check.max_score == 1
        return question if is_yes else f"{question} >= {_number(check.min_score)}/{_number(check.max_score)}"

    def _custom(self, check: c.Custom) -> str:
        self._only_if(all(map(NAME.fullmatch, check.options)))
        by_place = [self._argument(value) for value in check.args]
        by_name = [f"{name}={self._argument(value)}" for name, value in check.options.items()]
        name = check.name if _PARAM.fullmatch(check.name) else json.dumps(check.name, ensure_ascii=False)
        return f"check {name}({', '.join([*by_place, *by_name])})"

    def _argument(self, value: Any) -> str:
        """A JSON value whose texts are written like those of checks."""
        match value:
            case str():
                return self.text(value)
            case list():
                return self._list(map(self._argument, value))
            case dict():
                pairs = (f"{quoted(key)}: {self._argument(item)}" for key, item in value.items())
                return f"{{{', '.join(pairs)}}}"
            case _:
                return json.dumps(value)

    def _only_if(self, has_line: bool) -> None:
        if self.exact and not has_line:
            raise NoLine


def quoted(text: str) -> str:
    r"""A text in double quotes; `\{{` is a template's own literal, and stays as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\\\\{{", "\\{{")


def _duration(milliseconds: int | float) -> str:
    whole_seconds = milliseconds >= 1000 and milliseconds % 500 == 0
    return f"{_number(milliseconds / 1000)}s" if whole_seconds else f"{_number(milliseconds)}ms"


def _number(value: int | float) -> str:
    """The number in digits, without an exponent."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return format(Decimal(repr(value)), "f")


def _shortened(text: str) -> str:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
    return json.dumps(shown, ensure_ascii=False)


_SHORTENED: Final = Speller(
    text=_shortened,
    pattern=lambda pattern, flags: f"/{pattern}/{flags}" if flags else _shortened(pattern),
    schema=lambda _schema: "a schema",
    exact=False,
)


_BRACES: Final = re.compile(
    r"\{\{(?!\s*(?:seed|snapshot):\s*(?:[^{}\s]|\{(?!\{)|\}(?!\}))(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\})"
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How the texts and patterns of a check are written in a line."""

    text: Callable[[str], str]
    pattern: Callable[[str], str]


def escaped(text: str) -> str:
    r"""A text that is not a template as a template that means it: `{{` becomes `\{{`. Tokens stay."""
    return _BRACES.sub(r"\\{{", text)


def _escaped_text(text: str) -> str:
    """The same, only where needed: in a check's text, braces that open no template are literal."""
    return escaped(text) if "\\{{" in text or OPENS_TEMPLATE.search(text) else text


def _escaped_pattern(pattern: str) -> str:
    return escaped(pattern) if OPENS_TEMPLATE.search(pattern) else pattern


LITERALLY: Final = Spelling(text=_escaped_text, pattern=_escaped_pattern)
"""Literal texts, except for seed and snapshot tokens."""

AS_TEMPLATES: Final = Spelling(text=str, pattern=str)
"""Texts that may hold templates."""


KeepSchema = Callable[[object], str]
"""Puts a check's JSON Schema into a file, and says its path."""


def line_of(check: c.Check, spelling: Spelling, keep_schema: KeepSchema) -> str | None:
    """The one-line form of a check; None if it has none."""
    speller = Speller(
        text=lambda text: quoted(spelling.text(text)),
        pattern=lambda pattern, flags: pattern_of(pattern, flags, spelling),
        schema=lambda schema: json.dumps(keep_schema(schema), ensure_ascii=False),
        exact=True,
    )
    try:
        line = speller.line(check)
    except NoLine:
        return None
    parse = parse_check(line)
    return line if parse.node is not None and not parse.faults else None


def linked_to(line: str, criterion: str) -> str:
    """The line of a check that counts for a criterion."""
    return f"{line} for {criterion if NAME.fullmatch(criterion) else json.dumps(criterion, ensure_ascii=False)}"


def mapping_of(check: c.Check, line: str, spelling: Spelling) -> dict[str, Any]:
    """The mapping that says what a line says, so that a weight can be added."""
    match check.__struct_fields__:
        case ():
            return {"type": type_name(check)}
        case ("value",):
            return {"type": type_name(check), "rule": spelling.text(getattr(check, "value"))}  # noqa: B009 - any check
        case _:
            return {"all_of": [line]}


def pattern_of(pattern: str, flags: str, spelling: Spelling) -> str:
    """A pattern as a `/literal/` if it can be one, else in quotes.

    Raises:
        NoLine: it has flags, which a pattern in quotes cannot have, and cannot be a literal.
    """
    written = spelling.pattern(pattern)
    literal = f"/{written}/{flags}"
    parse = parse_check(f"matches {literal}")
    if parse.node is not None and parse.node.check == c.Regex(pattern=written, flags=flags):
        return literal
    if flags:
        raise NoLine
    return quoted(written)
