"""What evalc costs, measured against what else does the same work (`make bench`)."""
