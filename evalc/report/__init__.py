"""Reports of results, for people and for programs."""
