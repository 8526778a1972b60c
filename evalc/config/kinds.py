"""The kinds of values that settings take: how each is read, and the JSON Schema of what is taken besides null.

A schema cannot say everything that is checked: whether a code exists, for instance.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar, final

from evalc.base.files import is_below, is_pattern
from evalc.diagnostics import Finding
from evalc.dsl import kinds
from evalc.dsl.kinds import Schema, Shape
from evalc.model import numbers
from evalc.runtime.mapping import INCOMPLETE_STATUSES

if TYPE_CHECKING:
    from evalc.base.source import Span
    from evalc.config.load import Reading
    from evalc.diagnostics.policy import Level
    from evalc.dsl.read_toml import KeyPlace, Keys
    from evalc.dsl.walk import Fields

A = TypeVar("A")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
"""The name of an environment variable."""

_MAGIC: Final = re.compile(r"[*?\[]")
_PERCENT: Final = re.compile(r"\s*([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*(%?)\s*")


class Folders(NamedTuple):
    """Where relative paths start from, the working folder, which `paths` are shown from, and where paths may lead.

    `root` is None where they may lead anywhere: a user names them, not a file of the project.
    """

    base: Path
    working: Path
    root: Path | None = None


class Wrong(Exception):
    """A value is not of its kind, which is reported."""


@final
class Value(NamedTuple):
    """A value of a configuration, with its place; or a key."""

    reading: Reading  # what it is read by
    data: Any  # the value, as it was decoded
    span: Span  # its place
    what: str  # what messages call it
    pairs: Sequence[tuple[Value, Value]] = ()  # of a table the keys with their values
    items: Sequence[Value] = ()  # of a list the items

    @property
    def text(self) -> str:
        """The text that a key is."""
        return str(self.data)

    def at(self, path: Keys) -> Value:
        """The part at the end of a way that begins here."""
        if not path:
            return self
        parts: dict[str | int, Value] = {key.data: part for key, part in self.pairs} or dict(enumerate(self.items))
        return parts[path[0]].at(path[1:])

    def mistyped(self, expected: str) -> Wrong:
        """Report that it is of another type than expected."""
        self.reading.report(self, Finding("EV622", subject=self.what, expected=expected, found=described(self.data)))
        return Wrong()

    def refused(self, expected: str) -> Wrong:
        """Report that it is of the right type and not allowed."""
        self.reading.report(self, Finding("EV623", subject=self.what, expected=expected))
        return Wrong()


def located(reading: Reading, data: Any, places: Mapping[Keys, KeyPlace], path: Keys, around: KeyPlace) -> Value:
    """A decoded value, with the places of all that it holds; a part without a place is at the value around it."""
    here = places.get(path, around)
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    value = Value(reading, data, here.value, f"`{name}`" if name in path[-1:] else f"an item of `{name}`")

    def inner(step: str | int, part: Any) -> Value:
        return located(reading, part, places, (*path, step), here)

    if isinstance(data, dict):
        keys = (Value(reading, name, places.get((*path, name), here).key, "a key") for name in data)
        return value._replace(pairs=[*zip(keys, (inner(*pair) for pair in data.items()), strict=True)])
    return value._replace(items=[inner(*pair) for pair in enumerate(data)]) if isinstance(data, list) else value


@final
class Kind(kinds.Kind, Generic[T_co]):
    """A kind of value.

    Args:
        of: makes what is set of a value; raises `Wrong` where the value is not of the kind, which is then reported.
        schema: the JSON Schema of the value.
    """

    def __init__(self, of: Callable[[Value], T_co], schema: Schema) -> None:
        super().__init__(schema)
        self.of = of

    def take(self, _fields: Fields, value: Value, _what: str) -> T_co | None:
        try:
            return self.of(value)
        except Wrong:
            return None


class TableShape(Shape):
    """The shape of a table, in which every key is a setting: the author has none of their own."""

    extensible = False


@final
class Named(kinds.Kind):
    """The value of a key that may be written under several names, of which a configuration uses one.

    Args:
        name: what is set, whatever its key is called.
        kind: what the value is.
        said: what its JSON Schema says besides.
    """

    def __init__(self, name: str, kind: kinds.Kind, **said: Any) -> None:
        self._name = name
        self._kind = kind
        self._said = said

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override] # made when it is asked for, which a run does not
        kind = self._kind
        return {**or_null(kind.definition() if isinstance(kind, Shape) else kind.schema), **self._said}

    def read(self, fields: Fields, key: str) -> Any:
        value = fields.node(key)
        if value is None:
            return None
        reading: Reading = value.reading
        first = reading.said.setdefault(self._name, fields.key(key))
        if first is not fields.key(key):
            names = [self._name if self._name.endswith(f".{name}") else name for name in (first.text, key)]
            return fields.fault(fields.key(key), Finding("EV684", first=names[0], second=names[1]))
        taken = reading.values[self._name] = self._kind.take(fields, value, value.what)
        fields.partial |= taken is None
        return taken


def or_null(schema: Schema) -> Schema:
    """The schema of what may be null besides: JSON's way to say that something is not set."""
    match schema:
        case {"type": str(type_)}:
            return {**schema, "type": [type_, "null"]}
        case {"type": list(types)} if "null" not in types:
            return {**schema, "type": [*types, "null"]}
        case {"enum": list(choices)} if None not in choices:
            return {**schema, "enum": [*choices, None]}
        case {"anyOf": [first, *others]}:
            return {**schema, "anyOf": [or_null(first), *others]}
        case _:
            return schema


