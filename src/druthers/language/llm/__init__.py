"""Instead of all that: reading and writing by a language model on an OpenAI-compatible server."""
