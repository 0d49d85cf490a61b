"""The constrained maximum-likelihood anchor (Eq. 4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import center, clear, copy_matrix, copy_vector, factor, max_abs, solve, sum_of
from druthers.anchors.base import Anchor, fit_anchor, fold_oldest, hear_anchor, is_power_of_two, remember
from druthers.anchors.box import boxed_step, complete_rank, project, violation
from druthers.errors import InvalidSetting
from druthers.rankings import add_derivatives, complete, total_derivatives
from druthers.types import Floats, Integers

# How far from optimal, per ranking, a refit among many and a batch fit may stop.
ONLINE_ACCURACY = 1e-9
BATCH_ACCURACY = 1e-11

# How much the information may grow before its factor is made anew.
STALE = 1.125


class LikelihoodRows(NamedTuple):
    """One user's rankings per row: the estimate, the latest rankings, and a quadratic for the older ones."""

    bound: float
    ridge: float
    estimate: Floats
    information: Floats
    root: Floats
    rooted: Floats
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
        Rankings kept for exact refits; older ones become a quadratic. A user takes (2 D + 8) window + 24 D^2 bytes.
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
            root=np.zeros((n_users, n_objectives, n_objectives)),
            rooted=np.zeros(n_users),
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
        fold_oldest(rows, user, window // 2)
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
            ONLINE_ACCURACY,
            rows.estimate[user],
            rows.information[user],
        )
        rows.rooted[user] = 0.0
    else:
        rows.rooted[user] = newton_step(
            rows.orders[user, row],
            ranking.shape[0],
            rows.ridge,
            rows.bound,
            rows.estimate[user],
            rows.information[user],
            rows.root[user],
            rows.rooted[user],
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
        BATCH_ACCURACY,
        rows.estimate[user],
        rows.information[user],
    )
    window = rows.orders.shape[1]
    for row in range(n_rankings):
        if rows.kept[user] == window:
            fold_oldest(rows, user, window // 2)
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
    ridge: float,
    bound: float,
    estimate: Floats,
    information: Floats,
    root: Floats,
    rooted: float,
) -> float:
    """Add one ranking's information and move the estimate by one Newton step of at most 1 in any weight.

    `root` is the factor of the information when its trace was `rooted`, which is returned. As long as rankings are
    whole, the information of all objectives grows alike, so the factor is made anew only once it has grown by an
    eighth; till then the step is scaled. A short ranking tells much of a few objectives: it needs the factor of now.
    """
    n_objectives = estimate.shape[0]
    slope = np.zeros(n_objectives)
    add_derivatives(order, length, estimate, 1.0, slope, information)
    trace = 1e-300  # positive even where there is but one objective
    for k in range(n_objectives):
        trace += information[k, k]
    if length < n_objectives - 1 or not trace < STALE * rooted:
        copy_matrix(information, root)
        complete_rank(root, ridge)
        if not factor(root, root):
            return 0.0
        rooted = trace
    solve(root, slope)
    scale = rooted / trace
    scale /= max(scale * max_abs(slope), 1.0)
    for k in range(n_objectives):
        estimate[k] -= scale * slope[k]
    center(estimate)
    project(estimate, bound)
    return rooted


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
    accuracy: float,
    estimate: Floats,
    information: Floats,
) -> float:
    """Solve Eq. 4 from a warm start by damped Newton steps inside the box; return the KKT residual reached.

    Stops at a residual of `accuracy` per ranking. Overwrites `estimate` and `information` (without the ridge).
    """
    n_objectives = estimate.shape[0]
    slope = np.empty(n_objectives)
    step = np.zeros(n_objectives)
    root = np.empty((n_objectives, n_objectives))
    next_information = np.empty((n_objectives, n_objectives))
    center(estimate)
    project(estimate, bound)
    trial = estimate.copy()
    value = np.inf
    residual = np.inf
    decrement = 0.0
    scale = 2.0
    tolerance = accuracy * (1.0 + sum_of(weights))
    for _ in range(300):
        next_value = objective(
            orders, lengths, weights, folded_information, folded_response, ridge, trial, slope, next_information
        )
        next_residual = violation(trial, slope, bound)
        # Near the optimum the values are equal to rounding and the gradient decides.
        if next_value <= value - 1e-4 * scale * decrement or (
            next_value <= value + 1e-12 * (1.0 + abs(value)) and next_residual < residual
        ):
            copy_vector(trial, estimate)
            copy_matrix(next_information, information)
            value = next_value
            residual = next_residual
            if residual <= tolerance:
                break
            copy_matrix(information, root)
            complete_rank(root, 0.0)
            boxed_step(root, slope, bound, 1e-4 * residual * min(residual, 1.0), estimate, step)
            decrement = 0.0
            for k in range(n_objectives):
                decrement -= step[k] * slope[k]
            scale = 2.0
        scale *= 0.5
        if scale < 1e-8:
            break
        for k in range(n_objectives):
            trial[k] = estimate[k] + scale * step[k]
    for k in range(n_objectives):
        information[k, k] -= ridge
    return residual
