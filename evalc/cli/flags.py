"""From the flags that commands share to settings and to the paths that a command looks at."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalc.config import Settings
    from evalc.config.load import Loaded

SETTING_OF_FLAG: Mapping[str, str] = {
    "--agent": "agentEndpoint",
    "--all-assertions": "allAssertions",
    "--baseline": "baselineRunId",
    "--concurrency": "concurrency",
    "--fail-on-regression": "failOnRegression",
    "--judge": "judges",
    "--judges": "judge.samples",
    "--max-cost": "maxCost",
    "--max-p95-ms": "maxP95Ms",
    "--min-pass-rate": "minPassRate",
    "--min-score": "minScore",
    "--no-judge-cache": "judge.cache",
    "--otel": "otel",
    "--output-dir": "outputDir",
    "--prompts": "prompts",
    "--rpm": "rpm",
    "--rubrics": "judge.rubrics",
    "--seed-manifest": "seedManifestPath",
    "--snapshot": "snapshotSource",
    "--strict": "strict",
    "--timeout-ms": "timeoutMs",
    "--tools": "toolRegistryPath",
}
"""The key of the configuration that each flag wins over."""


def settings_from(config: str | None, **flags: object) -> Loaded:
    """The settings of the working folder; `flags` win where they are given (not None, not False)."""
    from evalc.config import Override, load_settings  # noqa: PLC0415 - for start-up: `--help` needs no settings

    said = {f"--{name.replace('_', '-')}": value for name, value in flags.items()}
    overrides = [
        Override(SETTING_OF_FLAG[flag], False if flag.startswith("--no-") else value, flag)
        for flag, value in said.items()
        if value is not None and value is not False
    ]
    return load_settings(Path.cwd(), Path(config) if config is not None else None, overrides)


def sound_settings_from(config: str | None, **flags: object) -> Settings:
    """The settings, for commands that do not go on with a configuration that has errors.

    Raises:
        SourceError: when it has.
    """
    from evalc.errors import SourceError  # noqa: PLC0415 - for start-up: only where something is wrong

    settings, problems = settings_from(config, **flags)
    if problems:
        raise SourceError(problems)
    return settings


def paths_to_look_at(given: Sequence[str], settings: Settings) -> Sequence[str]:
    """The paths given, else the configuration's, else the working folder."""
    return given or settings.paths or (".",)


def standard_input(paths: Sequence[str]) -> str | None:
    """The whole of standard input where `-` is among the paths, without a byte order mark.

    Raises:
        UsageError: when it is not UTF-8, or larger than a file may be.
    """
    if "-" not in paths:
        return None
    from evalc.errors import UsageError  # noqa: PLC0415 - for start-up: only with `-`
    from evalc.files import YAML_LIMIT  # noqa: PLC0415 - likewise

    data = sys.stdin.buffer.read(YAML_LIMIT + 1)
    if len(data) > YAML_LIMIT:
        raise UsageError(f"standard input is larger than {YAML_LIMIT // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8: byte {error.start + 1} is 0x{data[error.start]:02X}") from None
