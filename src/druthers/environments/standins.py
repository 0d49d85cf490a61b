"""Simulated stand-ins for the paper's review data, made from summary facts, for where the real arrays are absent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from druthers.types import Floats


class StandIn(NamedTuple):
    """Facts that a stand-in is made from.

    `means` and `spreads` are those of the aspects over items, `halo` the correlation of two aspects (good items are
    good in everything), `focus` how far a user's weights lie from equal ones, `against` the share of users who care
    against an aspect.
    """

    objectives: tuple[str, ...]
    n_items: int
    n_users: int
    means: tuple[float, ...]
    spreads: tuple[float, ...]
    halo: float
    focus: float
    against: float


STAND_INS = {
    "tripadvisor": StandIn(
        objectives=("cleanliness", "location", "rooms", "service", "sleep quality", "value"),
        n_items=62,
        n_users=10,
        means=(4.2, 4.4, 3.9, 4.0, 4.0, 3.7),
        spreads=(0.40, 0.38, 0.47, 0.37, 0.38, 0.40),
        halo=0.6,
        focus=0.8,
        against=0.3,
    ),
    "beeradvocate": StandIn(
        objectives=("appearance", "aroma", "palate", "taste"),
        n_items=167,
        n_users=14,
        means=(4.05, 4.05, 4.05, 4.1),
        spreads=(0.31, 0.27, 0.30, 0.31),
        halo=0.85,
        focus=0.4,
        against=0.0,
    ),
}


def make_stand_in(name: str) -> tuple[Floats, Floats]:
    """Return mean rewards (K, D) and preferences (N, D) of a stand-in: always the same, and nobody's real ratings.

    Examples
    --------
    >>> rewards, preferences = make_stand_in("tripadvisor")
    >>> rewards.shape, preferences.shape
    ((62, 6), (10, 6))
    """
    facts = STAND_INS[name]
    rng = np.random.default_rng(2026)
    n_objectives = len(facts.objectives)
    quality = rng.standard_normal((facts.n_items, 1))
    own = rng.standard_normal((facts.n_items, n_objectives))
    standard = np.sqrt(facts.halo) * quality + np.sqrt(1.0 - facts.halo) * own
    rewards = np.clip(np.array(facts.means) + np.array(facts.spreads) * standard, 1.0, 5.0)
    # Weights sum to about one, as when an overall rating is explained by ratings of aspects.
    weights = rng.dirichlet(np.full(n_objectives, 1.0 / facts.focus), size=facts.n_users)
    grudges = np.flatnonzero(rng.random(facts.n_users) < facts.against)
    aspects = rng.integers(n_objectives, size=len(grudges))
    dislike = rng.uniform(0.3, 1.2, size=len(grudges))
    weights[grudges, aspects] -= dislike
    weights[grudges] += dislike[:, None] / n_objectives
    return rewards, weights
