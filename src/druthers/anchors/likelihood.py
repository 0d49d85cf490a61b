"""The constrained maximum-likelihood anchor (Eq. 4)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import copy_matrix, copy_vector, factor, max_abs, solve
from druthers.anchors.base import Anchor, drop_oldest, fit_anchor, hear_anchor, is_power_of_two, keep
from druthers.anchors.box import boxed_step, complete_rank, is_positive
from druthers.anchors.newton import LONGEST, STALE, add_product, evaluate, evaluate_quadratic, minimize, standard_errors
from druthers.errors import require
from druthers.own import settings
from druthers.rankings import Rankings, add_derivatives, total_derivatives, total_gradient
from druthers.types import Floats, Integers

# How far from optimal, per ranking, a refit among many and a batch fit may stop.
ONLINE_ACCURACY = 1e-9
BATCH_ACCURACY = 1e-11
# How far, in standard errors, the estimate may be from the exact fit by a bound on what a quadratic model neglects.
SLACK = 0.04
# The Newton step in one weight that means a choice thought unlikely.
UNLIKELY = 3.0
# How much the information may grow before its factor is made anew.
GROWN = 1.125


class Model(NamedTuple):
    """One user's objective as a quadratic around the estimate, and what stands for the rankings no longer kept.

    The `gradient` at the estimate follows from that computed at `gradient_at`, by a Hessian computed at `hessian_at`.
    `chol` is the factor of the Hessian when its trace was `factored[0]`.
    """

    gradient: Floats
    gradient_at: Floats
    hessian_at: Floats
    factored: Floats
    place_weights: Floats
    past_linear: Floats
    past_hessian: Floats
    chol: Floats


class Problem(NamedTuple):
    """Eq. 4: rankings, the quadratic c'Hc/2 - b'c for what older ones told beside them, a ridge and the bound."""

    rankings: Rankings
    past_linear: Floats
    past_hessian: Floats
    ridge: float
    bound: float
    longest: float


# In `work` is what `model_of` names: passing an array to a kernel takes longer than adding twenty numbers, so what no
# policy reads is one array.
@settings
class Likelihood(Anchor, told="bound ridge", keeps={"D": "work"}):
    """The most likely preference on the zero-mean subspace with no weight above a bound (Eq. 4).

    Use it where rankings can be trusted; the policies of the paper use it unless told otherwise. Heard one by one,
    rankings leave the estimate within 0.05 standard errors of the exact fit at any time, and exact at 1, 2, 4, 8, ...

    Parameters
    ----------
    bound
        Largest absolute weight, B in the paper. It matters while the rankings do not connect all objectives: an
        objective that always comes first has no finite most likely weight.
    ridge
        Precision of a normal prior on the weights; 0 is the estimator of the paper.
    window
        Rankings kept; they stand in for older ones too. A user takes (2 D + 8) window + 24 D^2 + 56 D bytes.
    n_objectives
        Number of objectives; needed when the anchor stands alone.

    Examples
    --------
    >>> anchor = Likelihood(n_objectives=3).fit([(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1)])
    >>> anchor.estimate.round(3).tolist()
    [0.783, -0.391, -0.391]
    """

    name = "likelihood"

    bound: float = 5.0
    ridge: float = 0.0
    window: int = 128

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.bound > 0, "bound must be positive", self.bound)
        require(self.ridge >= 0, "ridge must not be negative", self.ridge)
        require(self.window >= 2, "window must be at least 2", self.window)

    def rows(self, n_users: int, n_objectives: int) -> Any:
        """Return fresh memory for `n_users` users."""
        work = np.zeros((n_users, 6 + 2 * n_objectives, n_objectives))
        return super().rows(n_users, n_objectives)._replace(work=work)


@implements(hear_anchor, Likelihood.Rows)
@kernel
def _hear(rows: Any, user: int, ranking: Integers) -> None:
    estimate, information = rows.estimate[user], rows.information[user]
    model = model_of(rows, user)
    if rows.kept[user] == rows.orders.shape[1]:
        compress_oldest(rows, user)
    order = rows.orders[user, keep(rows, user, ranking)]
    length = ranking.shape[0]
    add_derivatives(order, length, estimate, 1.0, model.gradient, information)
    exact = is_power_of_two(rows.queries[user])
    # One kind of choice may reach the bound; whole rankings of many objectives stay below half of it.
    whole = rows.shortest[user] >= order.shape[0] - 1
    slack = (2.0 - 2.0 / order.shape[0] if whole else 1.0) * SLACK
    if not follow(rows, user, length, np.inf if exact else slack) or exact:
        refit(problem_of(rows, user), ONLINE_ACCURACY, 0.0 if exact else slack, estimate, information, model)


@implements(fit_anchor, Likelihood.Rows)
@kernel
def _fit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    model = model_of(rows, user)
    rankings = Rankings(orders, lengths, 0, model.place_weights)
    problem = Problem(rankings, model.past_linear, model.past_hessian, rows.ridge, rows.bound, np.inf)
    refit(problem, BATCH_ACCURACY, 0.0, rows.estimate[user], rows.information[user], model)
    for row in range(orders.shape[0]):
        if rows.kept[user] == rows.orders.shape[1]:
            compress_oldest(rows, user)
        keep(rows, user, orders[row, : lengths[row]])


@kernel
def model_of(rows: Any, user: int) -> Model:
    """Return the parts of a user's `work`."""
    work = rows.work[user]
    size = work.shape[1]
    return Model(work[0], work[1], work[2], work[3], work[4], work[5], work[6 : 6 + size], work[6 + size :])


