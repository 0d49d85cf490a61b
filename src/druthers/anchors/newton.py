"""One damped Newton method for all anchors: the minimum of a smooth problem on the centered box."""

from typing import Any

import numpy as np

from druthers._jit import generic, kernel
from druthers._matrices import center, copy_matrix, copy_vector, factor, max_abs, solve
from druthers.anchors.box import boxed_step, complete_rank, project, violation
from druthers.rankings import spread
from druthers.types import Floats

# How far in spread a Hessian holds.
STALE = 0.5
# The longest step, in spread or in any weight, that is tried as it is.
LONGEST = 1.0


@generic
def evaluate(problem: Any, point: Floats, gradient: Floats, hessian: Floats) -> float:
    """Return the objective of a problem; overwrite its gradient and its Hessian, positive on centered vectors.

    A problem is a NamedTuple with at least the fields `bound`, of its box, and `longest`, the longest step in any entry
    for which it can be trusted. An evaluation must not call `minimize`: machine code of a kernel that calls itself,
    be it for other types, crashes when Numba reads it from its cache.
    """
    return np.nan


@kernel
def minimize(
    problem: Any, tolerance: float, slack: float, estimate: Floats, gradient: Floats, hessian: Floats, step: Floats
) -> bool:
    """Move an estimate to the minimum of a problem on the centered box by damped Newton steps.

    Stops at a KKT residual of `tolerance`; or, and then returns True, before a `step` that surely ends within `slack`
    standard errors of the minimum and is left to be taken. Overwrites gradient and Hessian with those at the estimate.
    """
    n_objectives = estimate.shape[0]
    next_gradient = np.empty(n_objectives)
    next_hessian = np.empty((n_objectives, n_objectives))
    matrix = np.empty((n_objectives, n_objectives))
    center(estimate)
    project(estimate, problem.bound)
    trial = estimate.copy()
    value = np.inf
    residual = np.inf
    decrement = 0.0
    scale = 2.0
    for _ in range(300):
        next_value = evaluate(problem, trial, next_gradient, next_hessian)
        next_residual = violation(trial, next_gradient, problem.bound)
        # Near the optimum the values are equal to rounding and the gradient decides.
        if next_value <= value - 1e-4 * scale * decrement or (
            next_value <= value + 1e-12 * (1.0 + abs(value)) and next_residual < residual
        ):
            copy_vector(trial, estimate)
            copy_vector(next_gradient, gradient)
            copy_matrix(next_hessian, hessian)
            value = next_value
            residual = next_residual
            if residual <= tolerance:
                return False
            copy_matrix(hessian, matrix)
            complete_rank(matrix, 0.0)
            boxed_step(matrix, gradient, problem.bound, 1e-4 * residual * min(residual, 1.0), estimate, step)
            reach = spread(step)
            if reach <= STALE and 0.5 * reach * standard_errors(step, hessian, 0.0) < slack:
                return True
            decrement = 0.0
            for k in range(n_objectives):
                decrement -= step[k] * gradient[k]
            scale = 2.0
            if reach > LONGEST:
                # Along a choice that was thought unlikely the loss falls like exp(x) - x: a step s ends at ln(1 + s).
                scale *= min(np.log1p(reach) / reach, problem.longest / max_abs(step))
        scale *= 0.5
        if scale < 1e-8:
            break
        for k in range(n_objectives):
            trial[k] = estimate[k] + scale * step[k]
    # No more progress: what a problem keeps beside its gradient comes back to the estimate.
    evaluate(problem, estimate, gradient, hessian)
    return False


@kernel
def take_step(information: Floats, ridge: float, slope: Floats, estimate: Floats) -> None:
    """Move an estimate by one Newton step, no weight by more than one, if there is one; `slope` is used up."""
    root = information.copy()
    complete_rank(root, ridge)
    if not factor(root, root):
        return
    solve(root, slope)
    damping = 1.0 / max(1.0, max_abs(slope))
    for k in range(estimate.shape[0]):
        estimate[k] -= damping * slope[k]
    center(estimate)


@kernel
def add_product(hessian: Floats, ridge: float, x: Floats, out: Floats) -> None:
    """Add (H + ridge I) x, H symmetric: multiples of whole rows, since those sums run at once."""
    for k in range(x.shape[0]):
        scale = x[k]
        for other in range(x.shape[0]):
            out[other] += scale * hessian[k, other]
        out[k] += ridge * scale


@kernel
def standard_errors(difference: Floats, hessian: Floats, ridge: float) -> float:
    """Return the length of a difference of estimates in standard errors, |x|_H / sqrt(D - 1)."""
    size = difference.shape[0]
    along = np.zeros(size)
    add_product(hessian, ridge, difference, along)
    square = 0.0
    for k in range(size):
        square += along[k] * difference[k]
    return float(np.sqrt(max(square, 0.0) / max(size - 1, 1)))


@kernel
def evaluate_quadratic(
    past_hessian: Floats, past_linear: Floats, ridge: float, point: Floats, gradient: Floats, hessian: Floats
) -> float:
    """Return c'Hc/2 - b'c + ridge |c|^2/2; overwrite its gradient and Hessian."""
    copy_matrix(past_hessian, hessian)
    for k in range(point.shape[0]):
        gradient[k] = 0.0
    add_product(hessian, ridge, point, gradient)
    value = 0.0
    for k in range(point.shape[0]):
        hessian[k, k] += ridge
        value += (0.5 * gradient[k] - past_linear[k]) * point[k]
        gradient[k] -= past_linear[k]
    return value


@kernel
def add_quadratic(
    gradient: Floats, hessian: Floats, estimate: Floats, past_hessian: Floats, past_linear: Floats
) -> float:
    """Add the quadratic c'Hc/2 - b'c with this gradient and Hessian at the estimate; return its value there."""
    value = 0.0
    for k in range(estimate.shape[0]):
        pull = 0.0
        for other in range(estimate.shape[0]):
            pull += hessian[k, other] * estimate[other]
            past_hessian[k, other] += hessian[k, other]
        past_linear[k] += pull - gradient[k]
        value += (gradient[k] - 0.5 * pull) * estimate[k]
    return value
