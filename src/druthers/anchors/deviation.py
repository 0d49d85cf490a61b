"""One ranking's deviation: the inner problem of the group lasso, solved in O(D) per step.

Given the preference, a ranking's deviation minimizes loss(S; c + delta) + penalty |delta|, no entry beyond the bound.
All vectors of the problem are rows of one scratch array, in order of places. There the Hessian of the loss plus a
diagonal is diagonal minus nested rank-one terms, so a system with it is solved by one sweep back and one forth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers._jit import kernel
from druthers.rankings import SAFE_SPREAD
from druthers.types import Floats

# Largest ratio of penalty/|deviation| to the Hessian in a curvature: a millionth from its limit, and ten digits left.
STIFF = 1e6
# Rows of the scratch array of one ranking, all in order of places; a row number says which vector a kernel reads.
# NumPy's integers, because Numba compiles a kernel anew for each Python constant that it is called with.
N_SCRATCH = 16
_NUMBERS: list[Any] = list(np.arange(N_SCRATCH))
BASE, DEVIATION, TRIAL, ODDS, DIAGONAL, DROPS, SLOPE, UNIT = _NUMBERS[:8]
STEP, SPARE, MORE, EXTRA, GAINS, GROWTH, UPPER, LOWER = _NUMBERS[8:]


@kernel
def dot(work: Floats, x: int, y: int) -> float:
    """Return the inner product of two rows of the scratch array."""
    total = 0.0
    for place in range(work.shape[1]):
        total += work[x, place] * work[y, place]
    return total


@kernel
def tilt_ranking(work: Floats, tilt: int, length: int) -> float:
    """Return a ranking's loss at BASE + the row `tilt`, and overwrite its SLOPE, ODDS, DIAGONAL and DROPS.

    The Hessian is diag(DIAGONAL) - W T diag(DROPS) T'W, W = diag(ODDS) and T the lower triangle of ones.
    """
    n_objectives = work.shape[1]
    top = -np.inf
    for place in range(n_objectives):
        work[SPARE, place] = work[BASE, place] + work[tilt, place]
        top = max(top, work[SPARE, place])
    left = 0.0
    for place in range(n_objectives - 1, -1, -1):
        # Beyond the safe spread the squares below would overflow.
        value = max(work[SPARE, place] - top, -SAFE_SPREAD)
        work[SPARE, place] = value
        work[ODDS, place] = np.exp(value)
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
            total -= work[SPARE, place]
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
def _factor_places(work: Floats) -> None:
    """Prepare `_solve_places` for the ranking's Hessian + diag(EXTRA), EXTRA > 0."""
    feedback = 0.0
    for place in range(work.shape[1] - 1, -1, -1):
        gain = 1.0 / (work[DIAGONAL, place] + work[EXTRA, place])
        feedback += work[ODDS, place] * work[ODDS, place] * gain
        grow = 1.0 / (1.0 - feedback * work[DROPS, place])
        feedback *= grow
        work[GAINS, place] = gain
        work[GROWTH, place] = grow


