"""What Fisher-PQUCB keeps of each user, how rankings, utilities and choices enter it, and the steps made of that.

The robust form and the one with a population extend `FisherState`: they take over these steps and bring a body of their
own for `unit_of`, `believe_user`, `state_belief` or `settle` where they differ.
"""

from typing import Any, NamedTuple

import numpy as np

from druthers._jit import generic, implements, kernel
from druthers._matrices import add_matrix, add_rank_one, solve_transposed, square_of
from druthers.anchors.base import hear_anchor, is_power_of_two
from druthers.policies.arms import fill_unknown, never_seen, observe, remember
from druthers.policies.belief import NOTHING, Evidence, Posterior, believe, utility_variance
from druthers.policies.bonuses import cautious, guaranteed_scores
from druthers.policies.choices import add_choice, begin_choices, in_words, offer_rows
from druthers.policies.linear import add_distances
from druthers.policies.looking import expected_scores, learn_rewards
from druthers.policies.shifts import add_row_within, add_within, has_context, shifted
from druthers.policies.steps import NONE_OF_THESE, hear_policy, learn_choice_policy, learn_policy, score_policy
from druthers.policies.totals import count_reward, reward_variances, totals_of
from druthers.policies.units import SLAB, SPIKE, USUALLY, UnitLaw, average_units, expect_level, likely_unit, tell
from druthers.types import Floats, Integers

# What a user has just told.
RANKING, UTILITY, CHOICE = 0, 1, 2
# For a pick, what is believed is looked at again when a user told this many times as much.
AGAIN = 1.25


class Kept(NamedTuple):
    """What was believed of each user's weights in the unit of words (D,) and (D, D), when it was last looked at.

    `due` is of how much the user must have told for the next look; 0 where the next pick calls for one.
    """

    due: Floats
    mean: Floats
    covariance: Floats


class FisherUsers(NamedTuple):
    """Each user's feedback and the memory of the anchor.

    With x = reward/|reward| and y = utility/|reward|, both less where part of the reward is unknown (`fill_unknown`),
    `products` (D + 1, D + 1) sums (x, y)(x, y)', and `root` is its upper factor, started at nearly nothing: its last
    entry is the root of the residual sum of squares. `unit` is how many units of utility one of the Plackett-Luce
    model is worth. `choices` counts choices, and `sites` (D, D + 1) sums their information and their pull, of
    weights in units of the Plackett-Luce model, together with those of soft words, which `softly` has alone. `kept`
    spares a look at the belief for most picks.
    """

    feedbacks: Floats
    products: Floats
    root: Floats
    unit: Floats
    choices: Floats
    sites: Floats
    softly: Floats
    kept: Kept
    anchor: Any


class FisherState(NamedTuple):
    """All that Fisher-PQUCB knows; the parts of its clock are `Totals`.

    What few games need is None until it is: the `model` of what to expect of arms, and the context of a `visit`.
    """

    settings: Any
    clock: Floats
    arms: Any
    users: Any
    model: Any = None
    visit: Any = None


def fresh_users(n_users: int, n_objectives: int, level: float, unit: float, anchor: Any) -> FisherUsers:
    """Return rows for users never seen, of whom a level is taken to be felt once where it is above 0."""
    size = n_objectives + 1
    root = np.sqrt(NOTHING) * np.eye(size)
    root[-1, -1] = 1e-100  # no residual yet, and no zero to divide by
    products = np.zeros((size, size))
    if level > 0.0:
        first = np.append(np.ones(n_objectives), level) / np.sqrt(n_objectives)
        products += np.outer(first, first)
        add_rank_one(root, first)
    return FisherUsers(
        feedbacks=np.full(n_users, float(level > 0.0)),
        products=np.repeat(products[None], n_users, axis=0),
        root=np.repeat(root[None], n_users, axis=0),
        unit=np.full(n_users, unit),
        choices=np.zeros(n_users),
        sites=np.zeros((n_users, n_objectives, size)),
        softly=np.zeros((n_users, n_objectives, size)),
        kept=Kept(
            np.zeros(n_users), np.zeros((n_users, n_objectives)), np.zeros((n_users, n_objectives, n_objectives))
        ),
        anchor=anchor,
    )


@kernel
def evidence_of(state: Any, user: int) -> Evidence:
    """Return all that a user told; the variance of utilities is as estimated, or above that for a guarantee."""
    users, settings = state.users, state.settings
    size, anchor = users.sites.shape[1], users.anchor.estimate[user]
    variance = utility_variance(users.products[user], users.root[user], users.feedbacks[user], anchor)
    return Evidence(
        users.products[user],
        users.feedbacks[user],
        cautious(variance) if settings.guarantee > 0.0 else variance,
        anchor,
        users.anchor.information[user],
        users.sites[user],
        float(size) if users.choices[user] > 0.0 else size - 1.0,
        settings.ridge,
        settings.pull,
    )