@kernel
def problem_of(rows: Any, user: int) -> Problem:
    """Return Eq. 4 for all that a user has said."""
    model = model_of(rows, user)
    kept = rows.kept[user]
    # Once rankings were compressed, the older half of the window stands in for them.
    n_weighted = rows.orders.shape[1] // 2 if rows.queries[user] > kept else 0
    rankings = Rankings(rows.orders[user, :kept], rows.lengths[user, :kept], n_weighted, model.place_weights)
    # A compressed past is known near the estimate only.
    longest = LONGEST if n_weighted > 0 else np.inf
    return Problem(rankings, model.past_linear, model.past_hessian, rows.ridge, rows.bound, longest)


@kernel
def compress_oldest(rows: Any, user: int) -> None:
    """Drop the older half of a full window; let the newer half and a quadratic tell what it told.

    What was chosen at a place of the older rankings is then told by the newer ones that are as long, each counting
    several times: what is left to choose from at a place follows the same law in all of them. The quadratic makes up
    for the difference in gradient and Hessian at the estimate. What is lost is a sampling error of the third
    derivative, where a quadratic alone would lose the whole of it. Single choices lose nothing.
    """
    problem = problem_of(rows, user)
    orders, lengths, n_weighted, weights = problem.rankings
    window, n_objectives = orders.shape
    newer = window // 2
    older = window - newer  # holds all the weighted ones
    estimate = rows.estimate[user]
    ones = np.ones(older)
    lost_gradient = np.zeros(n_objectives)
    lost_hessian = problem.past_hessian.copy()
    dropped = Rankings(orders[:older], lengths[:older], n_weighted, weights)
    total_derivatives(dropped, ones, estimate, lost_gradient, lost_hessian)
    for place in range(n_objectives):
        told = 0.0
        told_by = 0.0
        for row in range(window):
            if lengths[row] > place:
                if row >= older:
                    told_by += 1.0
                else:
                    told += weights[place] if row < n_weighted else 1.0
        weights[place] = told / told_by if told_by > 0.0 else 0.0
    gradient = np.zeros(n_objectives)
    hessian = np.zeros((n_objectives, n_objectives))
    stand_ins = Rankings(orders[older:], lengths[older:], newer, weights)
    total_derivatives(stand_ins, ones, estimate, gradient, hessian)
    share = share_of(hessian, lost_hessian)
    for k in range(n_objectives):
        weights[k] = 1.0 + share * weights[k]
        problem.past_linear[k] += share * gradient[k] - lost_gradient[k]
        for other in range(n_objectives):
            difference = lost_hessian[k, other] - share * hessian[k, other]
            problem.past_linear[k] += (difference - problem.past_hessian[k, other]) * estimate[other]
            problem.past_hessian[k, other] = difference
    drop_oldest(rows, user, older)


@kernel
def share_of(part: Floats, whole: Floats) -> float:
    """Return the largest of 1, 1/2, ..., 1/16 and 0 by which half of one Hessian is still less than another.

    Rankings of a user who has changed are unlike the older ones; the fewer of those they stand in for, the less can the
    quadratic that corrects them bend the wrong way.
    """
    matrix = np.empty(whole.shape)
    share = 1.0
    for _ in range(5):
        for k in range(whole.shape[0]):
            for other in range(whole.shape[0]):
                matrix[k, other] = whole[k, other] - 0.5 * share * part[k, other]
        if is_positive(matrix):
            return share
        share *= 0.5
    return 0.0


@kernel
def follow(rows: Any, user: int, length: int, slack: float) -> bool:
    """Move the estimate to within `slack` standard errors of the optimum; False if that takes a refit.

    Newton steps on the quadratic model. A move by x changes the Hessian of a Plackett-Luce loss by at most its own
    times the spread of x, so the gradient of the model is off by at most the spread of what the estimate has moved
    since the Hessian was made, times what it has moved since the gradient was. Where that is too much, the gradient is
    computed anew; where the former is too much, a refit is due.
    """
    estimate, hessian = rows.estimate[user], rows.information[user]
    model = model_of(rows, user)
    n_objectives = estimate.shape[0]
    step = np.empty(n_objectives)
    before = spread_between(model.gradient_at, model.hessian_at)
    if jump(model.gradient, hessian, rows.ridge, estimate):
        return False
    for _ in range(4):
        if not model_step(model, hessian, rows.ridge, rows.bound, length, estimate, step) or max_abs(step) > LONGEST:
            return False
        take(step, hessian, rows.ridge, estimate, model.gradient)
        stale = spread_between(estimate, model.hessian_at)
        if stale > STALE:
            return False
        for k in range(n_objectives):
            step[k] = estimate[k] - model.gradient_at[k]
        if 0.5 * (before + stale) * standard_errors(step, hessian, rows.ridge) <= slack:
            return True
        copy_vector(estimate, model.gradient_at)
        overwrite_gradient(problem_of(rows, user), estimate, model.gradient)
        before = stale
    return False


