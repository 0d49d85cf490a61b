"""How well choices were foretold: hits, log-loss and calibration, by position, with errors over orders and people."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from druthers.environments.people import People
from druthers.errors import InvalidSetting
from druthers.theory.claims import interval
from druthers.types import Floats, Integers

POSITIONS = (1, 2, 5, 10)
BINS = 10
# Newcomers among the first ten people, those up to the 120th, and all later ones.
NEWCOMERS = (10, 120)
# What was said to be impossible costs no more than this, or one such choice would decide everything.
LEAST_CHANCE = 1e-6


class Told(NamedTuple):
    """What one player foretold, choice by choice, as means over orders of arrival, and whole scores by order."""

    hits: Floats  # whether what was picked was the likeliest; shared out where several were (n,)
    losses: Floats  # minus the logarithm of its chance (n,)
    by_order: Floats  # hit rate, log-loss and calibration error of each order (orders, 3)
    newcomers: Floats  # log-loss of first choices by how many people came before (`NEWCOMERS`); NaN for nobody


class Difference(NamedTuple):
    """How much one player is better than another: the gain, its standard error over people, p of being equal."""

    gain: float
    error: float
    p: float


def positions(people: People) -> Integers:
    """Return for each choice its place among the choices of its person, from 1."""
    lengths = np.diff(people.starts)
    return np.arange(len(people.picked)) - np.repeat(people.starts[:-1], lengths) + 1


def arrival(people: People, number: int) -> Integers:
    """Return an order of arrival by number: the same people, the same order, everywhere."""
    return np.random.default_rng(number).permutation(len(people))


def check(people: People, foretold: Any) -> Floats:
    """Return chances as an array if they are chances for the choices of these people."""
    chances = np.asarray(foretold, dtype=np.float64)
    if chances.shape != people.slates.shape[:2]:
        raise InvalidSetting(
            f"chances must be one for each option of each choice, {people.slates.shape[:2]} for {people.name}, but have"
            f" the shape {chances.shape}"
        )
    if not np.all(np.isfinite(chances)) or chances.min() < 0.0 or np.abs(chances.sum(axis=1) - 1.0).max() > 1e-3:
        raise InvalidSetting(
            f"chances must be numbers from 0 that sum to 1 in each row, but some of {people.name} do not"
        )
    return chances


def score(people: People, orders: Sequence[Floats]) -> Told:
    """Score what was foretold in some orders of arrival, (n, K) each."""
    rows = np.arange(len(people.picked))
    hits, losses, by_order = np.zeros(len(rows)), np.zeros(len(rows)), []
    bands: list[list[float]] = [[] for _ in range(len(NEWCOMERS) + 1)]
    for number, foretold in enumerate(orders):
        best = foretold >= foretold.max(axis=1, keepdims=True) - 1e-12
        hit = best[rows, people.picked] / best.sum(axis=1)
        loss = -np.log(np.maximum(foretold[rows, people.picked], LEAST_CHANCE))
        hits += hit / len(orders)
        losses += loss / len(orders)
        by_order.append([hit.mean(), loss.mean(), calibration(foretold, people.picked)])
        for before, person in enumerate(arrival(people, number)):
            bands[int(np.searchsorted(NEWCOMERS, before, side="right"))].append(float(loss[people.starts[person]]))
    newcomers = np.array([np.mean(band) if band else np.nan for band in bands])
    return Told(hits, losses, np.array(by_order), newcomers)


def calibration(foretold: Floats, picked: Integers) -> float:
    """Return how far chances are from what happened: expected calibration error over all options, in ten bins.

    Examples
    --------
    >>> calibration(np.array([[0.75, 0.25]] * 4), np.array([0, 0, 0, 1]))
    0.0
    """
    chances = foretold.ravel()
    happened = (np.arange(foretold.shape[1]) == picked[:, None]).ravel()
    bins = np.minimum((BINS * chances).astype(np.int64), BINS - 1)
    off = np.bincount(bins, weights=chances - happened, minlength=BINS)
    return float(np.abs(off).sum() / len(chances))


def compare(people: People, one: Told, other: Told, rows: Any = slice(None), *, by_hits: bool = False) -> Difference:
    """Return how much better one is than the other in log-loss, or in hits, over some choices.

    People are what is drawn at random: the error is that over people.
    """
    gained = one.hits - other.hits if by_hits else other.losses - one.losses
    owner = np.repeat(np.arange(len(people)), np.diff(people.starts))[rows]
    gains = np.bincount(owner, weights=gained[rows], minlength=len(people))
    counts = np.bincount(owner, minlength=len(people))
    gain = gains.sum() / counts.sum()
    error = math.sqrt(((gains - gain * counts) ** 2).sum()) / counts.sum()
    return Difference(float(gain), error, two_sided(gain / error) if error > 0.0 else 1.0)


def two_sided(z: float) -> float:
    """Return the p of a standard normal number."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def half_width(values: Floats) -> float:
    """Return half the width of a 95 % interval for the mean of one value for each order; 0 for a single order."""
    return 0.0 if len(values) < 2 else interval(values).high - interval(values).mean


def sheet(people: People, told: Told) -> dict[str, Any]:
    """Return the scores of a player as they are written to a file."""
    place = positions(people)
    newcomers = dict(zip(band_names(), told.newcomers.tolist(), strict=True))
    scores = dict(zip(("hit", "log_loss", "calibration"), told.by_order.T, strict=True))
    return {
        **{name: float(values.mean()) for name, values in scores.items()},
        **{f"{name}_interval": half_width(values) for name, values in scores.items()},
        "positions": {
            str(at): {"hit": float(told.hits[place == at].mean()), "log_loss": float(told.losses[place == at].mean())}
            for at in POSITIONS
            if np.any(place == at)
        },
        "newcomers": {band: loss for band, loss in newcomers.items() if math.isfinite(loss)},  # without who never came
        "orders": len(told.by_order),
    }


def band_names() -> list[str]:
    """Return what the bands of newcomers are called.

    Examples
    --------
    >>> band_names()
    ['1-10', '11-120', '121-']
    """
    starts = (0, *NEWCOMERS)
    return [f"{start + 1}-{end}" for start, end in zip(starts, (*NEWCOMERS, ""), strict=True)]
