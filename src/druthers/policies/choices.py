"""What a choice says about weights: a conditional logit on the arms' estimated rewards, as unsure as those are."""

from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers._matrices import inverse, multiply
from druthers.beliefs.choices import choice_site
from druthers.beliefs.narrow import doubt_about, expansion_site, glance_site, is_certain, look_ahead
from druthers.policies.belief import Posterior
from druthers.types import Floats, Integers

# Who chooses tells the level of the weights too, which else has no prior: this share of the precision of differences.
# With a tenth of it estimates would be off by up to four times as much after the first choices.
LEVEL = 0.1
# Where chances of offered arms are unsure by less than the first (`doubt_about`), a glance takes the choice in, by less
# than the second expansions to second order do: nearly its moments, and quicker.
SURE = 0.05
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
    for j in range(offer.shape[0]):
        means, pulls = arms.means[offer[j]], arms.pulls[offer[j]]
        for k in range(size):  # two loops: where too many arrays meet in one, LLVM makes no vector instructions
            mean, other = means[k], usual[k]
            rows[j, k] = mean if pulls[k] > 0.0 else other
        for k in range(size):
            within, overall = variances[0, k], variances[1, k]
            spreads[j, k] = within / pulls[k] if pulls[k] > 0.0 else overall
    for j in range(offer.shape[0], rows.shape[0]):
        for k in range(size):
            rows[j, k], spreads[j, k] = usual[k], variances[1, k]


@kernel
def soften(rows: Floats, spreads: Floats, picked: int, weights: Floats, covariance: Floats) -> None:
    """Bring each row nearer to the picked one by as much as the estimates of both may be off.

    With errors of variances v and v' in the two rows, the difference in utility has an error of variance
    t = sum E[c_k^2] (v_k + v'_k); averaged over it, the logistic law of the choice between both is nearly that of the
    difference divided by sqrt(1 + pi t/8).
    """
    size = weights.shape[0]
    squares, errors = np.empty(size), np.empty(rows.shape[0])
    for k in range(size):
        squares[k] = weights[k] * weights[k] + covariance[k, k]
    multiply(spreads, squares, errors)
    for j in range(rows.shape[0]):
        scale = 1.0 / np.sqrt(1.0 + LOGISTIC * (errors[picked] + errors[j]))
        if j != picked:
            for k in range(size):
                rows[j, k] = rows[picked, k] + scale * (rows[j, k] - rows[picked, k])


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
def add_choice(
    rows: Floats, spreads: Floats, picked: int, weights: Floats, covariance: Floats, sites: Floats, glance: bool
) -> bool:
    """Add the site of a choice among rows (K, D) to `sites`, against what is believed, all in the unit of words.

    A `glance` returns False, with nothing added, where this takes points.
    """
    soften(rows, spreads, picked, weights, covariance)
    outlook = look_ahead(rows, weights, covariance)
    if is_certain(outlook, picked):
        return True
    doubt = doubt_about(outlook, picked)
    if doubt < SURE:
        glance_site(outlook, picked, sites)
        return True
    if doubt < NARROW and expansion_site(outlook, picked, sites):
        return True
    if glance:
        return False
    size = sites.shape[0]
    information, pull = np.zeros((size, size)), np.zeros(size)
    if choice_site(weights, covariance, rows, picked, information, pull):
        for k in range(size):
            sites[k, size] += pull[k]
            for j in range(size):
                sites[k, j] += information[k, j]
    return True
