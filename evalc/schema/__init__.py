"""From the checker's own tables of keys and types to JSON Schemas, so that editor and compiler never disagree."""
