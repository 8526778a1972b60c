"""The keys of a configuration: each with the values it takes, and how they are read."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalc.config.settings import is_header_value, names_variables_well
from evalc.diagnostics.catalogue.config import SettingType, SettingValue
from evalc.diagnostics.problem import Finding

Keys = tuple[str | int, ...]
"""The way from the top of a configuration to a value: names of tables, and indices of lists."""


class Folders(NamedTuple):
    """Where relative paths start from, and the working folder, which `paths` are shown from."""

    base: Path
    working: Path


class Refused(Exception):
    """A value that its key does not take: what is wrong, and where within the value.

    Attributes:
        within: the way from the value to the part that is wrong.
        parts: the refusals of a list's or table's parts, all of them; of a simple value, only this one.
    """

    def __init__(self, expected: str = "", *, found: str = "", parts: Sequence[Refused] = ()) -> None:
        super().__init__(expected)
        self._expected = expected
        self._found = found
        self.within: Keys = ()
        self.parts: Sequence[Refused] = parts or (self,)

    def finding(self, subject: str) -> Finding:
        """As an entry of the catalogue, about `subject`."""
        if self._found:
            return SettingType(subject=subject, expected=self._expected, found=self._found)
        return SettingValue(subject=subject, expected=self._expected)


Reader = Callable[[Any, Folders], Any]


def _text(value: Any, _: Folders) -> str:
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not value.strip():
        raise Refused("a text that is not empty")
    return value


def _flag(value: Any, _: Folders) -> bool:
    if not isinstance(value, bool):
        raise Refused("true or false", found=described(value))
    return value


def _whole(least: int, most: int) -> Reader:
    def read(value: Any, _: Folders) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refused("a whole number", found=described(value))
        if not least <= value <= most:
            raise Refused(f"between {least} and {most}")
        return value

    return read


def _milliseconds(value: Any, _: Folders) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused("a number of milliseconds", found=described(value))
    if not 0 < value < math.inf:
        raise Refused("above 0")
    return value


def _path(value: Any, folders: Folders) -> Path:
    text = _text(str(value) if isinstance(value, Path) else value, folders)
    if "\0" in text:
        raise Refused("a path, which has no NUL character")
    return folders.base / text


def _paths(value: Any, folders: Folders) -> tuple[str, ...]:
    """Files, folders or globs, as the working folder sees them."""
    return tuple(
        path if Path(path).is_absolute() else os.path.relpath(folders.base / path, folders.working)
        for path in _texts(value, folders)
    )


def _texts(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _text, "a list of texts")


def _names_of_variables(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _name_of_variable, "a list of names of environment variables")


def _name_of_variable(value: Any, folders: Folders) -> str:
    text = _text(value, folders)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise Refused("the name of an environment variable")
    return text


def _each(value: Any, folders: Folders, read: Reader, expected: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Refused(expected, found=described(value))
    return tuple(_read_parts(enumerate(value), lambda _, item: read(item, folders)))


def _read_parts(parts: Iterable[tuple[str | int, Any]], read: Callable[[Any, Any], Any]) -> list[Any]:
    """Every part, read; all refusals at once where there are any."""
    items: list[Any] = []
    refusals: list[Refused] = []
    for key, value in parts:
        try:
            items.append(read(key, value))
        except Refused as refused:
            for part in refused.parts:
                part.within = (key, *part.within)
            refusals += refused.parts
    if refusals:
        raise Refused(parts=refusals)
    return items


def _snapshot_source(value: Any, folders: Folders) -> str:
    text = _text(value, folders)
    if text.startswith(("http://", "https://", "python:", "command:")):
        return text
    return str(_path(text, folders))


def _headers(value: Any, _: Folders) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise Refused("a table of headers", found=described(value))
    return tuple(_read_parts(value.items(), _header))


def _header(name: str, value: Any) -> tuple[str, str]:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        raise Refused("a header, whose name has letters, digits and dashes")
    if not isinstance(value, str):
        raise Refused("a text", found=described(value))
    if not is_header_value(value):
        raise Refused("a text without line ends and other control characters")
    if not names_variables_well(value):
        raise Refused("a text in which every `${` begins a variable, such as `${A_KEY}`")
    return name, value


def _selectors(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _selector, "a list of codes")


def _silencers(value: Any, folders: Folders) -> tuple[str, ...]:
    return _each(value, folders, _silencer, "a list of codes")


def _selector(value: Any, folders: Folders) -> str:
    from evalc.diagnostics.policy import BadSelector, selector  # noqa: PLC0415 - for start-up: seldom configured

    try:
        return selector(_text(value, folders))
    except BadSelector as bad:
        raise Refused(f"a code or the beginning of some: {bad}") from None


def _silencer(value: Any, folders: Folders) -> str:
    from evalc.diagnostics.policy import BadSelector, silencer  # noqa: PLC0415 - likewise

    try:
        return silencer(_selector(value, folders))
    except BadSelector as bad:
        raise Refused(f"a code that can be ignored: {bad}") from None


def _severities(value: Any, folders: Folders) -> tuple[tuple[str, str], ...]:
    """Codes, each with its level."""
    if not isinstance(value, dict):
        raise Refused("a table of codes", found=described(value))

    def read(code: str, level: Any) -> tuple[str, str]:
        levels = ("error", "warning", "off")
        if level not in levels:
            raise Refused("`error`, `warning` or `off`")
        return (_selector if level == "error" else _silencer)(code, folders), level

    return tuple(_read_parts(value.items(), read))


def _per_file(value: Any, folders: Folders) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Patterns of files, each with codes."""
    if not isinstance(value, dict):
        raise Refused("a table of patterns", found=described(value))

    def read(pattern: str, codes: Any) -> tuple[str, tuple[str, ...]]:
        return _pattern(pattern), _silencers(codes, folders)

    return tuple(_read_parts(value.items(), read))