@kernel
def _solve_places(work: Floats, b: int, x: int) -> None:
    """Write the solution x of (Hessian + diag(EXTRA)) x = b, in O(D) by one sweep back and one forth."""
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
def find_deviation(work: Floats, length: int, penalty: float, bound: float, accuracy: float, ceiling: float) -> float:
    """Return rho, the least loss + penalty |delta|, where the gradient at BASE is longer than the penalty; no box.

    Reads the start in DEVIATION (zero: a cold one) and, at BASE, the value `ceiling`, the SLOPE and the Hessian; leaves
    the minimizer and its Hessian. Newton with a line search from a value below that at zero, so that no iterate
    meets the kink there.
    """
    n_objectives = work.shape[1]
    steepness = np.sqrt(dot(work, SLOPE, SLOPE))
    for place in range(n_objectives):
        work[STEP, place] = work[SLOPE, place] / steepness
        work[TRIAL, place] = work[DEVIATION, place]
    _multiply_places(work, STEP, MORE)
    size = np.sqrt(dot(work, DEVIATION, DEVIATION))
    cold = min((steepness - penalty) / max(dot(work, STEP, MORE), 1e-300), bound)
    if size == 0.0:
        size = cold
        for place in range(n_objectives):
            work[TRIAL, place] = -cold * work[STEP, place]
    started = False
    stopped = False
    value = ceiling
    residual = np.inf
    decrement = 0.0
    scale = 2.0
    for _ in range(500):
        next_value = tilt_ranking(work, TRIAL, length) + penalty * size
        next_residual = 0.0
        for place in range(n_objectives):
            work[SLOPE, place] += penalty * work[TRIAL, place] / size
            next_residual = max(next_residual, abs(work[SLOPE, place]))
        if (
            stopped
            or next_value < value - 1e-4 * scale * decrement
            or (started and next_value <= value + 1e-13 * (1.0 + abs(value)) and next_residual < residual)
        ):
            started = True
            value = next_value
            residual = next_residual
            for place in range(n_objectives):
                work[DEVIATION, place] = work[TRIAL, place]
                work[UNIT, place] = work[TRIAL, place] / size
            if stopped or residual <= accuracy:
                break
            kappa = penalty / size
            for place in range(n_objectives):
                work[EXTRA, place] = kappa
            _factor_places(work)
            _solve_places(work, UNIT, MORE)
            _solve_places(work, SLOPE, STEP)
            # 1 - kappa u'(H + kappa)^-1 u cancels for a small deviation; as a product with Hu it does not.
            _multiply_places(work, UNIT, TRIAL)
            rest = dot(work, MORE, TRIAL)
            rest = kappa * dot(work, MORE, SLOPE) / rest if rest > 0.0 else 0.0
            for place in range(n_objectives):
                work[STEP, place] += rest * work[MORE, place]
            decrement = dot(work, STEP, SLOPE)
            scale = 2.0
        scale *= 0.5
        mean = 0.0
        if not started:
            for place in range(n_objectives):
                work[TRIAL, place] = -scale * cold * work[STEP, place]
                mean += work[TRIAL, place]
        elif scale > 1e-12:
            for place in range(n_objectives):
                work[TRIAL, place] = work[DEVIATION, place] - scale * work[STEP, place]
                mean += work[TRIAL, place]
        else:
            stopped = True
            for place in range(n_objectives):
                work[TRIAL, place] = work[DEVIATION, place]
        mean /= n_objectives
        size = 0.0
        for place in range(n_objectives):
            work[TRIAL, place] -= mean
            size += work[TRIAL, place] * work[TRIAL, place]
        size = max(np.sqrt(size), 1e-300)
    return value


