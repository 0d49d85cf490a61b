"""What to ask a user: each answer is imagined, and counts by how much better the choice would be for it."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from druthers._jit import generic, implements, kernel
from druthers.policies.contexts import ContextPolicy
from druthers.policies.shifts import Visit
from druthers.policies.slates import by_score
from druthers.policies.statements import GUMBEL, believe_here, utility_of
from druthers.policies.steps import hear_policy, learn_choice_policy
from druthers.types import ChoiceQuestion, Floats, Integers, RankingQuestion

# Of more arms than these only the best are looked at: no answer makes one of the others the best.
MOST_ARMS = 50
# Objectives that a question names at most, and arms that the best is compared with.
MOST_NAMED, MOST_COMPARED = 4, 3
Stated = Sequence[tuple[Floats, Floats]]


def best_question(
    policy: ContextPolicy, user: Hashable, offer: Sequence[Hashable], stated: Stated | None
) -> RankingQuestion | ChoiceQuestion | None:
    """Return the question whose answer is worth most, whatever it costs; None where no answer changes the choice.

    With u the expected utilities of arms and u' those after an answer, the answer is worth max u' - u'(arm that is best
    now), and a question the mean of that over its answers, by their chances: the weights, which are chances of being
    named first, and for one arm or another those of the choice model.

    Parameters
    ----------
    policy
        One that hears weights and learns from choices.
    user
        Who would be asked.
    offer
        Known arms that may be chosen.
    stated
        Mean and variance of the weights after each objective was named first; by default as `hear` has them.
    """
    if len(offer) < 2:
        return None
    best = by_score(policy.utilities(user, offer), MOST_ARMS)
    arms = [offer[place] for place in best]
    here, before = policy._imagined(user), policy._imagined(user)
    told = np.empty((0, 2, policy.n_objectives)) if stated is None else np.array(stated)
    values, named = np.empty(1 + min(len(arms) - 1, MOST_COMPARED)), np.empty(MOST_NAMED, dtype=np.int64)
    given = here, before, policy._rows_of(arms), told, values, named
    policy._step(weigh_questions, *given)(*given)
    most = int(values.argmax())
    if not values[most] > 0.0:
        return None
    if most:
        return ChoiceQuestion(user, -1, (arms[0], arms[most]), float(values[most]))
    return RankingQuestion(user, -1, 1, float(values[0]), tuple(named[named >= 0].tolist()))


@kernel
def weigh_questions(here: Any, before: Any, arms: Integers, stated: Floats, values: Floats, named: Integers) -> None:
    """Write what it is worth to know what matters most, and which of the first arm and each of the next is liked more.

    `here` and `before` are two states of one and the same user alone: each answer is told to the first, and taken back.
    Objectives that are worth naming, most important first, are written into `named`, -1 where there are no more.
    """
    estimate, _, variance = believe_here(before, 0, before.others)
    size, users = before.users.mean.shape[1], here.users
    total = 0.0
    for k in range(size):
        total += max(estimate[k], 0.0)
    values[0] = 0.0
    left = estimate.copy()
    for place in range(named.shape[0]):
        objective = 0
        for k in range(1, size):
            if left[k] > left[objective]:
                objective = k
        named[place] = objective if left[objective] > 0.0 else -1
        if named[place] < 0:
            continue
        if stated.shape[0] == 0:
            hear_policy(here, 0, named[place : place + 1])
        else:
            for k in range(size):
                users.mean[0, k] = stated[objective, 0, k]
                users.precision[0, k] = 1.0 / stated[objective, 1, k]
            users.statements[0] += 1.0
        values[0] += left[objective] / total * gain(here, before, arms)
        left[objective] = 0.0
    pair = arms[:2].copy()
    for place in range(1, values.shape[0]):
        pair[1] = arms[place]
        lead = utility_of(before.arms, pair[0], estimate) - utility_of(before.arms, pair[1], estimate)
        first = 1.0 / (1.0 + np.exp(-lead / (GUMBEL * np.sqrt(variance))))
        values[place] = 0.0
        for picked in range(2):
            learn_choice_policy(here, 0, pair, picked)
            values[place] += (first if picked == 0 else 1.0 - first) * gain(here, before, arms)


@kernel
def gain(here: Any, before: Any, arms: Integers) -> float:
    """Return by how much the best arm is now better than the first, which was the best before; take back what came."""
    estimate = believe_here(here, 0, here.others).estimate
    first = most = utility_of(here.arms, arms[0], estimate)
    for j in range(1, arms.shape[0]):
        most = max(most, utility_of(here.arms, arms[j], estimate))
    now, then, size = here.users, before.users, here.users.mean.shape[1]
    now.feedbacks[0], now.choices[0], now.statements[0] = then.feedbacks[0], then.choices[0], then.statements[0]
    for k in range(size):
        now.mean[0, k], now.precision[0, k] = then.mean[0, k], then.precision[0, k]
        for j in range(size + 1):
            now.sites[0, k, j] = then.sites[0, k, j]
    for k in range(size + 2):
        for j in range(size + 2):
            now.gram[0, k, j] = then.gram[0, k, j]
    take_back_visit(here.visit, before.visit)
    return float(most - first)


@generic
def take_back_visit(now: Any, then: Any) -> None:
    """Take back what was told in a context; where there is none, nothing was."""


@implements(take_back_visit, Visit)
@kernel
def _take_back_visit(now: Visit, then: Visit) -> None:
    now.sums[:], now.sites[:] = then.sums, then.sites
