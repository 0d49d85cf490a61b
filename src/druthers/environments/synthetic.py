"""The synthetic environment of the paper."""

from typing import Literal

import numpy as np

from druthers.environments.base import Environment
from druthers.errors import InvalidSetting, require
from druthers.own import settings
from druthers.types import Floats


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
