"""The demo agent: the same answers everywhere about weather and Python code, without a key."""
