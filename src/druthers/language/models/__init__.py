"""Third: what clauses mean that words leave unexplained, by a table of words and a sentence model."""
