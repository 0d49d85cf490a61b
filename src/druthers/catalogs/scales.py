"""Scales from a catalog's own spread: what a difference in price is worth beside one in stars.

When people say that price matters they speak of the differences between what is on offer, not of euros. A scale turns
values into rewards that are comparable across objectives, whatever their units and declared ranges: three parts by rank
among the items, so that no outlier and no unit matters, and one part by distance, so that two prices which hardly
differ stay close. It is monotone, and straight between its knots.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from druthers.types import Floats, Objective

BY_RANK = 0.75
MOST_KNOTS = 65
OUTLIERS = 5.0  # percent at either end that distance does not look at


def scale(objective: Objective, values: Iterable[float]) -> tuple[tuple[float, float], ...]:
    """Return the knots of a scale, value and reward; none where fewer than two different values are known.

    Examples
    --------
    >>> scale(Objective("price", low=0, high=900, less_is_better=True), [40, 60, 100, 900])
    ((0.0, 1.0), (40.0, 0.90625), (60.0, 0.712983), (100.0, 0.511915), (900.0, 0.09375))
    """
    known: Floats = np.sort(np.fromiter(values, dtype=np.float64))
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) < 2:
        return ()
    ranks = (np.cumsum(counts) - 0.5 * counts) / len(known)
    low, high = np.percentile(known, [OUTLIERS, 100.0 - OUTLIERS])
    if not low < high:
        low, high = known[0], known[-1]
    rewards = BY_RANK * ranks + (1.0 - BY_RANK) * np.clip((distinct - low) / (high - low), 0.0, 1.0)
    if len(distinct) > MOST_KNOTS:
        kept = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], MOST_KNOTS)))
        distinct, rewards = distinct[kept], rewards[kept]
    if objective.low < distinct[0]:
        distinct, rewards = np.append(objective.low, distinct), np.append(0.0, rewards)
    if objective.high > distinct[-1]:
        distinct, rewards = np.append(distinct, objective.high), np.append(rewards, 1.0)
    if objective.less_is_better:
        rewards = 1.0 - rewards
    return tuple((float(value), round(float(reward), 6)) for value, reward in zip(distinct, rewards, strict=True))


def with_scales(objectives: Sequence[Objective], items: Iterable[Mapping[str, float]]) -> tuple[Objective, ...]:
    """Return objectives with scales from the values of items."""
    tables = list(items)
    return tuple(
        replace(one, scale=scale(one, (table[one.name] for table in tables if one.name in table))) for one in objectives
    )


def drift(before: Sequence[Objective], after: Sequence[Objective], items: Iterable[Mapping[str, float]]) -> float:
    """Return by how much rewards of items would change under new scales: the mean change of the worst objective."""
    tables = list(items)
    worst = 0.0
    for old, new in zip(before, after, strict=True):
        values = [table[old.name] for table in tables if old.name in table]
        if values:
            worst = max(worst, float(np.mean([abs(old.to_reward(value) - new.to_reward(value)) for value in values])))
    return worst
