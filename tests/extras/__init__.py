"""Tests of extras."""
