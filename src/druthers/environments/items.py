"""Items with features: very many of them, or new ones every day."""

from __future__ import annotations

from typing import Literal

import numpy as np

from druthers.environments.base import Environment, distinct
from druthers.errors import InvalidSetting
from druthers.types import Floats, Integers

LEVEL = 3.5  # of rewards, as of stars
SPREAD = 0.6  # standard deviation of an objective over items
HALO = 0.5  # correlation between objectives over items


class Items(Environment):
    """Items whose rewards are told in part by their features, linearly, and in part by nothing but trying them.

    Of five stars, every objective has mean 3.5 and standard deviation 0.6 over items, correlated by one half.

    Parameters
    ----------
    n_items, n_objectives, n_users, n_features
        How many there are; without features, 0.
    explained
        Which share of the variance of rewards over items their features explain; 0 if they are useless.
    curved
        Which share of that is explained by squares of features, of which a linear model knows nothing.
    known
        Chance that a feature of an item is known at all.
    told
        Whether policies are told the features; where they are not, all else is the same.
    start
        How many items are there at the start; all by default. Each round then offers as many of those that are there,
        drawn at random.
    every, arriving
        After so many rounds so many more items arrive, until all are there.
    offered, users_per_round, reward_noise, preference_noise
        As in `Environment`.
    length, query_rate, corruption
        As in `Environment`.

    Examples
    --------
    >>> tape = Items(n_items=100).tape(seed=1, horizon=10)
    >>> tape.means.shape, tape.features.shape
    ((100, 6), (100, 10))
    """

    name = "items"

    def __init__(
        self,
        *,
        n_items: int = 1000,
        n_objectives: int = 6,
        n_users: int = 20,
        n_features: int = 10,
        explained: float = 0.8,
        curved: float = 0.0,
        known: float = 1.0,
        told: bool = True,
        start: int | None = None,
        every: int = 500,
        arriving: int = 50,
        offered: int | None = None,
        users_per_round: int = 1,
        reward_noise: float = 0.5,
        preference_noise: float = 0.5,
        length: int | Literal["random"] | None = None,
        query_rate: float = 1.0,
        corruption: float = 0.0,
    ) -> None:
        super().__init__(
            offered=offered if start is None or offered is not None else start,
            users_per_round=users_per_round,
            reward_noise=reward_noise,
            preference_noise=preference_noise,
            length=length,
            query_rate=query_rate,
            corruption=corruption,
        )
        for name, share in (("explained", explained), ("curved", curved), ("known", known)):
            if not 0.0 <= share <= 1.0:
                raise InvalidSetting(f"{name} must lie between 0 and 1, but got {share!r}")
        for name, count, least in (
            ("n_items", n_items, 1),
            ("n_objectives", n_objectives, 1),
            ("n_users", n_users, 1),
            ("n_features", n_features, 0),
            ("every", every, 1),
            ("arriving", arriving, 0),
        ):
            if count < least:
                raise InvalidSetting(f"{name} must be at least {least}, but got {count!r}")
        if start is not None and not (self.offered or 1) <= start <= n_items:
            raise InvalidSetting(
                f"start must lie between the {self.offered} items offered and all {n_items}, but got {start!r}"
            )
        self.n_items = n_items
        self.n_objectives = n_objectives
        self.n_users = n_users
        self.n_features = n_features
        self.explained = explained
        self.curved = curved
        self.known = known
        self.told = told
        self.start = start
        self.every = every
        self.arriving = arriving

    def draw_truth(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return mean rewards (K, D) and mean preferences (N, D)."""
        return self._draw(rng)[:2]

    def draw_features(self, rng: np.random.Generator) -> Floats | None:
        """Return the features (K, p) of the same items, NaN where one is not known."""
        features = self._draw(rng)[2]
        if not self.n_features or not self.told:
            return None
        features[rng.random(features.shape) >= self.known] = np.nan
        return features

    def _draw(self, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        covariance = SPREAD**2 * (HALO + (1.0 - HALO) * np.eye(self.n_objectives))
        root = np.linalg.cholesky(covariance).T
        features = rng.standard_normal((self.n_items, self.n_features))
        shape = (max(self.n_features, 1), self.n_objectives)
        straight, bent = rng.standard_normal((2, *shape)) @ root / np.sqrt(shape[0])
        own = rng.standard_normal((self.n_items, self.n_objectives)) @ root
        explained = self.explained if self.n_features else 0.0
        told = np.zeros_like(own)
        if self.n_features:
            told += np.sqrt(1.0 - self.curved) * features @ straight
            told += np.sqrt(self.curved) * (features**2 - 1.0) / np.sqrt(2.0) @ bent
        means = LEVEL + np.sqrt(explained) * told + np.sqrt(1.0 - explained) * own
        return means, rng.uniform(0.0, 1.0, (self.n_users, self.n_objectives)), features

    def offers_from(self, rng: np.random.Generator, start: int, rounds: int) -> Integers | None:
        """Return the items offered (rows, n) in some rounds where items arrive; None where all are there."""
        if self.start is None:
            return None
        rows = np.repeat(np.arange(start, start + rounds), self.users_per_round)
        there = np.minimum(self.start + self.arriving * (rows // self.every), self.n_items)
        offers = np.empty((len(rows), self.offered or self.start), dtype=np.int64)
        for n in np.unique(there).tolist():
            offers[there == n] = distinct(rng, int((there == n).sum()), n, offers.shape[1])
        return offers
