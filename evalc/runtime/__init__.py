"""From cases and an agent to verdicts, scores and result files. Needs no compiler: a compiled file is enough."""
