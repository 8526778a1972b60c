"""From source texts to the syntax tree: YAML and JSON readers, nodes with positions, schemas of the source language."""
