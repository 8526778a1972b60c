"""Where cases run: engines."""
