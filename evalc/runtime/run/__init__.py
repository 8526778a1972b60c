"""One run: choosing cases, pacing them, asking agents, scoring, and ending in order."""
