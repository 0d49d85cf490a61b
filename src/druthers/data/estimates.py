"""What ratings say: the mean reward of each item, the weights of each user, and the noise around both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from druthers.data.ratings import Ratings
from druthers.errors import InvalidSetting
from druthers.types import Floats, Integers


class Estimates(NamedTuple):
    """Arms and users, with how far single ratings lie from what they say.

    Attributes
    ----------
    items, users
        Their numbers in the ratings.
    rewards
        Mean scores (K, D).
    preferences
        Weights (N, D).
    item_counts, user_counts
        How many ratings each estimate rests on.
    reward_noise
        Variance of a score around its item's mean, for each objective; NaN where no item was rated twice.
    preference_noise
        Variance of a weight from rating to rating that explains the utilities' distance from the weights' sums, as
        in the environments: the utility is <c + noise, r>. NaN where no user has more ratings than objectives.
    """

    items: Integers
    users: Integers
    rewards: Floats
    preferences: Floats
    item_counts: Integers
    user_counts: Integers
    reward_noise: Floats
    preference_noise: float


def estimate(ratings: Ratings, users: Integers, ridge: float) -> Estimates:
    """Estimate all items of the ratings, and the preferences of some users.

    Parameters
    ----------
    ratings
        Complete ratings.
    users
        Numbers of the users.
    ridge
        Strength of the ridge; 0 is its limit, the shortest of the least-squares solutions.
    """
    if not 0.0 <= ridge < np.inf:
        raise InvalidSetting(f"ridge must be a number not below 0, but got {ridge!r}")
    items, places, counts = np.unique(ratings.items, return_inverse=True, return_counts=True)
    rewards, _, reward_noise = means_of_items(places, ratings.scores, len(items))
    preferences = np.empty((len(users), len(ratings.objectives)))
    surprise, freedom = 0.0, 0
    for place, rows in enumerate(ratings.of_each(users)):
        scores, utilities = ratings.scores[rows], ratings.utilities[rows]
        preferences[place] = weights_of(scores, utilities, ridge)
        norms = np.square(scores).sum(axis=1)
        told = norms > 0.0
        surprise += float(np.sum(np.square(utilities - scores @ preferences[place])[told] / norms[told]))
        freedom += max(0, int(told.sum()) - scores.shape[1])
    return Estimates(
        items=items.astype(np.int64),
        users=users,
        rewards=rewards,
        preferences=preferences,
        item_counts=counts,
        user_counts=ratings.user_counts[users],
        reward_noise=reward_noise,
        preference_noise=surprise / freedom if freedom else np.nan,
    )


def means_of_items(places: Integers, scores: Floats, n_items: int) -> tuple[Floats, Floats, Floats]:
    """Return the mean scores of items (K, D), from how many each is (K, D), and the noise of a score (D,).

    Parameters
    ----------
    places
        The item of each rating, 0 to K - 1.
    scores
        Ratings (rows, D), NaN where one is missing.
    n_items
        How many items there are.

    Examples
    --------
    >>> means, counts, noise = means_of_items(np.array([0, 0, 1]), np.array([[4.0], [2.0], [np.nan]]), 2)
    >>> means.ravel(), counts.ravel(), noise
    (array([ 3., nan]), array([2., 0.]), array([2.]))
    """
    told = ~np.isnan(scores)
    filled = np.where(told, scores, 0.0)
    there = told.astype(np.float64)
    counts: Floats = np.stack([np.bincount(places, weights=column, minlength=n_items) for column in there.T], axis=1)
    sums: Floats = np.stack([np.bincount(places, weights=column, minlength=n_items) for column in filled.T], axis=1)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0.0)
    squares = np.square(np.where(told, scores - means[places], 0.0)).sum(axis=0)
    freedom = counts.sum(axis=0) - np.count_nonzero(counts, axis=0)
    return means, counts, squares / np.where(freedom > 0.0, freedom, np.nan)


def weights_of(scores: Floats, utilities: Floats, ridge: float) -> Floats:
    """Return the weights w of least |utilities - scores w|² + ridge |w|², without a constant term.

    Examples
    --------
    >>> weights_of(np.array([[4.0, 2.0], [1.0, 5.0]]), np.array([3.0, 3.0]), 0.0).round(2)
    array([0.5, 0.5])
    """
    n_objectives = scores.shape[1]
    if ridge > 0.0:
        scores = np.vstack([scores, np.sqrt(ridge) * np.eye(n_objectives)])
        utilities = np.concatenate([utilities, np.zeros(n_objectives)])
    return np.asarray(np.linalg.lstsq(scores, utilities)[0], dtype=np.float64)


def most_active(ratings: Ratings, number: int | None) -> Integers:
    """Return the numbers of the users with the most ratings, most first; of equals, who came first; all for None."""
    if number is not None and number < 1:
        raise InvalidSetting(f"at least one user must be kept, but got {number!r}")
    counts = ratings.user_counts
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    return order if number is None else order[:number]
