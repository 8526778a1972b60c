"""Writes checks in their one-line form, for messages and for imported suites."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.check import tree as t
from evalc.check.predicates import MEASURES, PREDICATES, TEXT, TOOL, VALUE, WORD, Role
from evalc.grammar.parse import OPENS_TEMPLATE
from evalc.grammar.read_check import read_check, unclear_halves
from evalc.model.json import only_key
from evalc.model.suite import dimension_of

NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_CHECK_NAME: Final = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*", re.ASCII)
_PATH: Final = re.compile(r"(?:[A-Za-z_$][\w$-]*|\[[0-9]{0,9}\])(?:\.[\w$-]+|\[[0-9]{0,9}\])*", re.ASCII)
_SEED: Final = re.compile(r"\{\{\s*seed:[^{}]+\}\}")
_NEVER_A_NAME: Final = t.NO_TOOL_NAMES | {"and", "or", "for", "count"}
_COMPOSITION: Final = t.All | t.Some
_LONGEST_SHOWN: Final = 60


class NoLine(Exception):
    """A check has a part that no line can express."""


def describe(check: t.Check) -> str:
    """The check as an author would write it on one line, long texts cut; for messages."""
    return _SHORTENED.line(check)


@final
class Speller(msgspec.Struct, frozen=True, kw_only=True):
    """Writes checks on one line."""

    text: Callable[[str], str]  # a text in its quotes
    pattern: Callable[[str, str], str]  # a pattern with its flags
    schema: Callable[[object], str]  # what follows `matching` for a JSON Schema
    exact: bool  # whether the line must mean the same check: what has no line then raises `NoLine`

    def line(self, check: t.Check) -> str:
        """The one-line form of a check.

        Raises:
            NoLine: it has none, and `exact` asks for it.
        """
        match check:
            case t.Test():
                written = self._test(check)
                return written if written[:1].isalpha() else f"response {written}"  # YAML has its own meaning for signs
            case t.Of(t.Turn(number), inner):
                return f"turn {number} {self._grouped(inner)}"
            case t.Of(step, inner):
                return self._of(step, inner)
            case t.Not(inner):
                return _negated(self._grouped(inner))
            case t.All(checks) | t.Some(checks):
                self._only_if(bool(checks))
                line = (" and " if isinstance(check, t.All) else " or ").join(map(self._operand, checks))
                for half in reversed([*unclear_halves(line)]):
                    line = f"{line[: half.start]}response {line[half.start :]}"
                return line

    def _operand(self, check: t.Check) -> str:
        """An operand of `and` and `or`, in parentheses where it would run into the next one."""
        match check:
            case t.Of(t.Call(_, "first")) | t.Not(t.Of(t.Call(_, "first"))):
                return f"({self.line(check)})"
            case _:
                return self._grouped(check)

    def _grouped(self, check: t.Check) -> str:
        return f"({self.line(check)})" if isinstance(check, _COMPOSITION) else self.line(check)

    # --- subjects ---

    def _of(self, step: t.Step, check: t.Check) -> str:
        match step, check:
            case t.At(path), _:
                return f"at {self._path(path)} {self._asked(check)}"
            case t.File(path), t.Of(t.At() as place, inner):
                return f"file {self.text(path)} {self._of(place, inner)}"
            case t.File(path), t.Of(t.Items(place, "every"), inner):
                return f"file {self.text(path)} at {self._items(place)} {self._asked(inner)}"
            case t.File(path), _:
                return f"file {self.text(path)} {self._asked(check)}"
            case t.Call(tool, "first"), t.Of(t.Argument(name), inner):
                self._only_if(not isinstance(inner, t.Not) or inner.check == t.Test("exists"))  # it would negate it all
                param = name if NAME.fullmatch(name) else self.text(name)
                return f"tool {self._name(tool)}.{param} {self._asked(inner)}"
            case t.Call(tool, which), _:
                calls = f"call {which}" if isinstance(which, int) else f"{which} call"
                return f"{calls} of {self._name(tool)} {self._of_call(check)}"
            case t.Items(path, which), _:
                return f"{which} {self._of_items(path, check)}"
            case t.Tools(), t.Test(predicate):
                line = PREDICATES[predicate].line
                return f"{'tool ' if line[0] == '{' else '' if 'tool' in line else 'tools '}{self._test(check)}"
            case t.Measure(of), t.Test():
                return f"{'response ' if of == 'items' else ''}{self._asked(t.Of(step, check))}"
            case _:  # a step that a record can have in a place where no line has it
                self._only_if(False)
                return f"{type(step).__name__.lower()} {self._asked(check)}"

    def _of_call(self, check: t.Check) -> str:
        match check:
            case t.Of(t.Result(), inner):
                return f"returns {self._parts(inner) if _are_parts(inner) else self._asked(inner)}"
            case t.Of(t.Failure(), inner):
                return f"fails with {self._asked(inner)}"
            case t.Test("fails"):
                return self._test(check)
            case _:
                return f"has {self._parts(check)}"

    def _of_items(self, path: str, check: t.Check) -> str:
        if path.endswith("[]") and path.count("[]") == 1 and path != "[]":
            asked = f"has {self._parts(check)}" if _are_parts(check) else self._asked(check)
            return f"item of {self._path(path.removesuffix('[]'))} {asked}"
        return f"{self._items(path)} {self._asked(check)}"

    def _items(self, path: str) -> str:
        self._only_if(bool(_PATH.fullmatch(path)))
        return f"{'$' * path.startswith('[')}{path.replace('[]', '[*]')}"

    def _parts(self, check: t.Check) -> str:
        """The tests of places that follow `has` and `returns`."""
        self._only_if(_are_parts(check) and check != t.All(()))
        return ", ".join(map(self._part, t.conjuncts(check)))

    def _part(self, check: t.Check) -> str:
        match check:
            case t.Of(t.At(path), t.Test("equals" | "is", _, False) as test):
                return f"{self._path(path)} {self._test(test).removeprefix('equals ')}"
            case t.Of(t.At(path), t.Test("between", t.Bounds(least, most, None, None))) if (
                least is not None and least == most
            ):
                return f"{self._path(path)} {_number(least)}..{_number(most)}"
            case t.Of(t.At(path), inner):
                return f"{self._path(path)} {self._asked(inner)}"
            case _:
                return self.line(check)

    def _asked(self, check: t.Check) -> str:
        """The part of a line behind its subject."""
        match check:
            case t.Test():
                return self._test(check)
            case t.Not(inner) if not isinstance(inner, _COMPOSITION):
                return _negated(self._asked(inner))
            case t.Of(t.Measure(_, tool), t.Test("between", bounds)) if tool:
                return f"tool {self._name(tool)} called {self._times(bounds)}"
            case t.Of(t.Measure(of), t.Test("between", bounds)):
                return MEASURES[of].line.replace("{}", self._bounds(bounds, of))
            case t.Of(t.Measure(of, tool), inner):
                self._only_if(not tool)
                measure = MEASURES[of].line.removeprefix("length {} ").partition(" {}")[0]
                return f"{f'tool {self._name(tool)} called' if tool else measure} {self._asked(inner)}"
            case t.Of(step, inner):
                self._only_if(False)
                return self._of(step, inner)
            case _:
                self._only_if(False)
                return self.line(check)

    # --- predicates and their operands ---

    def _test(self, test: t.Test) -> str:
        """A predicate with its operand, as its line has it."""
        row, operand = PREDICATES[test.predicate], test.operand
        case = " ignoring case" * test.ignoring_case
        if test.predicate == "occurs":
            return f"contains {self._argument(operand[0])}{case} {self._times(operand[1])}"
        if test.predicate in _WRITERS:
            values: Iterable[str] = (_WRITERS[test.predicate](self, *operand),)
        else:
            parts = operand if row.line.count("{}") > 1 else (operand,)
            values = (self._written(each, row.roles) for each in parts)
        line = row.line.format(*values) + case
        return _BEFORE_A_VOWEL.sub(" an", line) if line.startswith("is a ") else line

    def _written(self, value: Any, role: Role | tuple[Role, ...]) -> str:
        match value:
            case tuple() if role is WORD:
                self._only_if(bool(value))
                return ", ".join(value)
            case tuple() if role is TOOL:
                return self._list("none" if each == (t.NO_TOOL,) else self._written(each, TOOL) for each in value)
            case t.Bounds():
                return self._bounds(value)
            case str() if role is WORD:
                self._only_if(value != "null")
                return _SPOKEN.get(value, value)
            case str() if role is TOOL:
                return self._name(value)
            case str() if role is VALUE:  # a token stands for a value without quotes
                is_token = _SEED.fullmatch(value) is not None
                self._only_if(is_token)
                return value if is_token else self.text(value)
            case int() | float() if not isinstance(value, bool) and role is TEXT:
                return _number(value)
            case _:
                return self._argument(value)

    def _argument(self, value: Any) -> str:
        """A JSON value whose texts are written like those of checks."""
        match value:
            case str():
                return self.text(value)
            case t.Blank():
                return _blank(value)
            case list() | tuple():
                return self._list(map(self._argument, value))
            case dict():
                pairs = (f"{quoted(key)}: {self._argument(item)}" for key, item in value.items())
                return f"{{{', '.join(pairs)}}}"
            case _:
                return json.dumps(value)

    def _matches(self, pattern: Any, flags: str) -> str:
        return _blank(pattern) if isinstance(pattern, t.Blank) else self.pattern(pattern, flags)

    def _sorted(self, descending: bool, by: str | None) -> str:
        return f"{' descending' * descending}{'' if by is None else f' by {self._path(by)}'}"

    def _markdown(self, part: str, language: str | None) -> str:
        self._only_if(language is None or bool(NAME.fullmatch(language)))
        return part if language is None else f"{part} in {language}"

    def _structure(self, fields: Any, headings: Any) -> str:
        self._only_if(bool(fields) != bool(headings))
        written = [self._path(path) + (f" as {type_}" if type_ else "") for path, type_ in fields]
        parts = (("fields", written), ("headings", [self.text(heading) for heading in headings]))
        return " and ".join(f"{word} {', '.join(items)}" for word, items in parts if items)

    def _json(self, mode: str, schema: Any) -> str:
        matching = "" if schema is None else f" matching {self.schema(schema)}"
        return ("" if mode == "strict" else f" {mode}") + matching

    def _judge(self, dimension: str, most: Any, question: str, least: Any) -> str:
        self._only_if(least is not None and dimension in ("", dimension_of(question)))
        if least is None:
            return f"{self.text(question)} of {_number(most)}"
        return self.text(question) + ("" if least == most == 1 else f" >= {_number(least)}/{_number(most)}")

    def _check(self, name: str, args: Any, options: Any, bounds: t.Bounds) -> str:
        self._only_if(all(map(NAME.fullmatch, options)))
        by_name = [f"{key}={self._argument(value)}" for key, value in options.items()]
        called = name if _CHECK_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)
        compared = "" if bounds == t.Bounds() else f" {self._bounds(bounds)}"
        return f"{called}({', '.join([*map(self._argument, args), *by_name])}){compared}"

    # --- parts of operands ---

    def _list(self, items: Iterable[str]) -> str:
        return f"[{', '.join(items)}]"

    def _name(self, name: str | t.Blank) -> str:
        if isinstance(name, t.Blank):
            return _blank(name)
        return name if NAME.fullmatch(name) and name not in _NEVER_A_NAME else self.text(name)

    def _path(self, path: str) -> str:
        if _PATH.fullmatch(path):
            return path
        key = only_key(path)
        self._only_if(key is not None)  # of several steps, at least one needs quotes
        return path if key is None else json.dumps(key, ensure_ascii=False)

    def _bounds(self, bounds: t.Bounds, unit: str = "") -> str:
        least, most = bounds.min, bounds.max
        if least is not None and most is not None and bounds.above is bounds.below is None:
            return f"== {_number(least, unit)}" if least == most else f"{_number(least, unit)}..{_number(most, unit)}"
        signs = ((">=", least), ("<=", most), (">", bounds.above), ("<", bounds.below))
        written = [f"{sign} {_number(value, unit)}" for sign, value in signs if value is not None]
        self._only_if(len(written) == 1)
        return " and ".join(written) or ">= 0"

    def _times(self, bounds: t.Bounds) -> str:
        """The number of times, as it follows `called` or a text: `once`, `at most 2 times`."""
        written = self._bounds(bounds)
        if written == "== 1":
            return "once"
        sign, _, number = written.rpartition(" ")
        return f"{_HOW_OFTEN.get(sign, '')}{number} times"

    def _only_if(self, has_line: bool) -> None:
        if self.exact and not has_line:
            raise NoLine


_WRITERS: Final[Mapping[str, Callable[..., str]]] = {
    "check": Speller._check,
    "json": Speller._json,
    "judge": Speller._judge,
    "markdown": Speller._markdown,
    "matches": Speller._matches,
    "sorted": Speller._sorted,
    "structure": Speller._structure,
}
"""The writers of operands with optional parts."""
_SPOKEN: Final = {"string": "text", "array": "list"}
_BEFORE_A_VOWEL: Final = re.compile(r" a(?= [aeio])")
_HOW_OFTEN: Final = {">=": "at least ", "<=": "at most ", ">": "more than ", "<": "less than "}


def _negated(written: str) -> str:
    return f"is not {written.removeprefix('is ')}" if written.startswith("is ") else f"not {written}"


def _are_parts(check: t.Check) -> bool:
    return all(isinstance(part, t.Of) and isinstance(part.step, t.At) for part in t.conjuncts(check))


def quoted(text: str) -> str:
    r"""A text in double quotes; `\{{` is a template's own literal, and stays as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\\\\{{", "\\{{")


