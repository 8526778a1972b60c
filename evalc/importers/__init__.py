"""Imports evals from the formats of other tools, and names what cannot be taken over."""
