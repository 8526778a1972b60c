"""An index over the results of all runs, which can be rebuilt from them at any time."""
