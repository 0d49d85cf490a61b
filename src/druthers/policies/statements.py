"""What Stated-UCB keeps of arms and users, and its steps: words set a prior, utilities and choices correct it."""

import math
from typing import Any, NamedTuple

import numpy as np

from druthers._jit import implements, kernel
from druthers._matrices import add_matrix, factor, norms, solve
from druthers.policies.arms import never_seen, observe
from druthers.policies.belief import Posterior
from druthers.policies.choices import add_choice, in_words
from druthers.policies.shifts import add_row_within, add_within, shifted
from druthers.policies.steps import NONE_OF_THESE, hear_policy, learn_choice_policy, learn_policy, score_policy
from druthers.types import Floats, Integers

UNKNOWN_VARIANCE = 1.0 / 3.0  # of a value nobody knows, uniform over its scale
UNKNOWN_MEAN = -0.3  # a blank is taken for somewhat worse than a typical value
BLANK = UNKNOWN_MEAN / math.sqrt(UNKNOWN_VARIANCE)  # the same in standard deviations, where something is expected
NOISE_DRAWS = 4.0  # utilities that the guess of their noise is worth
REWARD_VARIANCE = 0.04  # of a report around an item's value, worth one report
GUMBEL = math.sqrt(6.0) / math.pi  # the scale of a Gumbel law of variance one
FIXED_POINTS = 3  # rounds in which the noise of utilities and the weights are fitted to each other


class StatedArms(NamedTuple):
    """What is known of each arm: as `Arms`, and what to expect of it where nothing was observed.

    `expected` and `doubt` (K, D) are mean and variance of a reward, NaN where nothing is expected.
    """

    pulls: Floats
    means: Floats
    expected: Floats
    doubt: Floats


class StatedUsers(NamedTuple):
    """Each user's prior and feedback.

    With x = 2 reward - 1, so that a typical item is 0, `gram` (D + 2, D + 2) sums (x, 1, utility)(x, 1, utility)'.
    `choices` counts choices, and `sites` (D, D + 1) sums their information and pull, of weights in `choice_unit`s.
    """

    feedbacks: Floats
    gram: Floats
    choices: Floats
    sites: Floats
    mean: Floats
    precision: Floats
    statements: Floats


class StatedState(NamedTuple):
    """All that Stated-UCB knows.

    After its two counts, `clock` holds D squared deviations of rewards within arms, and how many of each are free.
    `others` (2, D) has mean and precision of the weights of who has said nothing.
    """

    settings: Any
    clock: Floats
    arms: StatedArms
    users: StatedUsers
    others: Any = None
    visit: Any = None


@kernel
def choice_unit(settings: Any) -> float:
    """Return the scale of the Gumbel noise with which items are compared: it has the variance of that of utilities."""
    return float(GUMBEL * settings.noise)


@kernel
def posterior(users: StatedUsers, user: int, settings: Any, others: Floats) -> Posterior:
    """Return what is believed of a user's weights and, as the last of them, of the mood.

    Of who has said nothing, `others` (2, D) are mean and precision of the weights before any feedback.
    """
    size = users.mean.shape[1] + 1
    estimate, chol = np.empty(size), np.empty((size, size))
    silent = users.statements[user] == 0.0
    gram = users.gram[user]
    guess = settings.noise * settings.noise
    unit = choice_unit(settings)
    variance = guess
    for _ in range(FIXED_POINTS):
        for i in range(size):
            prior, mean = 1.0 / (settings.mood * settings.mood), 0.0
            if i < size - 1 and silent:
                mean, prior = others[0, i], others[1, i]
            elif i < size - 1:
                mean, prior = users.mean[user, i], users.precision[user, i]
            estimate[i] = prior * mean + gram[i, size] / variance
            for j in range(size):
                chol[i, j] = gram[i, j] / variance
            chol[i, i] += prior
        for i in range(size - 1):
            estimate[i] += users.sites[user, i, size - 1] / unit
            for j in range(size - 1):
                chol[i, j] += users.sites[user, i, j] / (unit * unit)
        factor(chol, chol)
        solve(chol, estimate)
        residual = gram[size, size]
        for i in range(size):
            along = 0.0
            for j in range(size):
                along += gram[i, j] * estimate[j]
            residual += estimate[i] * (along - 2.0 * gram[i, size])
        variance = (NOISE_DRAWS * guess + max(residual, 0.0)) / (NOISE_DRAWS + users.feedbacks[user])
    return Posterior(estimate, chol, variance)


