"""Evaluates checks against what an agent answered, one family of checks a file."""
