"""Tests of evalc.runtime.agents."""
