"""What a choice says about a preference that is known well: the same normal factor by expansions, without points.

With c ~ N(mean, V) before the choice, the utilities of the options, each less the mean of all by their chances, have a
covariance S. Where this is small as far as options have a chance, moments after the choice follow to second order: the
gradient is that of chances averaged over the belief before, the curvature that of chances averaged over the one after.
"""

from typing import NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import (
    add_product,
    copy_vector,
    factor,
    multiply,
    softmax,
    solve_transposed_columns,
)
from druthers.types import Floats

# A choice that was so sure before it was made, in log-odds and standard deviations, says nothing more.
FORESEEN = 7.0
DEVIATIONS = 3.0


class Outlook(NamedTuple):
    """What is expected of a choice among K options: `utilities` and `chances` (K,), both at the mean.

    `rows` (K, D) are the options less their mean by chances, `along` (K, D) is V times each, and `spreads` (K,) the
    diagonal of S: by how much the log-chance of each option is unsure.
    """

    utilities: Floats
    chances: Floats
    rows: Floats
    along: Floats
    spreads: Floats


@kernel
def look_ahead(offer: Floats, mean: Floats, covariance: Floats) -> Outlook:
    """Return what is expected of a choice where c is N(mean, covariance)."""
    n_rows, size = offer.shape
    numbers, both = np.empty((3, n_rows)), np.zeros((2, n_rows, size))
    utilities, chances, spreads = numbers[0], numbers[1], numbers[2]
    rows, along, average = both[0], both[1], np.zeros(size)
    multiply(offer, mean, utilities)
    copy_vector(utilities, chances)
    softmax(chances)
    for j in range(n_rows):
        for k in range(size):
            average[k] += chances[j] * offer[j, k]
    for j in range(n_rows):
        for k in range(size):
            rows[j, k] = offer[j, k] - average[k]
    add_product(rows, covariance, along)
    for j in range(n_rows):
        spreads[j] = 0.0
        for k in range(size):
            spreads[j] += rows[j, k] * along[j, k]
    return Outlook(utilities, chances, rows, along, spreads)


@kernel
def is_certain(outlook: Outlook, picked: int) -> bool:
    """Tell whether it was certain that this option would be picked."""
    utilities, _, rows, along, spreads = outlook
    least = FORESEEN + np.log(utilities.shape[0])
    for j in range(utilities.shape[0]):
        lead = utilities[picked] - utilities[j] - least
        if j == picked:
            continue
        if lead <= 0.0:
            return False
        variance = spreads[picked] + spreads[j]
        for k in range(rows.shape[1]):
            variance -= 2.0 * rows[j, k] * along[picked, k]
        if lead * lead <= DEVIATIONS * DEVIATIONS * variance:
            return False
    return True


@kernel
def doubt_about(outlook: Outlook, picked: int) -> float:
    """Return how far the chances of options are unsure: the sum of p s exp(s/2), with p = 1 more for the picked one.

    An option that is practically never picked matters as little as its chance, one that was picked matters; p exp(s/2)
    is at least about the chance that an option has on average.
    """
    total = outlook.spreads[picked] * np.exp(0.5 * outlook.spreads[picked])
    for j in range(outlook.spreads.shape[0]):
        total += outlook.chances[j] * outlook.spreads[j] * np.exp(0.5 * outlook.spreads[j])
    return float(total)


@kernel
def glance_site(outlook: Outlook, picked: int, site: Floats) -> None:
    """Add information and pull (D, D + 1) of a choice that hardly moves what is believed: expansions without matrices.

    As `expansion_site`, but for terms of second order in the doubt about options that have a chance. Gradient and
    curvature at the mean alone would tell a fifth to a quarter less: where one option is likely, the chances of the
    others are larger on average than at the mean.
    """
    utilities, chances, rows, along, spreads = outlook
    n_rows, size = rows.shape
    numbers, vectors, values, many = np.empty((3, n_rows)), np.zeros((2, size)), np.empty((4, size)), 0
    later, pulled, shift = numbers[0], numbers[1], numbers[2]
    toward, average = vectors[0], vectors[1]
    average_chances(chances, spreads, later)
    moved = level = 0.0
    for j in range(n_rows):
        pulled[j] = (1.0 if j == picked else 0.0) - later[j]
        for k in range(size):
            toward[k] += pulled[j] * rows[j, k]
    multiply(along, toward, shift)
    for j in range(n_rows):
        moved += chances[j] * shift[j]
        later[j] = utilities[j] + shift[j]
    for j in range(n_rows):
        pulled[j] -= chances[j] * (shift[j] - moved)
        shift[j] = later[j]
    softmax(later)
    average_chances(later, spreads, later)
    for j in range(n_rows):
        level += later[j] * shift[j]
        for k in range(size):
            average[k] += later[j] * rows[j, k]
    for j in range(n_rows):
        weight, root = pulled[j] + later[j] * (shift[j] - level), np.sqrt(later[j])
        for k in range(size):
            site[k, size] += weight * rows[j, k]
        if later[j] > 1e-9:
            for k in range(size):
                values[many, k] = root * (rows[j, k] - average[k])
            many += 1
        if many == 4 or j == n_rows - 1:
            add_squares(values[:many], site)
            many = 0


