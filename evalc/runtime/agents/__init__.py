"""From a case's input to an agent's answer: one file an agent."""
