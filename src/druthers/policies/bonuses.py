"""Utility and bonuses of arms: one standard deviation by default, or as wide as a guarantee needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers._matrices import norms, solve_transposed
from druthers.policies.arms import NEVER_SEEN, never_seen
from druthers.policies.belief import NOTHING
from druthers.types import Floats, Integers

# A variance of what is known e^lack times less well than the average counts max(1, GROWTH lack, 2 (lack - LATE)) times:
# hardly more at first, since that costs regret, and in the long run as much as a sublinear regret needs.
GROWTH = 0.25
LATE = 5.0
RARE = np.exp(1.0 / GROWTH)
# In the guarantee, noise scales are taken this much larger than estimated.
CAUTION = 1.25


@kernel
def growth(lack: float) -> float:
    """Return how many times a variance counts of what is known e^lack times less well than the average."""
    return max(1.0, GROWTH * lack, 2.0 * (lack - LATE))


@kernel
def reward_variances(clock: Floats, out: Floats) -> None:
    """Write each objective's variance of rewards within an arm into `out[0]`, and over all rewards into `out[1]`.

    Deviations within arms are pooled over arms, with the variance over all rewards as a prior worth one of them.
    """
    size = out.shape[1]
    for k in range(size):
        count, deviations = clock[2 + k], clock[2 + 2 * size + k]
        within, free = clock[2 + 3 * size + k], clock[2 + 4 * size + k]
        overall = deviations / (count - 1.0) if count > 1.0 else 0.0
        out[0, k] = (overall + within) / (1.0 + free)
        out[1, k] = overall


@kernel
def fisher_scores(
    arms: Any,
    clock: Floats,
    offer: Integers,
    root: Floats,
    estimate: Floats,
    width: float,
    feedbacks: float,
    variance: float,
    out: Floats,
) -> None:
    """Write utility, bonuses and score of each offered arm; an objective not seen in an arm is like in all others.

    The errors of rewards and preference are independent, so their variances add up; each bonus has its share. What is
    known much less well than the average counts more: an unlucky first reward is looked into again some day. For
    rewards that is an arm seen N times, of t/K on average; for the preference a direction whose variance v |mean|^2 is
    above D s_p^2/n, what each has if n utilities tell all equally well. Before a user's first utility the level of the
    weights is anybody's guess; it is left out of the bonus, so that the first choice follows what the user said.
    """
    size = estimate.shape[0]
    columns = np.empty((size, offer.shape[0]))
    variances = np.empty((2, size))
    lengths = np.empty(offer.shape[0])
    weigh_variances(clock, estimate, variances)
    average = clock[0] / max(clock[1], 1.0)
    for j in range(offer.shape[0]):
        out[0, j], out[1, j], lengths[j] = plain_arm(arms, clock, offer[j], average, estimate, variances, columns, j)
    add_up(arms, offer, root, columns, lengths, width, feedbacks, size * variance, True, out)


@kernel
def weigh_variances(clock: Floats, estimate: Floats, out: Floats) -> None:
    """Write what each objective's variances of rewards, as `reward_variances` has them, add to that of a utility."""
    reward_variances(clock, out)
    for k in range(estimate.shape[0]):
        out[0, k] *= estimate[k] * estimate[k]
        out[1, k] *= estimate[k] * estimate[k]


@kernel
def plain_arm(
    arms: Any, clock: Floats, arm: int, average: float, estimate: Floats, variances: Floats, columns: Floats, j: int
) -> tuple[float, float, float]:
    """Write an arm's means into column j; return its utility, the variance of that, and the square of the means."""
    size = estimate.shape[0]
    utility = 0.0
    square = 0.0
    seen = 0.0
    per_pull = 0.0
    length = 0.0
    for k in range(size):
        pulls = arms.pulls[arm, k]
        if pulls > 0.0:
            if pulls != seen:  # mostly, all objectives of an arm were seen equally often
                seen = pulls
                per_pull = 1.0 / pulls
                if average > RARE * pulls:
                    per_pull *= growth(np.log(average / pulls))
            mean = arms.means[arm, k]
            square += per_pull * variances[0, k]
        else:
            mean = clock[2 + size + k]
            square += variances[1, k]
        columns[k, j] = mean
        utility += estimate[k] * mean
        length += mean * mean
    return utility, square, length


