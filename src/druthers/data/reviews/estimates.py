"""What ratings say: mean rewards of items, weights of users, the noise around both, and what is doubtful about them.

Each note on a doubt says what was found and what was done about it.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from druthers.data.reviews.ratings import Ratings
from druthers.errors import InvalidSetting, require
from druthers.types import Floats, Integers

# From here on two objectives are taken to say the same, or to be of different scales.
SAME = 0.99
APART = 10.0


class Estimates(NamedTuple):
    """Arms and users, with how far single ratings lie from what they say."""

    items: Integers  # their numbers in the ratings
    users: Integers
    rewards: Floats  # mean scores (K, D)
    preferences: Floats  # weights (N, D)
    item_counts: Integers  # how many ratings each estimate rests on
    user_counts: Integers
    reward_noise: Floats  # variance of a score around its item's mean, for each objective; NaN if none was rated twice
    # Variance of a weight from rating to rating that explains the utilities' distance from the weights' sums, as in the
    # environments: the utility is <c + noise, r>. NaN where no user has more ratings than objectives.
    preference_noise: float


def estimate(ratings: Ratings, users: Integers, ridge: float) -> Estimates:
    """Estimate all items of complete ratings, and the preferences of some users, by their numbers.

    A ridge of 0 is its limit, the shortest of the least-squares solutions.
    """
    require(0.0 <= ridge < np.inf, "ridge must be a number not below 0", ridge)
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

    `places` has the item of each rating, 0 to K - 1; `scores` (rows, D) are NaN where one is missing.

    Examples
    --------
    >>> means, counts, noise = means_of_items(np.array([0, 0, 1]), np.array([[4.0], [2.0], [np.nan]]), 2)
    >>> means.ravel(), counts.ravel(), noise
    (array([ 3., nan]), array([2., 0.]), array([2.]))
    """
    told = ~np.isnan(scores)

    def totals(columns: Floats) -> Floats:
        return np.array([np.bincount(places, weights=each, minlength=n_items) for each in columns.T], dtype=float).T

    counts, sums = totals(told.astype(np.float64)), totals(np.where(told, scores, 0.0))
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
    require(number is None or number >= 1, "at least one user must be kept", number)
    counts = ratings.user_counts
    order = np.argsort(-counts, kind="stable")
    return order[counts[order] > 0][:number]


def without_constants(ratings: Ratings) -> tuple[Ratings, list[str]]:
    """Return the ratings without objectives that never vary, which cannot tell items apart, and notes on them.

    Examples
    --------
    >>> from druthers.data.reviews.ratings import Gathering
    >>> gathering = Gathering(("clean", "quiet", "legal"))
    >>> for row, scores in enumerate(((4.0, 3.0, 1.0, 4.0), (2.0, 5.0, 1.0, 3.0))):
    ...     gathering.add(0, gathering.item(str(row)), scores)
    >>> without_constants(gathering.ratings())[1]
    ['legal is always 1: left out']
    """
    low, high = ratings.scores.min(axis=0), ratings.scores.max(axis=0)
    varied = low < high
    alike = [place for place, kept in enumerate(varied) if not kept]
    notes = [f"{ratings.objectives[place]} is always {low[place]:g}: left out" for place in alike]
    if varied.sum() < 2:
        raise InvalidSetting(
            f"at least two objectives must vary to be weighed, but of {', '.join(ratings.objectives)} "
            f"{int(varied.sum())} does; name others"
        )
    if ratings.utilities.min() == ratings.utilities.max():
        raise InvalidSetting(
            f"the utility must vary to tell what users want, but it is always {ratings.utilities[0]:g}; name another"
        )
    objectives = tuple(name for name, kept in zip(ratings.objectives, varied, strict=True) if kept)
    return dataclasses.replace(ratings, objectives=objectives, scores=ratings.scores[:, varied]), notes


def doubts(ratings: Ratings, estimates: Estimates, ridge: float) -> list[str]:
    """Return notes on objectives that say the same, and on estimates that rest on little."""
    names, spreads = ratings.objectives, ratings.scores.std(axis=0)
    notes = _collinear(ratings, spreads)
    wide, narrow = int(spreads.argmax()), int(np.where(spreads > 0.0, spreads, np.inf).argmin())
    if spreads[wide] > APART * spreads[narrow]:
        notes.append(
            f"{names[wide]} spreads {spreads[wide] / spreads[narrow]:,.0f} times as much as {names[narrow]}, but"
            " policies treat all objectives alike: kept; a range for each brings them to one scale"
        )
    single = int(np.sum(estimates.item_counts == 1))
    if single:
        notes.append(f"{single:,} of {len(estimates.items):,} items rest on one review: kept")
    pairs = ratings.users.astype(np.int64) * len(ratings.item_ids) + ratings.items
    again = len(pairs) - len(np.unique(pairs))
    if again:
        notes.append(f"{again:,} reviews are of an item that their user had reviewed before: each counts")
    users, n_users = list(ratings.of_each(estimates.users)), f"{len(estimates.users):,} users"
    unsure = sum(np.linalg.matrix_rank(ratings.scores[rows]) < len(ratings.objectives) for rows in users)
    flat = sum(np.ptp(ratings.utilities[rows]) == 0.0 for rows in users)
    done = f"a ridge of {ridge:g} decides" if ridge else "the shortest weights that fit are taken"
    if unsure:
        notes.append(f"{unsure:,} of {n_users} said too little to fix their weights: {done}")
    if flat:
        notes.append(f"{flat:,} of {n_users} always gave the same overall rating: kept")
    return notes


def _collinear(ratings: Ratings, spreads: Floats) -> list[str]:
    standard = (ratings.scores - ratings.scores.mean(axis=0)) / np.where(spreads > 0.0, spreads, 1.0)
    alike = standard.T @ standard / len(ratings)
    notes = [
        f"{ratings.objectives[i]} and {ratings.objectives[j]} say the same (correlation {alike[i, j]:.3f}): both kept, "
        "how their weight is divided means nothing"
        for i, j in zip(*np.triu_indices(len(alike), 1), strict=True)
        if abs(alike[i, j]) > SAME
    ]
    if not notes and spreads.all() and np.linalg.eigvalsh(alike)[0] < 1.0 - SAME:
        notes.append("one objective follows from the others: all kept, single weights mean little")
    return notes
