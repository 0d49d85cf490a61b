"""Utility and bonuses of arms: one standard deviation by default, or as wide as a guarantee needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers._matrices import norms, solve_transposed
from druthers.policies.arms import NEVER_SEEN, never_seen
from druthers.policies.belief import NOTHING, Posterior
from druthers.policies.totals import Totals, correlated, reward_variances
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
def fisher_scores(
    arms: Any, totals: Totals, offer: Integers, believed: Posterior, width: float, feedbacks: float, out: Floats
) -> None:
    """Write utility, bonuses and score of each offered arm; an objective not seen in an arm is like in all others.

    The errors of rewards and preference are independent, so their variances add up; each bonus has its share. What is
    known much less well than the average counts more: an unlucky first reward is looked into again some day. For
    rewards that is an arm seen N times, of t/K on average; for the preference a direction whose variance v |mean|^2 is
    above D s_p^2/n, what each has if n utilities tell all equally well. Before a user's first utility the level of the
    weights is anybody's guess; it is left out of the bonus, so that the first choice follows what the user said.
    """
    columns = np.empty((believed.estimate.shape[0], offer.shape[0]))
    variances = weigh_variances(totals, believed.estimate)
    plain_arms(arms, totals, offer, believed.estimate, variances, columns, out)
    add_up(arms.pulls, offer, believed, columns, width, feedbacks, True, out)


@kernel
def weigh_variances(totals: Totals, estimate: Floats) -> Floats:
    """Return what each objective's variances of rewards (2, D) add to that of a utility.

    Within an arm noise may be correlated: what that adds is shared by all objectives in proportion.
    """
    out = reward_variances(totals)
    spread = 0.0
    for k in range(estimate.shape[0]):
        out[0, k] *= estimate[k] * estimate[k]
        out[1, k] *= estimate[k] * estimate[k]
        spread += out[0, k]
    factor = correlated(totals, estimate, spread)
    for k in range(estimate.shape[0]):
        out[0, k] *= factor
    return out


@kernel
def plain_arms(
    arms: Any, totals: Totals, offer: Integers, estimate: Floats, variances: Floats, columns: Floats, out: Floats
) -> None:
    """Write the means of the offered arms into `columns`, their utilities and the variances of these into `out`."""
    pulls, means, size = arms.pulls, arms.means, estimate.shape[0]
    average = totals.rewards / max(totals.arms, 1.0)
    seen = per_pull = 0.0
    for j in range(offer.shape[0]):
        arm = offer[j]
        utility = square = 0.0
        for k in range(size):
            count = pulls[arm, k]
            if count > 0.0:
                if count != seen:  # mostly, all objectives of an arm were seen equally often, and many arms as often
                    seen = count
                    per_pull = 1.0 / count
                    if average > RARE * count:
                        per_pull *= growth(np.log(average / count))
                mean = means[arm, k]
                square += per_pull * variances[0, k]
            else:
                mean = totals.means[k]
                square += variances[1, k]
            columns[k, j] = mean
            utility += estimate[k] * mean
        out[0, j] = utility
        out[1, j] = square


@kernel
def add_up(
    pulls: Floats,
    offer: Integers,
    believed: Posterior,
    columns: Floats,
    width: float,
    feedbacks: float,
    first: bool,
    out: Floats,
) -> None:
    """Turn utilities, their variances and means of arms into bonuses and scores; arms never seen may come first."""
    size = columns.shape[0]
    fair = size * believed.variance
    lengths = np.zeros(offer.shape[0])
    for k in range(size):
        for j in range(offer.shape[0]):
            lengths[j] += columns[k, j] * columns[k, j]
    leave_out_level(columns, feedbacks)
    norms(believed.root, columns, out[2])
    for j in range(offer.shape[0]):
        of_preference = out[2, j] * out[2, j]
        if feedbacks * of_preference > RARE * fair * lengths[j]:
            of_preference *= growth(np.log(feedbacks * of_preference / (fair * lengths[j])))
        deviation = np.sqrt(out[1, j] + of_preference)
        share = width / deviation if deviation > 0.0 else 0.0
        new = first
        for k in range(size):
            if pulls[offer[j], k] > 0.0:
                new = False
                break
        out[1, j] = NEVER_SEEN if new else share * out[1, j]
        out[2, j] = share * of_preference
        out[3, j] = out[0, j] + out[1, j] + out[2, j]


@kernel
def leave_out_level(columns: Floats, feedbacks: float) -> None:
    """Center the means of arms (D, n) before a user's first utility: the level is then anybody's guess."""
    size = columns.shape[0]
    for j in range(columns.shape[1] if feedbacks == 0.0 else 0):
        average_mean = 0.0
        for k in range(size):
            average_mean += columns[k, j] / size
        for k in range(size):
            columns[k, j] -= average_mean


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
    totals: Totals,
    offer: Integers,
    believed: Posterior,
    width: float,
    ridge: float,
    feedbacks: float,
    out: Floats,
) -> None:
    """Write utility, bonuses and score of each offered arm, as wide as the theorem in docs/theory.md needs.

    The preference bonus is z |mean| in the norm of M^-1. That of rewards is the largest deviation of <c, reward> for
    any c of the ellipsoid times sqrt((1 + 1/N)(2 ln(K (t + 1)) + ln(1 + N))/N), which holds for all N at once.
    """
    estimate, root, _ = believed
    size = estimate.shape[0]
    columns = np.empty((size, offer.shape[0]))
    variances = reward_variances(totals)
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
    rounds = 2.0 * np.log(max(totals.arms, 1.0) * (totals.rewards + 1.0))
    for j in range(offer.shape[0]):
        arm = offer[j]
        utility = 0.0
        rarest = np.inf
        for k in range(size):
            pulls = arms.pulls[arm, k]
            mean = arms.means[arm, k] if pulls > 0.0 else totals.means[k]
            rarest = min(rarest, max(pulls, 1.0))
            columns[k, j] = mean
            utility += estimate[k] * mean
        out[0, j] = utility
        out[1, j] = deviation * np.sqrt((1.0 + 1.0 / rarest) * (rounds + np.log(1.0 + rarest)) / rarest)
    leave_out_level(columns, feedbacks)
    norms(root, columns, out[2])
    for j in range(offer.shape[0]):
        out[1, j] = NEVER_SEEN if never_seen(arms, offer[j]) else width * out[1, j]
        out[2, j] *= width * radius
        out[3, j] = out[0, j] + out[1, j] + out[2, j]