def in_camel_case(name: str) -> str:
    """A name as the contract spells keys."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def described(value: Any) -> str:
    """The type of a value in words; never the value, which may be a secret."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {str: "a text", int: "a number", float: "a number with a fraction", list: "a list", dict: "a table"}
    if isinstance(value, date | time):  # of TOML
        return "a date or time"
    return names.get(type(value), f"a value of the type `{type(value).__name__}`")  # of a caller


def each_of(parts: Iterable[A], read: Callable[[A], T]) -> tuple[T, ...]:
    """Read each part; all are read, so that everything wrong is reported."""
    taken: list[T] = []
    wrong: Wrong | None = None
    for part in parts:
        try:
            taken.append(read(part))
        except Wrong as error:
            wrong = error
    if wrong is not None:
        raise wrong
    return tuple(taken)


def list_of(item: Kind[T], expected: str) -> Kind[tuple[T, ...]]:
    """A list of values of a kind."""

    def of(value: Value) -> tuple[T, ...]:
        if not isinstance(value.data, list):
            raise value.mistyped(expected)
        return each_of(value.items, item.of)

    return Kind(of, {"type": "array", "items": item.schema})


def table_of(expected: str, entry: Callable[[str, Value], T], **schema: Any) -> Kind[tuple[T, ...]]:
    """A table whose keys are the author's own; `entry` makes a value of each key and what it holds."""

    def of(value: Value) -> tuple[T, ...]:
        if not isinstance(value.data, dict):
            raise value.mistyped(expected)
        return each_of(value.pairs, lambda pair: entry(pair[0].text, pair[1]))

    return Kind(of, {"type": "object", **schema})


# --- texts -----------------------------------------------------------------------------------------------------------


def text(value: Value) -> str:
    """A text with something in it."""
    if not isinstance(value.data, str):
        raise value.mistyped("a text")
    if not value.data.strip():
        raise value.refused("a text that is not empty")
    return value.data


def text_like(pattern: str, expected: str) -> Kind[str]:
    """A text that a pattern matches as a whole."""

    def of(value: Value) -> str:
        if not re.fullmatch(pattern, text(value)):
            raise value.refused(expected)
        return str(value.data)

    return Kind(of, {"type": "string", "pattern": rf"^(?:{pattern})(?!\n)$"})


def one_of(*choices: T) -> Kind[T]:
    """One of a few words."""

    def of(value: Value) -> T:
        for choice in choices:
            if choice == text(value):
                return choice
        raise value.refused(f"one of {', '.join(f'`{choice}`' for choice in choices)}")

    return Kind(of, {"enum": [*choices]})


def _status(value: Value) -> int:
    if isinstance(value.data, int) and value.data in INCOMPLETE_STATUSES:
        return value.data
    raise value.refused("202 or 206")


