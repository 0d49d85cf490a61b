"""Two explanations of the same rankings, some corrupted or none, and their quadratics for those that are folded."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import clear, copy_matrix, copy_vector, factor, solve
from druthers.anchors.box import complete_rank, is_positive
from druthers.anchors.contamination import (
    Past,
    best_corruption,
    doubt,
    log_likelihood,
    make_lawful,
    measure,
    subtract_doubt,
    uniform_losses,
)
from druthers.anchors.newton import add_quadratic, evaluate, evaluate_quadratic, minimize
from druthers.rankings import Rankings, total_derivatives
from druthers.types import Floats, Integers

# Where eps = 0 is only a local optimum, the most likely preference is shrunk and no ranking looks odd: the search
# starts a second time from a preference this much wider, with this much corruption.
WIDER = 3.0
SUSPICION = 0.4
# How far from optimal, per ranking, a fit may stop.
ACCURACY = 1e-11


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


@kernel
def hypothesis_of(
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
    doubt(rankings, past, trust, point, ratios, corruption, information)
    if not given and is_positive(information):
        copy_matrix(information, hessian)
    for k in range(n_objectives):
        information[k, k] -= ridge
    return value


@kernel
def refit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers, slack: float) -> None:
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
            problem = hypothesis_of(rows, user, orders, lengths, SUSPICION, found, trial)
            evaluate(problem, estimate, gradient, hessian)
            complete_rank(hessian, 0.0)
            if factor(hessian, hessian):
                solve(hessian, gradient)
                for k in range(n_objectives):
                    estimate[k] -= gradient[k]
        problem = hypothesis_of(rows, user, orders, lengths, 0.0 if start == 0 else -1.0, found, trial)
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
def fold(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
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
    subtract_doubt(rankings, trust, estimate, unit, cross, curvature)
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
