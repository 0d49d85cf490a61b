"""Logs from the lab: let a policy play a tape, and write down every decision with its propensity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from druthers.environments import Chunk, Tape
from druthers.environments.base import felt_utility
from druthers.errors import InvalidLog
from druthers.logs.table import Log
from druthers.policies import Policy
from druthers.simulation import context_of, likes
from druthers.types import Decision, Floats, Integers


# Over sixty lines: a log has twenty columns, and each is named where it is made.
def record(policy: Policy, tape: Tape, objectives: Sequence[str] | None = None, label: str | None = None) -> Log:
    """Let a fresh policy play a tape by single steps and return the log of its decisions.

    Give it some `exploration`, 0.1 say, or the log cannot tell what other policies would be worth. Users and arms
    are called by their numbers on the tape, and so are the objectives where they have no names.

    Examples
    --------
    >>> from druthers import make_policy
    >>> from druthers.environments import Synthetic
    >>> tape = Synthetic(n_arms=6, n_objectives=3, n_users=2, offered=4).tape(seed=1, horizon=50)
    >>> log = record(make_policy("s-ucb", n_objectives=3, exploration=0.2), tape)
    >>> log
    Log(50 decisions, 2 users, 6 arms, 3 objectives, policies: s-ucb)
    >>> sorted(set(log.propensities.round(3).tolist()))
    [0.05, 0.85]
    """
    n_arms, n_objectives = tape.means.shape
    names = tuple(objectives or (f"objective {k + 1}" for k in range(n_objectives)))
    if len(names) != n_objectives:
        raise InvalidLog(f"this tape needs {n_objectives} names of objectives, but got {names!r}")
    policy.add_arms(range(n_arms), tape.features if policy.learns_features else None)
    policy.add_users(range(len(tape.preferences)))
    chunks = list(tape.chunks())
    decisions, rewards, utilities = [], [], []
    for chunk in chunks:
        wanted = tape.wanted(chunk)
        for first in range(0, len(chunk.users), tape.users_per_round):
            batch = range(first, first + tape.users_per_round)
            decisions += [_decide(policy, tape, chunk, t) for t in batch]
            for t, made in zip(batch, decisions[-len(batch) :], strict=True):
                user, arm = chunk.users[t].item(), made.offer[made.place]
                reward = tape.means[arm] + chunk.reward_noise[t]
                utility = felt_utility(wanted[t], chunk.preference_noise[t], reward)
                with policy.in_context(context_of(policy, chunk, t)):
                    policy.learn(user, arm, reward, utility if tape.tells_utility else None)
                    if chunk.picks is not None and policy.learns_choices:
                        policy.learn_choice(user, made.offer[chunk.picks[t]].item(), made.offer.tolist())
                rewards.append(reward)
                utilities.append(utility if tape.tells_utility else np.nan)
    orders, lengths = (np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("orders", "lengths"))
    chances = np.concatenate([made.chances for made in decisions])
    picks = [chunk.picks for chunk in chunks if chunk.picks is not None]
    contexts = [chunk.contexts for chunk in chunks if chunk.contexts is not None]
    return Log(
        objectives=names,
        user_ids=tuple(range(len(tape.preferences))),
        arm_ids=tuple(range(n_arms)),
        policy_names=(label or policy.name,),
        rounds=np.repeat(np.arange(1, tape.horizon + 1), tape.users_per_round),
        times=None,
        users=np.concatenate([chunk.users for chunk in chunks]).astype(np.int32),
        offer_starts=np.cumsum([0, *(len(made.offer) for made in decisions)]),
        offers=np.concatenate([made.offer for made in decisions], dtype=np.int32),
        ranking_starts=np.concatenate([[0], np.cumsum(lengths)]),
        rankings=orders[np.arange(n_objectives) < lengths[:, None]],
        places=np.array([made.place for made in decisions], dtype=np.int32),
        propensities=np.array([made.propensity for made in decisions]),
        rewards=np.array(rewards),
        utilities=np.array(utilities),
        policies=np.zeros(len(decisions), dtype=np.int32),
        chances=None if np.isnan(chances).all() else chances,
        picks=np.concatenate(picks).astype(np.int32) if picks else None,
        entries=tuple(map(str, range(contexts[0].shape[1]))) if contexts else (),
        contexts=np.concatenate(contexts) if contexts else None,
    )


class _Made(NamedTuple):
    """What is kept of a decision; its reasons would fill the memory."""

    offer: Integers
    place: int
    propensity: float
    chances: Floats


def _decide(policy: Policy, tape: Tape, chunk: Chunk, t: int) -> _Made:
    user = chunk.users[t].item()
    policy.hear(user, chunk.orders[t, : chunk.lengths[t]])
    question = policy.ask(user)
    if question is not None:
        policy.answer(user, question, likes(tape.preferences[user], question.objective))
    offer = chunk.offers[t] if chunk.offers.shape[1] else np.arange(len(tape.means))
    with policy.in_context(context_of(policy, chunk, t)):
        decision = policy.choose(user, offer.tolist())
    return _Made(offer, decision.places[0], decision.propensity, all_chances(policy, decision))


def all_chances(policy: Policy, decision: Decision) -> Floats:
    """Return the chance of each offered arm as far as a decision tells it, NaN where it does not.

    A policy chooses uniformly among its n best and, now and then, among all. The propensity of the chosen arm tells
    n if it was one of the best; a policy without noise of its own has n = 1.
    """
    size, floor = len(decision.offer), policy.exploration
    own = (decision.propensity - floor / size) / (1.0 - floor) if floor < 1.0 else 0.0
    if floor == 1.0 or policy.noise_per_arm == 0:
        n_best = 1
    elif own > 0.5 / size:
        n_best = round(1.0 / own)
    else:
        return np.full(size, np.nan)
    chances = np.full(size, floor / size)
    chances[np.argsort(-decision.reasons[3], kind="stable")[:n_best]] += (1.0 - floor) / n_best
    return chances
