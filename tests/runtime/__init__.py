"""Tests of evalc.runtime."""
