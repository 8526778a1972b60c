"""Reads source texts into syntax trees: YAML and JSON readers, nodes with positions, the formatter."""
