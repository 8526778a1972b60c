"""From flags, of the command line or of a call from Python, to the settings that hold with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalc.config.load import Loaded, Override, load_settings

SETTING_OF_FLAG: Mapping[str, str] = {
    "--agent": "agentEndpoint",
    "--all-assertions": "allAssertions",
    "--baseline": "baselineRunId",
    "--concurrency": "concurrency",
    "--fail-on-regression": "failOnRegression",
    "--judge": "judges",
    "--judge-samples": "judge.samples",
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
        Override(SETTING_OF_FLAG[flag], False if flag.startswith("--no-") else value, flag)
        for flag, value in said.items()
        if value is not None and value is not False
    ]
    return load_settings(Path.cwd(), Path(config) if config is not None else None, overrides)
