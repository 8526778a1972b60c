"""Logic of checks: formulas about a response, and what follows from them."""
