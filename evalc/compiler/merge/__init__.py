"""From suite trees to their cases as they are meant: with what they include and inherit, and the rows of tables."""
