"""Tests of the small languages."""
