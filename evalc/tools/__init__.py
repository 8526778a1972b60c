"""From the files that describe an agent's tools to their definitions."""
