"""Eq. 9 with the deviations profiled out: its value and its derivatives.

Given the preference, a ranking's deviation minimizes loss(S; c + delta) + penalty |delta|, no entry beyond the bound.
The vectors of that problem are rows of one scratch array, in order of places. There the Hessian of the loss plus a
multiple of I is diagonal minus nested rank-one terms, so a system with it is solved by one sweep back and one forth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import center, factor, max_abs, solve, sum_of
from druthers.anchors.box import boxed_step, complete_rank, violation
from druthers.anchors.newton import evaluate, evaluate_quadratic
from druthers.rankings import SAFE_SPREAD, Rankings, total_derivatives
from druthers.types import Floats, Integers

# Largest ratio of penalty/|deviation| to the Hessian in a curvature: a millionth from its limit, and ten digits left.
STIFF = 1e6
# Rows of the scratch array of one ranking; a row number says which vector a kernel reads.
# NumPy's integers, because Numba compiles a kernel anew for each Python constant that it is called with.
N_SCRATCH = 14
_NUMBERS: list[Any] = list(np.arange(N_SCRATCH))
BASE, DEVIATION, TRIAL, LOGS, ODDS, DIAGONAL, DROPS = _NUMBERS[:7]
SLOPE, UNIT, STEP, MORE, GAINS, GROWTH, COLUMN = _NUMBERS[7:]


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
def dot(work: Floats, x: int, y: int) -> float:
    """Return the inner product of two rows of the scratch array."""
    total = 0.0
    for place in range(work.shape[1]):
        total += work[x, place] * work[y, place]
    return total


@kernel
def _tilt(work: Floats, tilt: int, length: int) -> float:
    """Return a ranking's loss at BASE + the row `tilt`, as `_weigh` does."""
    n_objectives = work.shape[1]
    top = -np.inf
    for place in range(n_objectives):
        work[LOGS, place] = work[BASE, place] + work[tilt, place]
        top = max(top, work[LOGS, place])
    for place in range(n_objectives):
        # Beyond the safe spread squares of odds would overflow.
        work[LOGS, place] = max(work[LOGS, place] - top, -SAFE_SPREAD)
        work[ODDS, place] = np.exp(work[LOGS, place])
    return _weigh(work, length)


@kernel
def _weigh(work: Floats, length: int) -> float:
    """Return a ranking's loss from its ODDS and their LOGS, and overwrite its SLOPE, DIAGONAL and DROPS.

    The Hessian is diag(DIAGONAL) - W T diag(DROPS) T'W, W = diag(ODDS) and T the lower triangle of ones.
    """
    n_objectives = work.shape[1]
    left = 0.0
    for place in range(n_objectives - 1, -1, -1):
        left += work[ODDS, place]
        work[DROPS, place] = left
    total = 0.0
    product = 1.0
    sums = 0.0
    for place in range(n_objectives):
        ranked = 0.0
        if place < length:
            remaining = work[DROPS, place]
            share = 1.0 / remaining
            sums += share
            work[DROPS, place] = share * share
            total -= work[LOGS, place]
            # One logarithm for several places: the product stays in range.
            product *= remaining
            if product < 1e-150 or product > 1e150:
                total += np.log(product)
                product = 1.0
            ranked = 1.0
        else:
            work[DROPS, place] = 0.0
        work[DIAGONAL, place] = work[ODDS, place] * sums
        work[SLOPE, place] = work[DIAGONAL, place] - ranked
    whole: float = total + np.log(product)
    return whole


@kernel
def _factor_places(work: Floats, kappa: float) -> None:
    """Prepare `_solve_places` for the ranking's Hessian + kappa I."""
    feedback = 0.0
    for place in range(work.shape[1] - 1, -1, -1):
        gain = 1.0 / (work[DIAGONAL, place] + kappa)
        feedback += work[ODDS, place] * work[ODDS, place] * gain
        grow = 1.0 / (1.0 - feedback * work[DROPS, place])
        feedback *= grow
        work[GAINS, place] = gain
        work[GROWTH, place] = grow


