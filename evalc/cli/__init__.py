"""The command line. One command a file: it parses, calls, prints and exits."""
