"""Resolves the names in merged suites: prompts, inputs, the suite and its tool."""
