"""Rankings of objectives under the Plackett-Luce model: check, score, differentiate.

A *ranking* names distinct objectives, most important first; it may stop early (top-m). Inside kernels it is an
*order*: all D objectives, the m ranked ones first, then the rest in any order, with its *length* m beside it.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from druthers._jit import bound, kernel
from druthers.errors import InvalidRanking, InvalidSetting
from druthers.types import Floats, Integers, RankingLike

# Up to this spread of a preference, exp(-2 spread) is a normal number and the fast formulas lose nothing.
SAFE_SPREAD = 300.0


class Rankings(NamedTuple):
    """Rankings inside kernels: `orders` (n, D) and `lengths` (n,).

    The choice made at place p of one of the first `n_weighted` counts `place_weights[p]` times, any other once.
    """

    orders: NDArray[np.int16]
    lengths: Integers
    n_weighted: int
    place_weights: Floats


def as_ranking(ranking: RankingLike, n_objectives: int) -> Integers:
    """Return a ranking as an array of objective indices, or say which law it breaks.

    Examples
    --------
    >>> as_ranking((2, 0), n_objectives=3)
    array([2, 0])
    >>> as_ranking((2, 0, 2), n_objectives=3)
    Traceback (most recent call last):
    druthers.errors.InvalidRanking: a ranking must not repeat an objective, but got (2, 0, 2)
    """
    try:
        array = np.asarray(ranking)
    except (TypeError, ValueError) as problem:
        raise InvalidRanking(f"a ranking must be a flat list of objective indices, but got {ranking!r}") from problem
    if array.ndim != 1:
        raise InvalidRanking(f"a ranking must be a flat list of objective indices, but got {ranking!r}")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise InvalidRanking(f"a ranking must hold whole numbers, but got {_shown(ranking)}")
    indices = array if array.dtype == np.int64 and array.flags.c_contiguous else np.array(array, dtype=np.int64)
    fault = _checks()(indices, int(n_objectives))
    if fault == 1:
        raise InvalidRanking(f"a ranking must name objectives 0 to {n_objectives - 1}, but got {_shown(ranking)}")
    if fault == 2:
        raise InvalidRanking(f"a ranking must not repeat an objective, but got {_shown(ranking)}")
    return indices


def _shown(ranking: RankingLike) -> str:
    values = [value.item() if isinstance(value, np.generic) else value for value in ranking]
    return repr(tuple(values)) if len(values) <= 20 else repr(tuple(values[:20]))[:-1] + ", ...)"


@kernel
def _fault(ranking: Integers, n_objectives: int) -> int:
    """Return 0 for a lawful ranking, 1 for an unknown objective, 2 for a repeated one."""
    seen = np.zeros(n_objectives, dtype=np.bool_)
    for place in range(ranking.shape[0]):
        objective = ranking[place]
        if objective < 0 or objective >= n_objectives:
            return 1
        if seen[objective]:
            return 2
        seen[objective] = True
    return 0


# Its machine code: looking at types takes longer than the check.
_checks = functools.cache(lambda: bound(_fault, np.empty(0, dtype=np.int64), 0))


@kernel
def complete(ranking: Integers, order: NDArray[Any]) -> None:
    """Write the ranking into `order` (D,), followed by the objectives it does not name."""
    ranked = np.zeros(order.shape[0], dtype=np.bool_)
    for place in range(ranking.shape[0]):
        order[place] = ranking[place]
        ranked[ranking[place]] = True
    place = ranking.shape[0]
    for objective in range(order.shape[0]):
        if not ranked[objective]:
            order[place] = objective
            place += 1


def as_orders(rankings: Any, n_objectives: int) -> tuple[NDArray[np.int16], Integers]:
    """Check many rankings and return them as orders (n, D) with their lengths (n,)."""
    checked = [as_ranking(ranking, n_objectives) for ranking in rankings]
    orders = np.empty((len(checked), n_objectives), dtype=np.int16)
    for row, ranking in enumerate(checked):
        complete(ranking, orders[row])
    return orders, np.array([len(ranking) for ranking in checked], dtype=np.int64)


def log_likelihood(ranking: RankingLike, preference: ArrayLike) -> float:
    """Return the log-probability of a top-m ranking (Eq. 2).

    Examples
    --------
    >>> round(float(np.exp(log_likelihood((0,), [np.log(3.0), 0.0]))), 6)
    0.75
    """
    order, length, weights = _prepared(ranking, preference)
    return -loss(order, length, weights)


def gradient(ranking: RankingLike, preference: ArrayLike) -> Floats:
    """Return the gradient of the log-probability of a ranking in the preference, in O(D)."""
    order, length, weights = _prepared(ranking, preference)
    slope = np.zeros_like(weights)
    add_slope(order, length, weights, slope)
    return -slope


def hessian(ranking: RankingLike, preference: ArrayLike) -> Floats:
    """Return the Hessian of the log-probability of a ranking in the preference, in O(D^2)."""
    order, length, weights = _prepared(ranking, preference)
    slope, curvature = np.zeros_like(weights), np.zeros((len(weights), len(weights)))
    add_derivatives(order, length, weights, 1.0, slope, curvature)
    return -curvature


def _prepared(ranking: RankingLike, preference: ArrayLike) -> tuple[Integers, int, Floats]:
    weights = np.ascontiguousarray(preference, dtype=np.float64)
    if weights.ndim != 1 or not len(weights) or not np.all(np.isfinite(weights)):
        raise InvalidSetting(f"a preference must be a flat list of finite numbers, but got {preference!r}")
    checked = as_ranking(ranking, len(weights))
    order = np.empty(len(weights), dtype=np.int64)
    complete(checked, order)
    return order, len(checked), weights


@kernel
def spread(preference: Floats) -> float:
    """Return the largest minus the smallest entry."""
    low = preference[0]
    high = preference[0]
    for k in range(1, preference.shape[0]):
        low = min(low, preference[k])
        high = max(high, preference[k])
    return float(high - low)


@kernel
def loss(order: NDArray[Any], length: int, preference: Floats) -> float:
    """Return minus the log-probability of the ranking (Eq. 2), by running log-sums from the last place up."""
    n_objectives = order.shape[0]
    top = preference[order[n_objectives - 1]]
    below = 1.0
    total = 0.0
    for place in range(n_objectives - 2, -1, -1):
        value = preference[order[place]]
        if value > top:
            below = below * np.exp(top - value) + 1.0
            top = value
        else:
            below += np.exp(value - top)
        if place < length:
            total += np.log(below) + (top - value)
    return float(total)


@kernel
def scaled_exp(preference: Floats, out: Floats) -> None:
    """Write exp(preference - its maximum)."""
    top = preference[0]
    for k in range(1, preference.shape[0]):
        top = max(top, preference[k])
    for k in range(preference.shape[0]):
        out[k] = np.exp(preference[k] - top)


@kernel
def remaining_sums(order: NDArray[Any], length: int, odds: Floats, first: Floats, second: Floats) -> None:
    """Write A_k and B_k, the sums of 1/S_j and 1/S_j^2 over the places j up to that of objective k.

    `odds` are exp(preference) on any scale and S_j is the sum of odds not yet ranked at place j. Then the loss has
    gradient odds_k A_k - [k ranked] and Hessian diag(odds A) - odds odds' min(B_k, B_l).
    """
    n_objectives = order.shape[0]
    left = 0.0
    for place in range(n_objectives - 1, -1, -1):
        objective = order[place]
        left += odds[objective]
        first[objective] = left
    total = squares = 0.0
    for place in range(n_objectives):
        objective = order[place]
        if place < length:
            inverse = 1.0 / first[objective]
            total += inverse
            squares += inverse * inverse
        first[objective] = total
        second[objective] = squares


@kernel
def add_slope(order: NDArray[Any], length: int, preference: Floats, slope: Floats) -> None:
    """Add the gradient of the ranking's loss, in O(D)."""
    n_objectives = order.shape[0]
    if spread(preference) > SAFE_SPREAD:
        unused = np.zeros((n_objectives, n_objectives))
        _add_wide_derivatives(order, length, preference, np.ones(n_objectives), slope, unused)
        return
    odds = np.empty(n_objectives)
    first = np.empty(n_objectives)
    second = np.empty(n_objectives)
    scaled_exp(preference, odds)
    remaining_sums(order, length, odds, first, second)
    for k in range(n_objectives):
        slope[k] += odds[k] * first[k]
    for place in range(length):
        slope[order[place]] -= 1.0


