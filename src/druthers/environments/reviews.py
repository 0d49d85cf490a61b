"""Environments from review data: the mean aspect ratings of items and the weights of users."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from druthers.environments.base import Environment, Permutation
from druthers.errors import InvalidSetting
from druthers.types import Floats


class Reviews(Environment):
    """Items with known mean ratings per aspect and users with known weights, such as the paper's hotels and beers.

    Parameters
    ----------
    rewards
        Mean rewards (K, D), or per user (N, K, D), of which the average over users is taken; an array or an .npy file.
    preferences
        Weights of the users (N, D); an array or an .npy file.
    users_per_round, offered, reward_noise, preference_noise, length, query_rate, corruption, permutation
        As in `Environment`.

    Examples
    --------
    >>> tape = Reviews(rewards=[[4.0, 3.0], [2.0, 5.0]], preferences=[[1.0, 0.2]]).tape(seed=1, horizon=10)
    >>> tape.means.shape
    (2, 2)
    """

    name = "reviews"

    def __init__(
        self,
        *,
        rewards: ArrayLike | str | Path,
        preferences: ArrayLike | str | Path,
        users_per_round: int = 1,
        offered: int | None = None,
        reward_noise: float = 0.5,
        preference_noise: float = 0.5,
        length: int | Literal["random"] | None = None,
        query_rate: float = 1.0,
        corruption: float = 0.0,
        permutation: Permutation = "fresh",
    ) -> None:
        super().__init__(
            users_per_round=users_per_round,
            offered=offered,
            reward_noise=reward_noise,
            preference_noise=preference_noise,
            length=length,
            query_rate=query_rate,
            corruption=corruption,
            permutation=permutation,
        )
        means, weights = _table(rewards, "rewards"), _table(preferences, "preferences")
        if means.ndim == 3:
            means = means.mean(axis=0)
        if means.ndim != 2 or weights.ndim != 2 or means.shape[1] != weights.shape[1]:
            raise InvalidSetting(
                f"rewards (K, D) and preferences (N, D) must agree in D, but got {means.shape} and {weights.shape}"
            )
        self.rewards = rewards
        self.preferences = preferences
        self._truth = np.ascontiguousarray(means), np.ascontiguousarray(weights)

    def draw_truth(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return mean rewards (K, D) and weights (N, D): the same for every run."""
        return self._truth


def _table(source: ArrayLike | str | Path, what: str) -> Floats:
    values = np.load(source, allow_pickle=False) if isinstance(source, str | Path) else source
    table = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(table)):
        raise InvalidSetting(f"{what} must be finite")
    return table