@kernel
def _solve_places(work: Floats, b: int, x: int) -> None:
    """Write the solution x of (Hessian + kappa I) x = b, in O(D) by one sweep back and one forth."""
    n_objectives = work.shape[1]
    ahead = 0.0
    for place in range(n_objectives - 1, -1, -1):
        ahead = (ahead + work[ODDS, place] * work[b, place] * work[GAINS, place]) * work[GROWTH, place]
        work[x, place] = ahead
    behind = 0.0
    for place in range(n_objectives):
        behind = work[GROWTH, place] * behind + work[DROPS, place] * work[x, place]
        work[x, place] = (work[b, place] + work[ODDS, place] * behind) * work[GAINS, place]


@kernel
def _multiply_places(work: Floats, x: int, out: int) -> None:
    """Write the ranking's Hessian times x; `out` is another row."""
    n_objectives = work.shape[1]
    ahead = 0.0
    for place in range(n_objectives - 1, -1, -1):
        ahead += work[ODDS, place] * work[x, place]
        work[out, place] = ahead
    behind = 0.0
    for place in range(n_objectives):
        behind += work[DROPS, place] * work[out, place]
        work[out, place] = work[DIAGONAL, place] * work[x, place] - work[ODDS, place] * behind


@kernel
def _hessian(work: Floats) -> Floats:
    """Return the ranking's Hessian as a matrix, which only deviations at the bound need."""
    n_objectives = work.shape[1]
    hessian = np.zeros((n_objectives, n_objectives))
    for column in range(n_objectives):
        for place in range(n_objectives):
            work[COLUMN, place] = 1.0 if place == column else 0.0
        _multiply_places(work, COLUMN, STEP)
        for place in range(n_objectives):
            hessian[place, column] = work[STEP, place]
    return hessian


@kernel
def _deviate(work: Floats, length: int, penalty: float, bound: float, accuracy: float) -> float:
    """Return rho, the least loss + penalty |delta|, and move DEVIATION there from where it stands; leave its Hessian.

    Reads ODDS and LOGS at BASE. Damped Newton steps; the first one leads straight down from no deviation, so that none
    meets the kink there again.
    """
    n_objectives = work.shape[1]
    value: float = _weigh(work, length)
    steepness = np.sqrt(dot(work, SLOPE, SLOPE))
    scale = 2.0 if dot(work, DEVIATION, DEVIATION) > 0.0 else 1.0
    for place in range(n_objectives):
        work[TRIAL, place] = work[DEVIATION, place]
        work[DEVIATION, place] = 0.0
    if steepness <= penalty:
        return value
    for place in range(n_objectives):
        work[UNIT, place] = work[SLOPE, place] / steepness
    _multiply_places(work, UNIT, MORE)
    reach = min((steepness - penalty) / max(dot(work, UNIT, MORE), 1e-300), bound)
    decrement = reach * (steepness - penalty)
    for place in range(n_objectives):
        work[STEP, place] = -reach * work[UNIT, place]
        if scale == 1.0:
            work[TRIAL, place] = work[STEP, place]
    residual = np.inf
    for _ in range(500):
        size = max(np.sqrt(dot(work, TRIAL, TRIAL)), 1e-300)
        next_value = _tilt(work, TRIAL, length) + penalty * size
        for place in range(n_objectives):
            work[SLOPE, place] += penalty * work[TRIAL, place] / size
        next_residual = max_abs(work[SLOPE])
        if next_residual + max_abs(work[TRIAL]) > bound:  # else the box is out of reach
            next_residual = violation(work[TRIAL], work[SLOPE], bound)
        if next_value < value - 1e-4 * scale * decrement or (
            next_value <= value + 1e-13 * (1.0 + abs(value)) and next_residual < residual
        ):
            value = next_value
            residual = next_residual
            for place in range(n_objectives):
                work[DEVIATION, place] = work[TRIAL, place]
                work[UNIT, place] = work[TRIAL, place] / size
            if residual <= accuracy:
                return value
            decrement = _newton_step(work, penalty / size, bound, residual)
            scale = 2.0
        scale *= 0.5
        if scale < 1e-12:
            break
        for place in range(n_objectives):
            work[TRIAL, place] = min(max(work[DEVIATION, place] + scale * work[STEP, place], -bound), bound)
    _tilt(work, DEVIATION, length)
    return value


