"""The corpus: valid files that together use the whole language, and single mistakes made by changing them."""
