"""What all rewards together say: counts, means and spreads, on which bonuses and stand-ins for the unknown rest."""

from typing import Any, NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers.types import Floats


class Totals(NamedTuple):
    """The parts of a clock: how many rewards and arms there are, and D numbers each of what follows.

    `counts` of rewards, their `means`, squared `deviations` from these, squared deviations `within` arms, from the mean
    of the arm, and how many of the latter are `free`. `together` is D rows of D one after another; below the diagonal
    are the sums of products of two objectives' deviations within arms.
    """

    rewards: float
    arms: float
    counts: Floats
    means: Floats
    deviations: Floats
    within: Floats
    free: Floats
    together: Floats


@kernel
def clock_size(size: int) -> int:
    """Return how many numbers the totals of D objectives take."""
    return 2 + 5 * size + size * size


def with_together(clock: Floats, length: int, size: int) -> Floats:
    """Return a saved clock in today's length: states from before products were kept are taken to have seen none."""
    place = clock_size(size) - size * size
    lacks = len(clock) == length - size * size
    return np.concatenate([clock[:place], np.zeros(size * size), clock[place:]]) if lacks else clock


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
        clock[last : clock_size(size)],
    )


@kernel
def count_reward(totals: Totals, arms: Any, arm: int, reward: Floats) -> None:
    """Add a reward to the totals, before the arm's own means know it."""
    off_by = np.zeros(reward.shape[0])
    seen = share = 0.0
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
            if pulls != seen:
                seen, share = pulls, np.sqrt(pulls / (pulls + 1.0))
            off_by[k] = off * share
            place = k * reward.shape[0]
            for j in range(k):
                totals.together[place + j] += off_by[k] * off_by[j]


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


@kernel
def correlated(totals: Totals, weights: Floats, spread: float) -> float:
    """Return how many times larger the variance of <weights, reward> within an arm is than for independent noise.

    `spread` is the latter, the sum of squared weights times `reward_variances`. The covariance of two objectives is
    their sum of products over 1 + free, shrunk by as much of the squared correlations r^2 as chance may explain: that
    of independent objectives is (1 - r^2)^2/free on average (Schaefer and Strimmer 2005), and two deviations of their
    sum are allowed for. Where either was not told a product is zero, so all together remain a covariance.
    """
    size = weights.shape[0]
    scratch = np.zeros((3, size))
    scaled, inverse, rare = scratch[0], scratch[1], scratch[2]
    for k in range(size):
        rare[k] = 1.0 / max(totals.free[k], 1.0)
        if totals.within[k] > 0.0:
            inverse[k] = 1.0 / totals.within[k]
            scaled[k] = weights[k] / np.sqrt(1.0 + totals.free[k])
    chance = squares = both = 0.0
    for k in range(size):
        row = 0.0
        for j in range(k):
            product = totals.together[k * size + j]
            row += product * scaled[j]
            square = product * product * inverse[k] * inverse[j]
            squares += square
            chance += (1.0 - square) * (1.0 - square) * max(rare[k], rare[j])
        both += row * scaled[k]
    chance *= 1.0 + 2.0 * np.sqrt(4.0 / max(size * (size - 1.0), 1.0))
    if not (squares > chance and spread > 0.0):
        return 1.0
    return float(max(1.0 + 2.0 * (1.0 - chance / squares) * both / spread, 0.0))
