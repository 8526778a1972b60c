"""Judges, panels of judges, and the cache of their judgements."""
