"""What runs leave on disk: journals, results, past runs, with secrets struck out."""
