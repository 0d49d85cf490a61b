"""Fixed, evenly spread points of a standard normal law, at which means over normal laws are taken."""

from statistics import NormalDist

import numpy as np

from druthers._jit import kernel
from druthers._matrices import add_product, clear, solve_upper_columns, square_of, sum_of
from druthers.types import Floats

# Half of the fixed points at which means over a normal law are taken, the other half being their mirror images: fewer
# where every lead of one option over another has a variance below the limit, since a choice is then nearly normal. What
# follows from a choice takes fewer where chances are unsure by less than a limit, however unlikely options lead.
HALF = 512
FEWER = ((0.5, 32), (4.0, 128))
FEWER_AFTER = (1.5, 128)
# A lead counts as no farther than this from where points start: powers of e stay finite.
FARTHEST = 300.0
# So many points are taken together; their numbers are multiples of it.
BLOCK = 64
# For powers of e: 1/ln 2; ln 2 in two parts, the first of few digits; and what moves all digits behind the point out.
PER_LN_2 = 1.4426950408889634
LN_2, REST_OF_LN_2 = 0.6931471803691238, 1.9082149292705877e-10
LARGE = 1.5 * 2.0**52
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


@kernel
def write_powers(slopes: Floats, tilt: Floats, steps: Floats, z: Floats, powers: Floats) -> None:
    """Write by what factor each option gains at points z (r, n), and in two more rows how much likelier y then is.

    That is at the points themselves and at their mirror images; relative to `start` and to the law of proposals.
    """
    size, n_points = z.shape
    n_rows = slopes.shape[0]
    moved = np.zeros((size, n_points))
    add_product(steps, z, moved)
    for j in range(n_rows + 2):
        for t in range(n_points):
            powers[j, t] = 0.0
    add_product(slopes, z, powers[:n_rows])
    ahead, behind = powers[n_rows], powers[n_rows + 1]
    for k in range(size):
        for t in range(n_points):
            level, tilted = 0.5 * (z[k, t] * z[k, t] - moved[k, t] * moved[k, t]), tilt[k] * z[k, t]
            ahead[t] += level - tilted
            behind[t] += level + tilted
    exponentials(powers.ravel())


@kernel
def weigh_shares(first: Floats, own: float, powers: Floats, shares: Floats, weight: Floats) -> None:
    """Write the chances of the options at points and their mirror images (2, K, n), and the weights of these (2, n)."""
    n_rows, n_points = shares.shape[1:]
    for t in range(n_points):
        weight[0, t] = weight[1, t] = own
    for j in range(n_rows):
        for t in range(n_points):
            ahead, behind = first[j] / powers[j, t], first[j] * powers[j, t]
            shares[0, j, t], shares[1, j, t] = ahead, behind
            weight[0, t] += ahead
            weight[1, t] += behind
    for side in range(2):
        for t in range(n_points):
            weight[side, t] = 1.0 / weight[side, t]
        for j in range(n_rows):
            for t in range(n_points):
                shares[side, j, t] *= weight[side, t]
        for t in range(n_points):
            weight[side, t] *= powers[n_rows + side, t]


@kernel
def add_shares(shares: Floats, weight: Floats, sums: Floats) -> None:
    """Add pp' of weighed points to `sums` (K, K + 1, n), its lower triangle, and p to the last column."""
    n_rows, n_points = shares.shape[1:]
    weighed = np.empty((2, n_points))
    for j in range(n_rows):
        for t in range(n_points):
            weighed[0, t] = weight[0, t] * shares[0, j, t]
            weighed[1, t] = weight[1, t] * shares[1, j, t]
            sums[j, n_rows, t] += weighed[0, t] + weighed[1, t]
        for i in range(j + 1):
            for t in range(n_points):
                sums[j, i, t] += weighed[0, t] * shares[0, i, t] + weighed[1, t] * shares[1, i, t]


@kernel
def exponentials(x: Floats) -> None:
    """Replace x by its exponentials, within 2 units of the last place; beyond `FARTHEST` it counts as no farther.

    The C library takes one at a time; these are vector instructions. With x = n ln 2 + r, e^r is a polynomial and n is
    added to its exponent: it stands in the last bits of a number that is large enough.
    """
    turns = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        near = min(max(x[i], -FARTHEST), FARTHEST)
        turns[i] = near * PER_LN_2 + LARGE
        whole = turns[i] - LARGE
        r = (near - whole * LN_2) - whole * REST_OF_LN_2
        rest = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600))))
        x[i] = 1.0 + r * (
            1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * rest))))))
        )
    bits, shifts = x.view(np.int64), turns.view(np.int64)
    for i in range(x.shape[0]):
        bits[i] += shifts[i] << 52
