"""Files, sources, terminals and what else every room stands on."""
