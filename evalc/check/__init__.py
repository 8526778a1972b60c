"""Checks, each a subject and a predicate: their tree, the tables of both, and how the contract writes them."""
