"""Foundations of all rooms: exceptions, sources, files, terminals, and the names that packages offer."""
