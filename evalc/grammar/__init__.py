"""Parses the small languages: check, rule, criterion, template. Lark is used here alone."""
