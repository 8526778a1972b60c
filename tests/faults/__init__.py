"""Agents and files that misbehave: each ends in a clear status."""
