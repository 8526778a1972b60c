"""Makes settings of the flags that commands share. Imports no typer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalc.config.load import Loaded
    from evalc.config.settings import Settings
    from evalc.runtime.store.past.resume import PastRun

_READ_WITH = ("prompts", "seed_manifest", "tools")
"""The flags with which a run's eval files were read, and without which they may not be the same again."""


def settings_from(config: str | None, **flags: object) -> Loaded:
    """The settings of the working folder; `flags` win where they are given (not None, not False)."""
    from evalc.config.load import settings_with  # noqa: PLC0415 - for start-up: `--help` needs no settings

    return settings_with(config, flags)


def sound_settings_from(config: str | None, **flags: object) -> Settings:
    """The settings, for commands that do not go on with a configuration that has errors.

    Raises:
        SourceError: when it has.
    """
    return settings_from(config, **flags).sound()


def settings_of_run(past: PastRun, config: str | None, **flags: object) -> Settings:
    """The settings to read a run's eval files again: prompts, seed manifest and tools are the run's, unless given now.

    Raises:
        SourceError: the configuration has errors.
    """
    said = {} if past.header is None else past.header.flags
    kept = {name: flags.get(name) or said.get(name) for name in _READ_WITH}
    return sound_settings_from(config, **{**flags, **kept})


def refuse_no_share(flag: str, value: float | None) -> None:
    """Reject a number that is not between 0 and 1.

    Raises:
        UsageError: it is below 0, above 1 or no number at all, with which nothing would ever be less.
    """
    from evalc.base.errors import UsageError  # noqa: PLC0415 - for start-up, as below

    if value is not None and not 0 <= value <= 1:
        raise UsageError(f"`{flag}` is between 0 and 1, and this is {value:g}")
