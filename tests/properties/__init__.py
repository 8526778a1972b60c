"""Laws of the whole: what holds of every suite and of every text."""