def _pattern(text: str) -> str:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - for start-up: seldom configured

    try:
        GitIgnoreSpec.from_lines([text])
    except ValueError:
        raise Refused("under a pattern as in a `.gitignore`") from None
    return text


def described(value: Any) -> str:
    """The type of a value in words; never the value, which may be a secret."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {str: "a text", int: "a number", float: "a number with a fraction", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")


class Key(NamedTuple):
    """A key of a configuration and the attribute of `Settings` that its value becomes."""

    attribute: str
    read: Reader


KEYS: Mapping[str, Key] = {
    "agentEndpoint": Key("agent_endpoint", _text),
    "seedManifestPath": Key("seed_manifest_path", _path),
    "snapshotEnabled": Key("snapshot_enabled", _flag),
    "outputDir": Key("output_dir", _path),
    "baselineRunId": Key("baseline_run_id", _text),
    "concurrency": Key("concurrency", _whole(1, 10_000)),
    "timeoutMs": Key("timeout_ms", _milliseconds),
    "toolRegistryPath": Key("tool_registry_path", _path),
    "snapshotSource": Key("snapshot_source", _snapshot_source),
    "secrets": Key("secrets", _names_of_variables),
    "paths": Key("paths", _paths),
    "exclude": Key("exclude", _texts),
    "prompts": Key("prompts", _path),
    "strict": Key("strict", _flag),
    "allAssertions": Key("all_assertions", _flag),
    "select": Key("select", _selectors),
    "ignore": Key("ignore", _silencers),
    "severity": Key("severity", _severities),
    "perFileIgnores": Key("per_file_ignores", _per_file),
}
"""The keys at the top: the contract's (Runner Configuration), then evalc's own."""

TABLES: Mapping[str, Mapping[str, Key]] = {
    "agent": {
        "headers": Key("headers", _headers),
        "retries": Key("retries", _whole(0, 10)),
    },
}
"""The tables, each with its keys."""

NEVER_SHOWN: frozenset[Keys] = frozenset({("secrets",), ("agent", "headers")})
"""The keys whose values are not shown, not even as a line of the file."""
