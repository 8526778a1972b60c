"""The JSON case model: what a compiled eval file holds and what a run writes, as typed records. Knows nothing else of ours."""
