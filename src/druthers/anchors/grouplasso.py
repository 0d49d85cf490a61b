"""The group-lasso anchor (Eq. 9), solved exactly.

Given the preference the deviations separate, so they are profiled out: the outer problem is the smooth convex sum of
rho(S_j; c) = min over delta of loss(S_j; c + delta) + penalty |delta|, one damped Newton method in D unknowns. Inside,
a ranking's Hessian plus a diagonal is, in order of places, diagonal minus nested rank-one terms, solved in O(D).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import center, copy_matrix, copy_vector, factor, max_abs, solve
from druthers.anchors.base import Anchor, drop_oldest, fit_anchor, hear_anchor, is_power_of_two, keep, keep_latest
from druthers.anchors.box import complete_rank, project
from druthers.anchors.contamination import (
    best_corruption,
    log_likelihood,
    measure,
    measure_trust,
    uniform_losses,
)
from druthers.anchors.deviation import (
    BASE,
    DEVIATION,
    N_SCRATCH,
    SLOPE,
    dot,
    tilt_ranking,
)
from druthers.anchors.newton import add_quadratic, minimize
from druthers.anchors.profile import Profile, add_profile, certificate
from druthers.errors import InvalidSetting
from druthers.rankings import as_orders
from druthers.types import Floats, Integers, RankingLike

# The penalties tried by "auto": this many between the largest gradient norm and the least useful penalty.
PATH_LENGTH = 8
LEAST_PENALTY = 0.7
# Fewer rankings than this cannot tell corruption from chance, and "auto" keeps the maximum likelihood.
LEAST_RANKINGS = 8
# Along the path the likelihood rises, then falls: this far below its best and falling, it will not come back.
FALLEN = 3.0


class GroupLassoRows(NamedTuple):
    """One user's rankings per row: the estimate, the latest rankings with their deviations, a quadratic for the older.

    `penalty` is the setting, not a number for "auto"; `penalty_in_use` is the one that the last fit chose.
    """

    penalty: float
    bound: float
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
    deviations: Floats
    penalty_in_use: Floats


class GroupLasso(Anchor):
    """The preference and the per-ranking deviations of the group-wise lasso likelihood (Eq. 9), to optimality.

    Use it to reproduce the paper's robust estimator, or for its list of suspects. It minimizes the sum over
    rankings of loss(S_j; c + delta_j) + penalty |delta_j|, over centered c and delta_j, all with no entry beyond the
    bound. A ranking whose gradient norm at the estimate is at most the penalty has deviation zero, exactly.

    Parameters
    ----------
    penalty
        Weight of the deviations, eta in the paper; "auto" takes, on a path of penalties from infinity down, the one
        whose estimate has the largest likelihood when rankings are Plackett-Luce or, with some chance, uniform
        (infinity, the plain maximum likelihood, for fewer than 8 rankings).
    bound
        Largest absolute entry of the estimate and of each deviation, B in the paper.
    window
        Rankings kept for exact refits; older ones become a quadratic. A user takes (10 D + 8) window + 16 D^2 bytes.
    n_objectives
        Number of objectives; needed when the anchor stands alone.

    Notes
    -----
    The paper asks for a penalty of at least D^3/3 (Lemma 4); its experiments use D^3/27. The gradient of one ranking's
    loss has norm at most about sqrt(2) m, so that condition makes every deviation exactly zero and the
    estimator the plain maximum likelihood; so does D^3/27 from D = 5 on. Penalties that
    help lie between about 0.5 and 4.

    Between exact refits at 1, 2, 4, 8, ... rankings each new one costs one Newton step at the penalty in use.

    Examples
    --------
    >>> rankings = [(0, 1, 2, 3)] * 9 + [(0, 1, 3, 2)] * 4 + [(1, 0, 2, 3)] * 4 + [(0, 2, 1, 3)] * 4 + [(3, 2, 1, 0)]
    >>> anchor = GroupLasso(penalty=1.8, n_objectives=4).fit(rankings)
    >>> anchor.suspects.tolist()
    [21]
    """

    name = "group-lasso"

    def __init__(
        self,
        *,
        penalty: float | Literal["auto"] = "auto",
        bound: float = 5.0,
        window: int = 128,
        n_objectives: int | None = None,
    ) -> None:
        super().__init__(n_objectives=n_objectives)
        if isinstance(penalty, str):
            if penalty != "auto":
                raise InvalidSetting(f'penalty must be a positive number or "auto", but got {penalty!r}')
        elif not penalty > 0:
            raise InvalidSetting(f'penalty must be a positive number or "auto", but got {penalty!r}')
        if not bound > 0:
            raise InvalidSetting(f"bound must be positive, but got {bound!r}")
        if window < 2:
            raise InvalidSetting(f"window must be at least 2, but got {window!r}")
        self.penalty: float | Literal["auto"] = penalty
        self.bound = bound
        self.window = window
        self._fitted: tuple[NDArray[np.int16], Integers, Floats] | None = None

    def rows(self, n_users: int, n_objectives: int) -> GroupLassoRows:
        """Return fresh memory for `n_users` users."""
        penalty = np.nan if isinstance(self.penalty, str) else float(self.penalty)
        return GroupLassoRows(
            penalty=penalty,
            bound=float(self.bound),
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
            deviations=np.zeros((n_users, self.window, n_objectives)),
            penalty_in_use=np.full(n_users, np.inf if np.isnan(penalty) else penalty),
        )

    def hear(self, ranking: RankingLike) -> None:
        """Take in one ranking; an empty one says nothing."""
        before = self.queries
        super().hear(ranking)
        if self.queries != before:
            self._fitted = None

    def fit(self, rankings: Iterable[RankingLike]) -> GroupLasso:
        """Forget everything and fit all these rankings at once, to optimality."""
        orders, lengths = as_orders(rankings, self._size())
        told = lengths > 0
        self._memory = self.rows(1, self._size())
        deviations = np.zeros(orders.shape)
        if told.any():
            heard = np.zeros((int(told.sum()), self._size()))
            _fit_all(self._memory, 0, orders[told], lengths[told], heard)
            deviations[told] = heard
        self._fitted = (orders, lengths, deviations)
        return self

    @property
    def deviations(self) -> Floats:
        """The deviation of each ranking (n, D): of all those given to `fit`, or else of those heard and still kept."""
        return self._problem()[2].copy()

    @property
    def suspects(self) -> Integers:
        """The places, in the order given or heard, of the rankings it distrusts.

        These have a deviation and, at the estimate, are more likely uniform than the user's own. With many objectives
        and a small penalty nearly every ranking has some deviation, so a deviation alone accuses nobody.
        """
        orders, lengths, deviations, _, _ = self._problem()
        estimate = self._own().estimate[0]
        uniforms = uniform_losses(len(estimate))
        losses, ratios, trust = np.empty(len(lengths)), np.empty(len(lengths)), np.empty(len(lengths))
        measure(orders, lengths, estimate, uniforms, losses, ratios)
        measure_trust(orders, lengths, estimate, best_corruption(ratios, 0.0, 0.0, 0.0, 0.1), trust)
        first = 0 if self._fitted is not None else self.queries - int(self._own().kept[0])
        return first + np.flatnonzero((trust < 0.5) & np.any(deviations != 0.0, axis=1))

    @property
    def penalty_in_use(self) -> float:
        """The penalty of the last exact fit; infinity is the plain maximum likelihood."""
        return float(self._own().penalty_in_use[0])

    @property
    def objective(self) -> float:
        """The value of Eq. 9 at the estimate and the deviations, older rankings folded into their quadratic."""
        return self._certificate()[0]

    @property
    def kkt_residual(self) -> float:
        """The largest violation of the optimality conditions of Eq. 9, over the estimate and all the deviations.

        Zero exactly at the minimizer; between the exact refits of `hear` it shows how far the estimate has drifted.
        """
        return self._certificate()[1]

    def _problem(self) -> tuple[NDArray[np.int16], Integers, Floats, Floats, Floats]:
        rows = self._own()
        if self._fitted is not None:
            nothing = np.zeros_like(rows.folded_information[0])
            return *self._fitted, nothing, nothing[0]
        kept = int(rows.kept[0])
        return (
            rows.orders[0, :kept],
            rows.lengths[0, :kept],
            rows.deviations[0, :kept],
            rows.folded_information[0],
            rows.folded_response[0],
        )

    def _certificate(self) -> tuple[float, float]:
        rows = self._own()
        return certificate(*self._problem(), self.penalty_in_use, rows.bound, rows.estimate[0])


@implements(hear_anchor, GroupLassoRows)
@kernel
def _hear(rows: Any, user: int, ranking: Integers) -> None:
    window, n_objectives = rows.orders.shape[1:]
    estimate = rows.estimate[user]
    information = rows.information[user]
    if rows.kept[user] == window:
        half = window // 2
        _fold(rows, user, rows.orders[user, :half], rows.lengths[user, :half], rows.deviations[user, :half])
        drop_oldest(rows, user, half)
        copy_matrix(rows.deviations[user, half:], rows.deviations[user])
    row = keep(rows, user, ranking)
    for k in range(n_objectives):
        rows.deviations[user, row, k] = 0.0
    orders = rows.orders[user, : row + 1]
    lengths = rows.lengths[user, : row + 1]
    deviations = rows.deviations[user, : row + 1]
    if is_power_of_two(rows.queries[user]):
        _refit(rows, user, orders, lengths, 1e-8, deviations)
        return
    slope = np.zeros(n_objectives)
    penalty = rows.penalty_in_use[user]
    add_profile(orders[row:], lengths[row:], penalty, rows.bound, 1e-8, estimate, deviations[row:], slope, information)
    root = information.copy()
    complete_rank(root, 0.0)
    if not factor(root, root):
        return
    solve(root, slope)
    damping = 1.0 / max(1.0, max_abs(slope))
    for k in range(n_objectives):
        estimate[k] -= damping * slope[k]
    center(estimate)
    project(estimate, rows.bound)


@implements(fit_anchor, GroupLassoRows)
@kernel
def _fit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    _fit_all(rows, user, orders, lengths, np.zeros(orders.shape))


@kernel
def _fit_all(rows: Any, user: int, orders: NDArray[Any], lengths: Integers, deviations: Floats) -> None:
    """Fit a fresh row to all these rankings, write all the deviations, keep the latest rankings and fold the others."""
    n_rankings = orders.shape[0]
    _refit(rows, user, orders, lengths, 1e-12, deviations)
    window = rows.orders.shape[1]
    kept = n_rankings
    if n_rankings > window:
        # As many as are left when rankings come one by one and a full window drops its older half.
        half = window // 2
        kept = window - half + 1 + (n_rankings - window - 1) % half
    n_folded = n_rankings - kept
    _fold(rows, user, orders[:n_folded], lengths[:n_folded], deviations[:n_folded])
    keep_latest(rows, user, orders, lengths, kept)
    copy_matrix(deviations[n_folded:], rows.deviations[user])


@kernel
def _fold(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, deviations: Floats) -> None:
    """Add rankings, their deviations profiled out, to the quadratic: their expansion at the current estimate."""
    estimate = rows.estimate[user]
    n_objectives = estimate.shape[0]
    slope = np.zeros(n_objectives)
    curvature = np.zeros((n_objectives, n_objectives))
    penalty = rows.penalty_in_use[user]
    add_profile(orders, lengths, penalty, rows.bound, 1e-12, estimate, deviations, slope, curvature)
    add_quadratic(slope, curvature, estimate, rows.folded_information[user], rows.folded_response[user])


@kernel
def _refit(
    rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, accuracy: float, deviations: Floats
) -> None:
    """Solve Eq. 9 for rankings and fold from a warm start; with "auto", at the likeliest penalty of the path."""
    estimate = rows.estimate[user]
    past_hessian, past_linear = rows.folded_information[user], rows.folded_response[user]
    gradient, step = np.empty(orders.shape[1]), np.empty(orders.shape[1])
    if not np.isnan(rows.penalty):
        first = PATH_LENGTH + 1
        penalty = rows.penalty
        best_estimate = estimate
        best_deviations = deviations
    else:
        first = 0
        penalty = np.inf
        best_estimate = estimate.copy()
        best_deviations = deviations.copy()
    best_penalty = penalty
    best = -np.inf
    before = -np.inf
    ratio = 1.0
    over = orders.shape[0] < LEAST_RANKINGS
    for trial in range(first, PATH_LENGTH + 2):
        last = over or trial == PATH_LENGTH + 1
        if last:
            penalty = best_penalty
            copy_vector(best_estimate, estimate)
            copy_matrix(best_deviations, deviations)
        # A rough solution tells penalties apart: an error of 1e-4 in the estimate moves the likelihood by n 1e-8.
        rough = accuracy if last else 1e-4
        problem = Profile(orders, lengths, deviations, past_hessian, past_linear, penalty, rough, rows.bound, np.inf)
        tolerance = rough * (100.0 + orders.shape[0])
        minimize(problem, tolerance, 0.0, estimate, gradient, rows.information[user], step)
        if last:
            break
        value, largest = _plausibility(orders, lengths, past_hessian, past_linear, estimate)
        if trial == 0:
            penalty = max(largest, LEAST_PENALTY)
            ratio = (LEAST_PENALTY / penalty) ** (1.0 / PATH_LENGTH)
        if value > best + 1e-3:
            best = value
            best_penalty = np.inf if trial == 0 else penalty
            copy_vector(estimate, best_estimate)
            copy_matrix(deviations, best_deviations)
        over = value < best - FALLEN and value < before
        before = value
        penalty *= ratio
    rows.penalty_in_use[user] = best_penalty


@kernel
def _plausibility(
    orders: NDArray[Any], lengths: Integers, folded_information: Floats, folded_response: Floats, estimate: Floats
) -> tuple[float, float]:
    """Return the likeliest mixture's log-likelihood less the folded quadratic, and the largest gradient norm."""
    n_rankings, n_objectives = orders.shape
    losses = np.empty(n_rankings)
    ratios = np.empty(n_rankings)
    uniforms = uniform_losses(n_objectives)
    work = np.zeros((N_SCRATCH, n_objectives))
    largest = 0.0
    for row in range(n_rankings):
        for place in range(n_objectives):
            work[BASE, place] = estimate[orders[row, place]]
        losses[row] = tilt_ranking(work, DEVIATION, lengths[row])
        ratios[row] = np.exp(min(losses[row] - uniforms[lengths[row]], 700.0))
        largest = max(largest, np.sqrt(dot(work, SLOPE, SLOPE)))
    corruption = best_corruption(ratios, 0.0, 0.0, 0.0, 0.1)
    total = log_likelihood(lengths, uniforms, losses, ratios, 0.0, 0.0, corruption)
    for k in range(n_objectives):
        total += folded_response[k] * estimate[k]
        for other in range(n_objectives):
            total -= 0.5 * estimate[k] * folded_information[k, other] * estimate[other]
    return total, largest
