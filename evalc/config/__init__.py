"""Makes the settings of a command from its configuration file, the environment and flags."""
