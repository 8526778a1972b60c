"""Loads the settings for a working folder: from files, flags and environment files, with every problem in place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast, final

from evalc.base.errors import SourceError, UsageError
from evalc.base.files import find_project, is_below, read_limited
from evalc.base.source import Source, Span
from evalc.config import ALL_KEYS, KEY_OF_FLAG, Settings, shape, with_values
from evalc.config.kinds import Folders, Value, described, located
from evalc.config.tables import AGENT_KEYS, agent_shape, spelled
from evalc.diagnostics import Diagnostics, Finding, Problem
from evalc.dsl.kinds import Key, Shape
from evalc.dsl.read_toml import KeyPlace, Keys, Language, NotValid, decode, locate
from evalc.dsl.sources import read_source
from evalc.dsl.walk import Fields, Tree

_LARGEST: Final = 1_000_000
_USED: Final = re.compile(r"\[?(?:tool\.evalc\.)?(?:agent|judge)\b")
"""Begins a table, or a key in one, that TOML refuses if the agent or the judge is a text above it."""


class Override(NamedTuple):
    """A setting given by a flag or a caller, which wins over the file: its key, its value, and how it was said."""

    key: str
    value: Any
    said: str


class Loaded(NamedTuple):
    """Settings, and what is wrong with the file that they came from."""

    settings: Settings
    problems: tuple[Problem, ...]

    def sound(self) -> Settings:
        """The settings, for whoever does not go on with a configuration that has errors."""
        if self.problems:
            raise SourceError(self.problems)
        return self.settings


def load_settings(start: Path, explicit: Path | None = None, overrides: Iterable[Override] = ()) -> Loaded:
    """The settings that hold in the folder `start`.

    A value with a problem is left out, so its default holds; a caller that must not go on looks at the problems.

    Args:
        start: the working folder; relative paths among the overrides start from it.
        explicit: the configuration file to take in place of the nearest one upwards.
        overrides: what wins over the file.
    """
    working = start.absolute()
    project = find_project(working)
    file = working / explicit if explicit is not None else project.file
    problems = Diagnostics()
    values = _values_of_file(file, working, project.root, problems) if file is not None else {}
    configured = frozenset(values)
    given = _values_of_overrides([*overrides], working)
    values.update(given)
    if values.get("snapshot_enabled") is False and "snapshot" not in given:
        values.pop("snapshot", None)
    settings = with_values(
        values, root=project.root, file=file, given=frozenset(given), configured=configured - given.keys()
    )
    return Loaded(settings, tuple(problems))


def settings_with(config: str | None, flags: Mapping[str, object]) -> Loaded:
    """The settings of the working folder, over which win those of the flags that are given: not None, not False.

    Args:
        config: the configuration file, in place of the nearest one upwards.
        flags: by their names in Python: `max_cost` is `--max-cost`.
    """
    said = {spelled(name): value for name, value in flags.items()}
    overrides = [
        Override(KEY_OF_FLAG[flag].name, False if flag.startswith("--no-") else value, flag)
        for flag, value in said.items()
        if value is not None and value is not False
    ]
    return load_settings(Path.cwd(), Path(config) if config is not None else None, overrides)


# --- the walk --------------------------------------------------------------------------------------------------------


@final
class Reading(Tree):
    """A configuration as the walker and the kinds of settings look at it, and the values that are read of it.

    Attributes:
        folders: where paths start from, and where they may lead.
        said: the key under which each setting was met, by the setting's name.
        values: the values of the settings by their names.
    """

    mapping = "a table"

    def __init__(self, folders: Folders, report: Callable[[Span, Finding], None]) -> None:
        self.folders = folders
        self.said: dict[str, Value] = {}
        self.values: dict[str, Any] = {}
        self._report = report
        self._data: Any = None

    def read(self, shape: Shape, data: Any, places: Mapping[Keys, KeyPlace], path: Keys = ()) -> dict[str, Any]:
        """The values of the settings that are there, by their names.

        Raises:
            NotValid: when it is nested too deeply.
        """
        start = Span(0, 0)
        self._data = data
        try:
            whole = located(self, data, places, path, KeyPlace(start, start))
        except RecursionError:
            raise NotValid("it is nested too deeply", 0) from None
        if self.pairs(whole) is None:
            self.report(whole, self.wrong(whole, shape.what, self.mapping))
        shape.of(Fields(self, whole, shape))
        if self.values.get("snapshot_enabled") is True and self.values.get("snapshot") is None:
            switch = self.said["snapshot_enabled"]
            self.report(switch, Finding("EV625", name=switch.text))
        return {name: value for name, value in self.values.items() if value is not None and name in ALL_KEYS}

    def report(self, value: Value, finding: Finding) -> None:
        self._report(value.span, finding)

    def pairs(self, value: Value) -> Sequence[tuple[Value, Value]] | None:
        return value.pairs if isinstance(value.data, dict) else None

    def items(self, value: Value) -> Sequence[Value] | None:
        return value.items if isinstance(value.data, list) else None

    def text(self, value: Value) -> str | None:
        return value.data if isinstance(value.data, str) else None

    def value(self, value: Value) -> Any:
        return value.data

    def is_absent(self, value: Value) -> bool:
        return value.data is None  # JSON's "not set"

    def unknown(self, key: str, shape: Shape, what: str, _meant: str) -> Finding:
        names = tuple(name for name, each in shape.keys.items() if name == (each.into or name).rpartition(".")[2])
        belongs = _place_of(key, of_all=not shape.where)
        if what == "`agent`" and isinstance(self._data["agent"][key], dict):
            belongs = f"`{key}` belongs in the table `agents`, if it names an agent: `[agents.{key}]`"
        return Finding("EV621", name=key, what=what, known=names, read=shape.known, belongs=belongs)

    def missing(self, _key: str, what: str, why: str) -> Finding:
        return Finding("EV623", subject=what, expected=why)

    def wrong(self, value: Value, what: str, expected: str, _corrected: str = "") -> Finding:
        return Finding("EV622", subject=what, expected=expected, found=described(value.data))


def _place_of(key: str, *, of_all: bool) -> str:
    """Says where a key would be right; empty if nowhere. `of_all` looks into the tables of settings for all agents."""
    every = shape().keys.items() if of_all else ()
    tables = {name: each.holds.keys for name, each in every if isinstance(each.holds, Shape)}
    around = [f"`{name}`" for name, keys in tables.items() if key in keys]
    if key in shape().keys:
        return f"`{key}` belongs at the top, outside of every table"
    return f"`{key}` belongs in the table {' or '.join(around)}" if around else ""


# --- flags -----------------------------------------------------------------------------------------------------------


def _values_of_overrides(overrides: list[Override], working: Path) -> dict[str, Any]:
    """The values by the names of their keys; how each was said is its key in messages."""

    def refuse(_place: Span, finding: Finding) -> None:
        raise UsageError(finding.message())

    given = Shape("", {each.said: _named_key(each.key) for each in overrides})
    data = {each.said: [*each.value] if isinstance(each.value, tuple) else each.value for each in overrides}
    return Reading(Folders(working, working), refuse).read(given, data, {})


def _named_key(name: str) -> Key:
    table, _, key = name.rpartition(".")
    keys = shape().keys
    return cast("Shape", keys[table].holds).keys[key] if table else keys[key]


# --- files -----------------------------------------------------------------------------------------------------------


def _values_of_file(file: Path, working: Path, root: Path, problems: Diagnostics) -> dict[str, Any]:
    """The values in the file, by the names of the keys.

    A file of the project names no path outside the project: it may come from someone else. A file elsewhere
    is the user's own, since only a user can name it.
    """
    language: Language = "JSON" if file.suffix == ".json" else "TOML"
    prefix: Keys = ("tool", "evalc") if file.name == "pyproject.toml" else ()

    def report(source: Source, span: Span, finding: Finding) -> None:
        problems.add(_without_secrets(source, locate(source.text, language).places, None), span, finding)

    source = read_source(file, report, name=os.path.relpath(file, working), limit=_LARGEST)
    if source is None or problems.has_errors:
        return {}
    try:
        content = decode(source.text, language)
        for table in prefix:
            content = content.get(table, {}) if isinstance(content, dict) else content
        places, repeated = locate(source.text, language)
        shown = _without_secrets(source, places, prefix)
        for path, span in repeated:
            problems.add(shown, span, Finding("EV624", name=str(path[-1])))
        folders = Folders(file.parent, working, root if is_below(file, root.resolve()) else None)
        reading = Reading(folders, lambda span, finding: problems.add(shown, span, finding))
        return reading.read(shape(), content, places, prefix)
    except NotValid as fault:
        line = source.text[: fault.at].rpartition("\n")[2]
        hint = "; in the table it is called `use`" if "already" in fault.what and _USED.match(line) else ""
        report(source, Span(fault.at, fault.at), Finding("EV620", language=language, what=fault.what + hint))
        return {}


def _without_secrets(source: Source, places: Mapping[Keys, KeyPlace], prefix: Keys | None) -> Source:
    """The source with every value struck out unless its key, after the prefix, may be shown.

    Problems quote lines of the file, and a header's value, or one under a misspelt key, may be a secret.
    """
    text = source.text
    pieces: list[str] = []
    at = 0
    for path, place in sorted(places.items(), key=lambda item: item[1].value):
        start, end = place.value
        is_ours = prefix is not None and path[: len(prefix)] == prefix
        harmless = is_ours and _may_be_shown(path[len(prefix or ()) :])
        if not harmless and at <= start < end and text[start] not in "[{":
            pieces += [text[at:start], re.sub(r"[^\s\"']", "*", text[start:end])]
            at = end
    return Source(source.name, "".join([*pieces, text[at:]]))


def _may_be_shown(path: Keys) -> bool:
    """Whether no secret is at the path, nor below it."""
    around, known = shape(), ALL_KEYS
    if path[:1] == ("agents",):
        around, known, path = agent_shape(), AGENT_KEYS, path[2:]
    for depth, step in enumerate(path):
        key = around.keys.get(str(step))
        if key is None:
            return False
        if not isinstance(key.holds, Shape):
            return not known[key.into].secret
        if all(isinstance(inner, int) for inner in path[depth + 1 :]):
            return True  # what a table is to use
        around = key.holds
    return False


# --- environment files -----------------------------------------------------------------------------------------------
# In the format of dotenv: `NAME=value`, with or without `export` in front; values in single quotes are literal, values
# in double quotes know the escapes `\n`, `\r`, `\t`, `\"`, `\$` and `\\`; `#` begins a comment. Nothing is filled in.

_LINE: Final = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)?(?P<before>\s*)(?P<sign>=)?[ \t]*")
_DOUBLE: Final = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"')
_SINGLE: Final = re.compile(r"'(?P<text>[^']*)'")
_BARE: Final = re.compile(r"(?P<text>(?:[^\s#]|(?<=\S)#|[ \t]+(?=[^\s#]))*)")
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}
_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)", re.IGNORECASE
)
_SHORTEST_SECRET: Final = 8


def with_env_file(settings: Settings, file: str) -> Settings:
    """The settings, with the variables of a file in the environment if it does not have them."""
    variables = read_env_file(Path(file))
    for name, value in variables.items():
        os.environ.setdefault(name, value)
    return settings.replace(secrets=(*settings.secrets, *secrets_among(variables)))


def read_env_file(path: Path) -> Mapping[str, str]:
    """The variables of the file; of two with one name, the last."""
    try:
        text = read_limited(path, _LARGEST).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"`--env-file {path}` cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`--env-file {path}` is not UTF-8: byte {error.start + 1}") from None
    lines = enumerate(text.splitlines(), start=1)
    return dict(
        _variable(line, f"{path}:{number}") for number, line in lines if line.strip() and line.lstrip()[0] != "#"
    )


def secrets_among(variables: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the variables that are secrets by their names, such as `API_KEY`, and long enough to be any."""
    return tuple(
        name for name, value in variables.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    )


def _variable(line: str, place: str) -> tuple[str, str]:
    head = _LINE.match(line)
    assert head is not None  # noqa: S101 - for the type checker: every part of it may be missing
    if head["name"] is None:
        raise _error(place, head.start("before"), "expected the name of a variable")
    if head["sign"] is None:
        raise _error(place, head.end("before"), "expected `=` after the name")
    quote = line[head.end() : head.end() + 1]
    form = {'"': _DOUBLE, "'": _SINGLE}.get(quote, _BARE)
    value = form.match(line, head.end())
    if value is None:
        raise _error(place, head.end(), "the closing quote is missing")
    rest = line[value.end() :]
    if rest.strip() and not (rest[0].isspace() and rest.lstrip().startswith("#")) and not rest.startswith("#"):
        raise _error(place, value.end(), "expected nothing more after the value")
    text = value["text"]
    if "\0" in text:
        raise _error(place, head.end(), "a value cannot hold NUL")
    if quote == '"':
        text = _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)
    return head["name"], text


def _error(place: str, offset: int, what: str) -> UsageError:
    return UsageError(f"{place}:{offset + 1}: {what}")
