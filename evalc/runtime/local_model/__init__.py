"""Serves a GGUF model on this machine, with llama.cpp's server in its own process."""
