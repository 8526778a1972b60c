"""Applies flags, from the command line or a call from Python, to settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalc.config.load import Loaded, Override, load_settings
from evalc.config.settings import KEY_OF_FLAG


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
