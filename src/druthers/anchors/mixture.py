"""The gated mixture anchor: a ranking is Plackett-Luce or, with some unknown chance, uniform."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import center, clear, copy_matrix, copy_vector, factor, max_abs, solve
from druthers.anchors.base import Anchor, drop_oldest, fit_anchor, hear_anchor, is_power_of_two, keep, keep_latest
from druthers.anchors.box import complete_rank
from druthers.anchors.contamination import (
    best_corruption,
    doubt,
    honesty,
    log_likelihood,
    make_lawful,
    measure,
    measure_trust,
    subtract_doubt,
    uniform_losses,
)
from druthers.anchors.newton import add_quadratic, evaluate, evaluate_quadratic, minimize
from druthers.errors import InvalidSetting
from druthers.rankings import (
    Rankings,
    add_derivatives,
    as_orders,
    loss,
    total_derivatives,
)
from druthers.types import Floats, Integers, RankingLike

# Where eps = 0 is only a local optimum, the most likely preference is shrunk and no ranking looks odd: the search
# starts a second time from a preference this much wider, with this much corruption.
WIDER = 3.0
SUSPICION = 0.4
# How far from optimal, per ranking, a fit may stop; a refit among many stops this many standard errors from it.
ACCURACY = 1e-11
ONLINE_SLACK = 1e-6


class MixtureRows(NamedTuple):
    """One user's rankings per row, under two hypotheses: some are corrupted (mixture), none is (plain).

    Each hypothesis has its own best estimate and its own quadratic for the folded rankings; `estimate`, `information`
    and `corruption` are those of the one that the gate lets through. `folded_clean` and `folded_corrupted` are the
    counts that tell as much about the corruption as the folded rankings did, corruption * (`folded_tilt` +
    `folded_cross` @ estimate) is how both bear on each other there, and `folded_gain` is how much better the mixture
    explained them.
    """

    ridge: float
    gate: float
    prior: float
    estimate: Floats
    information: Floats
    corruption: Floats
    queries: Integers
    total_length: Integers
    shortest: Integers
    kept: Integers
    refitted: Integers
    orders: NDArray[np.int16]
    lengths: Integers
    mixture_estimate: Floats
    mixture_corruption: Floats
    folded_information: Floats
    folded_response: Floats
    folded_cross: Floats
    folded_clean: Floats
    folded_corrupted: Floats
    folded_tilt: Floats
    folded_gain: Floats
    plain_estimate: Floats
    plain_information: Floats
    plain_response: Floats


class Past(NamedTuple):
    """What stands for the folded rankings: a quadratic c'Hc/2 - b'c, counts, and how corruption bears on c."""

    hessian: Floats
    linear: Floats
    cross: Floats
    clean: float
    corrupted: float
    tilt: float


class Hypothesis(NamedTuple):
    """Minus a log-posterior with a given corruption or, where that is negative, with the best one for each estimate.

    An evaluation leaves the corruption and the log-posterior in `found`, and the observed information (Louis 1982,
    without the ridge). Its Hessian is that where it is positive and no corruption given, else that of an EM step.
    """

    rankings: Rankings
    past: Past
    ridge: float
    given: float
    found: Floats
    information: Floats
    bound: float
    longest: float


class Mixture(Anchor):
    """The most probable preference when an unknown share of the rankings is corrupted, with honest information.

    A ranking comes from PL(c) with chance 1 - eps and from nowhere (all rankings equally likely) with chance eps; c
    has a normal prior and eps a Beta(1, prior) one. Use it where rankings may be wrong: it weighs each by the chance
    that it is the user's own, and `information` tells what is then known (Louis 1982, the estimation of eps
    included). Without clear evidence of corruption the gate stays shut and the estimate is that of `Likelihood`
    with the same ridge. Rankings of one objective can never open it.

    Parameters
    ----------
    ridge
        Precision of the normal prior on the weights.
    gate
        Twice the gain in log-posterior over eps = 0 from which the mixture is believed; 6.6 is the 0.5 % point
        of half a chi-square with one degree of freedom, since eps = 0 lies at the border.
    prior
        The larger, the rarer corruption is thought to be: the density of eps is proportional to (1 - eps)^(prior - 1).
    window
        Rankings kept for exact refits; older ones become a quadratic. A user takes (2 D + 8) window + 24 D^2 bytes.
    n_objectives
        Number of objectives; needed when the anchor stands alone.

    Examples
    --------
    >>> rankings = 9 * [(0, 1, 2, 3, 4, 5)] + 9 * [(0, 1, 2, 3, 5, 4)] + [(5, 4, 3, 2, 1, 0)]
    >>> anchor = Mixture(n_objectives=6).fit(rankings)
    >>> anchor.suspects.tolist()
    [18]

    References
    ----------
    Section 6.1 (the contamination model).
    """

    name = "mixture"

    def __init__(
        self,
        *,
        ridge: float = 0.5,
        gate: float = 6.6,
        prior: float = 4.0,
        window: int = 256,
        n_objectives: int | None = None,
    ) -> None:
        super().__init__(n_objectives=n_objectives)
        if not 0 < ridge < np.inf:
            raise InvalidSetting(f"ridge must be positive and finite, but got {ridge!r}")
        if not gate >= 0:
            raise InvalidSetting(f"gate must not be negative, but got {gate!r}")
        if not 1 <= prior < np.inf:
            raise InvalidSetting(f"prior must be at least 1 and finite, but got {prior!r}")
        if window < 2:
            raise InvalidSetting(f"window must be at least 2, but got {window!r}")
        self.ridge = ridge
        self.gate = gate
        self.prior = prior
        self.window = window
        self._fitted: Floats | None = None

    def rows(self, n_users: int, n_objectives: int) -> MixtureRows:
        """Return fresh memory for `n_users` users."""
        matrices = (n_users, n_objectives, n_objectives)
        return MixtureRows(
            ridge=float(self.ridge),
            gate=float(self.gate),
            prior=float(self.prior),
            estimate=np.zeros((n_users, n_objectives)),
            information=np.zeros(matrices),
            corruption=np.zeros(n_users),
            queries=np.zeros(n_users, dtype=np.int64),
            total_length=np.zeros(n_users, dtype=np.int64),
            shortest=np.zeros(n_users, dtype=np.int64),
            kept=np.zeros(n_users, dtype=np.int64),
            refitted=np.zeros(n_users, dtype=np.int64),
            orders=np.zeros((n_users, self.window, n_objectives), dtype=np.int16),
            lengths=np.zeros((n_users, self.window), dtype=np.int64),
            mixture_estimate=np.zeros((n_users, n_objectives)),
            mixture_corruption=np.zeros(n_users),
            folded_information=np.zeros(matrices),
            folded_response=np.zeros((n_users, n_objectives)),
            folded_cross=np.zeros((n_users, n_objectives)),
            folded_clean=np.zeros(n_users),
            folded_corrupted=np.zeros(n_users),
            folded_tilt=np.zeros(n_users),
            folded_gain=np.zeros(n_users),
            plain_estimate=np.zeros((n_users, n_objectives)),
            plain_information=np.zeros(matrices),
            plain_response=np.zeros((n_users, n_objectives)),
        )

    def hear(self, ranking: RankingLike) -> None:
        """Take in one ranking; an empty one says nothing."""
        super().hear(ranking)
        self._fitted = None

    def fit(self, rankings: Iterable[RankingLike]) -> Mixture:
        """Forget everything and fit all these rankings at once, to optimality."""
        told = list(rankings)
        super().fit(told)
        self._fitted = self.trust(told)
        return self

    def trust(self, rankings: Iterable[RankingLike]) -> Floats:
        """Return the chance that each of these rankings is the user's own, as things stand now; 1 for an empty one."""
        orders, lengths = as_orders(rankings, self._size())
        rows = self._own()
        trust = np.ones(len(lengths))
        measure_trust(orders, lengths, rows.estimate[0], rows.corruption[0], trust)
        trust[lengths == 0] = 1.0
        return trust

    @property
    def responsibilities(self) -> Floats:
        """How much each ranking is trusted, in order: all those of the last `fit`, or those kept since a `hear`."""
        if self._fitted is not None:
            return self._fitted.copy()
        rows = self._own()
        kept = rows.kept[0]
        trust = np.ones(kept)
        measure_trust(rows.orders[0, :kept], rows.lengths[0, :kept], rows.estimate[0], rows.corruption[0], trust)
        return trust

    @property
    def suspects(self) -> Integers:
        """The positions, in `responsibilities`, of the rankings that are more likely corrupted than not."""
        return np.flatnonzero(self.responsibilities < 0.5)

    @property
    def corruption(self) -> float:
        """The estimated share of corrupted rankings; 0 while the gate is shut."""
        return float(self._own().corruption[0])


