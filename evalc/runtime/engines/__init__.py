"""Where the cases of a run are attempted: in this process, or on a cluster."""