@kernel
def add_derivatives(
    order: NDArray[Any], length: int, preference: Floats, weight: float, slope: Floats, curvature: Floats
) -> None:
    """Add `weight` times the gradient and Hessian of the ranking's loss; O(D^2)."""
    n_objectives = order.shape[0]
    if spread(preference) > SAFE_SPREAD:
        _add_wide_derivatives(order, length, preference, np.full(n_objectives, weight), slope, curvature)
        return
    odds = np.empty(n_objectives)
    first = np.empty(n_objectives)
    second = np.empty(n_objectives)
    scaled_exp(preference, odds)
    remaining_sums(order, length, odds, first, second)
    for k in range(n_objectives):
        slope[k] += weight * odds[k] * first[k]
        scale = weight * odds[k]
        own = second[k]
        for other in range(n_objectives):
            curvature[k, other] -= scale * odds[other] * min(own, second[other])
        curvature[k, k] += scale * first[k]
    for place in range(length):
        slope[order[place]] -= weight


@kernel
def _add_wide_derivatives(
    order: NDArray[Any], length: int, preference: Floats, places: Floats, slope: Floats, curvature: Floats
) -> float:
    """Do the same for preferences so far apart that odds would overflow: every factor stays at most one.

    `places` weighs the places of the ranking; returns its weighted loss.
    """
    n_objectives = order.shape[0]
    logs = np.empty(n_objectives)  # log of what is left at each place
    logs[n_objectives - 1] = preference[order[n_objectives - 1]]
    for place in range(n_objectives - 2, -1, -1):
        value = preference[order[place]]
        high = max(value, logs[place + 1])
        low = min(value, logs[place + 1])
        logs[place] = high + np.log1p(np.exp(low - high))
    # Sums over the places so far of exp(-S_j) and exp(-2 S_j), relative to the last of them.
    ones = twos = total = 0.0
    at = 0
    for place in range(n_objectives):
        k = order[place]
        if place < length:
            drop = logs[place] - logs[at]
            ones = places[place] + ones * np.exp(drop)
            twos = places[place] + twos * np.exp(2.0 * drop)
            at = place
            slope[k] -= places[place]
            total += places[place] * (logs[place] - preference[k])
        share = np.exp(preference[k] - logs[at])
        slope[k] += share * ones
        curvature[k, k] += share * (ones - share * twos)
        for later in range(place + 1, n_objectives):
            other = order[later]
            value = share * np.exp(preference[other] - logs[at]) * twos
            curvature[k, other] -= value
            curvature[other, k] -= value
    return total


