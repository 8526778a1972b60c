"""Earlier runs: found by name, read, compared, resumed, rescored, merged."""
