"""The box of an estimate: centered, with no entry beyond a bound; Newton steps in it, and how optimal a point is."""

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
def is_positive(matrix: Floats) -> bool:
    """Tell whether an information matrix is positive on centered vectors."""
    root = matrix.copy()
    complete_rank(root, 0.0)
    return factor(root, root)


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


# Over sixty lines: a step of an active-set method shares all its vectors, and as arguments they would be a dozen.
@kernel
def boxed_step(matrix: Floats, slope: Floats, bound: float, tolerance: float, estimate: Floats, step: Floats) -> None:
    """Write the step to the minimum of the quadratic model on the centered box; the matrix is not negative.

    An active-set method. Some entries are held at the bound; the others go to the minimum that leaves these, or as far
    as the first of them meets the bound, and then that is held too. Once there, the held entry that wants back most, by
    more than `tolerance`, is let go.
    """
    n_objectives = estimate.shape[0]
    tolerance = max(tolerance, 1e-14 * (1.0 + max_abs(slope)))
    least = 1e-12 * max_abs(slope) / bound  # where the model is flat, it leads to the bound
    root = np.empty((n_objectives, n_objectives))
    point, pull = estimate.copy(), slope.copy()
    ones, free = np.empty(n_objectives), np.ones(n_objectives)
    project(point, bound)
    for k in range(n_objectives):
        if abs(point[k]) > (1.0 - 1e-9) * bound:
            free[k] = 0.0
    for _ in range(20 + 10 * n_objectives):
        for k in range(n_objectives):
            for other in range(n_objectives):
                root[k, other] = free[k] * free[other] * matrix[k, other]
            root[k, k] = matrix[k, k] + least
            step[k] = -free[k] * pull[k]
            ones[k] = free[k]
        if not factor(root, root):
            break
        solve(root, step)
        solve(root, ones)
        room = sum_of(ones)
        shift = sum_of(step) / room if room > 0.0 else 0.0
        reach = 1.0
        first = -1
        for k in range(n_objectives):
            step[k] -= shift * ones[k]
            way = (bound if step[k] > 0.0 else -bound) - point[k]
            if free[k] > 0.0 and abs(reach * step[k]) > abs(way) + 1e-15 * bound:
                reach = way / step[k]
                first = k
        for k in range(n_objectives):
            point[k] += reach * step[k]
            for other in range(n_objectives):
                pull[other] += reach * step[k] * matrix[k, other]
        if first >= 0:
            free[first] = 0.0
            point[first] = bound if step[first] > 0.0 else -bound
            continue
        most = tolerance
        for k in range(n_objectives):
            want = pull[k] + shift if point[k] > 0.0 else -pull[k] - shift
            # Where all are held, none of them tells the shift until it is let go.
            if free[k] == 0.0 and (want > most or not room > 0.0):
                most = want
                first = k
        if first < 0:
            break
        free[first] = 1.0
    center(point)
    project(point, bound)
    for k in range(n_objectives):
        step[k] = point[k] - estimate[k]
