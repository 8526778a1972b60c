"""The conformance cases of `specs/conformance`, run against evalc."""