@kernel
def add_squares(values: Floats, spread: Floats) -> None:
    """Add vv' for each row v of `values` to `spread`; four rows go together."""
    n_rows, size = values.shape
    if n_rows == 4:
        for k in range(size):
            first, second, third, fourth = values[0, k], values[1, k], values[2, k], values[3, k]
            for j in range(size):
                both = first * values[0, j] + second * values[1, j]
                spread[k, j] += both + (third * values[2, j] + fourth * values[3, j])
        return
    for i in range(n_rows):
        for k in range(size):
            for j in range(size):
                spread[k, j] += values[i, k] * values[i, j]


@kernel
def expansion_site(outlook: Outlook, picked: int, site: Floats) -> bool:
    """Add information and pull (D, D + 1) of a choice, to second order; False, with nothing added, where that fails."""
    utilities, chances, rows, along, spreads = outlook
    n_rows, size = rows.shape
    spread, curve = np.empty((n_rows, n_rows)), np.empty((n_rows, n_rows))
    shift, pulled, later = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    for j in range(n_rows):
        for i in range(j + 1):
            value = 0.0
            for k in range(size):
                value += rows[j, k] * along[i, k]
            spread[j, i] = spread[i, j] = curve[j, i] = curve[i, j] = value
    average_chances(chances, spreads, later)
    for j in range(n_rows):
        shift[j] = (1.0 if j == picked else 0.0) - later[j]
        pulled[j] = shift[j]
    if not condition_utilities(curve, chances, shift):
        return False
    moved = 0.0
    for j in range(n_rows):
        moved += chances[j] * shift[j]
    for j in range(n_rows):
        pulled[j] -= chances[j] * (shift[j] - moved)
        shift[j] += utilities[j]
        later[j] = shift[j]
    softmax(later)
    if not average_curvature(spread, later, curve):
        return False
    for j in range(n_rows):
        for i in range(n_rows):
            pulled[j] += curve[j, i] * shift[i]
    add_in_rows(rows, curve, pulled, site)
    return True


@kernel
def average_chances(chances: Floats, spreads: Floats, out: Floats) -> float:
    """Write chances p (1 + (s - mean of s)/2), as they are on average to second order; return the mean of s.

    `out` may be `chances`.
    """
    mean = 0.0
    for j in range(chances.shape[0]):
        mean += chances[j] * spreads[j]
    for j in range(chances.shape[0]):
        out[j] = chances[j] * (1.0 + 0.5 * (spreads[j] - mean))
    return float(mean)


@kernel
def average_curvature(spread: Floats, chances: Floats, out: Floats) -> bool:
    """Write diag p - pp' as it is on average after a choice, from chances there and the S of before, which is used up.

    E[p_j p_k] is q_j q_k + p_j p_k S_jk to second order, q the averages of p. As long as the mean of s is below one all
    of these are positive, and so is the whole: it is the Laplacian of a graph with these weights.
    """
    size = chances.shape[0]
    means, unused = np.empty(size), np.zeros(size)
    multiply(spread, chances, means)
    mean = 0.0
    for j in range(size):
        mean += chances[j] * means[j]
    for j in range(size):
        for i in range(size):
            spread[j, i] += mean - means[j] - means[i]
    if not condition_utilities(spread, chances, unused):
        return False
    for j in range(size):
        means[j] = spread[j, j]
    if not average_chances(chances, means, unused) < 1.0:  # nor where it is no number
        return False
    for j in range(size):
        out[j, j] = 0.0
    for j in range(size):
        for i in range(j):
            weight = unused[j] * unused[i] + chances[j] * chances[i] * spread[j, i]
            out[j, i] = out[i, j] = -weight
            out[j, j] += weight
            out[i, i] += weight
    return True


@kernel
def condition_utilities(spread: Floats, chances: Floats, gradient: Floats) -> bool:
    """Turn S into C = (S^-1 + diag p - pp')^-1, where Sp = 0, and a gradient g into the shift Cg of utilities it makes.

    With W = diag sqrt p, C is S - SW (I + WSW)^-1 WS. False where S is no covariance.
    """
    size = chances.shape[0]
    roots, matrix, half = np.empty(size), np.empty((size, size)), np.empty((size, size))
    for j in range(size):
        roots[j] = np.sqrt(chances[j])
    for j in range(size):
        for i in range(size):
            half[j, i] = roots[j] * spread[j, i]
            matrix[j, i] = half[j, i] * roots[i]
        matrix[j, j] += 1.0
    if not factor(matrix, matrix):
        return False
    solve_transposed_columns(matrix, half)
    for k in range(size):
        for j in range(size):
            value = half[k, j]
            for i in range(size):
                spread[j, i] -= value * half[k, i]
    multiply(spread, gradient, roots)
    copy_vector(roots, gradient)
    return True


@kernel
def add_in_rows(rows: Floats, curve: Floats, pulled: Floats, site: Floats) -> None:
    """Add X'HX and X'h (D, D + 1), X being the rows."""
    n_rows, size = rows.shape
    weighed = np.zeros((n_rows, size + 1))
    add_product(curve, rows, weighed)
    copy_vector(pulled, weighed[:, size])
    add_product(rows.T, weighed, site)