@generic
def unit_of(state: Any, user: int) -> float:
    """Return the unit that a user's utilities are taken to have."""
    return float(state.users.unit[user])


@generic
def believe_user(state: Any, user: int) -> Posterior:
    """Return what is believed of a user's weights, for the unit that the user's utilities are taken to have."""
    return believe(evidence_of(state, user), state.users.unit[user])


@kernel
def believe_here(state: Any, user: int) -> Posterior:
    """Return the same in the context of a visit."""
    believed, unit = believe_user(state, user), unit_of(state, user)
    return shifted(state.visit, believed, state.users.products[user], unit, unit / np.sqrt(state.settings.ridge))


@generic
def state_belief(state: Any, user: int, of_words: bool, estimate: Floats, covariance: Floats) -> bool:
    """Write mean and covariance of a user's weights, averaged over units; False where there is nothing to average.

    Without utilities the unit is a convention, and for a guarantee it is known. The weights are those of utilities, or
    the same in the unit of words.
    """
    users = state.users
    if state.settings.guarantee > 0.0 or not users.feedbacks[user] > users.feedbacks[0]:
        return False
    told = evidence_of(state, user)
    law = UnitLaw(users.unit[0], SPIKE, SLAB)
    found, _ = average_units(told, tell(told), law, of_words, estimate, covariance)
    return not np.isnan(found)


@generic
def believe_words(state: Any, user: int, weights: Floats, covariance: Floats) -> None:
    """Write mean and covariance of a user's weights in the unit of words, against which picks and soft words are taken.

    Their factors stay as they were found, so they are found without any one unit for true.
    """
    if has_context(state.visit) or not state_belief(state, user, True, weights, covariance):
        in_words(believe_here(state, user), unit_of(state, user), weights, covariance)