def _number(value: Any, unit: str = "") -> str:
    """The number of a unit in digits, without an exponent; a token or a template in its place as it is."""
    match value:
        case str():
            return value
        case t.Blank():
            return _blank(value)
        case _ if unit == "ms":
            whole_seconds = value >= 1000 and value % 500 == 0
            return f"{_number(value / 1000)}s" if whole_seconds else f"{_number(value)}ms"
        case _:
            whole = isinstance(value, float) and value.is_integer()
            digits = str(int(value)) if whole else format(Decimal(repr(value)), "f")
            return f"${digits}" if unit == "dollars" else digits


_UNITS: Final = {1: "", 0.01: "%", 1000: "s", 60_000: "m"}


def _blank(value: t.Blank) -> str:
    return value.template + _UNITS[value.scale]


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


class Spelling(NamedTuple):
    """How the texts and patterns of a check are written in a line."""

    text: Callable[[str], str]
    pattern: Callable[[str], str]


def escaped(text: str) -> str:
    r"""A plain text as a template: `{{` becomes `\{{`. Tokens stay."""
    return _BRACES.sub(r"\\{{", text)


LITERALLY: Final = Spelling(
    text=lambda text: escaped(text) if "\\{{" in text or OPENS_TEMPLATE.search(text) else text,
    pattern=lambda pattern: escaped(pattern) if OPENS_TEMPLATE.search(pattern) else pattern,
)
"""Literal texts, except for seed and snapshot tokens; braces that open no template are literal as they are."""

AS_TEMPLATES: Final = Spelling(text=str, pattern=str)
"""Texts that may hold templates."""

KeepSchema = Callable[[Any], Any]
"""Returns what stands for a JSON Schema in a line: the path of a file that it puts it into, or the schema."""


def line_of(check: t.Check, spelling: Spelling, keep_schema: KeepSchema) -> str | None:
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
    return None if read_check(line).node is None else line


def linked_to(line: str, criterion: str) -> str:
    """The line of a check that counts for a criterion."""
    return f"{line} for {criterion if NAME.fullmatch(criterion) else json.dumps(criterion, ensure_ascii=False)}"


def pattern_of(pattern: str, flags: str, spelling: Spelling) -> str:
    """A pattern as a `/literal/` if it can be one, else in quotes.

    Raises:
        NoLine: it has flags, which a pattern in quotes cannot have, and cannot be a literal.
    """
    written = spelling.pattern(pattern)
    literal = f"/{written}/{flags}"
    read = read_check(f"matches {literal}").node
    if read is not None and read.check == t.Test("matches", (written, flags)):
        return literal
    if flags:
        raise NoLine
    return quoted(written)
