"""The synthetic environment of the paper."""

from __future__ import annotations

from typing import Literal

import numpy as np

from druthers.environments.base import Environment, Feedback, Permutation
from druthers.errors import InvalidSetting
from druthers.types import Floats


class Synthetic(Environment):
    """Random arms and random users: means and preferences uniform on [0, scale], or preferences from a Dirichlet law.

    The defaults are the paper's: 40 arms, 20 objectives, 20 users, a random quarter of the arms offered each round,
    noise of variance 0.5 on rewards and preferences.

    Parameters
    ----------
    n_arms, n_objectives, n_users
        The sizes K, D and N.
    scale
        Largest mean reward and weight.
    preference_law
        "uniform" for weights uniform on [0, scale]; "dirichlet" for weights that sum to scale.
    contexts
        In how many ways visits differ, each one way or the other with equal chance.
    shift
        Standard deviation of the change in a weight from one way to the other. What users say is of their usual
        weights, what they feel of the weights of the visit.
    users_per_round, offered, cities, reward_noise, preference_noise
        As in `Environment`.
    length, query_rate, vagueness, corruption, permutation, liars, feedback, choice_noise
        As in `Environment`.

    Examples
    --------
    >>> tape = Synthetic().tape(seed=1, horizon=100)
    >>> tape.means.shape, tape.preferences.shape, next(tape.chunks()).offers.shape
    ((40, 20), (20, 20), (100, 10))
    """

    name = "synthetic"

    def __init__(
        self,
        *,
        n_arms: int = 40,
        n_objectives: int = 20,
        n_users: int = 20,
        scale: float = 5.0,
        preference_law: Literal["uniform", "dirichlet"] = "uniform",
        contexts: int = 0,
        shift: float = 0.0,
        users_per_round: int = 1,
        offered: int | None = 10,
        cities: int = 1,
        reward_noise: float = 0.5,
        preference_noise: float = 0.5,
        length: int | Literal["random"] | None = None,
        query_rate: float = 1.0,
        vagueness: float = 0.0,
        corruption: float = 0.0,
        permutation: Permutation = "fresh",
        liars: float = 0.0,
        feedback: Feedback = "utility",
        choice_noise: float = 1.0,
    ) -> None:
        super().__init__(
            users_per_round=users_per_round,
            offered=offered,
            cities=cities,
            reward_noise=reward_noise,
            preference_noise=preference_noise,
            length=length,
            query_rate=query_rate,
            vagueness=vagueness,
            corruption=corruption,
            permutation=permutation,
            liars=liars,
            feedback=feedback,
            choice_noise=choice_noise,
        )
        for name, value in (("n_arms", n_arms), ("n_objectives", n_objectives), ("n_users", n_users), ("scale", scale)):
            if not value > 0:
                raise InvalidSetting(f"{name} must be positive, but got {value!r}")
        if preference_law not in ("uniform", "dirichlet"):
            raise InvalidSetting(f'preference_law must be "uniform" or "dirichlet", but got {preference_law!r}')
        if contexts < 0 or shift < 0.0:
            raise InvalidSetting(f"contexts and shift must not be negative, but got {contexts!r} and {shift!r}")
        self.n_arms = n_arms
        self.n_objectives = n_objectives
        self.n_users = n_users
        self.scale = scale
        self.preference_law = preference_law
        self.contexts = contexts
        self.shift = shift

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
