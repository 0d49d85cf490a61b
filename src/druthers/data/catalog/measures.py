"""What a column of numbers is like: its range, what cannot be, what is far off, and how far means can be believed."""

import math

import numpy as np
from numpy.typing import NDArray

from druthers.types import Floats, Integers

TOPS = (1.0, 5.0, 10.0, 20.0, 100.0)  # of scales that people rate on
STEPS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)  # round numbers
NINES = [10.0**power - 1.0 for power in range(3, 13)]  # written where nobody knows a number
FAR = 6.0  # robust standard deviations from the middle, from which on a number is an outlier
RARE = 0.05
SMALL = 100  # numbers, below which one that is wrong is not rare
DEAR = 5.0  # where nearly all prices are above it, nothing is for free
LEAST_DOUBT, MOST_DOUBT, USUAL_DOUBT = 0.5, 200.0, 10.0
ROUNDS, LEAST = 20, 1e-3  # of scoring, and the least share of variance that items have
ENOUGH = 30  # items that tell how much ratings scatter

Mask = NDArray[np.bool_]


def impossible(numbers: Floats, *, opinion: bool, cost: bool, price: bool = False) -> tuple[Mask, Mask, Mask]:
    """Return which numbers below 0, which zeros and which rows of nines stand for what nobody knows.

    Numbers below 0 do where they are rare, and in a small table also where they are prices and most are above 0.

    Examples
    --------
    >>> masks = impossible(np.array([4.5, 0.0, 3.0] * 20 + [-1.0, 9999.0]), opinion=True, cost=False)
    >>> [int(mask.sum()) for mask in masks]
    [1, 20, 1]
    >>> impossible(np.array([-5.0, 90.0, 80.0]), opinion=False, cost=True, price=True)[0]
    array([ True, False, False])
    """
    known = ~np.isnan(numbers)
    nothing = np.zeros_like(known)
    if not known.any():
        return nothing, nothing, nothing
    nines = np.isin(numbers, NINES)
    rest = numbers[known & ~nines]
    nines &= numbers > 5.0 * np.quantile(rest, 0.99) if len(rest) else nothing
    below = known & (numbers < 0)
    positive = numbers[known & (numbers > 0)]
    zeros = known & (numbers == 0)
    rated = opinion and len(positive) and positive.min() >= 1 and zeros.mean() < 0.5
    dear = cost and len(positive) and np.quantile(positive, RARE) >= DEAR and zeros.mean() < RARE
    rare = below.sum() < RARE * known.sum()
    wrong = price and known.sum() < SMALL and below.sum() < len(positive)
    return below if rare or wrong else nothing, zeros if rated or dear else nothing, nines


def find_range(known: Floats, out_of: float | None, *, opinion: bool) -> tuple[float, float]:
    """Return a range that holds all values: that of a scale people rate on, or round numbers.

    Examples
    --------
    >>> find_range(np.array([3.5, 4.8]), None, opinion=True), find_range(np.array([38.0, 483.0]), None, opinion=False)
    ((1.0, 5.0), (0.0, 500.0))
    """
    least, most = float(known.min()), float(known.max())
    if least >= 0 and (out_of is not None or opinion):
        top = next((one for one in (*([out_of] if out_of else []), *TOPS) if most <= one), None)
        if top is not None:
            return (1.0 if least >= 1 and top <= 10 else 0.0), top
    high = _round_up(most) if most > 0 else 0.0
    low = 0.0 if least >= 0 else -_round_up(-least)
    return low, high if high > low else low + 1.0


def _round_up(number: float) -> float:
    power = 10.0 ** math.floor(math.log10(number))
    return next(round(step * power, 12) for step in STEPS if number <= step * power * (1 + 1e-12))


def outliers(values: Floats) -> Integers:
    """Return the places of values far from all others, the farthest first; by their logarithms where all are above 0.

    Examples
    --------
    >>> outliers(np.array([50.0, 60.0, np.nan, 80.0, 75.0, 90000.0, 66.0]))
    array([5])
    """
    known = np.flatnonzero(~np.isnan(values))
    bent = np.log(values[known]) if values[known].min() > 0 else values[known]
    off = np.abs(bent - np.median(bent))
    width = 1.4826 * np.median(off)
    far = np.flatnonzero(off > FAR * width) if width > 0 else np.empty(0, dtype=np.int64)
    return np.asarray(known[far[np.argsort(-off[far], kind="stable")]])


def find_doubt(values: Floats, counts: Floats, noise: float | None = None) -> tuple[float, float]:
    """Return how many ratings a value needs to be believed half, and what is typical.

    The mean of n ratings has the variance t^2 + s^2/n over items, t^2 of the items themselves. Both are found by
    scoring: least squares of squared deviations on 1/n, weighed by what the last round says of their variances. Or
    s^2, the noise, is known from ratings one by one. A normal prior of variance t^2 is worth s^2/t^2 ratings.

    Examples
    --------
    >>> chance = np.random.default_rng(0)
    >>> counts = chance.integers(1, 200, 4000).astype(float)
    >>> values = 4.0 + 0.3 * chance.standard_normal(4000) + 0.9 * chance.standard_normal(4000) / np.sqrt(counts)
    >>> find_doubt(values, counts)
    (7.8, 4.005)
    """
    there = ~np.isnan(values) & (counts > 0)
    v, n = values[there], counts[there]
    mean = np.average(v, weights=n / (n + USUAL_DOUBT))
    squares, share = np.square(v - mean), 1.0 / n
    items, known = float(np.mean(squares)), noise
    noise = items if noise is None else noise
    for _ in range(ROUNDS):
        weights = 1.0 / np.square(items + noise * share)
        at, level = np.average(share, weights=weights), np.average(squares, weights=weights)
        spread = np.average(np.square(share - at), weights=weights)
        if known is None and spread > 0.0:
            noise = max(float(np.average((share - at) * squares, weights=weights) / spread), 0.0)
        items = max(float(level - noise * at), LEAST * float(level))
    told = len(v) >= ENOUGH and noise > 0.0 and bool(np.ptp(share) > 0.0 or known)
    doubt = min(max(noise / items, LEAST_DOUBT), MOST_DOUBT) if told else USUAL_DOUBT
    return float(f"{doubt:.2g}"), float(f"{np.average(v, weights=n / (n + doubt)):.4g}")
