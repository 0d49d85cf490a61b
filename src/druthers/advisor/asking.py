"""Questions back: what a person is asked because the answer is worth more than it costs to be asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from druthers.advisor.fold import Fold
from druthers.advisor.person import Person
from druthers.advisor.wishes import PLAIN, Statement, Wishes
from druthers.types import ChoiceQuestion, RankingQuestion

# What a question costs, in units of utility, and how much somebody may have told to be asked still.
PRICE, BUDGET = 0.05, 2
RANKING, CHOICE = "ranking", "choice"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a person.

    Parameters
    ----------
    kind
        "ranking": what matters most, answered by a query; "choice": this item or that one, answered by a choice.
    text
        The question, in a sentence.
    choices
        Names of objectives, or ids of items.
    names
        What people call them.
    value
        By how much the next recommendation is expected to be better for the answer, in units of utility.
    """

    kind: str
    text: str
    choices: tuple[str, ...]
    names: tuple[str, ...]
    value: float

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "choices": list(self.choices), "names": list(self.names)}

    @classmethod
    def from_content(cls, content: dict[str, Any] | None) -> Asked | None:
        """Undo `as_dict`."""
        if content is None:
            return None
        return cls(**{**content, "choices": tuple(content["choices"]), "names": tuple(content["names"])})


@dataclass(frozen=True, slots=True)
class Asking:
    """When to ask.

    Parameters
    ----------
    price
        What a question costs, in units of utility.
    budget
        Who has told as much, in words and ratings, is not asked any more; 0 for never asking.
    """

    price: float = PRICE
    budget: int = BUDGET

    def question(self, fold: Fold, user: str, person: Person | None, offer: Sequence[Hashable]) -> Asked | None:
        """Return what to ask somebody for whom something of an offer was chosen; None where it does not pay."""
        told = 0 if person is None else person.queries + person.feedbacks
        if told >= self.budget or not fold.policy.values_answers:
            return None
        policy: Any = fold.policy  # of those that value answers, all take what follows
        wishes = Wishes() if person is None else person.wishes
        found = policy.ask(user, price=self.price, offer=offer, stated=_after_each(wishes, fold))
        if isinstance(found, RankingQuestion):
            names = tuple(fold.catalog.objectives[k].name for k in found.named)
            return Asked(RANKING, f"What matters most to you: {_either(names)}?", names, names, found.value)
        if isinstance(found, ChoiceQuestion):
            ids = tuple(str(id) for id in found.offer)
            names = tuple(fold.items[id].name for id in ids)
            return Asked(CHOICE, f"Which would you rather have: {_either(names)}?", ids, names, found.value)
        return None


def _after_each(wishes: Wishes, fold: Fold) -> list[Any]:
    """Return mean and variance of the weights after each objective was wished for, beside what stands."""
    size, stated = fold.catalog.n_objectives, []
    for objective in range(size):
        then = Wishes(wishes.draws, wishes.dismissed)
        then.hear(Statement((objective,), (PLAIN,)))
        stated.append(then.weights(size))
    return stated


def _either(names: Sequence[str]) -> str:
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
