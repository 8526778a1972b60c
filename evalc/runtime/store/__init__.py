"""Files of runs: journals, results, past runs, with secrets struck out."""
