"""EV62x: configuration files. An example is the text of an `evalc.toml`, or of an `evalc.config.json` if it is JSON."""

from __future__ import annotations

from typing import ClassVar

from evalc.diagnostics.near import Slip, listed, slip_of
from evalc.diagnostics.problem import Finding


class ConfigSyntax(Finding, frozen=True, kw_only=True):
    """The configuration file cannot be read.

    Nothing in it is used, so every setting would silently be its default.

    Example:
        concurrency 4

    Cure:
        concurrency = 4
    """

    code: ClassVar[str] = "EV620"
    language: str
    what: str

    def message(self) -> str:
        return f"this is not valid {self.language}: {self.what}"


class UnknownSetting(Finding, frozen=True, kw_only=True):
    """A key that is not a setting.

    A misspelt setting would silently keep its default.

    Example:
        concurency = 4

    Cure:
        concurrency = 4
    """

    code: ClassVar[str] = "EV621"
    name: str
    what: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.name}` is not a key of {self.what}"

    def slip(self) -> Slip | None:
        return slip_of(self.name, self.known)

    def help(self) -> str:
        return f"the keys of {self.what} are {listed(self.known)}"


class SettingType(Finding, frozen=True, kw_only=True):
    """A setting has a value of the wrong type.

    Example:
        timeoutMs = "60 seconds"

    Cure:
        timeoutMs = 60000
    """

    code: ClassVar[str] = "EV622"
    subject: str
    expected: str
    found: str

    def message(self) -> str:
        return f"{self.subject} must be {self.expected}, not {self.found}"


class SettingValue(Finding, frozen=True, kw_only=True):
    """A setting has a value of the right type that it cannot have.

    Example:
        concurrency = 0

    Cure:
        concurrency = 1
    """

    code: ClassVar[str] = "EV623"
    subject: str
    expected: str

    def message(self) -> str:
        return f"{self.subject} must be {self.expected}"


class SettingOutside(Finding, frozen=True, kw_only=True):
    """A path in a project's configuration leads out of the project.

    A configuration may come from someone else, as in a pull request, and must not make evalc read or write
    any other file of yours. A path that you give as a flag, or in a configuration outside the project that you
    name with `--config`, may lead anywhere.

    Example:
        toolRegistryPath = "../tools.json"

    Cure:
        toolRegistryPath = "tools.json"
    """

    code: ClassVar[str] = "EV626"
    subject: str
    path: str
    root: str

    def message(self) -> str:
        return f"{self.subject} names `{self.path}`, which lies outside the project"

    def help(self) -> str:
        return f"the project's root is {self.root}; put the file there, or name it with a flag"


class DuplicateSetting(Finding, frozen=True, kw_only=True):
    """A JSON configuration has the same key twice.

    JSON readers silently take the last one.

    Example:
        {"concurrency": 1, "concurrency": 8}

    Cure:
        {"concurrency": 8}
    """

    code: ClassVar[str] = "EV624"
    name: str

    def message(self) -> str:
        return f"`{self.name}` is repeated here"

    def help(self) -> str:
        return "keep one of them"


class SnapshotWithoutSource(Finding, frozen=True, kw_only=True):
    """Snapshots are switched on, and nothing says where to take one from.

    Every `{{snapshot:...}}` would be unresolved, and its assertion skipped.

    Example:
        snapshotEnabled = true

    Cure:
        snapshotEnabled = true
        snapshotSource = "evals/snapshot.json"
    """

    code: ClassVar[str] = "EV625"

    def message(self) -> str:
        return "`snapshotEnabled` is true and there is no `snapshotSource`"

    def help(self) -> str:
        return "name a file, a URL, `python:module:name` or `command:...` as `snapshotSource`"
