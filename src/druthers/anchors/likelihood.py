"""The constrained maximum-likelihood anchor (Eq. 4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import center, clear, copy_matrix, copy_vector, factor, max_abs, solve, sum_of
from druthers.anchors.base import Anchor, fit_anchor, fold_oldest, hear_anchor, is_power_of_two, remember
from druthers.errors import InvalidSetting
from druthers.rankings import add_derivatives, complete, total_derivatives
from druthers.types import Floats, Integers


class LikelihoodRows(NamedTuple):
    """One user's rankings per row: the estimate, the latest rankings, and a quadratic for the older ones."""

    bound: float
    ridge: float
    estimate: Floats
    information: Floats
    queries: Integers
    total_length: Integers
    shortest: Integers
    kept: Integers
    orders: NDArray[np.int16]
    lengths: Integers
    folded_information: Floats
    folded_response: Floats


class Likelihood(Anchor):
    """The most likely preference on the zero-mean subspace with no weight above a bound (Eq. 4).

    Use it where rankings can be trusted; the policies of the paper use it unless told otherwise. Between exact
    refits at 1, 2, 4, 8, ... rankings, each new one costs one Newton step: O(D^2) and one small factorization.

    Parameters
    ----------
    bound
        Largest absolute weight, B in the paper. It matters while the rankings do not connect all objectives: an
        objective that always comes first has no finite most likely weight.
    ridge
        Precision of a normal prior on the weights; 0 is the estimator of the paper.
    window
        Rankings kept for exact refits; older ones become a quadratic. A user takes about 2 D window + 24 D^2 bytes.
    n_objectives
        Number of objectives; needed when the anchor stands alone.

    Examples
    --------
    >>> anchor = Likelihood(n_objectives=3).fit([(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1)])
    >>> anchor.estimate.round(3).tolist()
    [0.783, -0.391, -0.391]
    """

    name = "likelihood"

    def __init__(
        self, *, bound: float = 5.0, ridge: float = 0.0, window: int = 128, n_objectives: int | None = None
    ) -> None:
        super().__init__(n_objectives=n_objectives)
        if not bound > 0:
            raise InvalidSetting(f"bound must be positive, but got {bound!r}")
        if not ridge >= 0:
            raise InvalidSetting(f"ridge must not be negative, but got {ridge!r}")
        if window < 2:
            raise InvalidSetting(f"window must be at least 2, but got {window!r}")
        self.bound = bound
        self.ridge = ridge
        self.window = window

    def rows(self, n_users: int, n_objectives: int) -> LikelihoodRows:
        """Return fresh memory for `n_users` users."""
        return LikelihoodRows(
            bound=float(self.bound),
            ridge=float(self.ridge),
            estimate=np.zeros((n_users, n_objectives)),
            information=np.zeros((n_users, n_objectives, n_objectives)),
            queries=np.zeros(n_users, dtype=np.int64),
            total_length=np.zeros(n_users, dtype=np.int64),
            shortest=np.zeros(n_users, dtype=np.int64),
            kept=np.zeros(n_users, dtype=np.int64),
            orders=np.zeros((n_users, self.window, n_objectives), dtype=np.int16),
            lengths=np.zeros((n_users, self.window), dtype=np.int64),
            folded_information=np.zeros((n_users, n_objectives, n_objectives)),
            folded_response=np.zeros((n_users, n_objectives)),
        )


