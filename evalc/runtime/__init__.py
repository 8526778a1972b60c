"""Runs cases against an agent. Needs no compiler: a compiled file is enough."""
