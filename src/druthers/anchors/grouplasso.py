"""The group-lasso anchor (Eq. 9), solved exactly.

Given the preference the deviations separate, so they are profiled out: the outer problem is the smooth convex sum of
rho(S_j; c) = min over delta of loss(S_j; c + delta) + penalty |delta|, one damped Newton method in D unknowns. Inside,
a ranking's Hessian plus a diagonal is, in order of places, diagonal minus nested rank-one terms, solved in O(D).
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import copy_vector, square_of
from druthers.anchors.base import Anchor, drop_oldest, fit_anchor, hear_anchor, is_power_of_two, keep
from druthers.anchors.box import project, violation
from druthers.anchors.contamination import best_corruption, log_likelihood, measure, uniform_losses
from druthers.anchors.newton import add_quadratic, evaluate_quadratic, minimize, take_step
from druthers.anchors.profile import Profile, add_profile
from druthers.errors import require
from druthers.own import settings
from druthers.rankings import add_slope, loss
from druthers.types import Floats, Integers

# The penalties tried by "auto": this many between the largest gradient norm and the least useful penalty.
PATH_LENGTH = 8
LEAST_PENALTY = 0.7
# Fewer rankings than this cannot tell corruption from chance, and "auto" keeps the maximum likelihood.
LEAST_RANKINGS = 8
# Along the path the likelihood rises, then falls: this far below its best and falling, it will not come back.
FALLEN = 3.0


# Beside the latest rankings: a quadratic for the older ones, and the penalty that the last fit chose. Kernels are told
# no number for a penalty that is "auto".
KEPT = {"DD": "folded_information", "D": "folded_response", "": "penalty_in_use"}


@settings
class GroupLasso(Anchor, told="penalty bound", keeps=KEPT):
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
        Rankings kept for exact refits; older ones become a quadratic. A user takes (2 D + 8) window + 16 D^2 bytes.
    n_objectives
        Number of objectives; needed when the anchor stands alone.

    Notes
    -----
    The penalty that the paper asks for (D^3/3, Lemma 4) is larger than any gradient: every deviation is then exactly
    zero and the estimator the plain maximum likelihood. Penalties that help lie between about 0.5 and 4.

    Between exact refits at 1, 2, 4, 8, ... rankings each new one costs one Newton step at the penalty in use.

    Examples
    --------
    >>> rankings = [(0, 1, 2, 3)] * 9 + [(0, 1, 3, 2)] * 4 + [(1, 0, 2, 3)] * 4 + [(0, 2, 1, 3)] * 4 + [(3, 2, 1, 0)]
    >>> anchor = GroupLasso(penalty=1.8, n_objectives=4).fit(rankings)
    >>> anchor.suspects.tolist()
    [21]
    """

    name = "group-lasso"

    penalty: float | Literal["auto"] = "auto"
    bound: float = 5.0
    window: int = 128

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.penalty
        told = given == "auto" if isinstance(given, str) else given > 0
        require(told, 'penalty must be a positive number or "auto"', given)
        require(self.bound > 0, "bound must be positive", self.bound)
        require(self.window >= 2, "window must be at least 2", self.window)

    def _derived(self) -> dict[str, float]:
        return {"penalty": np.nan} if isinstance(self.penalty, str) else {}

    def rows(self, n_users: int, n_objectives: int) -> Any:
        """Return fresh memory for `n_users` users."""
        rows = super().rows(n_users, n_objectives)
        rows.penalty_in_use[:] = np.inf if isinstance(self.penalty, str) else self.penalty
        return rows

    @property
    def deviations(self) -> Floats:
        """The deviation of each ranking (n, D): of all those given to `fit`, or else of those heard and still kept."""
        return self._solution().deviations

    @property
    def suspects(self) -> Integers:
        """The places, in the order given or heard, of the rankings it distrusts.

        These have a deviation and, at the estimate, are more likely uniform than the user's own. With many objectives
        and a small penalty nearly every ranking has some deviation, so a deviation alone accuses nobody.
        """
        orders, lengths, deviations, *_ = self._solution()
        losses, ratios = np.empty(len(lengths)), np.empty(len(lengths))
        measure(orders, lengths, self._own().estimate[0], uniform_losses(orders.shape[1]), losses, ratios)
        corruption = best_corruption(ratios, 0.0, 0.0, 0.0, 0.1)
        first = 0 if self._fitted is not None else self.queries - len(lengths)
        return first + np.flatnonzero((corruption * ratios > 1.0 - corruption) & np.any(deviations != 0.0, axis=1))

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

    def _solution(self) -> Profile:
        """Return Eq. 9 for the rankings told, the deviations being those at the estimate."""
        rows, (orders, lengths) = self._own(), self._told()
        # What was fitted at once is all there, and nothing of it is folded.
        past = self.rows(1, self._size()) if self._fitted is not None else rows
        past.penalty_in_use[0] = self.penalty_in_use
        problem = Profile(*_problem(past, 0, orders, lengths, np.zeros(orders.shape), 1e-13))
        add_profile(problem, rows.estimate[0], np.zeros(self._size()), np.zeros((self._size(), self._size())))
        return problem

    def _certificate(self) -> tuple[float, float]:
        """Return the value of Eq. 9 and the largest violation of its conditions, from nothing but the solution.

        For the estimate and each deviation not zero, the projected gradient step; for a deviation of zero, the length
        of the gradient beyond the penalty.
        """
        orders, lengths, deviations, past_hessian, past_linear, penalty, _, bound, _ = self._solution()
        estimate = self._own().estimate[0]
        slope = past_hessian @ estimate - past_linear
        total = float((slope - past_linear) @ estimate) / 2.0
        worst = 0.0
        for order, length, deviation in zip(orders, lengths, deviations, strict=True):
            own = np.zeros_like(estimate)
            add_slope(order, length, estimate + deviation, own)
            slope += own
            size = float(np.linalg.norm(deviation))
            total += loss(order, length, estimate + deviation)
            if size > 0.0:
                total += penalty * size
                worst = max(worst, violation(deviation, own + penalty * deviation / size, bound))
            else:
                worst = max(worst, float(np.linalg.norm(own)) - penalty)
        return total, float(max(worst, violation(estimate, slope, bound)))


