"""Words that are not one list: ties, sets in no order, shares of a first choice, by a partial Plackett-Luce law."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from druthers.errors import InvalidRanking
from druthers.rankings import as_ranking, gradient, hessian, log_likelihood
from druthers.types import Floats

# All orders of a set are summed, so sets are small.
LARGEST_SET = 6
NEWTON_STEPS = 20

# What was said: sets of objectives, the most important first; or how likely each objective is the first choice.
Said = Iterable[int | Iterable[int]] | Mapping[int, float]


def check_sets(said: Iterable[Any], size: int) -> list[tuple[int, ...]]:
    """Return sets of objectives as tuples, or say what is wrong with them."""
    sets = [tuple(one) if isinstance(one, Iterable) and not isinstance(one, str) else (one,) for one in said]
    checked = as_ranking([objective for one in sets for objective in one], size).tolist()
    if any(not one or len(one) > LARGEST_SET for one in sets):
        raise InvalidRanking(f"a set of objectives in no order must hold 1 to {LARGEST_SET} of them, but got {said!r}")
    ordered = iter(checked)
    return [tuple(next(ordered) for _ in one) for one in sets]


def check_shares(said: Mapping[int, float], size: int) -> Floats:
    """Return the shares (D,) of a first choice, which sum to one, or say what is wrong with them."""
    shares = np.zeros(size)
    objectives = as_ranking(list(said), size)
    values = np.array(list(said.values()), dtype=np.float64)
    if not len(values) or not np.isfinite(values).all() or not (values >= 0.0).all() or not values.sum() > 0.0:
        raise InvalidRanking(f"shares of a first choice must be finite, at least 0 and not all 0, but got {said!r}")
    shares[objectives] = values / values.sum()
    return shares


def first_choice(shares: Floats, weights: Floats) -> tuple[float, Floats, Floats]:
    """Return sum_k q_k ln p_k, its gradient and minus its Hessian, p being the chances of a first choice."""
    odds = np.exp(weights - weights.max())
    chances = odds / odds.sum()
    value = float(shares @ np.log(np.maximum(chances, 1e-300)))
    return value, shares - chances, np.diag(chances) - np.outer(chances, chances)


def one_order(order: tuple[int, ...], left: list[int], weights: Floats) -> tuple[float, Floats, Floats]:
    """Return the log-chance that these objectives come first in this order, its gradient and minus its Hessian."""
    among, ranking = [*order, *left], range(len(order))
    slope, curvature = np.zeros(len(weights)), np.zeros((len(weights), len(weights)))
    slope[among] = gradient(ranking, weights[among])
    curvature[np.ix_(among, among)] = -hessian(ranking, weights[among])
    return log_likelihood(ranking, weights[among]), slope, curvature


def sets_first(sets: list[tuple[int, ...]], weights: Floats) -> tuple[float, Floats, Floats]:
    """Return the log-chance that each set comes before all later objectives, its gradient and minus its Hessian.

    The chance of a set is the sum over its orders; minus the Hessian of its logarithm is the mean of theirs less the
    covariance of their gradients.
    """
    size = len(weights)
    value, slope, curvature = 0.0, np.zeros(size), np.zeros((size, size))
    left = set(range(size))
    for one in sets:
        left -= set(one)
        terms = [one_order(order, sorted(left), weights) for order in itertools.permutations(one)]
        logs = np.array([term[0] for term in terms])
        shares = np.exp(logs - logs.max())
        value += float(logs.max() + np.log(shares.sum()))
        shares /= shares.sum()
        slopes = np.array([term[1] for term in terms])
        mean = shares @ slopes
        slope += mean
        curvature += np.einsum("n,nij->ij", shares, np.array([term[2] for term in terms]))
        curvature -= (shares * slopes.T) @ slopes - np.outer(mean, mean)
    return value, slope, curvature


def soft_site(said: Said, weight: float, mean: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Return information and pull of soft words, in units of the Plackett-Luce model, beside a belief N(mean, P^-1).

    Both are taken where belief and words together are most likely; what would not be an information is left out.
    """
    size = len(mean)
    if isinstance(said, Mapping):
        shares = check_shares(said, size)
    else:
        sets = check_sets(said, size)

    def law(weights: Floats) -> tuple[float, Floats, Floats]:
        parts = first_choice(shares, weights) if isinstance(said, Mapping) else sets_first(sets, weights)
        values, vectors = np.linalg.eigh(weight * parts[2])
        return weight * parts[0], weight * parts[1], (vectors * np.maximum(values, 0.0)) @ vectors.T

    point = mean.copy()
    for _ in range(NEWTON_STEPS):
        value, slope, information = law(point)
        gradient = slope - precision @ (point - mean)
        step = np.linalg.solve(information + precision, gradient)
        height = value - 0.5 * (point - mean) @ precision @ (point - mean)
        scale = 1.0
        while scale > 1e-4:
            there = point + scale * step
            if law(there)[0] - 0.5 * (there - mean) @ precision @ (there - mean) >= height:
                break
            scale *= 0.5
        point = point + scale * step
        if np.abs(scale * step).max() < 1e-9:
            break
    _, slope, information = law(point)
    return information, slope + information @ point