TEXT: Final = Kind(text, {"type": "string", "pattern": r"\S"})
TEXTS: Final = list_of(TEXT, "a list of texts")
VARIABLE_NAME: Final = text_like(VARIABLE, "the name of an environment variable")
VARIABLE_NAMES: Final = list_of(VARIABLE_NAME, "a list of names of environment variables")
ACCEPTED_STATUSES: Final = list_of(Kind(_status, {"enum": sorted(INCOMPLETE_STATUSES)}), "a list of statuses")
ENGINE: Final = text_like(r"local|ray(?::.*\S.*)?", "`local`, `ray` or `ray:ADDRESS`")
RECEIVER: Final = text_like(
    r"env|https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[!$->@-~]*)?",
    "a URL without user, query and fragment, or `env`",
)
"""`env`, or a URL that holds no secret and so may be written anywhere."""


def _named(each_once: str, least: int = 0) -> Kind[tuple[str, ...]]:
    """One text or a list of texts, each once: the agents, or the judges."""

    def of(value: Value) -> tuple[str, ...]:
        if isinstance(value.data, str):
            return (text(value).strip(),)
        names = tuple(name.strip() for name in _SEVERAL.of(value))
        if len(names) < least:
            raise value.refused("a text, or a list of at least one")
        if len(set(names)) < len(names):
            raise value.refused(each_once)
        return names

    schema = {**TEXT.schema, "type": ["string", "array"], "items": TEXT.schema, "uniqueItems": True}
    return Kind(of, {**schema, **({"minItems": least} if least else {})})


_SEVERAL: Final = list_of(TEXT, "a text, or a list of texts")
AGENTS: Final = _named("agents that are each named once", 1)
JUDGES: Final = _named("judges that are each named once: `judge.samples` asks one several times")


# --- numbers ---------------------------------------------------------------------------------------------------------


def _flag(value: Value) -> bool:
    if not isinstance(value.data, bool):
        raise value.mistyped("true or false")
    return value.data


def whole(least: int, most: int) -> Kind[int]:
    """A whole number between two others, both included."""

    def of(value: Value) -> int:
        if isinstance(value.data, bool) or not isinstance(value.data, int):
            raise value.mistyped("a whole number")
        if not least <= value.data <= most:
            raise value.refused(f"between {least} and {most}")
        return value.data

    return Kind(of, {"type": "integer", "minimum": least, "maximum": most})


def number(takes: Callable[[float], bool], words: str, unit: str = "", **schema: Any) -> Kind[float]:
    """A number that `takes` says yes to; `words` says which these are."""

    def of(value: Value) -> float:
        if isinstance(value.data, bool) or not isinstance(value.data, int | float):
            raise value.mistyped(f"a number{unit and f' of {unit}'}")
        if not takes(value.data):
            raise value.refused(words)
        return value.data

    return Kind(of, {"type": "number", **schema})


def _is_above_zero(amount: float) -> bool:
    return 0 < amount < math.inf


def _duration(value: Value) -> float:
    """Milliseconds, of a time that is written as in suites."""
    if not isinstance(value.data, str):
        raise value.mistyped(numbers.DURATION_WORDS)
    milliseconds = numbers.milliseconds_of(value.data)
    if milliseconds is None:
        raise value.refused(numbers.DURATION_WORDS)
    return MILLISECONDS.of(value._replace(data=milliseconds))


def shown_duration(milliseconds: float) -> str:
    """A time as a configuration has it: `30s`, or `500ms`."""
    return f"{milliseconds:.15g}ms" if milliseconds % 1_000 else f"{milliseconds / 1_000:.15g}s"


def _confidence(value: Value) -> float:
    """A number, or one in per cent; as a flag, a text."""
    percent = _PERCENT.fullmatch(value.data) if isinstance(value.data, str) else None
    if isinstance(value.data, str) and percent is None:
        raise value.refused("a share such as `95%` or 0.95")
    if percent is not None:
        value = value._replace(data=float(Decimal(percent[1]) / (100 if percent[2] else 1)))
    return number(numbers.CONFIDENCE.takes, numbers.CONFIDENCE.words).of(value)


_COUNT: Final = whole(1, 10_000)


def _concurrency(value: Value) -> int | Literal["auto"]:
    if value.data == "auto":
        return "auto"
    if isinstance(value.data, str):
        raise value.refused("a whole number, or `auto`")
    return _COUNT.of(value)


