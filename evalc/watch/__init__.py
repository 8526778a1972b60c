"""Checks eval files whenever they are saved, and runs the cases that have changed."""