@implements(hear_anchor, MixtureRows)
@kernel
def _hear(rows: Any, user: int, ranking: Integers) -> None:
    row = keep(rows, user, ranking)
    queries = rows.queries[user]
    kept = rows.kept[user]
    full = kept == rows.orders.shape[1]
    if full or is_power_of_two(queries) or 4 * queries >= 5 * rows.refitted[user]:
        _refit(rows, user, rows.orders[user, :kept], rows.lengths[user, :kept], ONLINE_SLACK)
    else:
        _step(rows, user, row)
    if full:
        older = kept // 2
        _fold(rows, user, rows.orders[user, :older], rows.lengths[user, :older])
        drop_oldest(rows, user, older)


@implements(fit_anchor, MixtureRows)
@kernel
def _fit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    # One place stays free for the next ranking.
    kept = min(orders.shape[0], rows.orders.shape[1] - 1)
    older = orders.shape[0] - kept
    keep_latest(rows, user, orders, lengths, kept)
    _refit(rows, user, orders, lengths, 0.0)
    if older > 0:
        _fold(rows, user, orders[:older], lengths[:older])


@kernel
def _hypothesis(
    rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, given: float, found: Floats, information: Floats
) -> Hypothesis:
    """Return the plain hypothesis where the given corruption is zero, else the mixture."""
    n_objectives = orders.shape[1]
    rankings = Rankings(orders, lengths, 0, np.ones(n_objectives))
    past_hessian, past_linear = rows.plain_information[user], rows.plain_response[user]
    past_cross = np.zeros(n_objectives)
    clean = corrupted = tilt = 0.0
    if given != 0.0:
        past_hessian, past_linear = rows.folded_information[user], rows.folded_response[user]
        past_cross = rows.folded_cross[user]
        clean = rows.folded_clean[user] + rows.prior - 1.0
        corrupted = rows.folded_corrupted[user]
        tilt = rows.folded_tilt[user]
    past = Past(past_hessian, past_linear, past_cross, clean, corrupted, tilt)
    return Hypothesis(rankings, past, rows.ridge, given, found, information, np.inf, np.inf)


