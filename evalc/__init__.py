"""evalc: a compiler and runner for evals of LLM agents."""

__version__ = "0.1.0"
