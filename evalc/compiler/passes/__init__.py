"""One pass, one file, one function: from the IR to what is wrong with it."""
