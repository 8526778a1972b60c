"""The project that `evalc init` creates."""
