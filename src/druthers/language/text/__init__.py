"""First: a text as tokens and clauses, and what in it carries no preference."""
