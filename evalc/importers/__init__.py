"""From evals in the formats of other tools to eval files, and to what of them could not be taken over."""
