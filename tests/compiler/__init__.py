"""Tests of evalc.compiler."""