@kernel
def jump(gradient: Floats, hessian: Floats, ridge: float, estimate: Floats) -> bool:
    """Raise each weight of an objective that was chosen though thought most unlikely; tell whether there was one.

    Along it the loss falls like exp(x) - x, so where a Newton step s would go far beyond, ln(1 + s) is right.
    """
    found = False
    for k in range(estimate.shape[0]):
        step = -gradient[k] / (hessian[k, k] + ridge + 1e-300)
        if step > UNLIKELY:
            estimate[k] += np.log1p(step)
            found = True
    return found


@kernel
def model_step(
    model: Model, hessian: Floats, ridge: float, bound: float, length: int, estimate: Floats, step: Floats
) -> bool:
    """Write the step to the minimum of the quadratic model in the box; False where it is not convex.

    Away from the bound it is enough to come near: what is left stays in the gradient. There, as long as rankings are
    whole, the information of all objectives grows alike, so its factor is made anew only once it has grown by an
    eighth; till then the step is scaled. A short ranking tells much of a few objectives: it needs the factor of now.
    """
    n_objectives = estimate.shape[0]
    chol = model.chol
    trace = 1e-300  # positive even where there is but one objective
    for k in range(n_objectives):
        trace += hessian[k, k]
    inside = max_abs(estimate) < bound
    if inside:
        if length < n_objectives - 1 or not trace < GROWN * model.factored[0]:
            copy_matrix(hessian, chol)
            complete_rank(chol, ridge)
            model.factored[0] = trace
            if not factor(chol, chol):
                model.factored[0] = 0.0
                return False
        copy_vector(model.gradient, step)
        solve(chol, step)
        scale = -model.factored[0] / trace
        for k in range(n_objectives):
            step[k] *= scale
            inside = inside and abs(estimate[k] + step[k]) < bound
    if not inside:
        matrix = hessian.copy()
        complete_rank(matrix, ridge)
        boxed_step(matrix, model.gradient, bound, 1e-9, estimate, step)
    return True


@kernel
def spread_between(x: Floats, y: Floats) -> float:
    """Return the largest minus the smallest entry of x - y."""
    low = x[0] - y[0]
    high = low
    for k in range(1, x.shape[0]):
        low = min(low, x[k] - y[k])
        high = max(high, x[k] - y[k])
    return float(high - low)


@kernel
def take(step: Floats, hessian: Floats, ridge: float, estimate: Floats, gradient: Floats) -> None:
    """Move the estimate by a step, and let the gradient follow as that of a quadratic."""
    for k in range(step.shape[0]):
        estimate[k] += step[k]
    add_product(hessian, ridge, step, gradient)


@kernel
def overwrite_gradient(problem: Problem, estimate: Floats, gradient: Floats) -> None:
    """Overwrite the gradient of Eq. 4 at the estimate."""
    for k in range(estimate.shape[0]):
        gradient[k] = -problem.past_linear[k]
    add_product(problem.past_hessian, problem.ridge, estimate, gradient)
    total_gradient(problem.rankings, estimate, gradient)


@implements(evaluate, Problem)
@kernel
def _evaluate(problem: Any, point: Floats, gradient: Floats, hessian: Floats) -> float:
    value = evaluate_quadratic(problem.past_hessian, problem.past_linear, problem.ridge, point, gradient, hessian)
    rankings = problem.rankings
    value += total_derivatives(rankings, np.ones(rankings.orders.shape[0]), point, gradient, hessian)
    if rankings.n_weighted > 0 and not is_positive(hessian):
        # Far from where it was made a past may bend the wrong way; the rankings that stand in for it never do.
        for k in range(point.shape[0]):
            for other in range(point.shape[0]):
                hessian[k, other] -= problem.past_hessian[k, other]
    return value


@kernel
def refit(problem: Problem, accuracy: float, slack: float, estimate: Floats, information: Floats, model: Model) -> None:
    """Solve Eq. 4 to a KKT residual of `accuracy` per ranking or within `slack` standard errors; renew the model."""
    step = np.empty(estimate.shape[0])
    tolerance = accuracy * (1.0 + problem.rankings.orders.shape[0])
    near = minimize(problem, tolerance, slack, estimate, model.gradient, information, step)
    copy_vector(estimate, model.gradient_at)
    copy_vector(estimate, model.hessian_at)
    for k in range(estimate.shape[0]):
        information[k, k] -= problem.ridge
    model.factored[0] = 0.0
    if near:
        take(step, information, problem.ridge, estimate, model.gradient)