@generic
def settle(state: Any, user: int, told: int) -> None:
    """Do what follows from what was told: find the unit after 2, 3, 4, 6, 8, ... utilities, unless for a guarantee."""
    users = state.users
    count = int(users.feedbacks[user])
    if told != UTILITY or state.settings.guarantee > 0.0 or users.anchor.queries[user] == 0:
        return
    if count >= 2 and (is_power_of_two(count) or (count % 3 == 0 and is_power_of_two(count // 3))):
        evidence = evidence_of(state, user)
        said = tell(evidence)
        if users.choices[user] == 0.0:  # who picks has a prior for the level already
            said = expect_level(said)
        users.unit[user] = likely_unit(evidence, said, UnitLaw(users.unit[0], USUALLY, SLAB))


@kernel
def mean_misses(state: Any, rows: Integers, truths: Floats) -> tuple[float, float]:
    """Return the mean distance of estimates and truths (n, D), Euclidean and in the norm of M."""
    n_users = truths.shape[0]
    total = np.zeros(2)
    for user in range(n_users):
        believed = believe_user(state, rows[user])
        add_distances(believed.root, believed.estimate, truths[user], total)
    return total[0] / n_users, total[1] / n_users


@implements(score_policy, FisherState)
@kernel
def _score(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    """Write what each offered arm is worth with its bonuses, as is believed of the user."""
    users, settings, arms = state.users, state.settings, state.arms
    believed = believe_here(state, user)
    totals = totals_of(state.clock, users.sites.shape[1])
    width, feedbacks = settings.width, users.feedbacks[user]
    if settings.guarantee > 0.0:
        ridge = settings.ridge / (users.unit[user] * users.unit[user])
        guaranteed_scores(arms, totals, offer, believed, width, ridge, feedbacks, out)
    else:
        expected_scores(state.model, arms, totals, offer, believed, width, feedbacks, out)
    return 1


@implements(hear_policy, FisherState)
@kernel
def _hear(state: Any, user: int, ranking: Integers) -> None:
    hear_anchor(state.users.anchor, user, ranking)
    settle(state, user, RANKING)


@implements(learn_policy, FisherState)
@kernel
def _learn(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    """Learn what feedback says of the arm, of all arms and of the user."""
    users, arms, size = state.users, state.arms, reward.shape[0]
    new = never_seen(arms, arm)
    count_reward(totals_of(state.clock, size), arms, arm, reward)
    row = np.empty(size + 1)
    whole = observe(arms, state.clock, arm, reward, row)
    entered = not np.isnan(utility)
    if entered:
        row[size] = utility
        spoilt = 0.0 if whole else fill_unknown(arms, arm, row)
        entered = scale_utility(row, spoilt)
    if entered:
        add_row_within(state.visit, row, 1.0)
        add_utility(users.products[user], users.root[user], row)
    learn_rewards(state.model, arms, totals_of(state.clock, size), arm, new)
    if entered:
        users.feedbacks[user] += 1.0
        settle(state, user, UTILITY)


@kernel
def scale_utility(row: Floats, spoilt: float) -> bool:
    """Divide a reward and its utility (D + 1,) by the length of the reward; False for a reward of nothing."""
    square = square_of(row[:-1])
    if not square > 0.0:
        return False
    scale = 1.0 / np.sqrt(square + spoilt)
    for k in range(row.shape[0]):
        row[k] *= scale
    return True


@kernel
def add_utility(products: Floats, root: Floats, row: Floats) -> None:
    """Add a scaled reward and its utility (D + 1,), which are used up, to a user's sums."""
    size = row.shape[0]
    for k in range(size):
        for j in range(size):
            products[k, j] += row[k] * row[j]
    add_rank_one(root, row)


@kernel
def revise_utility(state: Any, user: int, arm: int, reward: Floats, utility: float, before: float) -> bool:
    """Turn a row (x, before) of the sums into (x, y): only the last column of the factor moves, by the w of R'w = x.

    What is then left of the sum of y^2 is the residual. Returns False where the utility had not entered.
    """
    size, products, root = reward.shape[0], state.users.products[user], state.users.root[user]
    x = np.empty(size)
    state.users.kept.due[user] = 0.0
    square, spoilt = remember(state.arms, arm, reward, x)
    if not square > 0.0:
        return False
    scale = 1.0 / np.sqrt(square + spoilt)
    y, before = scale * utility, scale * before
    for k in range(size):
        x[k] *= scale
    upper, moved = root[:size, :size].copy(), x.copy()
    solve_transposed(upper, moved)
    change = y - before
    residual = float(root[size, size] * root[size, size]) + change * (y + before)
    block = np.zeros((size + 1, size + 1))
    block[size, size] = change * (y + before)
    for k in range(size):
        block[k, size] = block[size, k] = change * x[k]
        products[k, size] += change * x[k]
        products[size, k] += change * x[k]
        residual -= change * moved[k] * (2.0 * root[k, size] + change * moved[k])
        root[k, size] += change * moved[k]
    products[size, size] = max(float(products[size, size]) + change * (y + before), 0.0)
    root[size, size] = np.sqrt(max(residual, 1e-200))
    add_within(state.visit, block, False)
    return True


@kernel
def take_in(
    state: Any, offer: Integers, place: int, weights: Floats, covariance: Floats, site: Floats, glance: bool
) -> bool:
    """Add the site of a choice against what is believed, see `add_choice`."""
    size = weights.shape[0]
    totals = totals_of(state.clock, size)
    n_rows = offer.shape[0] + (place == NONE_OF_THESE)
    both = np.empty((2, n_rows, size))  # at once: memory takes 0.1 us each time
    rows, spreads = both[0], both[1]
    offer_rows(state.arms, totals.means, reward_variances(totals), offer, rows, spreads)
    picked = offer.shape[0] if place == NONE_OF_THESE else place
    return add_choice(rows, spreads, picked, weights, covariance, site, glance)


@implements(learn_choice_policy, FisherState)
@kernel
def _learn_choice(state: Any, user: int, offer: Integers, place: int) -> None:
    """Add the site of a choice, against what is believed of the user.

    Where a glance is enough, it is against what was believed when a fifth less was told: by how much that may be off
    is in its covariance, and the site is one of the log-chance alone, so nothing is counted twice.
    """
    users, size = state.users, state.users.sites.shape[1]
    begin_choices(users, user, state.settings.ridge)
    weights, covariance = users.kept.mean[user], users.kept.covariance[user]
    told = users.feedbacks[user] + users.choices[user] + users.anchor.queries[user]
    elsewhere = has_context(state.visit)
    site = np.zeros((size, size + 1)) if elsewhere else users.sites[user]
    glance, done = told < users.kept.due[user] and not elsewhere, False
    while not done:
        if not glance:
            believe_words(state, user, weights, covariance)
            users.kept.due[user] = 0.0 if elsewhere else AGAIN * told
        done = take_in(state, offer, place, weights, covariance, site, glance)
        glance = False
    if elsewhere:
        add_matrix(site, users.sites[user])
        add_within(state.visit, site, True)
    users.choices[user] += 1.0
    settle(state, user, CHOICE)
