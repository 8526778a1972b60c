"""From a command line to an exit code: one command a file, which parses, calls, prints and exits."""