@kernel
def believe_here(state: Any, user: int, others: Floats) -> Posterior:
    """Return the same in the context of a visit."""
    base, size = posterior(state.users, user, state.settings, others), state.users.mean.shape[1]
    usual = np.sqrt(stated_variance(1.0 / size, 0.0))
    return shifted(state.visit, base, state.users.gram[user], choice_unit(state.settings), usual)


@kernel
def stated_variance(mean: float, draws: float) -> float:
    """Return the variance of a weight that so many draws of a first choice state."""
    return max(mean * (1.0 - mean) / (draws + 1.4), 0.0025)


@kernel
def value_of(arms: StatedArms, arm: int, objective: int, new: bool, wanted: bool) -> float:
    """Return the value of an arm in an objective from -1 to 1, or what it is taken for where nobody knows it.

    One of which nothing is known counts as what is expected, or as any other on average; a blank of one that is known
    otherwise counts as somewhat worse, where that matters to the user.
    """
    if arms.pulls[arm, objective] > 0.0:
        return float(2.0 * arms.means[arm, objective] - 1.0)
    worse = wanted and not new
    if np.isnan(arms.expected[arm, objective]):
        return UNKNOWN_MEAN if worse else 0.0
    value = 2.0 * arms.expected[arm, objective] - 1.0
    return float(value + BLANK * 2.0 * np.sqrt(arms.doubt[arm, objective]) if worse else value)


@kernel
def values_of(arms: StatedArms, weights: Floats, rows: Integers) -> Floats:
    """Return the values (n, D) of arms, for a user with these weights."""
    values = np.empty((rows.shape[0], weights.shape[0]))
    for j in range(rows.shape[0]):
        new = never_seen(arms, rows[j])
        for k in range(weights.shape[0]):
            values[j, k] = value_of(arms, rows[j], k, new, weights[k] > 0.0)
    return values


@kernel
def utility_of(arms: StatedArms, arm: int, estimate: Floats) -> float:
    """Return the utility of an arm by a user's weights and, last, the mood, as the score has it."""
    new, utility = never_seen(arms, arm), 0.0
    for k in range(arms.means.shape[1]):
        utility += estimate[k] * value_of(arms, arm, k, new, estimate[k] > 0.0)
    return float(utility + estimate[arms.means.shape[1]])


