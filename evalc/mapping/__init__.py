"""Mappings of an agent's JSON: the body that is sent, and the paths by which an answer is read."""
