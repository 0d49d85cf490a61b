"""What to ask a user: each answer is imagined, and counts by how much better the choice would be for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from druthers.policies.base import Policy
from druthers.policies.slates import by_score
from druthers.types import ChoiceQuestion, Floats, RankingQuestion

# Of more arms than these only the best are looked at: no answer makes one of the others the best.
MOST_ARMS = 50
# Objectives that a question names at most, and arms that the best is compared with.
MOST_NAMED, MOST_COMPARED = 4, 3
Stated = Sequence[tuple[Floats, Floats]]


def best_question(
    policy: Policy, user: Hashable, offer: Sequence[Hashable], stated: Stated | None
) -> RankingQuestion | ChoiceQuestion | None:
    """Return the question whose answer is worth most, whatever it costs; None where no answer changes the choice.

    With u the expected utilities of arms and u' those after an answer, the answer is worth max u' - u'(arm that is best
    now), and a question the mean of that over its answers, by their chances: the weights, which are chances of being
    named first, and for one arm or another those of the choice model.

    Parameters
    ----------
    policy
        One that hears weights, or rankings, and learns from choices.
    user
        Who would be asked.
    offer
        Known arms that may be chosen.
    stated
        Mean and variance of the weights after each objective was named first; by default as `hear` has them.
    """
    now = policy.utilities(user, offer)
    best = by_score(now, MOST_ARMS)
    arms = [offer[place] for place in best]
    if len(arms) < 2:
        return None
    with _somebody_like(policy, user) as (other, forget):
        ranking = _ranking_question(policy, user, arms, stated, other, forget)
        choice = _choice_question(policy, user, arms, now[best], other, forget)
    found: RankingQuestion | ChoiceQuestion = ranking if ranking.value >= choice.value else choice
    return found if found.value > 0.0 else None


@contextmanager
def _somebody_like(policy: Policy, user: Hashable) -> Iterator[tuple[Hashable, Callable[[], None]]]:
    """Give a user who has told what this one told and is gone afterwards, and what takes back all that was told since.

    One for all answers that are imagined: to make one for each would take longer than the answers.
    """
    other = ("imagined", user)
    policy.add_users([other])
    try:
        yield other, lambda: policy._copy_user(user, other)
    finally:
        policy.forget_user(other)


def _gain(policy: Policy, user: Hashable, arms: Sequence[Hashable]) -> float:
    """Return by how much the best arm is now better than the first, which was the best before."""
    then = policy.utilities(user, arms)
    return float(then.max() - then[0])


def _ranking_question(
    policy: Policy,
    user: Hashable,
    arms: Sequence[Hashable],
    stated: Stated | None,
    other: Hashable,
    forget: Callable[[], None],
) -> RankingQuestion:
    weights = np.maximum(policy.preference(user).weights, 0.0)
    chances = weights / max(weights.sum(), 1e-300)
    named = [int(k) for k in np.argsort(-chances, kind="stable")[:MOST_NAMED] if chances[k] > 0.0]
    value = 0.0
    for objective in named:
        forget()
        if stated is None:
            policy.hear(other, (objective,))
        else:
            policy.hear_weights(other, *stated[objective])
        value += float(chances[objective]) * _gain(policy, other, arms)
    return RankingQuestion(user, -1, 1, value, tuple(named))


def _choice_question(
    policy: Policy,
    user: Hashable,
    arms: Sequence[Hashable],
    now: Floats,
    other: Hashable,
    forget: Callable[[], None],
) -> ChoiceQuestion:
    scale = math.sqrt(6.0) / math.pi * policy.utility_noise(user)
    best = ChoiceQuestion(user, -1, (arms[0], arms[1]), 0.0)
    for place in range(1, min(len(arms), 1 + MOST_COMPARED)):
        pair, value = (arms[0], arms[place]), 0.0
        first = 1.0 / (1.0 + math.exp(-min(float(now[0] - now[place]) / scale, 700.0)))
        for picked, chance in zip(pair, (first, 1.0 - first), strict=True):
            forget()
            policy.learn_choice(other, picked, pair)
            value += chance * _gain(policy, other, arms)
        if value > best.value:
            best = ChoiceQuestion(user, -1, pair, value)
    return best
