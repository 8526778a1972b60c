"""From the result files of all runs to an index over them, which can be made anew at any time."""
