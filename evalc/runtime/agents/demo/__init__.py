"""From messages about weather and Python code to the same answers everywhere: an agent that needs no key."""
