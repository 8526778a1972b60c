"""JavaScript's semantics: texts of values, white space, regular expressions, token paths."""