@implements(hear_anchor, GroupLasso.Rows)
@kernel
def _hear(rows: Any, user: int, ranking: Integers) -> None:
    _make_room(rows, user)
    row = keep(rows, user, ranking)
    orders, lengths = rows.orders[user, : row + 1], rows.lengths[user, : row + 1]
    if is_power_of_two(rows.queries[user]):
        _refit(rows, user, orders, lengths, 1e-8)
        return
    estimate, information = rows.estimate[user], rows.information[user]
    slope = np.zeros(estimate.shape[0])
    newest = _problem(rows, user, orders[row:], lengths[row:], np.zeros((1, estimate.shape[0])), 1e-8)
    add_profile(newest, estimate, slope, information)
    take_step(information, 0.0, slope, estimate)
    project(estimate, rows.bound)


@implements(fit_anchor, GroupLasso.Rows)
@kernel
def _fit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    _refit(rows, user, orders, lengths, 1e-12)
    for row in range(orders.shape[0]):
        _make_room(rows, user)
        keep(rows, user, orders[row, : lengths[row]])


@kernel
def _problem(
    rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, deviations: Floats, accuracy: float
) -> Profile:
    """Return Eq. 9 for these rankings and what is folded, at the penalty in use."""
    past_hessian, past_linear = rows.folded_information[user], rows.folded_response[user]
    penalty = rows.penalty_in_use[user]
    return Profile(orders, lengths, deviations, past_hessian, past_linear, penalty, accuracy, rows.bound, np.inf)


