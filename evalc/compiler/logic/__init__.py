"""From checks to what they mean: formulas about a response, and what follows from them."""
