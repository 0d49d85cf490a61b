"""Fixed, evenly spread points of a standard normal law, at which means over normal laws are taken."""

from statistics import NormalDist

import numpy as np

from druthers._jit import kernel
from druthers._matrices import clear, solve_upper_columns, square_of, sum_of
from druthers.types import Floats

# Half of the fixed points at which means over a normal law are taken, the other half being their mirror images: fewer
# where every lead of one option over another has a variance below the limit, since a choice is then nearly normal. What
# follows from a choice takes fewer where chances are unsure by less than a limit, however unlikely options lead.
HALF = 512
FEWER = ((0.5, 32), (4.0, 128))
FEWER_AFTER = (1.5, 128)
# Points are spread this much wider than a normal law that stands for what is looked for: its tails may be heavier.
WIDER = 1.25
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
def widest_lead(axes: Floats) -> float:
    """Return the largest variance of the leads s = mean + By, y standard normal."""
    widest = 0.0
    for j in range(axes.shape[0]):
        variance = 0.0
        for k in range(axes.shape[1]):
            variance += axes[j, k] * axes[j, k]
        widest = max(widest, variance)
    return widest


@kernel
def points_needed(axes: Floats) -> int:
    """Return how many points and mirror images a mean over s = mean + By takes."""
    widest = widest_lead(axes)
    for limit, half in FEWER:
        if widest < limit:
            return int(half)
    return HALF if axes.shape[1] > 1 else HALF // 2


@kernel
def points_after(axes: Floats, shares: Floats) -> int:
    """Return the same for what follows from a choice: `shares` are the chances, at the mean, of options not picked.

    The measure is that of `doubt_about`: options with hardly a chance hardly matter, the picked one does.
    """
    n_rows, size = axes.shape
    average = np.zeros(size)
    for j in range(n_rows):
        for k in range(size):
            average[k] += shares[j] * axes[j, k]
    own = square_of(average)
    doubt, left = 0.0, 1.0
    for j in range(n_rows):
        spread = 0.0
        for k in range(size):
            spread += (axes[j, k] - average[k]) ** 2
        doubt += shares[j] * spread * np.exp(0.5 * spread)
        left -= shares[j]
    doubt += (1.0 + left) * own * np.exp(0.5 * own)
    return FEWER_AFTER[1] if doubt < FEWER_AFTER[0] else HALF if size > 1 else HALF // 2


@kernel
def proposal(root: Floats) -> Floats:
    """Return the W of points y = start + Wz, upper triangular: WIDER R^-1, R the factor of an information."""
    steps = np.zeros(root.shape)
    for k in range(root.shape[0]):
        steps[k, k] = WIDER
    solve_upper_columns(root, steps)
    return steps


@kernel
def weigh_points(start: Floats, steps: Floats, weights: Floats, mean: Floats, covariance: Floats) -> None:
    """Write mean and covariance of points y = start + Wz with these weights."""
    size, half = start.shape[0], weights.shape[0] // 2
    moved, total = np.empty(size), sum_of(weights)
    clear(mean, covariance)
    for t in range(half):
        ahead, behind = weights[2 * t] / total, weights[2 * t + 1] / total
        for i in range(size):
            moved[i] = 0.0
            for k in range(i, size):
                moved[i] += steps[i, k] * point(t, k, half)
            mean[i] += (ahead - behind) * moved[i]
            for k in range(i + 1):
                covariance[i, k] += (ahead + behind) * moved[i] * moved[k]
    for i in range(size):
        for k in range(i + 1):
            covariance[i, k] -= mean[i] * mean[k]
            covariance[k, i] = covariance[i, k]
    for i in range(size):
        mean[i] += start[i]
