"""Compares two runs case by case, and says how sure each difference is."""