# Over sixty lines: one pass over all rankings serves value, gradient and Hessian, whose sums share every term.
@kernel
def total_derivatives(
    rankings: Rankings, weights: Floats, preference: Floats, slope: Floats, curvature: Floats
) -> float:
    """Add the weighted gradients and Hessians of many rankings; return their weighted loss.

    One exponential serves all rankings, and the odds enter the Hessian once, at the end.
    """
    n_rankings, n_objectives = rankings.orders.shape
    total = 0.0
    ones = np.ones(n_objectives)
    if spread(preference) > SAFE_SPREAD:
        for row in range(n_rankings):
            for place in range(n_objectives):
                ones[place] = weights[row] * (rankings.place_weights[place] if row < rankings.n_weighted else 1.0)
            order, length = rankings.orders[row], rankings.lengths[row]
            total += _add_wide_derivatives(order, length, preference, ones, slope, curvature)
        return total
    odds = np.empty(n_objectives)
    left = np.empty(n_objectives)  # odds not yet ranked, by place
    second = np.empty(n_objectives)
    firsts = np.zeros(n_objectives)
    named = np.zeros(n_objectives)
    minima = np.zeros((n_objectives, n_objectives))
    scaled_exp(preference, odds)
    for row in range(n_rankings):
        if weights[row] == 0.0:
            continue
        order = rankings.orders[row]
        length = rankings.lengths[row]
        places = rankings.place_weights if row < rankings.n_weighted else ones
        rest = 0.0
        for place in range(n_objectives - 1, -1, -1):
            rest += odds[order[place]]
            left[place] = rest
        sums = squares = 0.0
        product = 1.0
        weight = 0.0
        for place in range(length):
            share = 1.0 / left[place]
            # One logarithm for several places of one weight: the product stays in range.
            if weights[row] * places[place] != weight or product < 1e-150 or product > 1e150:
                total += weight * np.log(product)
                product = 1.0
                weight = weights[row] * places[place]
            product *= left[place]
            sums += weight * share
            squares += weight * share * share
            objective = order[place]
            named[objective] += weight
            firsts[objective] += sums
            second[objective] = squares
        total += weight * np.log(product)
        for place in range(length, n_objectives):
            firsts[order[place]] += sums
            second[order[place]] = squares
        # Whole rows, though half would do: loops of one length run faster.
        for k in range(n_objectives):
            own = second[k]
            for other in range(n_objectives):
                minima[k, other] += min(own, second[other])
    top = preference[0]
    for k in range(1, n_objectives):
        top = max(top, preference[k])
    for k in range(n_objectives):
        own = odds[k]
        total += named[k] * (top - preference[k])
        slope[k] += own * firsts[k] - named[k]
        for other in range(n_objectives):
            curvature[k, other] -= own * odds[other] * minima[k, other]
        curvature[k, k] += own * firsts[k]
    return total


@kernel
def total_gradient(rankings: Rankings, preference: Floats, gradient: Floats) -> None:
    """Add the gradients of the losses of many rankings: a sixth of the work of `total_derivatives` at D = 20."""
    n_rankings, n_objectives = rankings.orders.shape
    if spread(preference) > SAFE_SPREAD:
        unused = np.zeros((n_objectives, n_objectives))
        total_derivatives(rankings, np.ones(n_rankings), preference, gradient, unused)
        return
    ones = np.ones(n_objectives)
    odds = np.empty(n_objectives)
    left = np.empty(n_objectives)
    firsts = np.zeros(n_objectives)
    scaled_exp(preference, odds)
    for row in range(n_rankings):
        order = rankings.orders[row]
        length = rankings.lengths[row]
        places = rankings.place_weights if row < rankings.n_weighted else ones
        rest = 0.0
        for place in range(n_objectives - 1, -1, -1):
            rest += odds[order[place]]
            left[place] = rest
        sums = 0.0
        for place in range(length):
            sums += places[place] / left[place]
            firsts[order[place]] += sums
            gradient[order[place]] -= places[place]
        for place in range(length, n_objectives):
            firsts[order[place]] += sums
    for k in range(n_objectives):
        gradient[k] += odds[k] * firsts[k]
