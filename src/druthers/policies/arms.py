"""What is known of the arms: counts and means per objective, and what stands in for what was never seen."""

from typing import Any, NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import square_of, sum_of
from druthers.types import Floats

LARGEST = 1e50  # of a number that is told: squares and products of some stay finite

# The bonus of an arm never seen: above any score, yet finite, so that decisions stay plain numbers.
NEVER_SEEN = 1e9

# A first guess of the noise in utilities: this share of their mean square.
FIRST_GUESS = 0.1


class Arms(NamedTuple):
    """What is known of each arm, per objective: how often it was seen and its mean."""

    pulls: Floats
    means: Floats


class NoUsers(NamedTuple):
    """The memory of policies that do not tell users apart: how often each gave feedback."""

    feedbacks: Floats


@kernel
def observe(arms: Any, clock: Floats, arm: int, reward: Floats, filled: Floats) -> bool:
    """Update an arm's means with a reward; write it into `filled` with means in place of what is missing.

    Returns False where a missing objective was never seen for this arm: `fill_unknown` then finds something to stand
    in. `clock[0]` counts rewards.
    """
    whole = True
    told = False
    for k in range(reward.shape[0]):
        value = reward[k]
        if np.isnan(value):
            value = arms.means[arm, k]
            whole = whole and arms.pulls[arm, k] > 0.0
        else:
            told = True
            arms.pulls[arm, k] += 1.0
            arms.means[arm, k] += (value - arms.means[arm, k]) / arms.pulls[arm, k]
        filled[k] = value
    if told:
        clock[0] += 1.0
    return whole


@kernel
def spread_over_arms(arms: Any, first: int, last: int) -> tuple[float, float, float]:
    """Return how many means of arms are known in some objectives, their mean, and the variance of one more.

    To the deviations comes one as large as the mean, since few arms tell little of how much the next one may differ.
    """
    count = mean = deviations = 0.0
    for row in range(arms.pulls.shape[0]):
        for k in range(first, last):
            if arms.pulls[row, k] > 0.0:
                count += 1.0
                step = arms.means[row, k] - mean
                mean += step / count
                deviations += step * (arms.means[row, k] - mean)
    return count, mean, (deviations + mean * mean) / max(count, 1.0)


@kernel
def fill_unknown(arms: Any, arm: int, filled: Floats) -> float:
    """Write means over all arms into `filled` where nothing is known of this one; return by how much that spoils it.

    A utility <c, r> of noise s^2 |r|^2 then has the variance s^2 (|filled|^2 + v) + sum of E[c_k^2] v_k over what is
    unknown, with v_k the variance over arms and v their sum. Before anything is known of c, s^2 is `FIRST_GUESS` times
    E[c_k^2]; so this is s^2 (|filled|^2 + (1 + 1/FIRST_GUESS) v), and the last term is returned. It depends neither on
    the user nor on the order of feedback. An objective that no arm has is like all the others.
    """
    size = arms.pulls.shape[1]
    unknown = 0.0
    for k in range(size):
        if arms.pulls[arm, k] > 0.0:
            continue
        count, mean, variance = spread_over_arms(arms, k, k + 1)
        if count == 0.0:
            count, mean, variance = spread_over_arms(arms, 0, size)
        filled[k] = mean
        unknown += variance
    return (1.0 + 1.0 / FIRST_GUESS) * unknown


@kernel
def remember(arms: Any, arm: int, reward: Floats, filled: Floats) -> tuple[float, float]:
    """Write into `filled` what a utility of this reward is compared with, as `observe` and `fill_unknown` do.

    Returns its square and by how much unknown parts spoil it.
    """
    whole = True
    for k in range(reward.shape[0]):
        filled[k] = arms.means[arm, k] if np.isnan(reward[k]) else reward[k]
        whole = whole and arms.pulls[arm, k] > 0.0
    spoilt = 0.0 if whole else fill_unknown(arms, arm, filled)
    return square_of(filled), spoilt


@kernel
def never_seen(arms: Any, arm: int) -> bool:
    """Tell whether no objective of this arm was ever observed."""
    return sum_of(arms.pulls[arm]) == 0.0


@kernel
def fault(reward: Floats) -> int:
    """Return 0 for a reward that tells something, 1 for an entry beyond all bounds, 2 for one that tells nothing."""
    told = False
    for k in range(reward.shape[0]):
        if abs(reward[k]) > LARGEST:
            return 1
        if not np.isnan(reward[k]):
            told = True
    return 0 if told else 2
