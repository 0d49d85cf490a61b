"""Intervals that hold at all times at once: likelihood-ratio confidence sequences for rankings and utilities."""

import math

import numpy as np

from druthers.policies.belief import NOTHING
from druthers.types import Floats

# By how many standard deviations intervals of 90 % are wide.
NINETY = 1.6448536269514722


def anytime_radius(
    estimate: Floats,
    covariance: Floats,
    anchor: Floats,
    information: Floats,
    places: float,
    *,
    ridge: float,
    unit: float,
    risk: float = 0.1,
) -> float:
    """Return how many standard deviations of the belief hold the truth in all directions and at all times.

    By steps 1 and 2 of the proof in docs/theory.md, with r = |c - estimate| in the norm of M, r^2 is at most
    2 ln(1/risk) + ln |M|/|M0| + |c|^2 in the norm of M0 + 2 (E tau - tau(c)), tau what a quadratic leaves of the
    ranking likelihood. The third is bounded through the estimate, tau by self-concordance or by the number of places
    ranked, whichever is less. The smallest r that all this allows is the radius, since the region is convex;
    infinite before there is one.

    Parameters
    ----------
    estimate, covariance
        The belief: its mean and M^-1.
    anchor, information
        What rankings say, in their own units, and how many `places` they ranked.
    ridge, unit
        Of the prior, and of utilities in units of rankings.
    risk
        The chance that the truth is ever outside.
    """
    size = len(estimate)
    plane = np.eye(size) - 1.0 / size
    prior = ridge / unit**2 * plane + NOTHING * np.eye(size)
    told = (information + ridge * plane) / unit**2
    logs = -np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(prior)[1]
    share = float(np.linalg.eigvals(covariance @ prior).real.max())
    if not share < 1.0 - 1e-9:
        return math.inf
    apart = plane @ estimate - unit * anchor
    off = math.sqrt(max(float(apart @ told @ apart), 0.0))
    values = np.linalg.eigvalsh(information + ridge * plane)
    steep = math.sqrt(2.0 / max(values[1], 1e-12)) if size > 1 else 0.0
    rest = 2.0 * min(_by_concordance(off, steep, size), _by_places(apart, covariance, information, places, unit))
    bias = float(estimate @ prior @ estimate)
    # |c|^2 <= (1 + 1/h) |estimate|^2 + (1 + h) |c - estimate|^2 for any h > 0; the best of some.
    start = 2.0 * math.log(1.0 / risk) + logs + rest
    return min(
        (
            _smallest(start + (1.0 + 1.0 / h) * bias, 1.0 - (1.0 + h) * share, off, steep, places)
            for h in np.geomspace(0.05, 200.0, 25)
            if (1.0 + h) * share < 1.0
        ),
        default=math.inf,
    )


def _by_concordance(off: float, steep: float, size: int) -> float:
    """Return a bound on E tau under the belief: tau <= w(steep r) r^2/2, r = off + |w|, w normal in D dimensions."""
    lengths = np.linspace(0.0, math.sqrt(size) + 8.0, 400)
    logs = (size - 1) * np.log(np.maximum(lengths, 1e-300)) - 0.5 * lengths**2
    weights = np.exp(logs - logs.max())
    ranges = np.minimum(steep * (off + lengths), 300.0)
    bends = np.where(
        ranges > 1e-4, 2.0 * (np.expm1(ranges) - ranges) / np.maximum(ranges, 1e-4) ** 2 - 1.0, ranges / 3.0
    )
    return float((weights * 0.5 * bends * (off + lengths) ** 2).sum() / weights.sum())


def _by_places(apart: Floats, covariance: Floats, information: Floats, places: float, unit: float) -> float:
    """Return another: no place of a ranking bends more than half of the identity."""
    size = len(apart)
    plane = np.eye(size) - 1.0 / size
    bend = (0.5 * places * plane - information) / unit**2
    return max(0.5 * float(apart @ bend @ apart + np.trace(covariance @ bend)), 0.0)


def _smallest(start: float, left: float, off: float, steep: float, places: float) -> float:
    """Return the smallest r with left r^2 >= start + (off + r)^2 f, f = x/(1 + x), x = steep (off + r)/2."""
    radius = math.sqrt(max(start, 0.0) / left)
    for _ in range(500):
        reach = steep * (off + radius) / 2.0 if places > 0.0 else 0.0
        further = math.sqrt(max(start + (off + radius) ** 2 * reach / (1.0 + reach), 0.0) / left)
        if further <= radius * (1.0 + 1e-9):
            return further
        if further > 1e6:
            return math.inf
        radius = further
    return math.inf
