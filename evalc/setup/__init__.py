"""From flags, calls and settings to what is compiled and run: the suites, agents, cases and options that are meant."""
