"""What a choice says about weights: a conditional logit on the arms' estimated rewards, as unsure as those are."""

from __future__ import annotations

from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers._matrices import inverse, multiply, softmax
from druthers.beliefs.choices import choice_site
from druthers.policies.belief import Posterior
from druthers.types import Floats, Integers

# Who chooses tells the level of the weights too, which else has no prior: this share of the precision of differences.
# With a tenth of it estimates would be off by up to four times as much after the first choices.
LEVEL = 0.1
# A choice that was so sure before it was made, in log-odds and standard deviations, says nothing more.
FORESEEN = 7.0
DEVIATIONS = 3.0
# Where what is believed of the leads of the picked arm has variances below this, the choice is taken in by its gradient
# and curvature at the mean: as calibrated as by its moments, and quicker.
NARROW = 0.5
# The logistic law is near a normal one: an error of variance v in its argument divides that by sqrt(1 + LOGISTIC v).
LOGISTIC = np.pi / 8.0


@kernel
def begin_choices(users: Any, user: int, ridge: float) -> None:
    """Give the level of a user's weights a prior, nearly flat, before the first choice."""
    size = users.sites.shape[1]
    if users.choices[user] == 0.0:
        for k in range(size):
            for j in range(size):
                users.sites[user, k, j] += LEVEL * ridge / size


@kernel
def offer_rows(arms: Any, usual: Floats, variances: Floats, offer: Integers, rows: Floats, spreads: Floats) -> None:
    """Write the estimated rewards of an offer and their variances; if there is a row more, it is the average arm's.

    An objective not seen in an arm is like in all others: `usual` (D,) has their mean, `variances` (2, D) the variance
    within an arm and over all of them.
    """
    size = usual.shape[0]
    for j in range(rows.shape[0]):
        for k in range(size):
            pulls = arms.pulls[offer[j], k] if j < offer.shape[0] else 0.0
            rows[j, k] = arms.means[offer[j], k] if pulls > 0.0 else usual[k]
            spreads[j, k] = variances[0, k] / pulls if pulls > 0.0 else variances[1, k]


@kernel
def soften(rows: Floats, spreads: Floats, picked: int, weights: Floats, covariance: Floats) -> None:
    """Bring each row nearer to the picked one by as much as the estimates of both may be off.

    With errors of variances v and v' in the two rows, the difference in utility has an error of variance
    t = sum E[c_k^2] (v_k + v'_k); averaged over it, the logistic law of the choice between both is nearly that of the
    difference divided by sqrt(1 + pi t/8).
    """
    size = weights.shape[0]
    own = 0.0
    for k in range(size):
        own += (weights[k] * weights[k] + covariance[k, k]) * spreads[picked, k]
    for j in range(rows.shape[0]):
        error = own
        for k in range(size):
            error += (weights[k] * weights[k] + covariance[k, k]) * spreads[j, k]
        scale = 1.0 / np.sqrt(1.0 + LOGISTIC * error)
        if j != picked:
            for k in range(size):
                rows[j, k] = rows[picked, k] + scale * (rows[j, k] - rows[picked, k])


@kernel
def foresee(rows: Floats, picked: int, weights: Floats, covariance: Floats) -> tuple[bool, float]:
    """Return whether it was certain that this row would be picked, and the largest variance of its leads."""
    n_rows, size = rows.shape
    least = FORESEEN + np.log(n_rows)
    certain = True
    widest = 0.0
    for j in range(n_rows):
        if j == picked:
            continue
        lead = 0.0
        variance = 0.0
        for k in range(size):
            along = 0.0
            for i in range(size):
                along += covariance[k, i] * (rows[picked, i] - rows[j, i])
            lead += weights[k] * (rows[picked, k] - rows[j, k])
            variance += along * (rows[picked, k] - rows[j, k])
        widest = max(widest, variance)
        certain = certain and lead - DEVIATIONS * np.sqrt(max(variance, 0.0)) > least
    return certain, widest


@kernel
def curvature_site(weights: Floats, rows: Floats, picked: int, information: Floats, pull: Floats) -> None:
    """Add curvature and gradient of the log-chance of a choice, both at the mean."""
    n_rows, size = rows.shape
    chances = np.empty(n_rows)
    average = np.empty(size)
    multiply(rows, weights, chances)
    softmax(chances)
    multiply(rows.T, chances, average)
    for k in range(size):
        for i in range(size):
            value = 0.0
            for j in range(n_rows):
                value += chances[j] * (rows[j, k] - average[k]) * (rows[j, i] - average[i])
            information[k, i] += value
            pull[k] += value * weights[i]
        pull[k] += rows[picked, k] - average[k]


@kernel
def in_words(believed: Posterior, unit: float, weights: Floats, covariance: Floats) -> None:
    """Write mean and covariance of the first D weights in the unit of words.

    What is believed beside them, such as a mood, is the same for all that is chosen from.
    """
    whole = np.empty(believed.root.shape)
    inverse(believed.root, whole)
    for k in range(weights.shape[0]):
        weights[k] = believed.estimate[k] / unit
        for j in range(weights.shape[0]):
            covariance[k, j] = whole[k, j] / (unit * unit)


@kernel
def add_choice(rows: Floats, spreads: Floats, picked: int, weights: Floats, covariance: Floats, sites: Floats) -> None:
    """Add the site of a choice among rows (K, D) to `sites`, against what is believed, all in the unit of words."""
    size = sites.shape[0]
    soften(rows, spreads, picked, weights, covariance)
    certain, widest = foresee(rows, picked, weights, covariance)
    if certain:
        return
    information = np.zeros((size, size))
    pull = np.zeros(size)
    if widest < NARROW:
        curvature_site(weights, rows, picked, information, pull)
    elif not choice_site(weights, covariance, rows, picked, information, pull):
        return
    for k in range(size):
        sites[k, size] += pull[k]
        for j in range(size):
            sites[k, j] += information[k, j]
