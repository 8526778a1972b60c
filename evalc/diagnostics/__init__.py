"""The catalogue of everything that can be wrong, and the renderers of problems."""
