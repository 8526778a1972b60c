"""From a configuration file, the environment and flags to the settings of a command."""
