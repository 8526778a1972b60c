"""What a configuration says of an agent's JSON."""
