"""What a person has said so far, and what it says about weights.

The worths of a Plackett-Luce model, scaled to sum to one, are the chances of being named first. They are taken for the
weights that words suggest, and a statement is worth so many draws of a first choice: one for a plain wish, more for
"only", less for "ideally". Under a Dirichlet prior, worth `PRIOR` draws over all objectives together, draws are simply
counted: mean and variance of the weights are those of a Dirichlet law. A list of wishes shares its draws so that each
place has `NEXT` times those of the place before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from druthers.catalogs import Catalog
from druthers.limits import Where, merge
from druthers.types import Floats, Strength

PRIOR = 0.4  # draws that all objectives together are worth before anything is said
PLAIN = 1.0  # draws of a plain wish
DRAWS = {
    Strength.ONLY: 4.0,
    Strength.ABOVE_ALL: 3.0,
    Strength.STRONG: 2.0,
    Strength.PLAIN: PLAIN,
    Strength.FAINT: 0.5,
}
GUESSED = 0.3  # what a wish counts that was only taken to be one, of that in so many words
SURE = 0.75  # confidence of a reading from which on a wish counts in full
NEXT = 0.55  # draws of a place in a list, in those of the place before
MOST = 8.0  # draws of one objective, however often it is repeated
FADING = 0.7  # what earlier draws keep when something else is wished later
DISMISSED = 0.02  # what a dismissed objective keeps of its share of the prior
BY_HAND = 6.0  # draws of weights that were set by hand, over all objectives together
LEAST_DEVIATION = 0.05  # nobody is so sure that behavior could not overrule it


def sureness(confidence: float, *, guessed: bool = False) -> float:
    """Return what a wish counts that was read with so much confidence: in full from `SURE` on; a guess, a part of it.

    Examples
    --------
    >>> sureness(0.9), sureness(0.6), sureness(0.9, guessed=True)
    (1.0, 0.8, 0.3)
    """
    return round(min(confidence / SURE, 1.0) * (GUESSED if guessed else 1.0), 12)


class Statement(NamedTuple):
    """What one message says."""

    wanted: tuple[int, ...]  # objectives, most important first
    draws: tuple[float, ...]  # how much each is meant
    dismissed: tuple[int, ...] = ()  # objectives that do not matter
    only: bool = False  # whether nothing else matters from now on
    guessed: tuple[int, ...] = ()  # those of the wanted that no word tells of


def by_hand(weights: Sequence[float]) -> Statement:
    """Return the statement after which words alone suggest these weights, scaled to sum to one.

    A weight cannot fall below what the prior leaves it.

    Examples
    --------
    >>> wishes = Wishes()
    >>> wishes.hear(by_hand([0.2, 0.7, 0.1]))
    >>> wishes.weights(3)[0].round(6)
    array([0.2, 0.7, 0.1])
    """
    wanted = np.asarray(weights, dtype=np.float64)
    share = wanted / (wanted.sum() or 1.0)
    counts = np.maximum(share * (BY_HAND + PRIOR) - PRIOR / len(wanted), 0.0)
    order = [int(k) for k in np.argsort(-counts, kind="stable") if counts[k] > 0.0]
    return Statement(tuple(order), tuple((counts[order] / _shares(len(order))).tolist()))


@cache
def _shares(places: int) -> Floats:
    """Return how the draws of a list are shared among its places."""
    shares = NEXT ** np.arange(places)
    return np.asarray(shares * (places / max(shares.sum(), 1.0)), dtype=np.float64)


@dataclass
class Wishes:
    """What is wished for: draws of objectives, the latest message first; what is dismissed; limits, and hopes.

    Examples
    --------
    >>> wishes = Wishes()
    >>> wishes.hear(Statement((0,), (1.0,)))
    >>> wishes.hear(Statement((2,), (1.0,), dismissed=(1,)))
    >>> wishes.draws, wishes.dismissed
    ({2: 1.0, 0: 0.7}, [1])
    >>> mean, variance = wishes.weights(4)
    >>> mean.round(2)
    array([0.4 , 0.  , 0.55, 0.05])
    """

    draws: dict[int, float] = field(default_factory=dict)
    dismissed: list[int] = field(default_factory=list)
    limits: Where = field(default_factory=dict)
    hopes: Where = field(default_factory=dict)  # limits that would be nice, and need not hold
    guessed: list[int] = field(default_factory=list)  # of what is wished for, what was never said in so many words

    def hear(self, said: Statement) -> None:
        """Take in a message: repetition strengthens, contradiction replaces, what was said earlier fades a little."""
        before = {} if said.only else self.draws
        shares = _shares(len(said.wanted))
        draws = {}
        previous = MOST / FADING
        for objective, strength, share in zip(said.wanted, said.draws, shares.tolist(), strict=True):
            # What is put after something else now no longer stands before it, however often it was said.
            total = min(before.get(objective, 0.0) + strength * share, FADING * previous)
            draws[objective] = previous = min(max(total, strength * share), MOST)
        fading = FADING if said.wanted else 1.0
        for objective, earlier in before.items():
            if objective not in draws and objective not in said.dismissed:
                draws[objective] = fading * earlier
        worded = {*before}.difference(self.guessed) | {*said.wanted}.difference(said.guessed)
        self.draws, self.guessed = draws, [objective for objective in draws if objective not in worded]
        kept = () if said.only else self.dismissed
        self.dismissed = list(dict.fromkeys(one for one in (*kept, *said.dismissed) if one not in draws))

    def limit(self, limits: Where, dropped: Sequence[str] = (), hopes: Where | None = None) -> None:
        """Take in limits and hopes: about the same thing the later one counts, and a limit before a hope of before."""
        kept = {name: limit for name, limit in self.limits.items() if name not in dropped}
        self.limits = merge(kept, limits)
        left = {name: hope for name, hope in self.hopes.items() if name not in dropped and name not in limits}
        self.hopes = merge(left, hopes or {})

    def unsaid(self, *, limitless: bool) -> "Wishes":
        """Return what is left when all wishes are taken back: limits and hopes, unless these go too."""
        return Wishes() if limitless else Wishes(limits=self.limits, hopes=self.hopes)

    def weights(self, n_objectives: int) -> tuple[Floats, Floats]:
        """Return mean and variance of the weights that the words suggest."""
        counts = np.full(n_objectives, PRIOR / n_objectives)
        counts[self.dismissed] *= DISMISSED
        for objective, draws in self.draws.items():
            counts[objective] += draws
        mean = counts / counts.sum()
        return mean, np.maximum(mean * (1.0 - mean) / (counts.sum() + 1.0), LEAST_DEVIATION**2)

    def standing(self, catalog: Catalog) -> dict[str, Any]:
        """Return what was said, as far as it stands: objectives in their order, those set aside, limits, hopes."""
        names = [objective.name for objective in catalog.objectives]
        return {
            "wished": tuple(names[k] for k in sorted(self.draws, key=lambda k: -self.draws[k])),
            "guessed": tuple(names[k] for k in self.guessed),
            "dismissed": tuple(names[k] for k in self.dismissed),
            "limits": dict(self.limits),
            "hopes": dict(self.hopes),
        }

    def content(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "draws": [list(pair) for pair in self.draws.items()],
            "guessed": self.guessed,
            "dismissed": self.dismissed,
            "limits": self.limits,
            "hopes": self.hopes,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "Wishes":
        """Undo `content`."""
        draws = {int(objective): float(count) for objective, count in content["draws"]}
        limits, hopes = dict(content["limits"]), dict(content.get("hopes", {}))
        guessed = [int(one) for one in content.get("guessed", ())]
        return cls(draws, [int(one) for one in content["dismissed"]], limits, hopes, guessed)
