"""The box of an estimate: centered, with no entry beyond a bound; Newton steps in it, and how optimal a point is."""

from __future__ import annotations

import numpy as np

from druthers._jit import kernel
from druthers._matrices import center, factor, max_abs, solve, sum_of
from druthers.types import Floats


@kernel
def complete_rank(matrix: Floats, ridge: float) -> None:
    """Make an information matrix positive definite: add a multiple of 11' (its null space) and ridge."""
    n_objectives = matrix.shape[0]
    size = 0.0
    for k in range(n_objectives):
        size += matrix[k, k]
    size = size / n_objectives + 1e-300
    for k in range(n_objectives):
        for other in range(n_objectives):
            matrix[k, other] += size / n_objectives
        matrix[k, k] += ridge + 1e-10 * size


@kernel
def project(estimate: Floats, bound: float) -> None:
    """Move a centered vector to the nearest one within the bound that is still centered: all shifted, then clipped.

    The sum after clipping rises with the shift, by straight pieces, so Newton steps find its zero, in a bracket that
    shrinks with every one.
    """
    n_objectives = estimate.shape[0]
    high = max_abs(estimate)
    if high <= bound:
        return
    high += bound
    low = -high
    shift = 0.0
    for _ in range(100):
        excess = 0.0
        free = 0
        for k in range(n_objectives):
            value = estimate[k] + shift
            excess += min(max(value, -bound), bound)
            free += abs(value) < bound
        if excess > 0.0:
            high = shift
        else:
            low = shift
        if abs(excess) <= 1e-15 * bound * n_objectives or not high - low > 0.0:
            break
        shift = shift - excess / free if free > 0 else 0.5 * (low + high)
        if not low < shift < high:
            shift = 0.5 * (low + high)
    for k in range(n_objectives):
        estimate[k] = min(max(estimate[k] + shift, -bound), bound)


@kernel
def violation(point: Floats, slope: Floats, bound: float) -> float:
    """Return how far a gradient step, projected back, moves a point of the centered box (0 at a minimum)."""
    n_objectives = point.shape[0]
    moved = np.empty(n_objectives)
    for k in range(n_objectives):
        moved[k] = point[k] - slope[k]
    center(moved)
    project(moved, bound)
    worst = 0.0
    for k in range(n_objectives):
        worst = max(worst, abs(point[k] - moved[k]))
    return worst


@kernel
def held_step(matrix: Floats, slope: Floats, bound: float, slack: float, estimate: Floats, step: Floats) -> bool:
    """Write the step to the minimum of the quadratic model on the centered box, by guessing what the bound holds.

    A guess is solved as if some entries stood at the bound and the others had none. Those that went beyond are held
    in the next guess, those that want back by more than `slack` let go. Returns False if that does not settle soon.
    """
    n_objectives = estimate.shape[0]
    root = np.empty((n_objectives, n_objectives))
    ones = np.empty(n_objectives)
    free = np.ones(n_objectives)  # 0 where the bound holds an entry, and how far that entry steps
    held = np.zeros(n_objectives)
    for k in range(n_objectives):
        if abs(estimate[k]) > (1.0 - 1e-9) * bound:
            free[k] = 0.0
            held[k] = (bound if estimate[k] > 0.0 else -bound) - estimate[k]
    for _ in range(10):
        for k in range(n_objectives):
            step[k] = -slope[k]
        for other in range(n_objectives):
            if held[other] != 0.0:
                for k in range(n_objectives):
                    step[k] -= held[other] * matrix[other, k]
        for k in range(n_objectives):
            own = free[k]
            for other in range(n_objectives):
                root[k, other] = own * free[other] * matrix[k, other]
            root[k, k] = matrix[k, k]
            step[k] *= own
            ones[k] = own
        if not factor(root, root):
            return False
        solve(root, step)
        solve(root, ones)
        room = sum_of(ones)
        if not room > 0.0:  # all are held, and only together can some be let go
            return False
        shift = (sum_of(step) + sum_of(held)) / room
        for k in range(n_objectives):
            step[k] += held[k] - shift * ones[k]
        settled = True
        for k in range(n_objectives):
            goal = estimate[k] + step[k]
            if free[k] == 0.0:
                pull = slope[k] + shift
                for other in range(n_objectives):
                    pull += matrix[k, other] * step[other]
                if (pull if goal > 0.0 else -pull) > slack:
                    free[k] = 1.0
                    held[k] = 0.0
                    settled = False
            elif not abs(goal) <= bound:
                free[k] = 0.0
                held[k] = (bound if goal > 0.0 else -bound) - estimate[k]
                settled = False
        if settled:
            return True
    return False


