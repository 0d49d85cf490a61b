"""What asking a language model came to."""

from dataclasses import asdict, dataclass


@dataclass
class Counts:
    """What asking a model came to."""

    questions: int = 0  # what was asked, replies from disk included
    cached: int = 0  # questions answered from disk
    calls: int = 0  # requests to the server
    retries: int = 0  # requests that repeated a failed one
    failures: int = 0  # requests that failed: no connection, no reply in time, or an error status
    illegal: int = 0  # replies that could not be read
    refusals: int = 0  # replies in which the model declined
    fallbacks: int = 0  # questions that the model did not answer in the end
    input_tokens: int = 0  # tokens as the server counted them; 0 from servers that do not
    output_tokens: int = 0
    seconds: float = 0.0  # time in requests, added up over threads
    cost: float = 0.0  # tokens times their prices

    def as_dict(self) -> dict[str, float]:
        """Return the counts as plain values, ready for JSON."""
        return asdict(self)
