"""Scores of arms of which a model expects something: those never seen are looked at as far as that may pay."""

import math
from typing import Any

import numpy as np

from druthers._jit import generic, implements, kernel
from druthers.policies.arms import never_seen
from druthers.policies.belief import Posterior
from druthers.policies.bonuses import add_up, fisher_scores, plain_arms, weigh_variances
from druthers.policies.rewards import (
    CAUTION,
    FITTED,
    LEAST_ARMS,
    NEXT,
    OFTEN,
    SEEN,
    RewardModel,
    believes,
    expect_arm,
    find_seen,
    fit_rewards,
    recall_arm,
    sweep,
)
from druthers.policies.totals import Totals, reward_variances
from druthers.types import Floats, Integers

# Arms never seen come first until so many were seen: without features that are believed, and with them.
FIRST_ARMS = 256.0
FIRST_FEATURED = 64.0
# Rounds for which a look is meant to pay, at least.
LEAST_ROUNDS = 5000.0
# Most looks that are planned at once, as a power of four.
MOST_LOOKS = 256.0
# Arms seen fewer times than this are looked at again as far as that may pay in this share of the rounds.
AGAIN = 4.0
ONCE_MORE = 0.1
# Most standard deviations for an arm that was seen, squared.
WIDEST = 4.0


@generic
def learn_rewards(model: Any, arms: Any, totals: Totals, arm: int, before: bool) -> None:
    """Take in that an arm has a new reward; `before` tells whether it had never been seen.

    The model is fitted only where it can matter: to features, and to many arms of which some were never seen. Where it
    cannot, there is none.
    """


@implements(learn_rewards, RewardModel)
@kernel
def _learn_rewards(model: RewardModel, arms: Any, totals: Totals, arm: int, before: bool) -> None:
    p = model.origin.shape[0]
    if before and not never_seen(arms, arm):
        model.counts[SEEN] += 1.0
        if model.counts[SEEN] == FIRST_ARMS:
            model.counts[NEXT] = 0.0
    seen = model.counts[SEEN]
    if not (seen >= LEAST_ARMS if p > 0 else seen >= FIRST_ARMS and seen < totals.arms):
        return
    variances = reward_variances(totals)
    if totals.rewards >= model.counts[NEXT]:
        model.counts[NEXT] = max(totals.rewards + 1.0, OFTEN * totals.rewards)
        fit_rewards(model, arms, variances[0], variances[1], totals.arms <= FIRST_ARMS)
        if p > 0 and seen >= FIRST_ARMS and not believes(model.share):
            fit_plain(model, arms, variances[0], variances[1])
    elif p > 0 and model.counts[FITTED] > 0.0:
        expect_arm(model, arms, arm)
        recall_arm(model.spread, arms, arm, variances[0])


@kernel
def fit_plain(model: RewardModel, arms: Any, within: Floats, overall: Floats) -> None:
    """Fit what is expected of arms as if they had no features; right after a fit with them."""
    size, plain = overall.shape[0], model.plain
    _, pulls, means = find_seen(arms)
    if plain[2, 0] == 0.0:
        for k in range(size):
            plain[2 + k, k] = overall[k]
    none, nowhere, share = np.empty(0), np.empty((size, 0)), np.empty(size)
    slopes, axes = np.empty((0, size)), np.empty((size, 0, 0))
    bare = RewardModel(
        model.counts,
        plain[0],
        plain[2:],
        share,
        plain[1],
        model.lead,
        none,
        none,
        nowhere,
        slopes,
        nowhere,
        axes,
        plain,
    )
    sweep(bare, np.empty((pulls.shape[0], 0)), pulls, means, within, overall)


@generic
def expected_scores(
    model: Any,
    arms: Any,
    totals: Totals,
    offer: Integers,
    believed: Posterior,
    width: float,
    feedbacks: float,
    out: Floats,
) -> None:
    """Write utility, bonuses and score of each offered arm, by what a model expects where there is one."""
    fisher_scores(arms, totals, offer, believed, width, feedbacks, out)


