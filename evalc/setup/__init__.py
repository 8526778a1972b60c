"""Prepares what is compiled and run: suites, agents, cases and options, from flags, calls and settings."""
