"""Questions back: what a person is asked because the answer is worth more than it costs to be asked."""

from dataclasses import dataclass
from typing import Annotated, Any

# What a question costs, in units of utility, and how much somebody may have told to be asked still.
PRICE, BUDGET = 0.05, 2
RANKING, CHOICE = "ranking", "choice"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a person."""

    kind: Annotated[
        str, '"ranking": what matters most, answered by a query; "choice": this item or that one, answered by a choice.'
    ]
    text: Annotated[str, "The question, in a sentence."]
    choices: Annotated[tuple[str, ...], "Names of objectives, or ids of items."]
    names: Annotated[tuple[str, ...], "What people call them."]
    value: Annotated[
        float, "By how much the next recommendation is expected to be better for the answer, in units of utility."
    ]

    @classmethod
    def from_content(cls, content: dict[str, Any] | None) -> "Asked | None":
        """Return what was asked from the plain values of it."""
        if content is None:
            return None
        return cls(**{**content, "choices": tuple(content["choices"]), "names": tuple(content["names"])})


@dataclass(frozen=True, slots=True)
class Asking:
    """When to ask."""

    price: float = PRICE  # what a question costs, in units of utility
    budget: int = BUDGET  # who has told as much, in words and ratings, is not asked any more; 0 for never asking
