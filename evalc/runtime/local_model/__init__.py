"""From a GGUF file to a model that answers on this machine: llama.cpp's server, in a process of its own."""