@implements(score_policy, StatedState)
@kernel
def _score(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    arms, clock, size = state.arms, state.clock, state.users.mean.shape[1]
    estimate, chol, _ = believe_here(state, user, state.others)
    columns = np.zeros((size + 1, offer.shape[0]))
    share = clock[0] / max(clock[1], 1.0)  # reports of the average arm
    most = max(1.0, np.log(max(share, 1.0)))
    scatter = np.empty(size)
    for k in range(size):
        scatter[k] = 4.0 * (REWARD_VARIANCE + clock[2 + k]) / (1.0 + clock[2 + size + k])
    for j in range(offer.shape[0]):
        arm = offer[j]
        utility = 0.0
        square = 0.0
        new = never_seen(arms, arm)
        for k in range(size):
            pulls = arms.pulls[arm, k]
            weight = estimate[k] * estimate[k]
            if pulls > 0.0:
                spread = scatter[k] / pulls
                square += weight * spread * (np.log(share / pulls) if share > np.e * pulls else 1.0)
            elif new:  # worth finding out, but not before what was asked for
                spread = UNKNOWN_VARIANCE if np.isnan(arms.expected[arm, k]) else 4.0 * arms.doubt[arm, k]
                square += weight * spread * most
            value = value_of(arms, arm, k, new, estimate[k] > 0.0)
            columns[k, j] = value
            utility += estimate[k] * value
        out[0, j] = utility + estimate[size]
        out[1, j] = square
    norms(chol, columns, out[2])
    for j in range(offer.shape[0]):
        of_preference = out[2, j] * out[2, j]
        deviation = np.sqrt(out[1, j] + of_preference)
        part = state.settings.width / deviation if deviation > 0.0 else 0.0
        out[1, j] = part * out[1, j]
        out[2, j] = part * of_preference
        out[3, j] = out[0, j] + out[1, j] + out[2, j]
    return 1


@implements(hear_policy, StatedState)
@kernel
def _hear(state: Any, user: int, ranking: Integers) -> None:
    """Average what each ranking would state alone: half of what is left goes to the next place, and so on."""
    users, size = state.users, state.users.mean.shape[1]
    before = users.statements[user]
    left = 1.0
    stated = np.full(size, 0.1 / size)
    for place in range(ranking.shape[0]):
        stated[ranking[place]] += 0.9 * (0.5 * left if place < ranking.shape[0] - 1 else left)
        left *= 0.5
    for k in range(size):
        mean = (users.mean[user, k] * before + stated[k]) / (before + 1.0)
        users.mean[user, k] = mean
        users.precision[user, k] = 1.0 / max(mean * (1.0 - mean) / (before + 2.4), 0.0025)
    users.statements[user] = before + 1.0


@implements(learn_policy, StatedState)
@kernel
def _learn(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    arms, clock, users, size = state.arms, state.clock, state.users, reward.shape[0]
    for k in range(size):
        pulls = arms.pulls[arm, k]
        if not np.isnan(reward[k]) and pulls > 0.0:
            off = reward[k] - arms.means[arm, k]
            clock[2 + k] += off * off * pulls / (pulls + 1.0)
            clock[2 + size + k] += 1.0
    filled = np.empty(size)
    observe(arms, clock, arm, reward, filled)
    if np.isnan(utility):
        return
    row = np.empty(size + 2)
    weight = describe(state, user, arm, filled, row)
    row[size + 1] = utility
    for i in range(size + 2):
        for j in range(size + 2):
            users.gram[user, i, j] += weight * row[i] * row[j]
    add_row_within(state.visit, row, weight)
    users.feedbacks[user] += weight


@implements(learn_choice_policy, StatedState)
@kernel
def _learn_choice(state: Any, user: int, offer: Integers, place: int) -> None:
    """Compare the picked item with the others, or a typical one, which is 0, with all of them.

    People see the values that are known of an item, so these are off by no more than reports of it differ.
    """
    arms, clock, users, size = state.arms, state.clock, state.users, state.users.mean.shape[1]
    n_rows = offer.shape[0] + (place == NONE_OF_THESE)
    rows = np.zeros((n_rows, size))
    spreads = np.zeros((n_rows, size))
    for j in range(offer.shape[0]):
        for k in range(size):
            pulls = arms.pulls[offer[j], k]
            if pulls > 0.0:
                rows[j, k] = 2.0 * arms.means[offer[j], k] - 1.0
                spreads[j, k] = 4.0 * clock[2 + k] / (1.0 + clock[2 + size + k]) / pulls
            else:
                spreads[j, k] = UNKNOWN_VARIANCE
    nobody = np.empty((2, size))  # what is learned of somebody must not depend on others
    for k in range(size):
        nobody[0, k], nobody[1, k] = users.mean[user, k], users.precision[user, k]
    weights, covariance = np.empty(size), np.empty((size, size))
    in_words(believe_here(state, user, nobody), choice_unit(state.settings), weights, covariance)
    picked = offer.shape[0] if place == NONE_OF_THESE else place
    site = np.zeros((size, size + 1))
    add_choice(rows, spreads, picked, weights, covariance, site, False)
    add_matrix(site, users.sites[user])
    add_within(state.visit, site, True)
    users.choices[user] += 1.0


@kernel
def describe(state: Any, user: int, arm: int, reward: Floats, row: Floats) -> float:
    """Write an arm as (x, 1) into `row`, 0 where nobody knows a value; return how much a utility of it counts.

    What unknown values would add is noise, in units of the noise of a utility before any is seen.
    """
    users, size = state.users, reward.shape[0]
    blank = 0.0
    for k in range(size):
        if state.arms.pulls[arm, k] > 0.0:
            row[k] = 2.0 * reward[k] - 1.0
        else:
            row[k] = 0.0
            mean = users.mean[user, k]
            blank += UNKNOWN_VARIANCE * (mean * mean + 1.0 / users.precision[user, k])
    row[size] = 1.0
    guess = state.settings.noise * state.settings.noise
    return float(guess / (guess + blank))
