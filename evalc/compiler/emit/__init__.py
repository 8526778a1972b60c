"""Emits the IR of merged suites: `case` emits a case, and each part of a case has its own file."""
