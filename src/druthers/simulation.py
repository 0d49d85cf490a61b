"""One compiled episode for every policy: the same kernels as single steps, on a tape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import bound, kernel
from druthers.environments import Chunk, Tape
from druthers.policies import Policy
from druthers.policies.base import answer_policy, ask_policy, hear_policy, learn_policy, score_policy
from druthers.types import Floats, Integers


class Run(NamedTuple):
    """What came of a policy on a tape, round by round: the arm it chose and the regret of that choice."""

    arms: Integers
    regret: Floats


def simulate(policy: Policy, tape: Tape) -> Run:
    """Let a fresh policy play a whole tape, compiled; it ends in the state that single steps would lead to.

    Examples
    --------
    >>> from druthers import make_policy
    >>> from druthers.environments import Synthetic
    >>> tape = Synthetic().tape(seed=1, horizon=50)
    >>> simulate(make_policy("s-ucb", n_objectives=20), tape).arms.shape
    (50,)
    """
    n_arms, n_users = len(tape.means), len(tape.preferences)
    policy.add_arms(range(n_arms))
    policy.add_users(range(n_users))
    utilities = tape.preferences @ tape.means.T
    arm_rows = np.array([policy._arms.rows[arm] for arm in range(n_arms)], dtype=np.int64)
    user_rows = np.array([policy._users.rows[user] for user in range(n_users)], dtype=np.int64)
    arms, regret = np.empty(tape.horizon, dtype=np.int64), np.empty(tape.horizon)
    start, compiled = 0, None
    for chunk in tape.chunks():
        rounds = len(chunk.users)
        n_offered = chunk.offers.shape[1] or n_arms
        noise = policy._noise.standard_normal((rounds, n_offered * policy.noise_per_arm))
        coins = policy._coins.random((rounds, 2)) if policy.exploration else np.ones((rounds, 2))
        arguments = (
            policy._state,
            *chunk_arrays(chunk),
            noise,
            coins,
            float(policy.exploration),
            arm_rows,
            user_rows,
            tape.means,
            tape.preferences,
            utilities,
            arms[start : start + rounds],
            regret[start : start + rounds],
        )
        compiled = compiled or bound(play, *arguments)
        compiled(*arguments)
        start += rounds
    return Run(arms=arms, regret=regret)


def simulate_by_steps(policy: Policy, tape: Tape) -> Run:
    """Do the same through `hear`, `ask`, `choose` and `learn`: slow, and the meaning of `simulate`."""
    n_arms, n_users = len(tape.means), len(tape.preferences)
    policy.add_arms(range(n_arms))
    policy.add_users(range(n_users))
    utilities = tape.preferences @ tape.means.T
    arms, regret = [], []
    for chunk in tape.chunks():
        for t, user in enumerate(chunk.users.tolist()):
            preference = tape.preferences[user]
            policy.hear(user, chunk.orders[t, : chunk.lengths[t]])
            question = policy.ask(user)
            if question is not None:
                policy.answer(user, question, likes(preference, question.objective))
            offer = chunk.offers[t].tolist() or range(n_arms)
            arm: Any = policy.choose(user, offer).arm
            reward = tape.means[arm] + chunk.reward_noise[t]
            policy.learn(user, arm, reward, felt_utility(preference, chunk.preference_noise[t], reward))
            arms.append(arm)
            regret.append(max(utilities[user, other] for other in offer) - utilities[user, arm])
    return Run(arms=np.array(arms), regret=np.array(regret))


def chunk_arrays(chunk: Chunk) -> tuple[Any, ...]:
    """Return the arrays of a chunk that a game needs; which queries were corrupted is nobody's business."""
    return (chunk.users, chunk.offers, chunk.orders, chunk.lengths, chunk.reward_noise, chunk.preference_noise)


@kernel
def felt_utility(preference: Floats, noise: Floats, reward: Floats) -> float:
    """Return the inner product of the instantaneous preference and the reward, summed in order."""
    utility = 0.0
    for k in range(preference.shape[0]):
        utility += (preference[k] + noise[k]) * reward[k]
    return utility


@kernel
def likes(preference: Floats, objective: int) -> float:
    """Return a user's answer to "do you care about this?": 1 if its weight is above the mean of the user's weights."""
    mean = 0.0
    for k in range(preference.shape[0]):
        mean += preference[k]
    return 1.0 if preference[objective] * preference.shape[0] > mean else 0.0


@kernel
def play(
    state: Any,
    users: Integers,
    offers: Integers,
    orders: NDArray[np.int16],
    lengths: Integers,
    reward_noise: Floats,
    preference_noise: Floats,
    noise: Floats,
    coins: Floats,
    exploration: float,
    arm_rows: Integers,
    user_rows: Integers,
    means: Floats,
    preferences: Floats,
    utilities: Floats,
    arms: Integers,
    regret: Floats,
) -> None:
    """Play some rounds: write the arm chosen and its regret for each, and leave `state` as single steps would."""
    n_objectives = means.shape[1]
    everything = offers.shape[1] == 0
    n_offered = arm_rows.shape[0] if everything else offers.shape[1]
    order = np.empty(n_objectives, dtype=np.int64)
    rows = arm_rows.copy() if everything else np.empty(n_offered, dtype=np.int64)
    reasons = np.empty((4, n_offered))
    reward = np.empty(n_objectives)
    for t in range(users.shape[0]):
        user = users[t]
        row = user_rows[user]
        length = lengths[t]
        if length > 0:
            for place in range(length):
                order[place] = orders[t, place]
            hear_policy(state, row, order[:length])
        asked = ask_policy(state, row)
        if asked >= 0:
            answer_policy(state, row, asked, likes(preferences[user], asked))
        if not everything:
            for j in range(n_offered):
                rows[j] = arm_rows[offers[t, j]]
        score_policy(state, row, rows, noise[t], reasons)
        scores = reasons[3]
        place = 0
        for j in range(1, n_offered):
            if scores[j] > scores[place]:
                place = j
        if coins[t, 0] < exploration:
            place = np.argsort(-scores, kind="mergesort")[int(coins[t, 1] * n_offered)]
        arm = place if everything else offers[t, place]
        best = -np.inf
        for j in range(n_offered):
            best = max(best, utilities[user, j if everything else offers[t, j]])
        for k in range(n_objectives):
            reward[k] = means[arm, k] + reward_noise[t, k]
        learn_policy(state, row, arm_rows[arm], reward, felt_utility(preferences[user], preference_noise[t], reward))
        arms[t] = arm
        regret[t] = best - utilities[user, arm]