@implements(expected_scores, RewardModel)
@kernel
def looking_scores(
    model: RewardModel,
    arms: Any,
    totals: Totals,
    offer: Integers,
    believed: Posterior,
    width: float,
    feedbacks: float,
    out: Floats,
) -> None:
    """Write utility, bonuses and score of each offered arm.

    Arms seen are scored as ever, unless features are believed: then by what is believed of them, with as many standard
    deviations as their own rewards alone would give, two at most. Arms never seen are scored by what to expect of
    them, and once enough were seen, by what a look may gain if that is more. Features that are not believed change
    nothing, to the last bit.
    """
    featured = believes(model.share)
    if model.counts[FITTED] == 0.0 or (not featured and model.counts[SEEN] < FIRST_ARMS):
        fisher_scores(arms, totals, offer, believed, width, feedbacks, out)
        return
    estimate, size = believed.estimate, believed.estimate.shape[0]
    first = bool(model.counts[SEEN] < FIRST_FEATURED)
    center, level, spread = model.center, model.level[0], model.spread
    if model.origin.shape[0] > 0 and not featured:
        center, level, spread = model.plain[0], model.plain[1, 0], model.plain[2:]
    columns = np.empty((size, offer.shape[0]))
    spreads = np.empty(offer.shape[0])
    variances = weigh_variances(totals, estimate)
    common = quadratic(spread, estimate)
    usual = noise = 0.0
    for k in range(size):
        usual += estimate[k] * center[k]
        noise += variances[0, k]
    if not featured:
        plain_arms(arms, totals, offer, estimate, variances, columns, out)
    best = -np.inf
    for j in range(offer.shape[0]):
        arm = offer[j]
        new = never_seen(arms, arm)
        if not new and not featured:
            own = CAUTION * common * (1.0 + level)
            best = max(best, usual + (out[0, j] - usual) * own / (own + out[1, j] + 1e-300))
            continue
        prior = common * (1.0 + level)
        if featured:
            prior = prior_variance(spread, arms, arm, estimate, common)
        out[0, j], spreads[j], out[1, j] = modelled_arm(
            center, arms, arm, new, featured, estimate, prior, columns[:, j]
        )
        best = max(best, out[0, j])
    add_up(arms.pulls, offer, believed, columns, width, feedbacks, first, out)
    if not first:
        again = featured and totals.arms > FIRST_ARMS  # among fewer, it cost more than it found
        # A look pays when the arm is offered again: of all arms, as often as this offer has of them.
        rounds = max(LEAST_ROUNDS, totals.rewards) * min(offer.shape[0] / totals.arms, 1.0)
        look(arms, offer, again, spreads, best, noise, rounds, out)


@kernel
def quadratic(matrix: Floats, x: Floats) -> float:
    """Return x'Mx."""
    total = 0.0
    for k in range(x.shape[0]):
        row = 0.0
        for j in range(x.shape[0]):
            row += matrix[k, j] * x[j]
        total += row * x[k]
    return total


@kernel
def prior_variance(spread: Floats, arms: Any, arm: int, estimate: Floats, common: float) -> float:
    """Return the variance of an arm's utility before it is seen; `common` is that of arms around what is expected."""
    size = estimate.shape[0]
    total = common
    for k in range(size):
        row = 0.0
        for j in range(size):
            row += spread[k, j] * arms.leverage[arm, j] * estimate[j]
        total += row * arms.leverage[arm, k] * estimate[k]
    return max(total, 0.0)


@kernel
def modelled_arm(
    center: Floats,
    arms: Any,
    arm: int,
    new: bool,
    told: bool,
    estimate: Floats,
    prior: float,
    column: Floats,
) -> tuple[float, float, float]:
    """Write what is believed of an arm into a column; return its utility, its variance and the one to take for it."""
    utility = square = 0.0
    place = 0
    for k in range(estimate.shape[0]):
        if not told:
            mean = center[k]
        elif new:
            mean = arms.expected[arm, k]
        else:
            mean = arms.believed[arm, k]
            for i in range(k):
                square += 2.0 * arms.doubt[arm, place] * estimate[k] * estimate[i]
                place += 1
            square += arms.doubt[arm, place] * estimate[k] * estimate[k]
            place += 1
        column[k] = mean
        utility += estimate[k] * mean
    if new:
        return utility, prior, prior
    square, own = max(square, 0.0), 1.0 - square / (CAUTION * prior + 1e-300)
    return utility, square, square * min(1.0 / max(own, 1e-9), WIDEST)


@kernel
def look(
    arms: Any,
    offer: Integers,
    again: bool,
    spreads: Floats,
    best: float,
    noise: float,
    rounds: float,
    out: Floats,
) -> None:
    """Raise the scores of arms never seen, and `again` of hardly seen ones, to what a look may gain over these rounds.

    Only where it can be more than the best score so far: a gain is at most deviation x density(gap/deviation).
    """
    top = -np.inf
    for j in range(offer.shape[0]):
        top = max(top, out[3, j])
    for j in range(offer.shape[0]):
        new = never_seen(arms, offer[j])
        if not new and not (again and arms.pulls[offer[j]].max() < AGAIN):
            continue
        gap, meant = max(best - out[0, j], 0.0), rounds if new else ONCE_MORE * rounds
        odds = gap * gap / (spreads[j] + 1e-300)
        if odds < 36.0 and out[0, j] + 0.4 * meant * np.sqrt(spreads[j]) * np.exp(-0.5 * odds) > top:
            score = out[0, j] + meant * gain(spreads[j], noise, gap)
            if score > out[3, j]:
                out[1, j] += score - out[3, j]
                out[3, j] = score


@kernel
def gain(variance: float, noise: float, gap: float) -> float:
    """Return the largest gain per look, over 1, 4, 16, ... looks, of who then takes the better arm.

    After m looks the estimate of an arm will have moved by a normal law of variance v^2/(v + noise/m). All but the
    first look are taken only if that one leaves the arm within one deviation of the best.
    """
    best = 0.0
    looks = 1.0
    onward = 1.0
    while looks <= MOST_LOOKS:
        deviation = np.sqrt(variance * variance / (variance + noise / looks + 1e-300))
        if deviation > 0.0:
            x = gap / deviation
            if looks == 1.0:
                onward = 0.5 * math.erfc((x - 1.0) / math.sqrt(2.0))
            density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
            lead = deviation * (density - 0.5 * x * math.erfc(x / math.sqrt(2.0)))
            best = max(best, lead / (1.0 + (looks - 1.0) * onward))
        looks *= 4.0
    return best
