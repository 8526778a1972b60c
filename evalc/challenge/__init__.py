"""Tells whether evals would notice a broken agent: gives their checks faulty answers, and counts what they miss."""