@kernel
def _newton_step(work: Floats, kappa: float, bound: float, residual: float) -> float:
    """Write the STEP from DEVIATION with SLOPE and the Hessian H + kappa (I - uu'); return what it promises to gain."""
    n_objectives = work.shape[1]
    _factor_places(work, kappa)
    _solve_places(work, UNIT, MORE)
    _solve_places(work, SLOPE, STEP)
    # 1 - kappa u'(H + kappa)^-1 u cancels for a small deviation; as a product with Hu it does not.
    _multiply_places(work, UNIT, TRIAL)
    rest = dot(work, MORE, TRIAL)
    rest = kappa * dot(work, MORE, SLOPE) / rest if rest > 0.0 else 0.0
    outside = False
    for place in range(n_objectives):
        work[STEP, place] = -work[STEP, place] - rest * work[MORE, place]
        outside = outside or not abs(work[DEVIATION, place] + work[STEP, place]) <= bound
    if outside:
        matrix = _hessian(work)
        for place in range(n_objectives):
            for other in range(n_objectives):
                matrix[place, other] -= kappa * work[UNIT, place] * work[UNIT, other]
            matrix[place, place] += kappa
        complete_rank(matrix, 0.0)
        tolerance = 1e-4 * residual * min(residual, 1.0)
        boxed_step(matrix, work[SLOPE], bound, tolerance, work[DEVIATION], work[STEP])
    center(work[STEP])
    return -dot(work, STEP, SLOPE)


@kernel
def _add_curvature(work: Floats, order: NDArray[Any], penalty: float, bound: float, out: Floats) -> None:
    """Add the curvature of rho at the DEVIATION: H - H M^-1 H, M = H + kappa (I - uu'), kappa = penalty/|delta|.

    With N = (H + kappa)^-1 and h = u - kappa N u that is kappa - kappa^2 N - kappa hh'/(u'h), in O(D^2) because the
    inverse N is semiseparable too.
    """
    n_objectives = work.shape[1]
    size = np.sqrt(dot(work, DEVIATION, DEVIATION))
    largest = 0.0
    pinned = False
    for place in range(n_objectives):
        work[UNIT, place] = work[DEVIATION, place] / size
        largest = max(largest, work[DIAGONAL, place])
        pinned = pinned or _is_pinned(work, place, bound)
    kappa = min(penalty / size, STIFF * largest)
    if pinned:
        _add_pinned_curvature(work, order, kappa, bound, out)
        return
    _factor_places(work, kappa)
    _solve_places(work, UNIT, MORE)
    _multiply_places(work, UNIT, STEP)
    rest = kappa / dot(work, MORE, STEP)
    spread = 0.0
    for place in range(n_objectives):
        k = order[place]
        grow = work[GROWTH, place]
        spread = grow * grow * spread + work[DROPS, place] * grow
        own = work[ODDS, place] * work[GAINS, place] * kappa
        work[STEP, place] = work[UNIT, place] - kappa * work[MORE, place]
        tilted = rest * work[STEP, place]
        for before in range(place):
            other = order[before]
            work[TRIAL, before] *= grow
            value = own * work[TRIAL, before] + tilted * work[STEP, before]
            out[k, other] -= value
            out[other, k] -= value
        work[TRIAL, place] = own * spread
        # kappa - kappa^2/(a + kappa), without the difference.
        within = kappa * work[DIAGONAL, place] * work[GAINS, place]
        out[k, k] += within - own * own * spread - tilted * work[STEP, place]


@kernel
def _is_pinned(work: Floats, place: int, bound: float) -> bool:
    """Tell whether the bound holds an entry of the DEVIATION."""
    return bool(abs(work[DEVIATION, place]) > bound * (1.0 - 1e-7))