@kernel
def _make_room(rows: Any, user: int) -> None:
    """Drop the older half of a full window, and add its expansion at the estimate to the quadratic."""
    if rows.kept[user] < rows.orders.shape[1]:
        return
    estimate = rows.estimate[user]
    n_objectives, half = estimate.shape[0], rows.orders.shape[1] // 2
    slope, curvature = np.zeros(n_objectives), np.zeros((n_objectives, n_objectives))
    orders, lengths = rows.orders[user, :half], rows.lengths[user, :half]
    add_profile(_problem(rows, user, orders, lengths, np.zeros(orders.shape), 1e-12), estimate, slope, curvature)
    add_quadratic(slope, curvature, estimate, rows.folded_information[user], rows.folded_response[user])
    drop_oldest(rows, user, half)


@kernel
def _refit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, accuracy: float) -> None:
    """Solve Eq. 9 for rankings and fold from a warm start; with "auto", at the likeliest penalty of the path."""
    deviations = np.zeros(orders.shape)
    if np.isnan(rows.penalty):
        _choose_penalty(rows, user, orders, lengths, deviations)
    _solve(_problem(rows, user, orders, lengths, deviations, accuracy), rows.estimate[user], rows.information[user])


@kernel
def _solve(problem: Profile, estimate: Floats, information: Floats) -> None:
    """Move an estimate, and the deviations, to the minimum of Eq. 9."""
    n_rankings, n_objectives = problem.orders.shape
    gradient, step = np.empty(n_objectives), np.empty(n_objectives)
    minimize(problem, problem.accuracy * (100.0 + n_rankings), 0.0, estimate, gradient, information, step)


@kernel
def _choose_penalty(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, deviations: Floats) -> None:
    """Walk the path of penalties from infinity down to the likeliest, and leave its estimate, roughly."""
    estimate = rows.estimate[user]
    best_estimate, best_penalty = estimate.copy(), np.inf
    best = before = -np.inf
    penalty, ratio = np.inf, 1.0
    for trial in range(PATH_LENGTH + 1 if orders.shape[0] >= LEAST_RANKINGS else 0):
        rows.penalty_in_use[user] = penalty
        # A rough solution tells penalties apart: an error of 1e-4 in the estimate moves the likelihood by n 1e-8.
        problem = _problem(rows, user, orders, lengths, deviations, 1e-4)
        _solve(problem, estimate, rows.information[user])
        value, steepest = _plausibility(problem, estimate)
        if value > best + 1e-3:
            best, best_penalty = value, penalty
            copy_vector(estimate, best_estimate)
        if value < best - FALLEN and value < before:
            break
        before = value
        if trial == 0:
            penalty = max(steepest, LEAST_PENALTY)
            ratio = (LEAST_PENALTY / penalty) ** (1.0 / PATH_LENGTH)
        penalty *= ratio
    rows.penalty_in_use[user] = best_penalty
    copy_vector(best_estimate, estimate)


@kernel
def _plausibility(problem: Profile, estimate: Floats) -> tuple[float, float]:
    """Return the likeliest mixture's log-likelihood less the folded quadratic, and the largest gradient norm."""
    orders, lengths = problem.orders, problem.lengths
    n_rankings, n_objectives = orders.shape
    losses, ratios = np.empty(n_rankings), np.empty(n_rankings)
    slope, unused = np.empty(n_objectives), np.empty((n_objectives, n_objectives))
    uniforms = uniform_losses(n_objectives)
    measure(orders, lengths, estimate, uniforms, losses, ratios)
    corruption = best_corruption(ratios, 0.0, 0.0, 0.0, 0.1)
    value = log_likelihood(lengths, uniforms, losses, ratios, 0.0, 0.0, corruption)
    value -= evaluate_quadratic(problem.past_hessian, problem.past_linear, 0.0, estimate, slope, unused)
    steepest = 0.0
    for row in range(n_rankings):
        slope = np.zeros(n_objectives)
        add_slope(orders[row], lengths[row], estimate, slope)
        steepest = max(steepest, square_of(slope))
    return value, np.sqrt(steepest)
