"""The box of an estimate: centered, with no entry beyond a bound; Newton steps in it, and how optimal a point is."""

from __future__ import annotations

import numpy as np

from druthers._jit import kernel, routine
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
    """Move a centered vector to the nearest one within the bound that is still centered, by bisection on a shift."""
    outside = False
    for k in range(estimate.shape[0]):
        if abs(estimate[k]) > bound:
            outside = True
    if not outside:
        return
    low = -2.0 * bound - max_abs(estimate)
    high = -low
    for _ in range(100):
        shift = 0.5 * (low + high)
        excess = 0.0
        for k in range(estimate.shape[0]):
            excess += min(max(estimate[k] + shift, -bound), bound)
        if excess > 0.0:
            high = shift
        else:
            low = shift
    for k in range(estimate.shape[0]):
        estimate[k] = min(max(estimate[k] + 0.5 * (low + high), -bound), bound)


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


@routine
def boxed_step(matrix: Floats, slope: Floats, bound: float, tolerance: float, estimate: Floats, step: Floats) -> None:
    """Write the step to the minimum of the quadratic model on the centered box; the matrix is positive definite.

    The plain Newton step where it stays inside; otherwise primal-dual interior-point steps on the quadratic, until
    its optimality conditions hold to `tolerance`.
    """
    n_objectives = estimate.shape[0]
    root = np.empty((n_objectives, n_objectives))
    if factor(matrix, root):
        for k in range(n_objectives):
            step[k] = -slope[k]
        solve(root, step)
        center(step)
        inside = True
        for k in range(n_objectives):
            if abs(estimate[k] + step[k]) > bound:
                inside = False
        if inside:
            return
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
    tolerance = max(tolerance, 1e-14 * (1.0 + max_abs(slope)))
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
