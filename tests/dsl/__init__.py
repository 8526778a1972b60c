"""Tests of the readers and of the syntax tree."""
