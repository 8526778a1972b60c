"""From nothing to a project: the files that `evalc init` writes, and what would be in their way."""
