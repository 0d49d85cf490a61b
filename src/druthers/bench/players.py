"""Players: whatever foretells what people choose, from what they and those before them chose."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from druthers.beliefs import Crowd, first_law
from druthers.beliefs.points import POINTS
from druthers.beliefs.population import next_look
from druthers.bench.ceiling import foretell_mixed, log_sums, softmax
from druthers.environments.people import Listener, People, replay
from druthers.types import Floats, Integers

OURS, CEILING = "crowd", "mixed-logit"
# A linear bandit counts what was picked as 1 and the rest as 0, which has at most this deviation.
DEVIATION = 0.5


# From people and the order in which they come to what was foretold before each choice (n, K), in rows of `people`.
Play: TypeAlias = Callable[[People, Sequence[int] | Integers], Floats]


class Player(NamedTuple):
    """Something that plays."""

    play: Play
    by_order: bool  # whether the order matters: who learns nothing from others plays once for all orders
    about: str


class _Believing:
    """A crowd as a listener."""

    def __init__(self, n_objectives: int, population: bool) -> None:
        self.crowd = Crowd(n_objectives=n_objectives, population=population)

    def foretell(self, person: str, slate: Floats) -> Floats:
        return self.crowd.predict(person, slate)

    def hear(self, person: str, slate: Floats, picked: int) -> None:
        self.crowd.learn_choice(person, picked, slate)


class Linear:
    """A linear bandit for each person: ridge regression of what was picked on the objectives.

    Whoever is heard answers for the whole slate: 1 for what was picked, 0 for the rest, both less 1/K. By Thompson
    sampling (`drawn`) an option is as likely as to be the best one under weights that are drawn; else the highest upper
    bound is certain to be shown.
    """

    def __init__(self, n_objectives: int, drawn: bool) -> None:
        self.size, self.drawn = n_objectives, drawn
        self.grams: dict[str, Floats] = {}
        self.sums: dict[str, Floats] = {}

    def foretell(self, person: str, slate: Floats) -> Floats:
        """Return how likely it is to show each option."""
        gram = self.grams.get(person, np.eye(self.size))
        covariance = np.linalg.inv(gram)
        mean = covariance @ self.sums.get(person, np.zeros(self.size))
        if self.drawn:
            draws = np.vstack([POINTS, -POINTS])[:, : self.size]
            weights = mean + DEVIATION * draws @ np.linalg.cholesky(covariance).T
            shown = np.bincount((weights @ slate.T).argmax(axis=1), minlength=len(slate)) + 0.5
        else:
            bounds = slate @ mean + np.sqrt(np.einsum("kd,de,ke->k", slate, covariance, slate))
            shown = (bounds >= bounds.max() - 1e-12).astype(np.float64)
        chances: Floats = shown / shown.sum()
        return chances

    def hear(self, person: str, slate: Floats, picked: int) -> None:
        """Take in what was picked."""
        gains = np.full(len(slate), -1.0 / len(slate))
        gains[picked] += 1.0
        self.grams[person] = self.grams.get(person, np.eye(self.size)) + slate.T @ slate
        self.sums[person] = self.sums.get(person, np.zeros(self.size)) + slate.T @ gains


def shares_of(slates: Floats, weights: Floats, offset: Floats | float = 0.0) -> Floats:
    """Return how likely each option of some slates (n, K, D) is to be picked with these weights."""
    return softmax(slates @ weights + offset)


def fit_logit(
    slates: Floats,
    picked: Integers,
    start: Floats | None = None,
    *,
    offset: Floats | float = 0.0,
    prior: Floats | None = None,
) -> Floats:
    """Return the weights of a conditional logit for all choices alike, with a prior worth next to nothing.

    An offset (n, K) is what is known already of the utilities of options; a prior is another precision (D, D).

    Examples
    --------
    >>> slates = np.array([[[1.0], [0.0]]] * 4)
    >>> fit_logit(slates, np.array([0, 0, 0, 1])).round(1)
    array([1.1])
    """
    size = slates.shape[2]
    ridge: Any = 0.01 * np.linalg.inv(first_law(size).covariance) if prior is None else prior
    weights = np.zeros(size) if start is None else start.copy()
    chosen = slates[np.arange(len(picked)), picked].sum(axis=0)
    flat = slates.reshape(-1, size)

    def value(at: Floats) -> float:
        return float(log_sums(slates @ at + offset).sum() - chosen @ at + at @ ridge @ at / 2)

    now = value(weights)
    for _ in range(50):
        shares = shares_of(slates, weights, offset)
        means = np.einsum("nk,nkd->nd", shares, slates)
        slope = means.sum(axis=0) - chosen + ridge @ weights
        curve = (flat * shares.reshape(-1, 1)).T @ flat - means.T @ means + ridge
        step = np.linalg.solve(curve, slope)
        scale = 1.0
        while (then := value(weights - scale * step)) > now and scale > 1e-6:
            scale /= 2.0
        weights, fallen, now = weights - scale * step, now - then, then
        if fallen < 1e-9 * (1.0 + abs(now)):
            break
    return weights


def play_population(people: People, order: Sequence[int] | Integers) -> Floats:
    """Play one logit for everybody, fitted to all who came before, as often as ours looks at all people."""
    foretold = np.empty(people.slates.shape[:2])
    weights, look = np.zeros(people.slates.shape[2]), 1
    for count, number in enumerate(order):
        if count >= look:
            before = people.part(order[:count])
            weights, look = fit_logit(before.slates, before.picked, weights), next_look(count)
        rows = slice(people.starts[number], people.starts[number + 1])
        foretold[rows] = shares_of(people.slates[rows], weights)
    return foretold


def _replayed(make: Callable[..., Listener], **settings: bool) -> Play:
    """Return how a listener plays, made anew for a number of objectives."""
    return lambda people, order: replay(people, make(people.slates.shape[2], **settings), order)


# Without a population everybody starts from N(0, 8/D). The ceiling does not ask who came before.
PLAYERS = {
    OURS: Player(
        _replayed(_Believing, population=True),
        True,
        "ours: a personal belief, with what people have in common learned as they come",
    ),
    "population-logit": Player(play_population, True, "one logit for everybody, fitted to all who came before"),
    "personal-logit": Player(_replayed(_Believing, population=False), False, "ours without a population"),
    "thompson": Player(_replayed(Linear, drawn=True), False, "linear Thompson sampling, a model for each person"),
    "ucb": Player(_replayed(Linear, drawn=False), False, "linear upper confidence bounds, a model for each person"),
    CEILING: Player(
        lambda people, order: foretell_mixed(people),
        False,
        "the ceiling: mixed logit by MCMC from the other half of all people",
    ),
}
