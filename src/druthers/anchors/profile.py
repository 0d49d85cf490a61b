"""Eq. 9 with the deviations profiled out: its value, its derivatives, and a certificate of its solution."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import center, max_abs, sum_of
from druthers.anchors.box import violation
from druthers.anchors.deviation import (
    BASE,
    DEVIATION,
    DIAGONAL,
    DROPS,
    N_SCRATCH,
    ODDS,
    SLOPE,
    add_curvature,
    box_deviation,
    dot,
    find_deviation,
    tilt_ranking,
)
from druthers.anchors.newton import evaluate, evaluate_quadratic
from druthers.rankings import SAFE_SPREAD
from druthers.types import Floats, Integers


class Profile(NamedTuple):
    """Eq. 9, the deviations profiled out and brought up to date with every evaluation, each to an `accuracy`.

    The quadratic c'Hc/2 - b'c stands for older rankings; an infinite penalty is Eq. 4.
    """

    orders: NDArray[np.int16]
    lengths: Integers
    deviations: Floats
    past_hessian: Floats
    past_linear: Floats
    penalty: float
    accuracy: float
    bound: float
    longest: float


@kernel
def add_profile(
    orders: NDArray[Any],
    lengths: Integers,
    penalty: float,
    bound: float,
    accuracy: float,
    estimate: Floats,
    deviations: Floats,
    slope: Floats,
    curvature: Floats,
) -> float:
    """Return the sum of rho over rankings; add its gradient and curvature, and bring the deviations up to date."""
    n_rankings, n_objectives = orders.shape
    odds = np.empty(n_objectives)
    second = np.empty(n_objectives)
    firsts = np.zeros(n_objectives)
    minima = np.zeros((n_objectives, n_objectives))
    added = np.zeros((n_objectives, n_objectives))
    work = np.empty((N_SCRATCH, n_objectives))
    top = -np.inf
    for k in range(n_objectives):
        top = max(top, estimate[k])
    for k in range(n_objectives):
        odds[k] = np.exp(max(estimate[k] - top, -SAFE_SPREAD))
    total = 0.0
    for row in range(n_rankings):
        length = lengths[row]
        left = 0.0
        for place in range(n_objectives - 1, -1, -1):
            left += odds[orders[row, place]]
            work[DROPS, place] = left
        sums = 0.0
        squares = 0.0
        product = 1.0
        value = 0.0
        steepness = 0.0
        for place in range(n_objectives):
            k = orders[row, place]
            ranked = 0.0
            if place < length:
                remaining = work[DROPS, place]
                share = 1.0 / remaining
                sums += share
                squares += share * share
                work[DROPS, place] = share * share
                ranked = 1.0
                value -= max(estimate[k] - top, -SAFE_SPREAD)
                product *= remaining
                if product < 1e-150 or product > 1e150:
                    value += np.log(product)
                    product = 1.0
            else:
                work[DROPS, place] = 0.0
            work[DIAGONAL, place] = odds[k] * sums
            work[SLOPE, place] = odds[k] * sums - ranked
            second[k] = squares
            steepness += work[SLOPE, place] * work[SLOPE, place]
        value += np.log(product)
        if np.sqrt(steepness) <= penalty:
            total += value
            for place in range(n_objectives):
                k = orders[row, place]
                firsts[k] += work[DIAGONAL, place]
                slope[k] += work[SLOPE, place]
                deviations[row, k] = 0.0
            for k in range(n_objectives):
                own = second[k]
                for other in range(k, n_objectives):
                    minima[k, other] += min(own, second[other])
            continue
        for place in range(n_objectives):
            k = orders[row, place]
            work[BASE, place] = estimate[k]
            work[DEVIATION, place] = deviations[row, k]
            work[ODDS, place] = odds[k]
        value = find_deviation(work, length, penalty, bound, accuracy, value)
        outside = False
        for place in range(n_objectives):
            if abs(work[DEVIATION, place]) > bound:
                outside = True
        if outside:
            value = box_deviation(work, length, penalty, bound, accuracy)
        total += value
        for place in range(n_objectives):
            k = orders[row, place]
            deviations[row, k] = work[DEVIATION, place]
            slope[k] += work[DIAGONAL, place] - (1.0 if place < length else 0.0)
        add_curvature(work, orders[row], penalty, bound, added)
    for k in range(n_objectives):
        added[k, k] += firsts[k]
        for other in range(k, n_objectives):
            value = odds[k] * odds[other] * minima[k, other]
            added[k, other] -= value
            if other > k:
                added[other, k] -= value
    _center_both(added)
    for k in range(n_objectives):
        for other in range(n_objectives):
            curvature[k, other] += added[k, other]
    return total


@kernel
def _center_both(matrix: Floats) -> None:
    """Take from a symmetric matrix what rounding has put along the constant."""
    size = matrix.shape[0]
    for k in range(size):
        center(matrix[k])
    for other in range(size):
        total = 0.0
        for k in range(size):
            total += matrix[k, other]
        total /= size
        for k in range(size):
            matrix[k, other] -= total
    for k in range(size):
        for other in range(k):
            value = 0.5 * (matrix[k, other] + matrix[other, k])
            matrix[k, other] = value
            matrix[other, k] = value


@implements(evaluate, Profile)
@kernel
def _evaluate(problem: Any, point: Floats, gradient: Floats, hessian: Floats) -> float:
    orders, lengths, deviations, past_hessian, past_linear, penalty, accuracy, bound, _ = problem
    value = evaluate_quadratic(past_hessian, past_linear, 0.0, point, gradient, hessian)
    return value + add_profile(orders, lengths, penalty, bound, accuracy, point, deviations, gradient, hessian)


@kernel
def certificate(
    orders: NDArray[Any],
    lengths: Integers,
    deviations: Floats,
    folded_information: Floats,
    folded_response: Floats,
    penalty: float,
    bound: float,
    estimate: Floats,
) -> tuple[float, float]:
    """Return the value of Eq. 9 and the largest violation of its optimality conditions, from nothing but the solution.

    Feasibility of all boxes and sums; for the estimate and each deviation not zero, the projected gradient step; for a
    deviation of zero, the length of the gradient beyond the penalty.
    """
    n_rankings, n_objectives = orders.shape
    tilted = np.empty(n_objectives)
    pull = np.empty(n_objectives)
    work = np.empty((N_SCRATCH, n_objectives))
    slope = np.empty(n_objectives)
    unused = np.empty((n_objectives, n_objectives))
    total = evaluate_quadratic(folded_information, folded_response, 0.0, estimate, slope, unused)
    worst = max(abs(sum_of(estimate)), max_abs(estimate) - bound)
    for row in range(n_rankings):
        for place in range(n_objectives):
            k = orders[row, place]
            work[BASE, place] = estimate[k]
            work[DEVIATION, place] = deviations[row, k]
            tilted[place] = deviations[row, k]
        total += tilt_ranking(work, DEVIATION, lengths[row])
        for place in range(n_objectives):
            slope[orders[row, place]] += work[SLOPE, place]
        size = np.sqrt(dot(work, DEVIATION, DEVIATION))
        if size == 0.0:
            worst = max(worst, np.sqrt(dot(work, SLOPE, SLOPE)) - penalty)
            continue
        total += penalty * size
        worst = max(worst, abs(sum_of(tilted)), max_abs(tilted) - bound)
        for place in range(n_objectives):
            pull[place] = work[SLOPE, place] + penalty * tilted[place] / size
        worst = max(worst, violation(tilted, pull, bound))
    return total, max(worst, violation(estimate, slope, bound))
