"""Loads the settings for a working folder, and reports every problem of the configuration file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalc.base.errors import SourceError, UsageError
from evalc.base.files import find_project, is_below
from evalc.base.source import Source, Span
from evalc.config.decode import KeyPlace, KeyPlaces, Language, NotValid, decode, locate
from evalc.config.setting import Folders, Key, Keys, Refused, described
from evalc.config.settings import ALL_KEYS, KEY_OF_FLAG, KEYS, TABLES, Settings, settings_of
from evalc.diagnostics.problem import Diagnostics, Finding, Problem
from evalc.dsl.sources import read_source

_LARGEST = 1_000_000


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
        """The settings, for whoever does not go on with a configuration that has errors.

        Raises:
            SourceError: when it has.
        """
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

    Raises:
        UsageError: when an override has a value that its key does not take.
    """
    working = start.absolute()
    project = find_project(working)
    file = working / explicit if explicit is not None else project.file
    problems = Diagnostics()
    values = _values_of_file(file, working, project.root, problems) if file is not None else {}
    configured = frozenset(values)
    given = dict(_values_of_overrides(overrides, working))
    values.update(given)
    if values.get("snapshotEnabled") is False and "snapshotSource" not in given:
        values.pop("snapshotSource", None)
    settings = settings_of(
        values, root=project.root, file=file, given=frozenset(given), configured=configured - given.keys()
    )
    return Loaded(settings, tuple(problems))


def _values_of_overrides(overrides: Iterable[Override], working: Path) -> Iterator[tuple[str, Any]]:
    for override in overrides:
        read = ALL_KEYS[override.key].setting.value.read
        try:
            yield override.key, read(override.value, Folders(working, working))
        except Refused as refused:
            raise UsageError(refused.finding(f"`{override.said}`").message()) from None


def _values_of_file(file: Path, working: Path, root: Path, problems: Diagnostics) -> dict[str, Any]:
    """The values in the file, by the names of the keys.

    A file of the project names no path outside the project: it may come from someone else. A file elsewhere
    is the user's own, since only a user can name it.
    """
    language: Language = "JSON" if file.suffix == ".json" else "TOML"
    prefix: Keys = ("tool", "evalc") if file.name == "pyproject.toml" else ()

    def report(source: Source, span: Span, finding: Finding) -> None:
        problems.add(_without_secrets(source, locate(source.text, language), shown=frozenset()), span, finding)

    source = read_source(file, report, name=os.path.relpath(file, working), limit=_LARGEST)
    if source is None or problems.has_errors:
        return {}
    try:
        content = decode(source.text, language)
    except NotValid as fault:
        report(source, Span(fault.at, fault.at), Finding("EV620", language=language, what=fault.what))
        return {}
    for table in prefix:
        content = content.get(table, {}) if isinstance(content, dict) else content
    located = locate(source.text, language)
    shown = frozenset((*prefix, *key.path) for key in ALL_KEYS.values() if not key.setting.secret)
    source = _without_secrets(source, located, shown=shown)
    folders = Folders(file.parent, working, root if is_below(file, root.resolve()) else None)
    return _Reading(source, located, prefix, folders, problems).read(content)


def _without_secrets(source: Source, located: KeyPlaces, *, shown: frozenset[Keys]) -> Source:
    """The source with every value struck out unless its key may be shown.

    Problems quote lines of the file, and a header's value, or one under a misspelt key, may be a secret.
    """
    text = source.text
    pieces: list[str] = []
    at = 0
    for path, place in sorted(located.places.items(), key=lambda item: item[1].value):
        start, end = place.value
        harmless = any(path[:length] in shown for length in range(1, len(path) + 1))
        if not harmless and at <= start < end and text[start] not in "[{":
            pieces += [text[at:start], re.sub(r"[^\s\"']", "*", text[start:end])]
            at = end
    return Source(source.name, "".join([*pieces, text[at:]]))


class _Reading:
    """The reading of one file's tables; every problem is added at its place."""

    def __init__(
        self, source: Source, located: KeyPlaces, prefix: Keys, folders: Folders, problems: Diagnostics
    ) -> None:
        self._source = source
        self._places = located.places
        self._prefix = prefix
        self._folders = folders
        self._problems = problems
        for path, span in located.repeated:
            problems.add(source, span, Finding("EV624", name=str(path[-1])))

    def read(self, content: Any) -> dict[str, Any]:
        """The values of the whole file, by the names of the keys."""
        values = self._read_table(content, (), KEYS, TABLES)
        if values.get("snapshotEnabled") is True and "snapshotSource" not in values:
            self._add(("snapshotEnabled",), Finding("EV625"))
        return values

    def _read_table(
        self, table: Any, path: Keys, keys: Mapping[str, Key], tables: Mapping[str, Mapping[str, Key]]
    ) -> dict[str, Any]:
        what = f"`{path[-1]}`" if path else "the configuration"
        if not isinstance(table, dict):
            self._add(path, Finding("EV622", subject=what, expected="a table", found=described(table)), at_value=True)
            return {}
        values: dict[str, Any] = {}
        for name, value in table.items():
            if value is None:
                continue  # JSON's "not set"
            if name in tables:
                values.update(self._read_table(value, (*path, name), tables[name], {}))
            elif name in keys:
                values.update(self._read_value(keys[name], (*path, name), value))
            else:
                self._add((*path, name), Finding("EV621", name=name, what=what, known=(*keys, *tables)))
        return values

    def _read_value(self, key: Key, path: Keys, value: Any) -> dict[str, Any]:
        try:
            return {key.name: key.setting.value.read(value, self._folders)}
        except Refused as refused:
            for part in refused.parts:
                self._add_refusal((*path, *part.within), part)
            return {}

    def _add_refusal(self, path: Keys, refused: Refused) -> None:
        name = next(part for part in reversed(path) if isinstance(part, str))
        subject = f"an item of `{name}`" if isinstance(path[-1], int) else f"`{name}`"
        self._add(path, refused.finding(subject), at_value=True)

    def _add(self, path: Keys, finding: Finding, *, at_value: bool = False) -> None:
        """Add a finding at a key or its value, or at the nearest table around it that has a place."""
        full = (*self._prefix, *path)
        around = (full[:length] for length in range(len(full), 0, -1))
        start = Span(0, 0)
        place = next((self._places[path] for path in around if path in self._places), KeyPlace(start, start))
        self._problems.add(self._source, place.value if at_value else place.key, finding)


# --- with flags ------------------------------------------------------------------------------------------------------


def settings_with(config: str | None, flags: Mapping[str, object]) -> Loaded:
    """The settings of the working folder, over which win those of the flags that are given: not None, not False.

    Args:
        config: the configuration file, in place of the nearest one upwards.
        flags: by their names in Python: `max_cost` is `--max-cost`.

    Raises:
        UsageError: a flag has a value that it does not take.
    """
    said = {f"--{name.replace('_', '-')}": value for name, value in flags.items()}
    overrides = [
        Override(KEY_OF_FLAG[flag].name, False if flag.startswith("--no-") else value, flag)
        for flag, value in said.items()
        if value is not None and value is not False
    ]
    return load_settings(Path.cwd(), Path(config) if config is not None else None, overrides)
