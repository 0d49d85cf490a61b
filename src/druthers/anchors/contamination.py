"""The contamination model that the robust anchors share: a ranking is Plackett-Luce or, with some chance, uniform.

A preference permuted uniformly at random gives an exactly uniform ranking, so (1 - eps) PL(c) + eps Uniform *is* the
fresh-permutation model of section 6.1, and a good model of the others. eps is called the corruption.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._eigen import eigen
from druthers._jit import kernel
from druthers._matrices import center_matrix
from druthers.anchors.box import is_positive
from druthers.rankings import SAFE_SPREAD, Rankings, add_slope, loss, remaining_sums, scaled_exp, spread
from druthers.types import Floats, Integers

MOST_CORRUPTION = 1.0 - 1e-9


class Past(NamedTuple):
    """What stands for the folded rankings: a quadratic c'Hc/2 - b'c, counts, and how corruption bears on c."""

    hessian: Floats
    linear: Floats
    cross: Floats
    clean: float
    corrupted: float
    tilt: float


@kernel
def uniform_losses(n_objectives: int) -> Floats:
    """Return minus the log-probability of a uniform ranking of each length 0 to D."""
    table = np.zeros(n_objectives + 1)
    for length in range(n_objectives):
        table[length + 1] = table[length] + np.log(n_objectives - length)
    return table


@kernel
def honesty(loss: float, uniform: float, corruption: float) -> float:
    """Return the chance that a ranking with this Plackett-Luce loss came from the preference and not from nowhere."""
    if corruption <= 0.0:
        return 1.0
    if corruption >= 1.0:
        return 0.0
    return float(1.0 / (1.0 + corruption / (1.0 - corruption) * np.exp(min(loss - uniform, 700.0))))


@kernel
def measure_trust(
    orders: NDArray[Any], lengths: Integers, preference: Floats, corruption: float, trust: Floats
) -> None:
    """Write the chance that each ranking came from the preference."""
    uniforms = uniform_losses(preference.shape[0])
    for row in range(orders.shape[0]):
        trust[row] = honesty(loss(orders[row], lengths[row], preference), uniforms[lengths[row]], corruption)


@kernel
def measure(
    orders: NDArray[Any], lengths: Integers, preference: Floats, uniforms: Floats, losses: Floats, ratios: Floats
) -> None:
    """Write each ranking's Plackett-Luce loss and how many times likelier it would be under the uniform law."""
    n_objectives = preference.shape[0]
    wide = spread(preference) > SAFE_SPREAD
    odds = np.empty(n_objectives)
    scaled_exp(preference, odds)
    top = preference[0]
    for k in range(1, n_objectives):
        top = max(top, preference[k])
    for row in range(orders.shape[0]):
        order = orders[row]
        length = lengths[row]
        if wide:
            total = loss(order, length, preference)
        else:
            total = 0.0
            left = 0.0
            for place in range(n_objectives - 1, length - 1, -1):
                left += odds[order[place]]
            # One logarithm for several places: the product stays in range.
            product = 1.0
            for place in range(length - 1, -1, -1):
                objective = order[place]
                left += odds[objective]
                total += top - preference[objective]
                product *= left
                if product < 1e-150 or product > 1e150:
                    total += np.log(product)
                    product = 1.0
            total += np.log(product)
        losses[row] = total
        ratios[row] = np.exp(min(total - uniforms[length], 700.0))


@kernel
def log_likelihood(
    lengths: Integers,
    uniforms: Floats,
    losses: Floats,
    ratios: Floats,
    clean: float,
    corrupted: float,
    corruption: float,
) -> float:
    """Return the log-probability of rankings under the mixture, and of these counts of clean and corrupted ones."""
    total = 0.0
    if corruption <= 0.0:
        for j in range(losses.shape[0]):
            total -= losses[j]
        return total if corrupted <= 0.0 else -np.inf
    for j in range(losses.shape[0]):
        if ratios[j] > 1.0:
            total += np.log((1.0 - corruption) / ratios[j] + corruption) - uniforms[lengths[j]]
        else:
            total += np.log((1.0 - corruption) + corruption * ratios[j]) - losses[j]
    total += clean * np.log(1.0 - corruption)
    if corrupted > 0.0:
        total += corrupted * np.log(corruption)
    return float(total)


