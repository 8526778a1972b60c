"""What a configuration says, typed, with every default; and what it takes from the environment when a run needs it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, final

from evalc.errors import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CREDENTIAL_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one command. Paths are absolute, except `paths`, which are as the working folder sees them.

    Attributes:
        root: the project's folder: the nearest one upwards with a configuration or `.git`, else the working folder.
        file: the configuration file, if there is one.
        agent_endpoint: the agent's spec, such as a URL or `python:module:name`.
        seed_manifest_path: the seed manifest where one is named; see `seed_manifest`.
        snapshot_source: a file, a URL, `python:module:name` or `command:...`; None when snapshots are off.
        output_dir: where results go where it is named; see `results_folder`.
        baseline_run_id: a run id, `latest`, or the path of a result.
        concurrency: how many cases run at a time, from 1.
        timeout_ms: the time of one case in milliseconds, above 0.
        tool_registry_path: the file with the current tools, for staleness.
        secrets: names of environment variables whose values may be written nowhere.
        headers: names and values of the HTTP agent's headers, values as configured; see `expanded_headers`.
        retries: how often a request is repeated after a fault of the connection.
        given: the attributes that a flag or a caller gave, rather than the file.
        paths: what to run where the command names nothing: files, folders, globs.
        exclude: patterns of files to leave out when folders are searched, relative to `root`.
        prompts: the folder with the prompt files that eval files refer to by id.
        strict: whether checks that cannot fail and unverified cases are errors.
        all_assertions: whether a case runs all its assertions, not only up to the first that fails.
        select: the codes, or beginnings of codes, of the problems that are reported; all where it is empty.
        ignore: those of the problems that are left out. The longer of two that name a code wins.
        severity: codes, or beginnings of codes, each with `error`, `warning` or `off`; the longest wins.
        per_file_ignores: patterns of files relative to `root`, as in a `.gitignore`, each with codes left out there.
    """

    root: Path
    file: Path | None = None
    agent_endpoint: str | None = None
    seed_manifest_path: Path | None = None
    snapshot_source: str | None = None
    output_dir: Path | None = None
    baseline_run_id: str | None = None
    concurrency: int = 1
    timeout_ms: float = 60_000
    tool_registry_path: Path | None = None
    secrets: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    retries: int = 2
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    prompts: Path | None = None
    strict: bool = False
    all_assertions: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Literal["error", "warning", "off"]], ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    given: frozenset[str] = frozenset()

    @property
    def results_folder(self) -> Path:
        """Where results go: the configured folder, else `evals/results` of the project."""
        return self.output_dir or self.default_results_folder

    @property
    def default_results_folder(self) -> Path:
        """Where results go when nothing is configured."""
        return self.root / "evals" / "results"

    @property
    def build_folder(self) -> Path:
        """Where compiled files go when nothing else is named."""
        return self.root / "evals" / "build"

    @property
    def written_folders(self) -> tuple[Path, ...]:
        """The folders in which evalc's own files are, also those of earlier runs that no flag led elsewhere."""
        return (self.results_folder, self.default_results_folder, self.build_folder)

    @property
    def seed_manifest(self) -> Path | None:
        """The seed manifest: the one named, else `evals/seed-manifest.json` of the project where it exists."""
        if self.seed_manifest_path is not None:
            return self.seed_manifest_path
        conventional = self.root / "evals" / "seed-manifest.json"
        return conventional if conventional.exists() else None

    def expanded_headers(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The headers with every `${NAME}` filled from the environment.

        Raises:
            UsageError: when a variable is not set, or its value cannot stand in a header.
        """
        return {name: _expanded(name, value, environ) for name, value in self.headers}

    def secret_values(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The values that must be struck out of whatever is written, whatever their length.

        They are those of the variables named by `secrets`, those filled into headers, and configured credentials.
        """
        names = {*self.secrets, *(name for _, value in self.headers for name in _VARIABLE.findall(value))}
        values = {environ.get(name, "") for name in names}
        for header, value in self.headers:
            if header.lower() in _CREDENTIAL_HEADERS and not _VARIABLE.search(value):
                # A scheme stands before the credentials, which may be met alone: `Bearer TOKEN`.
                values.update((value, value.rpartition(" ")[2]))
        return tuple(sorted(values - {""}))


def _expanded(header: str, value: str, environ: Mapping[str, str]) -> str:
    missing = [name for name in _VARIABLE.findall(value) if name not in environ]
    if missing:
        raise UsageError(f"the environment variable `{missing[0]}`, which the header `{header}` needs, is not set")
    text = _VARIABLE.sub(lambda variable: environ[variable[1]], value)
    if not is_header_value(text):
        raise UsageError(f"the header `{header}` would hold a line end or another control character")
    return text


def is_header_value(text: str) -> bool:
    """Whether HTTP can carry the text as a header's value."""
    return not any(ord(character) < 32 or ord(character) == 127 for character in text)


def names_variables_well(value: str) -> bool:
    """Whether every `${` in the text begins a `${NAME}`."""
    return "${" not in _VARIABLE.sub("", value)