FLAG: Final = Kind(_flag, {"type": "boolean"})
CONCURRENCY: Final = Kind(_concurrency, {"anyOf": [_COUNT.schema, {"const": "auto"}]})
SHARE: Final = number(lambda share: 0 <= share <= 1, "between 0 and 1", minimum=0, maximum=1)
TEMPERATURE: Final = number(lambda degree: 0 <= degree < math.inf, "0 or above", minimum=0)
DOLLARS: Final = number(_is_above_zero, "above 0", "US dollars", exclusiveMinimum=0)
MILLISECONDS: Final = number(_is_above_zero, "above 0", "milliseconds", exclusiveMinimum=0)
DURATION: Final = Kind(_duration, numbers.DURATION_SCHEMA)
CONFIDENCE: Final = Kind(
    _confidence,
    {"type": ["number", "string"], "exclusiveMinimum": 0.5, "exclusiveMaximum": 1, "pattern": r"^\s*[0-9.]+\s*%?\s*$"},
)


# --- files -----------------------------------------------------------------------------------------------------------


def _path(value: Value, *, system: bool = False) -> Path:
    found = str(value.data) if isinstance(value.data, Path) else text(value)
    if "\0" in found:
        raise value.refused("a path, which has no NUL character")
    return value.reading.folders.base / found if system else _within(value, found)


def _within(value: Value, found: str) -> Path:
    base, _, root = value.reading.folders
    if root is not None and not is_below(base / found, root.resolve()):
        value.reading.report(value, Finding("EV626", subject=value.what, path=found, root=str(root)))
        raise Wrong
    return base / found


def _seen_from_working_folder(value: Value) -> str:
    found = text(value)
    for part in (found, _MAGIC.split(found)[0]):  # `..` may come after a pattern, a link before it
        _within(value, part)
    return (
        found
        if Path(found).is_absolute()
        else os.path.relpath(value.reading.folders.base / found, value.reading.folders.working)
    )


def _snapshot(value: Value) -> str:
    if isinstance(value.data, str) and value.data.startswith(("http://", "https://", "python:", "command:")):
        return value.data
    return str(_path(value))


PATH: Final = Kind(_path, {"type": "string", "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"})
FILES: Final = list_of(PATH, "a list of texts")
PATHS: Final = list_of(Kind(_seen_from_working_folder, TEXT.schema), "a list of texts")
CA_FILE: Final = Kind(partial(_path, system=True), PATH.schema)
"""A file that may be the system's: it is read as certificates, and never shown."""
SNAPSHOT: Final = Kind(_snapshot, PATH.schema)


# --- problems --------------------------------------------------------------------------------------------------------


def _code(value: Value, code: str | None = None, *, silences: bool = False) -> str:
    from evalc.diagnostics.policy import BadSelector, selector, silencer  # noqa: PLC0415 - for start-up

    words = "a code or the beginning of some"
    try:
        found = selector(text(value) if code is None else code)
        words = "a code that can be ignored"
        return silencer(found) if silences else found
    except BadSelector as bad:
        raise value.refused(f"{words}: {bad}") from None


_LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "off")


def _severity(code: str, value: Value) -> tuple[str, Level]:
    if value.data not in _LEVELS:
        raise value.refused("`error`, `warning` or `off`")
    return _code(value, code, silences=value.data != "error"), value.data


def _ignored_in(pattern: str, value: Value) -> tuple[str, tuple[str, ...]]:
    if not is_pattern(pattern):
        raise value.refused("under a pattern as in a `.gitignore`")
    return pattern, SILENCERS.of(value)


_CODE: Final[Schema] = {"type": "string", "pattern": r"^\s*[Ee][Vv][0-9]*\s*$"}

SELECTORS: Final = list_of(Kind(_code, _CODE), "a list of codes")
SILENCERS: Final = list_of(Kind(partial(_code, silences=True), _CODE), "a list of codes")
SEVERITIES: Final = table_of(
    "a table of codes", _severity, propertyNames=_CODE, additionalProperties={"enum": [*_LEVELS]}
)
PER_FILE: Final = table_of("a table of patterns", _ignored_in, additionalProperties=SILENCERS.schema)
