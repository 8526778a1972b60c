"""Coverage-guided fuzzing of everything that reads what authors wrote (`make fuzz`), and what it has found so far."""
