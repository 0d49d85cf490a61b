"""Fourth: what is said of the mentions, and the order that comes of it."""