# Over sixty lines: a step of an interior-point method shares all its vectors, and as arguments they would be a dozen.
@kernel
def boxed_step(matrix: Floats, slope: Floats, bound: float, tolerance: float, estimate: Floats, step: Floats) -> None:
    """Write the step to the minimum of the quadratic model on the centered box; the matrix is positive definite.

    Should guessing what the bound holds not settle, primal-dual interior-point steps on the quadratic, until its
    optimality conditions hold to `tolerance`.
    """
    n_objectives = estimate.shape[0]
    tolerance = max(tolerance, 1e-14 * (1.0 + max_abs(slope)))
    if held_step(matrix, slope, bound, tolerance, estimate, step):
        return
    root = np.empty((n_objectives, n_objectives))
    point = np.empty(n_objectives)
    pull = np.empty(n_objectives)
    ones = np.empty(n_objectives)
    upper = np.empty(n_objectives)
    lower = np.empty(n_objectives)
    shrink = min(1.0, 0.5 * bound / max(max_abs(estimate), 1e-300))
    gap = max(max_abs(slope), 1e-3) * bound * 0.1
    for k in range(n_objectives):
        point[k] = shrink * estimate[k]
        upper[k] = gap / (bound - point[k])
        lower[k] = gap / (bound + point[k])
    shift = 0.0
    reach = 0.0
    for _ in range(60):
        dual = 0.0
        largest = 0.0
        average = 0.0
        for k in range(n_objectives):
            pull[k] = slope[k]
            for other in range(n_objectives):
                pull[k] += matrix[k, other] * (point[other] - estimate[other])
            high = upper[k] * (bound - point[k])
            low = lower[k] * (bound + point[k])
            largest = max(largest, high, low)
            average += high + low
            dual = max(dual, abs(pull[k] + shift + upper[k] - lower[k]))
        if max(0.01 * dual, largest) <= tolerance:
            break
        average /= 2.0 * n_objectives
        # The further the last step went, the bolder the next one.
        target = average * (0.01 if reach > 0.9 else 0.1 if dual < 100.0 * average else 0.3)
        for k in range(n_objectives):
            for other in range(k, n_objectives):
                root[k, other] = matrix[k, other]
            room_up = bound - point[k]
            room_down = bound + point[k]
            root[k, k] += upper[k] / room_up + lower[k] / room_down
            step[k] = -(pull[k] + target / room_up - target / room_down)
            ones[k] = 1.0
        if not factor(root, root):
            break
        solve(root, step)
        solve(root, ones)
        new_shift = sum_of(step) / sum_of(ones)
        for k in range(n_objectives):
            step[k] -= new_shift * ones[k]
        reach = 1.0
        for k in range(n_objectives):
            room_up = bound - point[k]
            room_down = bound + point[k]
            up = target / room_up - upper[k] + upper[k] / room_up * step[k]
            down = target / room_down - lower[k] - lower[k] / room_down * step[k]
            if step[k] > 0.0:
                reach = min(reach, 0.99 * room_up / step[k])
            if step[k] < 0.0:
                reach = min(reach, -0.99 * room_down / step[k])
            if up < 0.0:
                reach = min(reach, -0.99 * upper[k] / up)
            if down < 0.0:
                reach = min(reach, -0.99 * lower[k] / down)
        for k in range(n_objectives):
            room_up = bound - point[k]
            room_down = bound + point[k]
            upper[k] += reach * (target / room_up - upper[k] + upper[k] / room_up * step[k])
            lower[k] += reach * (target / room_down - lower[k] - lower[k] / room_down * step[k])
            point[k] += reach * step[k]
        shift += reach * (new_shift - shift)
    center(point)
    project(point, bound)
    for k in range(n_objectives):
        step[k] = point[k] - estimate[k]
