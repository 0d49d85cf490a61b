"""What is doubtful about ratings, in words: each note says what was found and what was done about it."""

from __future__ import annotations

import dataclasses

import numpy as np

from druthers.data.estimates import Estimates
from druthers.data.ratings import Ratings
from druthers.errors import InvalidSetting

# From here on two objectives are taken to say the same, or to be of different scales.
SAME = 0.99
APART = 10.0


def without_constants(ratings: Ratings) -> tuple[Ratings, list[str]]:
    """Return the ratings without objectives that never vary, which cannot tell items apart, and notes on them.

    Examples
    --------
    >>> from druthers.data.ratings import Gathering
    >>> gathering = Gathering(("clean", "quiet", "legal"))
    >>> for row, scores in enumerate(((4.0, 3.0, 1.0, 4.0), (2.0, 5.0, 1.0, 3.0))):
    ...     gathering.add(0, gathering.item(str(row)), scores)
    >>> without_constants(gathering.ratings())[1]
    ['legal is always 1: left out']
    """
    low, high = ratings.scores.min(axis=0), ratings.scores.max(axis=0)
    varied = low < high
    notes = [
        f"{name} is always {value:g}: left out"
        for name, value, kept in zip(ratings.objectives, low, varied, strict=True)
        if not kept
    ]
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
    notes = _collinear(ratings) + _scales(ratings)
    single = int(np.sum(estimates.item_counts == 1))
    if single:
        notes.append(f"{single:,} of {len(estimates.items):,} items rest on one review: kept")
    pairs = ratings.users.astype(np.int64) * len(ratings.item_ids) + ratings.items
    again = len(pairs) - len(np.unique(pairs))
    if again:
        notes.append(f"{again:,} reviews are of an item that their user had reviewed before: each counts")
    open_, flat = 0, 0
    for rows in ratings.of_each(estimates.users):
        open_ += int(np.linalg.matrix_rank(ratings.scores[rows]) < len(ratings.objectives))
        flat += int(np.ptp(ratings.utilities[rows]) == 0.0)
    done = f"a ridge of {ridge:g} decides" if ridge else "the shortest weights that fit are taken"
    if open_:
        notes.append(f"{open_:,} of {len(estimates.users):,} users said too little to fix their weights: {done}")
    if flat:
        notes.append(f"{flat:,} of {len(estimates.users):,} users always gave the same overall rating: kept")
    return notes


def _collinear(ratings: Ratings) -> list[str]:
    spreads = ratings.scores.std(axis=0)
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


def _scales(ratings: Ratings) -> list[str]:
    spreads = ratings.scores.std(axis=0)
    wide, narrow = int(spreads.argmax()), int(np.where(spreads > 0.0, spreads, np.inf).argmin())
    if spreads[wide] <= APART * spreads[narrow]:
        return []
    names = ratings.objectives
    return [
        f"{names[wide]} spreads {spreads[wide] / spreads[narrow]:,.0f} times as much as {names[narrow]}, but policies "
        f"treat all objectives alike: kept; a range for each brings them to one scale"
    ]
