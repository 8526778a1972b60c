"""Generates JSON Schemas from the checker's own tables, so that editor and compiler never disagree."""
