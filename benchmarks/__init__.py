"""Benchmarks of evalc beside other programs that do the same work (`make bench`)."""
