"""The JSON Schemas, held against the checker."""
