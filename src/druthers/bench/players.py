"""Players: whatever foretells what people choose, from what they and those before them chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from druthers.beliefs import Crowd, first_law
from druthers.beliefs.points import POINTS
from druthers.beliefs.population import next_look
from druthers.bench.ceiling import foretell_mixed
from druthers.environments.people import People, replay
from druthers.types import Floats, Integers

OURS, CEILING = "crowd", "mixed-logit"
# A linear bandit counts what was picked as 1 and the rest as 0, which has at most this deviation.
DEVIATION = 0.5


class Player(NamedTuple):
    """Something that plays.

    Attributes
    ----------
    play
        From people and the order in which they come to what was foretold before each choice (n, K), in rows of
        `people`.
    by_order
        Whether the order matters: who learns nothing from others plays once for all orders.
    about
        What it is.
    """

    play: Callable[[People, Sequence[int] | Integers], Floats]
    by_order: bool
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

    Whoever is heard answers for the whole slate: 1 for what was picked, 0 for the rest, both less 1/K.

    Parameters
    ----------
    n_objectives
        Number of objectives D.
    drawn
        By Thompson sampling, an option is as likely as to be the best one under weights that are drawn; else the
        highest upper bound is certain to be shown.
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


def shares_of(slates: Floats, weights: Floats) -> Floats:
    """Return how likely each option of some slates (n, K, D) is to be picked with these weights."""
    worth = slates @ weights
    chances = np.exp(worth - worth.max(axis=-1, keepdims=True))
    shares: Floats = chances / chances.sum(axis=-1, keepdims=True)
    return shares


def fit_logit(slates: Floats, picked: Integers, start: Floats | None = None) -> Floats:
    """Return the weights of a conditional logit for all choices alike, with a prior worth next to nothing.

    Examples
    --------
    >>> slates = np.array([[[1.0], [0.0]]] * 4)
    >>> fit_logit(slates, np.array([0, 0, 0, 1])).round(1)
    array([1.1])
    """
    size = slates.shape[2]
    ridge = 0.01 * np.linalg.inv(first_law(size).covariance)
    weights = np.zeros(size) if start is None else start.copy()
    chosen = slates[np.arange(len(picked)), picked].sum(axis=0)
    flat = slates.reshape(-1, size)

    def value(at: Floats) -> float:
        worth = slates @ at
        top = worth.max(axis=1)
        return float((np.log(np.exp(worth - top[:, None]).sum(axis=1)) + top).sum() - chosen @ at + at @ ridge @ at / 2)

    now = value(weights)
    for _ in range(50):
        shares = shares_of(slates, weights)
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


def play_crowd(people: People, order: Sequence[int] | Integers) -> Floats:
    """Play our belief with the law of all people behind it."""
    return replay(people, _Believing(people.slates.shape[2], population=True), order)


def play_personal(people: People, order: Sequence[int] | Integers) -> Floats:
    """Play our belief without a population: everybody starts from N(0, 8/D)."""
    return replay(people, _Believing(people.slates.shape[2], population=False), order)


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


def play_thompson(people: People, order: Sequence[int] | Integers) -> Floats:
    """Play linear Thompson sampling."""
    return replay(people, Linear(people.slates.shape[2], drawn=True), order)


def play_ucb(people: People, order: Sequence[int] | Integers) -> Floats:
    """Play linear upper confidence bounds."""
    return replay(people, Linear(people.slates.shape[2], drawn=False), order)


def play_mixed(people: People, order: Sequence[int] | Integers) -> Floats:
    """Play the ceiling, which does not ask who came before."""
    return foretell_mixed(people)


PLAYERS = {
    OURS: Player(play_crowd, True, "ours: a personal belief, with what people have in common learned as they come"),
    "population-logit": Player(play_population, True, "one logit for everybody, fitted to all who came before"),
    "personal-logit": Player(play_personal, False, "ours without a population"),
    "thompson": Player(play_thompson, False, "linear Thompson sampling, a model for each person"),
    "ucb": Player(play_ucb, False, "linear upper confidence bounds, a model for each person"),
    CEILING: Player(play_mixed, False, "the ceiling: mixed logit by MCMC from the other half of all people"),
}
