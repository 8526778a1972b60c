"""Merges what suites include and inherit into their cases, and expands tables into rows."""
