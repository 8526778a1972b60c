"""The tests of evalc, laid out as the package is."""
