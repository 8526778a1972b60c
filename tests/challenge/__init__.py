"""Tests of evalc.challenge."""
