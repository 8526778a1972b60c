"""`evalc config`: shows the settings."""

from __future__ import annotations

from evalc.cli.flags import sound_settings_from
from evalc.cli.options import Config


def show_config(config: Config = None) -> int:
    """Show the settings and where each comes from.

    \b
    Example:
      evalc config
    """
    from evalc.cli.preview import print_settings  # noqa: PLC0415 - for start-up: `--help` reads no configuration

    return print_settings(sound_settings_from(config))
