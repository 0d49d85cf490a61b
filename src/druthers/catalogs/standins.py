"""Simulated hotels, beers and users, drawn by fixed laws from summary facts about real reviews."""

import math
import random
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from druthers.types import Floats

# Any would do: the laws, not the seed, make the stand-ins alike to what they stand for.
SEED = 2026
LOWEST, HIGHEST = 1.0, 5.0


class StandIn(NamedTuple):
    """Facts that a stand-in is made from: moments of the real data, rounded, and nothing that leads back to a row."""

    objectives: Sequence[str]  # the aspects that reviews rate from 1 to 5
    n_items: int  # how many there are
    n_users: int
    means: Sequence[float]  # mean and standard deviation of each aspect over the items
    spreads: Sequence[float]
    # Correlation of each aspect with the quality that all of them share: good items are good in everything.
    halo: Sequence[float]
    tail: float  # how far bad items fall behind compared with how far good ones stand out; 0 where both are alike
    evenness: float  # how much less the aspects of a good item differ from each other than those of a bad one
    weights: Sequence[float]  # mean weight of each aspect in the overall rating
    level_spread: float  # how much the users' sums of weights differ, as a standard deviation of the logarithm
    weight_spreads: Sequence[float]  # how much users differ about each aspect, one aspect compared with another
    # Median distance of a user's weights from the mean weights, and the standard deviation of its logarithm.
    focus: float
    focus_spread: float
    least_weight: float  # no weight is smaller; minus infinity where users may care against an aspect


_FACTS: dict[str, dict[str, Any]] = tomllib.loads(
    files("druthers.catalogs").joinpath("standins.toml").read_text("utf-8")
)
STAND_INS = {name: StandIn(**facts) for name, facts in _FACTS.items()}

# The real data sets of the paper, and what is played where they are absent.
STANDS_FOR = {"tripadvisor": "hotels", "beeradvocate": "beers"}


def make_stand_in(name: str, *, seed: int = SEED) -> tuple[Floats, Floats]:
    """Return mean ratings (K, D) and weights of users (N, D): always the same, and nobody's real ratings.

    The order of the policies follows from the laws, not from the seed: another seed gives other items and users.

    Examples
    --------
    >>> ratings, weights = make_stand_in("hotels")
    >>> ratings.shape, weights.shape
    ((62, 6), (10, 6))
    """
    facts = STAND_INS[name]
    rng = random.Random(seed)  # its numbers are promised to stay the same in all versions of Python
    return draw_ratings(facts, rng), draw_weights(facts, rng)


def draw_ratings(facts: StandIn, rng: random.Random) -> Floats:
    """Return the mean ratings of items: a quality that all aspects share, and a part of each aspect's own.

    Rounded as ratings are shown, which also makes them the same on every machine.
    """
    rank = normal_scores(facts.n_items, rng)
    quality = with_tail(rank, facts.tail)
    unevenness = np.exp(-facts.evenness * rank)
    unevenness /= np.sqrt(np.mean(unevenness**2))
    own = np.stack([unevenness * normal_scores(facts.n_items, rng) for _ in facts.objectives], axis=1)
    halo = np.array(facts.halo)
    standard = halo * quality[:, None] + np.sqrt(1.0 - halo**2) * own
    ratings: Floats = np.clip(np.array(facts.means) + np.array(facts.spreads) * standard, LOWEST, HIGHEST).round(2)
    return ratings


def draw_weights(facts: StandIn, rng: random.Random) -> Floats:
    """Return the weights of users: the mean weights, more or less of all of them, and a direction of each user's own.

    Directions neither add to the sum of a user's weights nor, over all users, to an aspect.
    """
    level = np.exp(facts.level_spread * normal_scores(facts.n_users, rng))
    focus = facts.focus * np.exp(facts.focus_spread * normal_scores(facts.n_users, rng))
    own = np.stack([spread * normal_scores(facts.n_users, rng) for spread in facts.weight_spreads], axis=1)
    own -= own.mean(axis=1, keepdims=True)
    own *= (focus / np.sqrt(np.sum(own**2, axis=1)))[:, None]
    own -= own.mean(axis=0)
    weights: Floats = np.maximum(np.outer(level, facts.weights) + own, facts.least_weight).round(2)
    return weights


def normal_scores(n: int, rng: random.Random) -> Floats:
    """Return n evenly spaced quantiles of the normal law in random order: chance decides who, not how much."""
    quantile = NormalDist().inv_cdf
    return np.array([score for _, score in sorted((rng.random(), quantile((k + 0.5) / n)) for k in range(n))])


def with_tail(scores: Floats, tail: float) -> Floats:
    """Stretch normal scores downward: minus a log-normal law, with mean 0 and variance 1 as before."""
    if tail == 0.0:
        return scores
    square = math.exp(tail**2)
    stretched: Floats = (math.sqrt(square) - np.exp(-tail * scores)) / math.sqrt((square - 1.0) * square)
    return stretched
