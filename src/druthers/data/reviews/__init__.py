"""From raw reviews, or from a table of ratings, to a data folder."""
