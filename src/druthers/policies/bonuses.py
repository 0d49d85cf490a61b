"""Utility and bonuses of arms: one standard deviation by default, or as wide as a guarantee needs."""

from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers._matrices import norms, solve_transposed, square_norms, sum_of
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
    all_seen = plain_arms(arms, totals, offer, believed.estimate, variances, columns, out)
    add_up(arms.pulls, offer, believed, columns, width, feedbacks, not all_seen, out)


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
) -> bool:
    """Write the means of the offered arms into `columns`, their utilities and the variances of these into `out`.

    Returns whether all of them are known to have been seen.
    """
    even = even_arms(arms, totals, offer, sum_of(variances[0]), columns, out[1])
    if not even:
        uneven_arms(arms, totals, offer, variances, columns, out[1])
    for j in range(offer.shape[0]):
        out[0, j] = 0.0
    for k in range(estimate.shape[0]):
        weight = estimate[k]
        for j in range(offer.shape[0]):
            out[0, j] += weight * columns[k, j]
    return even


@kernel
def even_arms(arms: Any, totals: Totals, offer: Integers, within: float, columns: Floats, out: Floats) -> bool:
    """Write means into `columns` and variances of utilities, where all objectives of an arm were seen equally often.

    As mostly; else, and where an arm was never seen, nothing counts that was written, and False is returned. No branch
    depends on an arm: with two hundred of them, a processor could not foresee it.
    """
    pulls, means = arms.pulls, arms.means
    average = totals.rewards / max(totals.arms, 1.0)
    n_rare = int(average / RARE) + 1  # arms seen as often as this are not rare
    if n_rare > offer.shape[0]:
        return False
    apart = 0.0
    least = np.inf
    for j in range(offer.shape[0]):
        arm = offer[j]
        count = pulls[arm, 0]
        for k in range(columns.shape[0]):
            apart += abs(pulls[arm, k] - count)
            columns[k, j] = means[arm, k]
        apart += count - np.floor(count)
        least = min(least, count)
        out[j] = count
    if apart > 0.0 or least == 0.0:
        return False
    table = np.ones(n_rare + 1)
    for count in range(1, n_rare):
        table[count] = rarity(float(count), average)
    for j in range(offer.shape[0]):
        out[j] = 1.0 / out[j] * table[int(min(out[j], float(n_rare)))] * within
    return True


@kernel
def uneven_arms(arms: Any, totals: Totals, offer: Integers, variances: Floats, columns: Floats, out: Floats) -> None:
    """Write means into `columns` and variances of utilities; where nothing was seen, those of all rewards."""
    average = totals.rewards / max(totals.arms, 1.0)
    seen = per_pull = 0.0
    for j in range(offer.shape[0]):
        arm = offer[j]
        square = 0.0
        for k in range(columns.shape[0]):
            count = arms.pulls[arm, k]
            if count > 0.0:
                if count != seen:  # mostly, all objectives of an arm were seen equally often, and many arms as often
                    seen, per_pull = count, 1.0 / count * rarity(count, average)
                columns[k, j] = arms.means[arm, k]
                square += per_pull * variances[0, k]
            else:
                columns[k, j] = totals.means[k]
                square += variances[1, k]
        out[j] = square


@kernel
def rarity(count: float, average: float) -> float:
    """Return how many times a variance counts of what was seen less often than the average."""
    return growth(np.log(average / count)) if average > RARE * count else 1.0


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
    square_norms(believed.root, columns, out[2])
    for j in range(offer.shape[0]):
        if feedbacks * out[2, j] > RARE * fair * lengths[j]:
            out[2, j] *= growth(np.log(feedbacks * out[2, j] / (fair * lengths[j])))
    # Without branches, so that vector instructions can do it.
    for j in range(offer.shape[0]):
        deviation = np.sqrt(out[1, j] + out[2, j])
        share = width / deviation if deviation > 0.0 else 0.0
        out[1, j] *= share
        out[2, j] *= share
        out[3, j] = out[0, j] + out[1, j] + out[2, j]
    for j in range(offer.shape[0] if first else 0):
        if sum_of(pulls[offer[j]]) == 0.0:
            out[1, j] = NEVER_SEEN
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
