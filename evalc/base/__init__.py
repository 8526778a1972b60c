"""What every room stands on: exceptions, sources, files, terminals, and the names that packages offer."""
