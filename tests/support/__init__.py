"""Shared helpers of tests: real servers on the loopback interface."""
