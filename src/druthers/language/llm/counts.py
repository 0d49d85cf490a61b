"""What asking a language model came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class Counts:
    """What asking a model came to.

    Parameters
    ----------
    questions
        What was asked, replies from disk included.
    cached
        Questions answered from disk.
    calls
        Requests to the server.
    retries
        Requests that repeated a failed one.
    failures
        Requests that failed: no connection, no reply in time, or an error status.
    illegal
        Replies that could not be read.
    refusals
        Replies in which the model declined.
    fallbacks
        Questions that the model did not answer in the end.
    input_tokens, output_tokens
        Tokens as the server counted them; 0 from servers that do not.
    seconds
        Time in requests, added up over threads.
    cost
        Tokens times their prices.
    """

    questions: int = 0
    cached: int = 0
    calls: int = 0
    retries: int = 0
    failures: int = 0
    illegal: int = 0
    refusals: int = 0
    fallbacks: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def as_dict(self) -> dict[str, float]:
        """Return the counts as plain values, ready for JSON."""
        return asdict(self)