@kernel
def add_up(
    arms: Any,
    offer: Integers,
    root: Floats,
    columns: Floats,
    lengths: Floats,
    width: float,
    feedbacks: float,
    fair: float,
    first: bool,
    out: Floats,
) -> None:
    """Turn utilities, their variances and means of arms into bonuses and scores; arms never seen may come first."""
    size = columns.shape[0]
    if feedbacks == 0.0:
        for j in range(offer.shape[0]):
            average_mean = 0.0
            for k in range(size):
                average_mean += columns[k, j] / size
            for k in range(size):
                columns[k, j] -= average_mean
    norms(root, columns, out[2])
    for j in range(offer.shape[0]):
        of_preference = out[2, j] * out[2, j]
        if feedbacks * of_preference > RARE * fair * lengths[j]:
            of_preference *= growth(np.log(feedbacks * of_preference / (fair * lengths[j])))
        deviation = np.sqrt(out[1, j] + of_preference)
        share = width / deviation if deviation > 0.0 else 0.0
        out[1, j] = NEVER_SEEN if first and never_seen(arms, offer[j]) else share * out[1, j]
        out[2, j] = share * of_preference
        out[3, j] = out[0, j] + out[1, j] + out[2, j]


@kernel
def cautious(variance: float) -> float:
    """Return an estimated variance, taken larger, as the next power of two.

    A bound for a noise scale that is known holds for all of a few powers of two together, so also for the one that the
    data choose; for an estimate that may be any number it would not.
    """
    return float(2.0 ** np.ceil(np.log2(CAUTION * variance)))


@kernel
def guaranteed_radius(root: Floats, ridge: float, feedbacks: float) -> float:
    """Return z with z^2 = 4 ln(n + 1) + ln |M|/|M0|, M0 = ridge (I - 11'/D) + (nearly nothing) I the prior's part of M.

    Half of the first term is 2 ln(1/delta) with delta = 1/(n + 1); the other half pays for what the prior and the
    curvature of the ranking likelihood take off, which is bounded.
    """
    size = root.shape[0]
    total = 4.0 * np.log(feedbacks + 1.0) - np.log(NOTHING) - (size - 1.0) * np.log(ridge + NOTHING)
    for k in range(size):
        total += 2.0 * np.log(root[k, k])
    return float(np.sqrt(max(total, 0.0)))


@kernel
def guaranteed_scores(
    arms: Any,
    clock: Floats,
    offer: Integers,
    root: Floats,
    estimate: Floats,
    width: float,
    ridge: float,
    feedbacks: float,
    out: Floats,
) -> None:
    """Write utility, bonuses and score of each offered arm, as wide as the theorem in docs/theory.md needs.

    The preference bonus is z |mean| in the norm of M^-1. That of rewards is the largest deviation of <c, reward> for
    any c of the ellipsoid times sqrt((1 + 1/N)(2 ln(K (t + 1)) + ln(1 + N))/N), which holds for all N at once.
    """
    size = estimate.shape[0]
    columns = np.empty((size, offer.shape[0]))
    variances = np.empty((2, size))
    reward_variances(clock, variances)
    radius = guaranteed_radius(root, ridge, feedbacks)
    told = known = 0.0
    row = np.empty(size)
    for k in range(size):
        told += CAUTION * variances[0, k] * estimate[k] * estimate[k]
        for j in range(size):
            row[j] = 1.0 if j == k else 0.0
        solve_transposed(root, row)
        for j in range(size):
            known += CAUTION * variances[0, k] * row[j] * row[j]
    deviation = np.sqrt(told) + (radius * np.sqrt(known) if feedbacks > 0.0 else 0.0)
    rounds = 2.0 * np.log(max(clock[1], 1.0) * (clock[0] + 1.0))
    for j in range(offer.shape[0]):
        arm = offer[j]
        utility = 0.0
        rarest = np.inf
        for k in range(size):
            pulls = arms.pulls[arm, k]
            mean = arms.means[arm, k] if pulls > 0.0 else clock[2 + size + k]
            rarest = min(rarest, max(pulls, 1.0))
            columns[k, j] = mean
            utility += estimate[k] * mean
        if feedbacks == 0.0:  # the level is anybody's guess
            average_mean = 0.0
            for k in range(size):
                average_mean += columns[k, j] / size
            for k in range(size):
                columns[k, j] -= average_mean
        out[0, j] = utility
        out[1, j] = deviation * np.sqrt((1.0 + 1.0 / rarest) * (rounds + np.log(1.0 + rarest)) / rarest)
    norms(root, columns, out[2])
    for j in range(offer.shape[0]):
        out[1, j] = NEVER_SEEN if never_seen(arms, offer[j]) else width * out[1, j]
        out[2, j] *= width * radius
        out[3, j] = out[0, j] + out[1, j] + out[2, j]
