"""Tests of evalc.compiler.logic."""