@kernel
def _add_pinned_curvature(work: Floats, order: NDArray[Any], kappa: float, bound: float, out: Floats) -> None:
    """Add H - H Z H where the deviation touches its box: Z inverts M on centered vectors that leave those entries."""
    n_objectives = work.shape[1]
    hessian = _hessian(work)
    matrix = np.zeros((n_objectives, n_objectives))
    column = np.empty(n_objectives)
    free = np.empty(n_objectives)
    for place in range(n_objectives):
        free[place] = 0.0 if _is_pinned(work, place, bound) else 1.0
    for place in range(n_objectives):
        for other in range(n_objectives):
            own = hessian[place, other] - kappa * work[UNIT, place] * work[UNIT, other]
            matrix[place, other] = free[place] * free[other] * own
        matrix[place, place] += free[place] * kappa + 1.0 - free[place]
    factor(matrix, matrix)
    ones = free.copy()
    solve(matrix, ones)
    room = max(sum_of(ones), 1e-300)
    for k in range(n_objectives):
        for other in range(n_objectives):
            column[other] = free[other] * hessian[k, other]
        solve(matrix, column)
        shift = sum_of(column) / room
        for other in range(n_objectives):
            out[order[k], order[other]] += hessian[k, other]
            for between in range(n_objectives):
                along = column[between] - shift * ones[between]
                out[order[k], order[other]] -= hessian[other, between] * along


@kernel
def add_profile(problem: Any, estimate: Floats, slope: Floats, curvature: Floats) -> float:
    """Return the sum of rho over rankings; add its gradient and curvature, and bring the deviations up to date."""
    orders, lengths, deviations, _, _, penalty, accuracy, bound, _ = problem
    n_rankings, n_objectives = orders.shape
    work = np.zeros((N_SCRATCH, n_objectives))
    logs, odds = np.empty(n_objectives), np.empty(n_objectives)
    top = -np.inf
    for k in range(n_objectives):
        top = max(top, estimate[k])
    for k in range(n_objectives):
        logs[k] = max(estimate[k] - top, -SAFE_SPREAD)
        odds[k] = np.exp(logs[k])
    plain = np.ones(n_rankings)  # 0 where there is a deviation
    total = 0.0
    for row in range(n_rankings):
        order = orders[row]
        for place in range(n_objectives):
            k = order[place]
            work[BASE, place] = estimate[k]
            work[LOGS, place] = logs[k]
            work[ODDS, place] = odds[k]
            work[DEVIATION, place] = deviations[row, k]
            deviations[row, k] = 0.0
        if np.isinf(penalty):
            continue
        value = _deviate(work, lengths[row], penalty, bound, accuracy)
        if dot(work, DEVIATION, DEVIATION) > 0.0:
            plain[row] = 0.0
            total += value
            for place in range(n_objectives):
                deviations[row, order[place]] = work[DEVIATION, place]
                slope[order[place]] += work[DIAGONAL, place] - (1.0 if place < lengths[row] else 0.0)
            _add_curvature(work, order, penalty, bound, curvature)
    rankings = Rankings(orders, lengths, 0, np.ones(n_objectives))
    total += total_derivatives(rankings, plain, estimate, slope, curvature)
    _center_both(curvature)
    return total


@kernel
def _center_both(matrix: Floats) -> None:
    """Take from a symmetric matrix what rounding has put along the constant."""
    size = matrix.shape[0]
    means = np.empty(size)
    for k in range(size):
        means[k] = sum_of(matrix[k]) / size
    mean = sum_of(means) / size
    for k in range(size):
        for other in range(size):
            matrix[k, other] += mean - (means[k] + means[other])


@implements(evaluate, Profile)
@kernel
def _evaluate(problem: Any, point: Floats, gradient: Floats, hessian: Floats) -> float:
    value = evaluate_quadratic(problem.past_hessian, problem.past_linear, 0.0, point, gradient, hessian)
    return value + add_profile(problem, point, gradient, hessian)
