"""Mappings of an agent's JSON in a configuration."""
