"""Return what a check is: a subject and a predicate, the tables of both, and what the contract writes for them."""
