"""Eq. 9 with the deviations profiled out: its value and its derivatives.

Given the preference c, a ranking's deviation minimizes loss(S; c + delta) + penalty |delta|, no entry beyond the bound.
In order of places the Hessian H of the loss plus a diagonal is diagonal minus nested rank-one terms, so a system with
it is solved by one sweep back and one forth, and Newton's method takes O(D) a step. Dense matrices and the solvers of
other anchors would take fewer lines, but a step of 4.0 us at D = 20 (2.6 by a plain Cholesky factor) where one
here takes 0.8, and a whole ranking with its curvature, from a near start, 2.4.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import center, center_matrix, copy_vector, max_abs, square_of
from druthers.anchors.box import boxed_step, complete_rank, violation
from druthers.anchors.newton import evaluate, evaluate_quadratic
from druthers.rankings import SAFE_SPREAD, Rankings, add_derivatives, total_derivatives
from druthers.types import Floats, Integers

# Rows of the scratch array of one ranking, vectors in order of places: the ranking, its loss, the search for the
# deviation, and the systems that are solved on the way.
BASE, DEVIATION, TRIAL, STEP, SLOPE, UNIT, LOGS, ODDS = range(8)
GRADIENT, DIAGONAL, DROPS, GAINS, GROWTH, X, Y, HX, HY, N_ROWS = range(8, 18)


class Profile(NamedTuple):
    """Eq. 9, the deviations profiled out and brought up to date with every evaluation, each to an `accuracy`.

    The quadratic c'Hc/2 - b'c stands for older rankings; an infinite penalty is Eq. 4.
    """

    orders: NDArray[np.int16]
    lengths: Integers
    deviations: Floats
    past_hessian: Floats
    past_linear: Floats
    penalty: float
    accuracy: float
    bound: float
    longest: float


@kernel
def _weigh(point: Floats, logs: Floats, odds: Floats) -> None:
    """Write exp(point - its maximum) and its logarithm; beyond the safe spread squares of odds would overflow."""
    top = point[0]
    for k in range(1, point.shape[0]):
        top = max(top, point[k])
    for k in range(point.shape[0]):
        logs[k] = max(point[k] - top, -SAFE_SPREAD)
        odds[k] = np.exp(logs[k])


@kernel
def _expand(work: Floats, length: int) -> float:
    """Return a ranking's loss by its ODDS; write its GRADIENT, and its Hessian as diag(DIAGONAL) - W T diag(DROPS) T'W.

    W is diag(ODDS), and T the lower triangle of ones.
    """
    left = 0.0
    for place in range(work.shape[1] - 1, -1, -1):
        left += work[ODDS, place]
        work[DROPS, place] = left
    total = sums = 0.0
    product = 1.0
    for place in range(work.shape[1]):
        ranked = 0.0
        if place < length:
            ranked = 1.0
            share = 1.0 / work[DROPS, place]
            sums += share
            total -= work[LOGS, place]
            # One logarithm for several places: the product stays in range.
            product *= work[DROPS, place]
            if product < 1e-150 or product > 1e150:
                total += np.log(product)
                product = 1.0
            work[DROPS, place] = share * share
        else:
            work[DROPS, place] = 0.0
        work[DIAGONAL, place] = work[ODDS, place] * sums
        work[GRADIENT, place] = work[DIAGONAL, place] - ranked
    return float(total + np.log(product))


@kernel
def _solve_places(work: Floats, kappa: float, bound: float) -> None:
    """Replace X and Y by the solutions of (H + kappa) x = X and (H + kappa) y = Y, and write H x and H y.

    Where the deviation is at the bound, as if kappa were infinite: that makes a gain zero and changes nothing else.
    """
    x = y = feedback = 0.0
    for place in range(work.shape[1] - 1, -1, -1):
        gain = 1.0 / (work[DIAGONAL, place] + kappa) if abs(work[DEVIATION, place]) < bound else 0.0
        weight = work[ODDS, place] * gain
        feedback += work[ODDS, place] * weight
        grow = 1.0 / (1.0 - feedback * work[DROPS, place])
        feedback *= grow
        x = (x + weight * work[X, place]) * grow
        y = (y + weight * work[Y, place]) * grow
        work[GAINS, place], work[GROWTH, place], work[HX, place], work[HY, place] = gain, grow, x, y
    x = y = 0.0
    for place in range(work.shape[1]):
        x = work[GROWTH, place] * x + work[DROPS, place] * work[HX, place]
        y = work[GROWTH, place] * y + work[DROPS, place] * work[HY, place]
        work[X, place] = (work[X, place] + work[ODDS, place] * x) * work[GAINS, place]
        work[Y, place] = (work[Y, place] + work[ODDS, place] * y) * work[GAINS, place]
        work[HX, place] = work[DIAGONAL, place] * work[X, place] - work[ODDS, place] * x
        work[HY, place] = work[DIAGONAL, place] * work[Y, place] - work[ODDS, place] * y


@kernel
def _deviate(work: Floats, length: int, penalty: float, bound: float, accuracy: float, value: float) -> float:
    """Return rho, the least loss + penalty |delta|, and move DEVIATION there; leave the expansion of the loss.

    Given the loss without deviation, where its gradient is longer than the penalty. The first step leads from there
    downhill, to where the deviation was or else against the gradient, so that none meets the kink again; the others are
    Newton's.
    """
    n_objectives = work.shape[1]
    logs, odds, trial, slope = work[LOGS], work[ODDS], work[TRIAL], work[SLOPE]
    size = promise = steepness = curve = 0.0
    for place in range(n_objectives):
        size += work[DEVIATION, place] ** 2
        promise -= work[DEVIATION, place] * work[GRADIENT, place]
        steepness += work[GRADIENT, place] ** 2
        curve += work[GRADIENT, place] ** 2 * work[DIAGONAL, place]
    promise -= penalty * np.sqrt(size)
    excess = 1.0 - penalty / np.sqrt(steepness)
    reach = min(excess * steepness / curve, bound / np.sqrt(steepness))
    downhill = promise > 0.0
    if not downhill:
        promise = reach * excess * steepness
    for place in range(n_objectives):
        work[STEP, place] = work[DEVIATION, place] if downhill else -reach * work[GRADIENT, place]
        work[DEVIATION, place] = 0.0
    residual = np.inf
    scale = 1.0
    for _ in range(500):
        size = 0.0
        for place in range(n_objectives):
            trial[place] = min(max(work[DEVIATION, place] + scale * work[STEP, place], -bound), bound)
            logs[place] = work[BASE, place] + trial[place]
            size += trial[place] * trial[place]
        size = max(np.sqrt(size), 1e-300)
        _weigh(logs, logs, odds)
        next_value = _expand(work, length) + penalty * size
        for place in range(n_objectives):
            work[UNIT, place] = trial[place] / size
            slope[place] = work[GRADIENT, place] + penalty * work[UNIT, place]
        next_residual = max_abs(slope)
        if next_residual + max_abs(trial) > bound:  # else the box is out of reach
            next_residual = violation(trial, slope, bound)
        if next_value < value - 1e-4 * scale * promise or (
            next_value <= value + 1e-13 * (1.0 + abs(value)) and next_residual < residual
        ):
            value, residual, scale = next_value, next_residual, 1.0
            copy_vector(trial, work[DEVIATION])
            if residual <= accuracy:
                break
            promise = _newton_step(work, length, penalty / size, bound, residual)
        else:
            scale *= 0.5
            if scale < 1e-12:
                break
    return value


@kernel
def _newton_step(work: Floats, length: int, kappa: float, bound: float, residual: float) -> float:
    """Write the STEP by SLOPE and the Hessian H + kappa (I - uu'); return what it promises to gain."""
    n_objectives = work.shape[1]
    for place in range(n_objectives):
        work[X, place], work[Y, place] = work[UNIT, place], work[SLOPE, place]
    _solve_places(work, kappa, np.inf)
    # 1 - kappa u'(H + kappa)^-1 u cancels for a small deviation; as a product with H x it does not.
    left = along = promise = 0.0
    for place in range(n_objectives):
        left += work[UNIT, place] * work[HX, place]
        along += work[UNIT, place] * work[Y, place]
    rest = kappa * along / left if left > 0.0 else 0.0
    outside = False
    for place in range(n_objectives):
        work[STEP, place] = -work[Y, place] - rest * work[X, place]
        outside = outside or not abs(work[DEVIATION, place] + work[STEP, place]) <= bound
    if outside:
        matrix, unused = np.zeros((n_objectives, n_objectives)), np.zeros(n_objectives)
        add_derivatives(np.arange(n_objectives), length, work[LOGS], 1.0, unused, matrix)
        for place in range(n_objectives):
            for other in range(n_objectives):
                matrix[place, other] -= kappa * work[UNIT, place] * work[UNIT, other]
            matrix[place, place] += kappa
        complete_rank(matrix, 0.0)
        boxed_step(matrix, work[SLOPE], bound, 1e-4 * residual * min(residual, 1.0), work[DEVIATION], work[STEP])
    center(work[STEP])
    for place in range(n_objectives):
        promise -= work[STEP, place] * work[SLOPE, place]
    return promise


@kernel
def _add_curvature(work: Floats, order: NDArray[Any], kappa: float, bound: float, out: Floats) -> None:
    """Add the curvature of rho, H - H Z H, Z the inverse of H + kappa (I - uu') on the ways a deviation may move.

    Those sum to zero and leave what the bound holds. With N = (H + kappa)^-1, y = N 1 and x what sums to zero of N u,
    Z = N - yy'/1'y + kappa xx'/(1 - kappa u'x). H - H N H = kappa - kappa N kappa takes O(D^2): N is semiseparable too.
    """
    n_objectives = work.shape[1]
    for place in range(n_objectives):
        work[X, place], work[Y, place] = work[UNIT, place], 1.0
    _solve_places(work, kappa, bound * (1.0 - 1e-7))
    ones, shift, left = 1e-300, 0.0, 0.0
    for place in range(n_objectives):
        ones += work[Y, place]
        shift += work[X, place]
        left += work[UNIT, place] * (work[HX, place] if work[GAINS, place] > 0.0 else work[UNIT, place])
    left += kappa * shift * shift / ones
    for place in range(n_objectives):
        work[HX, place] -= work[HY, place] * shift / ones
    spread = 0.0
    for place in range(n_objectives):
        k = order[place]
        grow = work[GROWTH, place]
        part = kappa * work[GAINS, place] if work[GAINS, place] > 0.0 else 1.0
        own, along, level = work[ODDS, place] * part, kappa * work[HX, place] / left, work[HY, place] / ones
        spread = grow * grow * spread + work[DROPS, place] * grow
        for before in range(place):
            work[TRIAL, before] *= grow
            value = level * work[HY, before] - along * work[HX, before] - own * work[TRIAL, before]
            out[k, order[before]] += value
            out[order[before], k] += value
        work[TRIAL, place] = own * spread
        value = level * work[HY, place] - along * work[HX, place] - own * work[TRIAL, place]
        out[k, k] += work[DIAGONAL, place] * part + value


@kernel
def add_profile(problem: Any, estimate: Floats, slope: Floats, curvature: Floats) -> float:
    """Return the sum of rho over rankings; add its gradient and curvature, and bring the deviations up to date."""
    orders, lengths, deviations, _, _, penalty, accuracy, bound, _ = problem
    n_rankings, n_objectives = orders.shape
    work = np.zeros((N_ROWS, n_objectives))
    logs, odds = np.empty(n_objectives), np.empty(n_objectives)
    _weigh(estimate, logs, odds)
    plain = np.ones(n_rankings)  # 0 where there is a deviation
    total = 0.0
    for row in range(n_rankings if penalty < np.inf else 0):
        order = orders[row]
        for place in range(n_objectives):
            k = order[place]
            work[BASE, place], work[LOGS, place], work[ODDS, place] = estimate[k], logs[k], odds[k]
            work[DEVIATION, place] = deviations[row, k]
            deviations[row, k] = 0.0
        value = _expand(work, lengths[row])
        if np.sqrt(square_of(work[GRADIENT])) <= penalty:
            continue
        plain[row] = 0.0
        total += _deviate(work, lengths[row], penalty, bound, accuracy, value)
        for place in range(n_objectives):
            deviations[row, order[place]] = work[DEVIATION, place]
            slope[order[place]] += work[GRADIENT, place]
        _add_curvature(work, order, penalty / np.sqrt(square_of(work[DEVIATION])), bound, curvature)
    rankings = Rankings(orders, lengths, 0, np.ones(n_objectives))
    total += total_derivatives(rankings, plain, estimate, slope, curvature)
    center_matrix(curvature)
    return total


@implements(evaluate, Profile)
@kernel
def _evaluate(problem: Any, point: Floats, gradient: Floats, hessian: Floats) -> float:
    value = evaluate_quadratic(problem.past_hessian, problem.past_linear, 0.0, point, gradient, hessian)
    return value + add_profile(problem, point, gradient, hessian)