@implements(hear_anchor, LikelihoodRows)
@kernel
def _hear(rows: Any, user: int, ranking: Integers) -> None:
    window = rows.orders.shape[1]
    if rows.kept[user] == window:
        fold_oldest(rows, user, window // 2, np.ones(window // 2))
    row = rows.kept[user]
    complete(ranking, rows.orders[user, row])
    rows.lengths[user, row] = ranking.shape[0]
    rows.kept[user] += 1
    remember(rows, user, ranking)
    if is_power_of_two(rows.queries[user]):
        kept = rows.kept[user]
        minimize(
            rows.orders[user, :kept],
            rows.lengths[user, :kept],
            np.ones(kept),
            rows.folded_information[user],
            rows.folded_response[user],
            rows.ridge,
            rows.bound,
            rows.estimate[user],
            rows.information[user],
        )
    else:
        newton_step(
            rows.orders[user, row],
            ranking.shape[0],
            1.0,
            rows.ridge,
            rows.bound,
            rows.estimate[user],
            rows.information[user],
        )


@implements(fit_anchor, LikelihoodRows)
@kernel
def _fit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    n_rankings, n_objectives = orders.shape
    minimize(
        orders,
        lengths,
        np.ones(n_rankings),
        rows.folded_information[user],
        rows.folded_response[user],
        rows.ridge,
        rows.bound,
        rows.estimate[user],
        rows.information[user],
    )
    window = rows.orders.shape[1]
    for row in range(n_rankings):
        if rows.kept[user] == window:
            fold_oldest(rows, user, window // 2, np.ones(window // 2))
        kept = rows.kept[user]
        rows.lengths[user, kept] = lengths[row]
        for place in range(n_objectives):
            rows.orders[user, kept, place] = orders[row, place]
        rows.kept[user] += 1
        remember(rows, user, orders[row, : lengths[row]])


@kernel
def newton_step(
    order: NDArray[Any],
    length: int,
    weight: float,
    ridge: float,
    bound: float,
    estimate: Floats,
    information: Floats,
) -> None:
    """Add one ranking's information and move the estimate by one Newton step of at most 1 in any weight."""
    n_objectives = estimate.shape[0]
    slope = np.zeros(n_objectives)
    add_derivatives(order, length, estimate, weight, slope, information)
    root = information.copy()
    complete_rank(root, ridge)
    if not factor(root, root):
        return
    solve(root, slope)
    damping = 1.0 / max(max_abs(slope), 1.0)
    for k in range(n_objectives):
        estimate[k] -= damping * slope[k]
    center(estimate)
    project(estimate, bound)


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
def objective(
    orders: NDArray[Any],
    lengths: Integers,
    weights: Floats,
    folded_information: Floats,
    folded_response: Floats,
    ridge: float,
    estimate: Floats,
    slope: Floats,
    curvature: Floats,
) -> float:
    """Return the weighted loss of rankings, fold and ridge at `estimate`; overwrite its gradient and Hessian."""
    n_objectives = estimate.shape[0]
    clear(slope, curvature)
    value = total_derivatives(orders, lengths, weights, estimate, slope, curvature)
    for k in range(n_objectives):
        pull = ridge * estimate[k]
        for other in range(n_objectives):
            pull += folded_information[k, other] * estimate[other]
            curvature[k, other] += folded_information[k, other]
        curvature[k, k] += ridge
        value += 0.5 * pull * estimate[k] - folded_response[k] * estimate[k]
        slope[k] += pull - folded_response[k]
    return value


@kernel
def minimize(
    orders: NDArray[Any],
    lengths: Integers,
    weights: Floats,
    folded_information: Floats,
    folded_response: Floats,
    ridge: float,
    bound: float,
    estimate: Floats,
    information: Floats,
) -> float:
    """Solve Eq. 4 from a warm start: overwrite `estimate` and `information` (without ridge), return the KKT residual.

    Damped Newton while the iterates stay inside the bound; once one leaves it, a primal-dual interior-point method.
    """
    n_objectives = estimate.shape[0]
    slope = np.empty(n_objectives)
    trial = np.empty(n_objectives)
    root = np.empty((n_objectives, n_objectives))
    value = objective(
        orders, lengths, weights, folded_information, folded_response, ridge, estimate, slope, information
    )
    residual = max_abs(slope)
    inside = max_abs(estimate) < bound
    tolerance = 1e-11 * (1.0 + sum_of(weights))
    next_slope = np.empty(n_objectives)
    next_information = np.empty((n_objectives, n_objectives))
    for _ in range(100):
        if residual <= tolerance or not inside:
            break
        copy_matrix(information, root)
        complete_rank(root, 0.0)
        if not factor(root, root):
            inside = False
            break
        step = slope.copy()
        solve(root, step)
        center(step)
        decrement = 0.0
        for k in range(n_objectives):
            decrement += step[k] * slope[k]
        scale = 1.0
        moved = False
        for _ in range(30):
            for k in range(n_objectives):
                trial[k] = estimate[k] - scale * step[k]
            if scale == 1.0 and max_abs(trial) >= bound:
                inside = False
                break
            next_value = objective(
                orders,
                lengths,
                weights,
                folded_information,
                folded_response,
                ridge,
                trial,
                next_slope,
                next_information,
            )
            next_residual = max_abs(next_slope)
            # Near the optimum the values are equal to rounding and the gradient decides.
            if next_value <= value - 1e-4 * scale * decrement or (
                next_value <= value + 1e-12 * (1.0 + abs(value)) and next_residual < residual
            ):
                copy_vector(trial, estimate)
                copy_vector(next_slope, slope)
                copy_matrix(next_information, information)
                value = next_value
                residual = next_residual
                moved = True
                break
            scale *= 0.5
        if not moved:
            break
    if not inside:
        residual = _interior_point(
            orders, lengths, weights, folded_information, folded_response, ridge, bound, estimate, information
        )
    else:
        center(estimate)
    for k in range(n_objectives):
        information[k, k] -= ridge
    return residual


@kernel
def _interior_point(
    orders: NDArray[Any],
    lengths: Integers,
    weights: Floats,
    folded_information: Floats,
    folded_response: Floats,
    ridge: float,
    bound: float,
    estimate: Floats,
    information: Floats,
) -> float:
    """Solve Eq. 4 where the bound is active: primal-dual steps on loss, sum to zero and -bound <= c <= bound."""
    n_objectives = estimate.shape[0]
    slope = np.empty(n_objectives)
    root = np.empty((n_objectives, n_objectives))
    step = np.empty(n_objectives)
    ones = np.empty(n_objectives)
    upper = np.empty(n_objectives)
    lower = np.empty(n_objectives)
    # Start well inside the box, with multipliers of the size of the gradient there.
    shrink = min(0.5 * bound / (max_abs(estimate) + 1e-300), 1.0)
    for k in range(n_objectives):
        estimate[k] *= shrink
    center(estimate)
    objective(orders, lengths, weights, folded_information, folded_response, ridge, estimate, slope, information)
    gap = max(max_abs(slope), 1e-3) * bound * 0.1
    for k in range(n_objectives):
        upper[k] = gap / (bound - estimate[k])
        lower[k] = gap / (bound + estimate[k])
    shift = 0.0
    residual = np.inf
    tolerance = 1e-11 * (1.0 + sum_of(weights))
    for _ in range(200):
        complementarity = 0.0
        dual = 0.0
        for k in range(n_objectives):
            high = upper[k] * (bound - estimate[k])
            low = lower[k] * (bound + estimate[k])
            complementarity = max(complementarity, high, low)
            dual = max(dual, abs(slope[k] + shift + upper[k] - lower[k]))
        residual = max(dual, complementarity)
        if residual <= tolerance:
            break
        average = 0.0
        for k in range(n_objectives):
            average += upper[k] * (bound - estimate[k]) + lower[k] * (bound + estimate[k])
        average /= 2.0 * n_objectives
        target = average * (0.1 if dual < 100.0 * average else 0.3)
        copy_matrix(information, root)
        trace = 0.0
        for k in range(n_objectives):
            trace += information[k, k]
        for k in range(n_objectives):
            room_up = bound - estimate[k]
            room_down = bound + estimate[k]
            root[k, k] += upper[k] / room_up + lower[k] / room_down + 1e-14 * trace / n_objectives
            step[k] = -(slope[k] + target / room_up - target / room_down)
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
            room_up = bound - estimate[k]
            room_down = bound + estimate[k]
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
            room_up = bound - estimate[k]
            room_down = bound + estimate[k]
            up = target / room_up - upper[k] + upper[k] / room_up * step[k]
            down = target / room_down - lower[k] - lower[k] / room_down * step[k]
            upper[k] += reach * up
            lower[k] += reach * down
            estimate[k] += reach * step[k]
        shift += reach * (new_shift - shift)
        objective(orders, lengths, weights, folded_information, folded_response, ridge, estimate, slope, information)
    return residual
