"""From a configuration file, the environment and flags to the settings of a command."""

from evalc.config.load import Override, load_settings
from evalc.config.settings import Settings

__all__ = ["Override", "Settings", "load_settings"]
