"""Tests of evalc.compiler.passes."""
