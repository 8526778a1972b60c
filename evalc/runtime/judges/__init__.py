"""From an agent's answer and a question to a score: judges, panels of them, and the cache of what they said."""
