"""From the cases of two runs to what is different, and to how sure that is."""
