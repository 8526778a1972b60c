"""Goldens: what evalc says and writes, word for word."""