@kernel
def _refit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, slack: float) -> None:
    """Find the best plain and the best mixture explanation of rankings and fold; let the gate choose between them."""
    n_rankings, n_objectives = orders.shape
    plain = rows.plain_estimate[user]
    best = rows.mixture_estimate[user]
    information = rows.information[user]
    warm = rows.mixture_corruption[user] > 0.0
    estimate = np.empty(n_objectives)
    gradient = np.empty(n_objectives)
    step = np.empty(n_objectives)
    hessian = np.empty((n_objectives, n_objectives))
    trial = np.empty((n_objectives, n_objectives))
    found = np.zeros(2)
    rows.refitted[user] = rows.queries[user]
    threshold = 0.0
    best_value = -np.inf
    # First the plain hypothesis, then the mixture from where it was (or from the plain estimate) and from afar: but
    # only as long as nothing is folded, since a fold tells what rankings said near the estimate they were folded at.
    nothing_folded = rows.folded_clean[user] + rows.folded_corrupted[user] == 0.0
    for start in range(3 if nothing_folded else 2):
        for k in range(n_objectives):
            estimate[k] = best[k] if start == 1 and warm else plain[k]
        if start == 2:
            # From a preference of no merit, an EM step: with this much corruption, whatever comes of it.
            for k in range(n_objectives):
                estimate[k] *= WIDER
            problem = _hypothesis(rows, user, orders, lengths, SUSPICION, found, trial)
            evaluate(problem, estimate, gradient, hessian)
            complete_rank(hessian, 0.0)
            if factor(hessian, hessian):
                solve(hessian, gradient)
                for k in range(n_objectives):
                    estimate[k] -= gradient[k]
        problem = _hypothesis(rows, user, orders, lengths, 0.0 if start == 0 else -1.0, found, trial)
        if minimize(problem, ACCURACY * (1.0 + n_rankings), slack, estimate, gradient, hessian, step):
            for k in range(n_objectives):
                estimate[k] += step[k]
        corruption, value = found
        if start == 0:
            copy_vector(estimate, plain)
            copy_matrix(trial, information)
            rows.corruption[user] = 0.0
            threshold = value + 0.5 * rows.gate - rows.folded_gain[user]
        elif value > best_value:
            best_value = value
            copy_vector(estimate, best)
            rows.mixture_corruption[user] = corruption
            if corruption > 0.0 and value > threshold:
                copy_matrix(trial, information)
                rows.corruption[user] = corruption
    copy_vector(best if rows.corruption[user] > 0.0 else plain, rows.estimate[user])
    make_lawful(information)