@kernel
def box_deviation(work: Floats, length: int, penalty: float, bound: float, accuracy: float) -> float:
    """Move DEVIATION, found without its box, to the minimizer inside by interior-point steps of O(D) each."""
    n_objectives = work.shape[1]
    largest = 0.0
    for place in range(n_objectives):
        largest = max(largest, abs(work[DEVIATION, place]))
    for place in range(n_objectives):
        value = work[DEVIATION, place] * 0.5 * bound / largest
        work[DEVIATION, place] = value
        work[UPPER, place] = 0.1 * penalty * bound / (bound - value)
        work[LOWER, place] = 0.1 * penalty * bound / (bound + value)
    shift = 0.0
    rho = 0.0
    for iteration in range(100):
        size = np.sqrt(dot(work, DEVIATION, DEVIATION))
        rho = tilt_ranking(work, DEVIATION, length) + penalty * size
        kappa = penalty / size
        dual = 0.0
        gap = 0.0
        average = 0.0
        for place in range(n_objectives):
            work[UNIT, place] = work[DEVIATION, place] / size
            work[SLOPE, place] += penalty * work[UNIT, place]
            high = work[UPPER, place] * (bound - work[DEVIATION, place])
            low = work[LOWER, place] * (bound + work[DEVIATION, place])
            gap = max(gap, high, low)
            average += high + low
            dual = max(dual, abs(work[SLOPE, place] + shift + work[UPPER, place] - work[LOWER, place]))
        if (dual <= accuracy and gap <= 0.01 * accuracy) or iteration == 99:
            break
        average /= 2.0 * n_objectives
        target = average * (0.1 if dual < 100.0 * average else 0.3)
        for place in range(n_objectives):
            room_up = bound - work[DEVIATION, place]
            room_down = bound + work[DEVIATION, place]
            work[EXTRA, place] = kappa + work[UPPER, place] / room_up + work[LOWER, place] / room_down
            work[TRIAL, place] = -(work[SLOPE, place] + target / room_up - target / room_down)
            work[SPARE, place] = 1.0
        _factor_places(work)
        _solve_places(work, UNIT, MORE)
        _solve_places(work, TRIAL, STEP)
        _solve_places(work, SPARE, TRIAL)
        rest = kappa / (1.0 - kappa * dot(work, UNIT, MORE))
        along_step = rest * dot(work, UNIT, STEP)
        along_ones = rest * dot(work, UNIT, TRIAL)
        total = 0.0
        ones = 0.0
        for place in range(n_objectives):
            work[STEP, place] += along_step * work[MORE, place]
            work[TRIAL, place] += along_ones * work[MORE, place]
            total += work[STEP, place]
            ones += work[TRIAL, place]
        new_shift = total / ones
        moved = 0.0
        for place in range(n_objectives):
            work[STEP, place] -= new_shift * work[TRIAL, place]
            moved += work[STEP, place] * work[STEP, place]
        # The norm's Hessian holds only for steps shorter than the deviation.
        reach = min(1.0, 0.5 * size / max(np.sqrt(moved), 1e-300))
        for place in range(n_objectives):
            room_up = bound - work[DEVIATION, place]
            room_down = bound + work[DEVIATION, place]
            step = work[STEP, place]
            up = (target + work[UPPER, place] * step) / room_up - work[UPPER, place]
            down = (target - work[LOWER, place] * step) / room_down - work[LOWER, place]
            if step > 0.0:
                reach = min(reach, 0.99 * room_up / step)
            if step < 0.0:
                reach = min(reach, -0.99 * room_down / step)
            if up < 0.0:
                reach = min(reach, -0.99 * work[UPPER, place] / up)
            if down < 0.0:
                reach = min(reach, -0.99 * work[LOWER, place] / down)
            work[TRIAL, place] = up
            work[MORE, place] = down
        for place in range(n_objectives):
            work[UPPER, place] += reach * work[TRIAL, place]
            work[LOWER, place] += reach * work[MORE, place]
            work[DEVIATION, place] += reach * work[STEP, place]
        shift += reach * (new_shift - shift)
    return rho


@kernel
def add_curvature(work: Floats, order: NDArray[Any], penalty: float, bound: float, out: Floats) -> None:
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
        if abs(work[DEVIATION, place]) > bound * (1.0 - 1e-7):
            pinned = True
    kappa = min(penalty / size, STIFF * largest)
    if pinned:
        _add_pinned_curvature(work, order, kappa, bound, out)
        return
    for place in range(n_objectives):
        work[EXTRA, place] = kappa
    _factor_places(work)
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
def _add_pinned_curvature(work: Floats, order: NDArray[Any], kappa: float, bound: float, out: Floats) -> None:
    """Add H - H Z H where the deviation touches its box: Z inverts M on centered vectors that leave those entries."""
    n_objectives = work.shape[1]
    for place in range(n_objectives):
        pin = 1e12 if abs(work[DEVIATION, place]) > bound * (1.0 - 1e-7) else 0.0
        work[EXTRA, place] = kappa + pin
        work[SPARE, place] = 1.0
    _factor_places(work)
    _solve_places(work, UNIT, MORE)
    rest = kappa / (1.0 - kappa * dot(work, UNIT, MORE))
    _solve_places(work, SPARE, UPPER)
    along = rest * dot(work, MORE, SPARE)
    total = 0.0
    for place in range(n_objectives):
        work[UPPER, place] += along * work[MORE, place]
        total += work[UPPER, place]
    for column in range(n_objectives):
        for place in range(n_objectives):
            work[SPARE, place] = 1.0 if place == column else 0.0
        _multiply_places(work, SPARE, LOWER)
        _solve_places(work, LOWER, STEP)
        along = rest * dot(work, MORE, LOWER)
        sums = 0.0
        for place in range(n_objectives):
            work[STEP, place] += along * work[MORE, place]
            sums += work[STEP, place]
        for place in range(n_objectives):
            work[STEP, place] -= sums / total * work[UPPER, place]
        _multiply_places(work, STEP, TRIAL)
        for place in range(n_objectives):
            out[order[place], order[column]] += work[LOWER, place] - work[TRIAL, place]
