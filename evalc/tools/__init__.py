"""Reads the files that describe an agent's tools."""