@kernel
def best_corruption(ratios: Floats, clean: float, corrupted: float, tilt: float, start: float) -> float:
    """Return the most probable corruption given ratios, counts and a linear term: a concave problem, by Newton."""
    if corrupted <= 0.0:
        slope = tilt - clean
        for j in range(ratios.shape[0]):
            slope += ratios[j] - 1.0
        if slope <= 0.0:
            return 0.0
    low = 0.0
    high = MOST_CORRUPTION
    corruption = min(max(start, 1e-3), 0.99)
    for _ in range(100):
        slope = tilt + corrupted / corruption - clean / (1.0 - corruption)
        curvature = corrupted / corruption**2 + clean / (1.0 - corruption) ** 2
        for j in range(ratios.shape[0]):
            excess = ratios[j] - 1.0
            share = excess / (1.0 + corruption * excess)
            slope += share
            curvature += share * share
        if slope > 0.0:
            low = corruption
        else:
            high = corruption
        proposal = corruption + slope / curvature
        if not low < proposal < high:
            proposal = 0.5 * (low + high)
        moved = abs(proposal - corruption)
        corruption = proposal
        if moved <= 1e-9 * corruption or high - low <= 1e-15:
            break
    return corruption


@kernel
def doubt(
    rankings: Rankings,
    past: Past,
    trust: Floats,
    estimate: Floats,
    ratios: Floats,
    corruption: float,
    information: Floats,
) -> None:
    """Take from the complete information what is lost by not knowing which rankings are corrupted, and how many.

    The first loss is Louis' sum of r (1 - r) gg'; the second is the Schur complement of the corruption, whose mixed
    second derivatives are those of the past and of the rankings.
    """
    if corruption <= 0.0:
        return
    n_objectives = estimate.shape[0]
    cross = past.cross.copy()
    curvature = past.corrupted / corruption**2 + past.clean / (1.0 - corruption) ** 2
    for j in range(ratios.shape[0]):
        excess = ratios[j] - 1.0
        share = excess / (1.0 + corruption * excess)
        curvature += share * share
    subtract_doubt(rankings, trust, estimate, 1.0 / (corruption * (1.0 - corruption)), cross, information)
    for k in range(n_objectives):
        for other in range(n_objectives):
            information[k, other] -= cross[k] * cross[other] / curvature


@kernel
def subtract_doubt(
    rankings: Rankings, trust: Floats, estimate: Floats, unit: float, cross: Floats, information: Floats
) -> None:
    """Take sum r (1 - r) gg' from `information` and add `unit` sum r (1 - r) g to `cross` (g: a loss gradient)."""
    orders, lengths, _, _ = rankings
    n_objectives = estimate.shape[0]
    wide = spread(estimate) > SAFE_SPREAD
    odds = np.empty(n_objectives)
    first = np.empty(n_objectives)
    second = np.empty(n_objectives)
    gradient = np.empty(n_objectives)
    lost = np.zeros((n_objectives, n_objectives))
    scaled_exp(estimate, odds)
    for row in range(orders.shape[0]):
        weight = trust[row] * (1.0 - trust[row])
        if weight < 1e-12:
            continue
        order = orders[row]
        length = lengths[row]
        if wide:
            for k in range(n_objectives):
                gradient[k] = 0.0
            add_slope(order, length, estimate, gradient)
        else:
            remaining_sums(order, length, odds, first, second)
            for k in range(n_objectives):
                gradient[k] = odds[k] * first[k]
            for place in range(length):
                gradient[order[place]] -= 1.0
        for k in range(n_objectives):
            scaled = weight * gradient[k]
            cross[k] += unit * scaled
            for other in range(k, n_objectives):
                lost[k, other] += scaled * gradient[other]
    for k in range(n_objectives):
        information[k, k] -= lost[k, k]
        for other in range(k + 1, n_objectives):
            information[k, other] -= lost[k, other]
            information[other, k] -= lost[k, other]


@kernel
def make_lawful(information: Floats) -> None:
    """Make an information matrix symmetric, zero along the constant and positive semi-definite.

    A direction of negative eigenvalue (possible as far as the ridge holds the optimum) is one of which the rankings
    tell nothing: its eigenvalue becomes zero and the other directions keep theirs.
    """
    n_objectives = information.shape[0]
    for k in range(n_objectives):
        for other in range(k):
            value = 0.5 * (information[k, other] + information[other, k])
            information[k, other] = information[other, k] = value
    center_matrix(information)
    if is_positive(information):
        return
    values, vectors = np.empty(n_objectives), np.empty((n_objectives, n_objectives))
    eigen(information, values, vectors)
    for k in range(n_objectives):
        for other in range(n_objectives):
            information[k, other] = 0.0
    for i in range(n_objectives):
        for k in range(n_objectives):
            scale = max(values[i], 0.0) * vectors[k, i]
            for other in range(n_objectives):
                information[k, other] += scale * vectors[other, i]
