"""The laws of what compiles: each takes a project that is tried, and holds or asserts."""
