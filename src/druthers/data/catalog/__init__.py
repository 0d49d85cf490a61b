"""From a table of items, or of ratings of items, to a catalog."""
