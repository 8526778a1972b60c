"""Tests of evalc.extras.challenge."""
