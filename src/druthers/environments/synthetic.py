"""Synthetic environments: the paper's, and items with features, very many of them or new ones every day."""

from typing import Literal

import numpy as np

from druthers.environments.base import Environment, distinct
from druthers.errors import InvalidSetting, require
from druthers.own import settings
from druthers.types import Floats, Integers


@settings
class Synthetic(Environment):
    """Random arms and random users: means and preferences uniform on [0, scale], or preferences from a Dirichlet law.

    The defaults are the paper's: 40 arms, 20 objectives, 20 users, a random quarter of the arms offered each round,
    noise of variance 0.5 on rewards and preferences.

    All other settings are those of `Environment`.

    Examples
    --------
    >>> tape = Synthetic().tape(seed=1, horizon=100)
    >>> tape.means.shape, tape.preferences.shape, next(tape.chunks()).offers.shape
    ((40, 20), (20, 20), (100, 10))
    """

    name = "synthetic"

    n_arms: int = 40  # K
    n_objectives: int = 20  # D
    n_users: int = 20  # N
    scale: float = 5.0  # largest mean reward and weight
    preference_law: Literal["uniform", "dirichlet"] = "uniform"  # weights uniform on [0, scale], or that sum to scale
    contexts: int = 0  # in how many ways visits differ, each one way or the other with equal chance
    # Standard deviation of the change in a weight from one way to the other. What users say is of their usual weights,
    # what they feel of the weights of the visit.
    shift: float = 0.0
    offered: int | None = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("n_arms", "n_objectives", "n_users", "scale"):
            require(getattr(self, name) > 0, f"{name} must be positive", getattr(self, name))
        law = self.preference_law
        require(law in ("uniform", "dirichlet"), 'preference_law must be "uniform" or "dirichlet"', law)
        if self.contexts < 0 or self.shift < 0.0:
            given = f"{self.contexts!r} and {self.shift!r}"
            raise InvalidSetting(f"contexts and shift must not be negative, but got {given}")

    def draw_truth(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return mean rewards (K, D) and mean preferences (N, D)."""
        means = rng.uniform(0.0, self.scale, (self.n_arms, self.n_objectives))
        if self.preference_law == "uniform":
            return means, rng.uniform(0.0, self.scale, (self.n_users, self.n_objectives))
        return means, self.scale * rng.dirichlet(np.ones(self.n_objectives), size=self.n_users)

    def draw_shifts(self, rng: np.random.Generator, preferences: Floats) -> Floats | None:
        """Return by how much contexts shift the preferences of users (N, q, D)."""
        n_users, size = preferences.shape
        return self.shift * rng.standard_normal((n_users, self.contexts, size)) if self.contexts else None


LEVEL = 3.5  # of rewards, as of stars
SPREAD = 0.6  # standard deviation of an objective over items
HALO = 0.5  # correlation between objectives over items


@settings
class Items(Environment):
    """Items whose rewards are told in part by their features, linearly, and in part by nothing but trying them.

    Of five stars, every objective has mean 3.5 and standard deviation 0.6 over items, correlated by one half.

    All other settings are those of `Environment`.

    Examples
    --------
    >>> tape = Items(n_items=100).tape(seed=1, horizon=10)
    >>> tape.means.shape, tape.features.shape
    ((100, 6), (100, 10))
    """

    name = "items"

    n_items: int = 1000
    n_objectives: int = 6
    n_users: int = 20
    n_features: int = 10  # without features, 0
    explained: float = 0.8  # share of the variance of rewards over items by features; 0 if they are useless
    curved: float = 0.0  # share of that by squares of features, of which a linear model knows nothing
    known: float = 1.0  # chance that a feature of an item is known at all
    told: bool = True  # whether policies are told the features; where they are not, all else is the same
    # How many items are there at the start; all by default. Each round then offers as many of those that are there,
    # drawn at random.
    start: int | None = None
    every: int = 500  # after so many rounds so many more items arrive, until all are there
    arriving: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        self.offered = self.start if self.offered is None else self.offered
        self._require_shares("explained", "curved", "known")
        leasts = {"n_items": 1, "n_objectives": 1, "n_users": 1, "n_features": 0, "every": 1, "arriving": 0}
        for name, least in leasts.items():
            require(getattr(self, name) >= least, f"{name} must be at least {least}", getattr(self, name))
        law = f"start must lie between the {self.offered} items offered and all {self.n_items}"
        require(self.start is None or (self.offered or 1) <= self.start <= self.n_items, law, self.start)
        if self.start is not None and self.cities > 1:
            raise InvalidSetting(f"items that arrive are in one city, but got start and {self.cities!r} cities")

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
