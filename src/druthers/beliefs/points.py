"""Fixed, evenly spread points of a standard normal law, at which means over normal laws are taken."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from druthers._jit import kernel
from druthers.types import Floats

# Half of the fixed points at which means over a normal law are taken, the other half being their mirror images: fewer
# where every lead of one option over another has a variance below the limit, since a choice is then nearly normal.
HALF = 512
FEWER = ((0.5, 32), (4.0, 128))
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107)


def normal_points(n_points: int) -> Floats:
    """Return evenly spread points of a standard normal law (n, 28): a Halton sequence whose digits are shuffled.

    The first few columns serve where fewer dimensions are needed. The shuffles are always the same.
    """
    normal, points = NormalDist(), np.empty((n_points, len(PRIMES)))
    shuffle = np.random.RandomState(0).permutation  # frozen by NumPy: the same in every version
    for column, base in enumerate(PRIMES):
        left, scale, values = np.arange(1, n_points + 1), 1.0 / base, np.zeros(n_points)
        while scale > 1e-9:
            values += scale * shuffle(base)[left % base]
            left, scale = left // base, scale / base
        points[:, column] = [normal.inv_cdf(min(max(value, 1e-6), 1.0 - 1e-6)) for value in values]
    return points


POINTS = normal_points(HALF)


@kernel
def point(index: int, place: int, half: int) -> float:
    """Return a coordinate of one of the first `half` fixed points, or, from index `half` on, of their mirror images.

    Beyond the table its columns serve again, shifted.
    """
    row = index if index < half else index - half
    if place >= POINTS.shape[1]:
        row = (row + 37 * (place // POINTS.shape[1])) % half
        place = place % POINTS.shape[1]
    value = POINTS[row, place]
    return float(value if index < half else -value)


@kernel
def points_needed(axes: Floats) -> int:
    """Return how many points and mirror images a mean over s = mean + By takes."""
    widest = 0.0
    for j in range(axes.shape[0]):
        variance = 0.0
        for k in range(axes.shape[1]):
            variance += axes[j, k] * axes[j, k]
        widest = max(widest, variance)
    for limit, half in FEWER:
        if widest < limit:
            return int(half)
    return HALF if axes.shape[1] > 1 else HALF // 2
