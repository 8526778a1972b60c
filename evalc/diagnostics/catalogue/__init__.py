"""The catalogue: everything that can be wrong, declared once, a file a family."""