@kernel
def _step(rows: Any, user: int, row: int) -> None:
    """Move the estimate by one Newton step on the newest ranking, weighted by the chance that it is the user's own."""
    estimate = rows.estimate[user]
    information = rows.information[user]
    order = rows.orders[user, row]
    length = rows.lengths[user, row]
    n_objectives = estimate.shape[0]
    uniform = uniform_losses(n_objectives)[length]
    trusted = honesty(loss(order, length, estimate), uniform, rows.corruption[user])
    slope = np.zeros(n_objectives)
    add_derivatives(order, length, estimate, trusted, slope, information)
    root = np.empty((n_objectives, n_objectives))
    if trusted * (1.0 - trusted) > 1e-9:
        # Doubt costs r (1 - r) gg'; where that would leave less than nothing, it is left to the next refit.
        cost = (1.0 - trusted) / trusted
        for k in range(n_objectives):
            for other in range(n_objectives):
                root[k, other] = information[k, other] - cost * slope[k] * slope[other]
        doubtful = root.copy()
        complete_rank(root, 0.0)
        if factor(root, root):
            copy_matrix(doubtful, information)
    copy_matrix(information, root)
    complete_rank(root, rows.ridge)
    if not factor(root, root):
        return
    solve(root, slope)
    damping = 1.0 / max(max_abs(slope), 1.0)
    for k in range(n_objectives):
        estimate[k] -= damping * slope[k]
    center(estimate)
    copy_vector(estimate, rows.mixture_estimate[user] if rows.corruption[user] > 0.0 else rows.plain_estimate[user])


