"""Parses the small languages: check, rule, criterion, template."""
