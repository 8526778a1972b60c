"""From findings to what a person reads: the catalogue of everything that can be wrong, and its renderers."""