@implements(evaluate, Hypothesis)
@kernel
def _evaluate(problem: Any, point: Floats, gradient: Floats, hessian: Floats) -> float:
    rankings, past, ridge, corruption, found, information, _, _ = problem
    orders, lengths, _, _ = rankings
    n_rankings, n_objectives = orders.shape
    losses, ratios, trust = np.empty(n_rankings), np.empty(n_rankings), np.empty(n_rankings)
    uniforms = uniform_losses(n_objectives)
    measure(orders, lengths, point, uniforms, losses, ratios)
    tilt = past.tilt
    for k in range(n_objectives):
        tilt += past.cross[k] * point[k]
    given = corruption >= 0.0
    if not given:
        corruption = best_corruption(ratios, past.clean, past.corrupted, tilt, found[0])
    value: float = -corruption * tilt
    value += evaluate_quadratic(past.hessian, past.linear, ridge, point, gradient, hessian)
    value -= log_likelihood(lengths, uniforms, losses, ratios, past.clean, past.corrupted, corruption)
    found[0] = corruption
    found[1] = -value
    for j in range(n_rankings):
        trust[j] = 1.0 / (1.0 + corruption / (1.0 - corruption) * ratios[j])
    for k in range(n_objectives):
        gradient[k] -= corruption * past.cross[k]
    total_derivatives(rankings, trust, point, gradient, hessian)
    copy_matrix(hessian, information)
    cross = past.cross.copy()
    doubt(orders, lengths, trust, point, ratios, corruption, past.clean, past.corrupted, cross, information)
    root = information.copy()
    complete_rank(root, 0.0)
    if not given and factor(root, root):
        copy_matrix(information, hessian)
    for k in range(n_objectives):
        information[k, k] -= ridge
    return value


@kernel
def _fold(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    """Turn rankings into quadratics at the best estimate of each hypothesis, with counts for the corruption.

    The mixture's log-probability becomes f'c - c'Fc/2 + eps (b'c + t) + K log eps + C log(1 - eps) with counts K of
    corrupted and C of clean rankings: a match of value, slope and curvature in c and eps together. Where it is unclear
    which rankings are corrupted, the counts are small although the rankings are many.
    """
    n_rankings, n_objectives = orders.shape
    plain = rows.plain_estimate[user]
    estimate = rows.mixture_estimate[user]
    corruption = rows.mixture_corruption[user]
    trust = np.ones(n_rankings)
    rankings = Rankings(orders, lengths, 0, np.ones(n_objectives))
    slope = np.zeros(n_objectives)
    curvature = np.zeros((n_objectives, n_objectives))
    plain_value = -total_derivatives(rankings, trust, plain, slope, curvature)
    plain_value += add_quadratic(slope, curvature, plain, rows.plain_information[user], rows.plain_response[user])
    losses = np.empty(n_rankings)
    ratios = np.empty(n_rankings)
    uniforms = uniform_losses(n_objectives)
    measure(orders, lengths, estimate, uniforms, losses, ratios)
    clean = 0.0
    corrupted = 0.0
    for j in range(n_rankings):
        trust[j] = 1.0 / (1.0 + corruption / (1.0 - corruption) * ratios[j])
        corrupted += (1.0 - trust[j]) * (1.0 - trust[j] / (1.0 - corruption))
        clean += trust[j] * (1.0 - trust[j] / (1.0 - corruption) * ratios[j])
    clean = max(clean, 0.0)
    corrupted = max(corrupted, 0.0)
    clear(slope, curvature)
    total_derivatives(rankings, trust, estimate, slope, curvature)
    cross = np.zeros(n_objectives)
    unit = 1.0 / (corruption * (1.0 - corruption)) if corruption > 0.0 else 0.0
    subtract_doubt(orders, lengths, trust, estimate, unit, cross, curvature)
    make_lawful(curvature)
    tilt = 0.0
    for k in range(n_objectives):
        tilt -= cross[k] * estimate[k]
        rows.folded_cross[user, k] += cross[k]
        rows.folded_response[user, k] -= corruption * cross[k]
    value = log_likelihood(lengths, uniforms, losses, ratios, 0.0, 0.0, corruption)
    value += add_quadratic(slope, curvature, estimate, rows.folded_information[user], rows.folded_response[user])
    if corruption > 0.0:
        value -= clean * np.log(1.0 - corruption) + corrupted * np.log(corruption) + corruption * tilt
    rows.folded_clean[user] += clean
    rows.folded_corrupted[user] += corrupted
    rows.folded_tilt[user] += tilt
    rows.folded_gain[user] += value - plain_value
