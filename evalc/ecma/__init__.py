"""From JSON values, texts and patterns to what JavaScript makes of them."""
