"""Agents of every kind, one file each."""
