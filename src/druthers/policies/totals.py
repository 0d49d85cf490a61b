"""What all rewards together say: counts, means and spreads, on which bonuses and stand-ins for the unknown rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers.types import Floats

# How many numbers a clock holds for each objective, after the counts of rewards and of arms.
PER_OBJECTIVE = 5


class Totals(NamedTuple):
    """The parts of a clock: how many rewards and arms there are, and D numbers each of what follows.

    `counts` of rewards, their `means`, squared `deviations` from these, squared deviations `within` arms, from the mean
    of the arm, and how many of the latter are `free`.
    """

    rewards: float
    arms: float
    counts: Floats
    means: Floats
    deviations: Floats
    within: Floats
    free: Floats


@kernel
def totals_of(clock: Floats, size: int) -> Totals:
    """Return the parts of a clock of D objectives; those that are arrays can be written."""
    first, second, third, fourth, last = 2 + size, 2 + 2 * size, 2 + 3 * size, 2 + 4 * size, 2 + 5 * size
    return Totals(
        clock[0],
        clock[1],
        clock[2:first],
        clock[first:second],
        clock[second:third],
        clock[third:fourth],
        clock[fourth:last],
    )


@kernel
def count_reward(totals: Totals, arms: Any, arm: int, reward: Floats) -> None:
    """Add a reward to the totals, before the arm's own means know it."""
    for k in range(reward.shape[0]):
        value = reward[k]
        if np.isnan(value):
            continue
        totals.counts[k] += 1.0
        step = value - totals.means[k]
        totals.means[k] += step / totals.counts[k]
        totals.deviations[k] += step * (value - totals.means[k])
        pulls = arms.pulls[arm, k]
        if pulls > 0.0:
            off = value - arms.means[arm, k]
            totals.within[k] += off * off * pulls / (pulls + 1.0)
            totals.free[k] += 1.0


@kernel
def reward_variances(totals: Totals) -> Floats:
    """Return each objective's variance of rewards (2, D): within an arm, and over all rewards.

    Deviations within arms are pooled over arms, with the variance over all rewards as a prior worth one of them.
    """
    size = totals.counts.shape[0]
    out = np.empty((2, size))
    for k in range(size):
        count = totals.counts[k]
        overall = totals.deviations[k] / (count - 1.0) if count > 1.0 else 0.0
        out[0, k] = (overall + totals.within[k]) / (1.0 + totals.free[k])
        out[1, k] = overall
    return out
