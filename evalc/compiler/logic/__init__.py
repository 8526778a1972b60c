"""What checks mean: formulas about a response, and what follows from them."""
