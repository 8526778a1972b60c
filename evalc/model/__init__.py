"""The JSON case model: what a compiled file holds and what a run writes. Knows nothing else of ours."""
