"""Logs from the lab: let a policy play a tape, and write down every decision with its propensity."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from druthers.environments import Tape
from druthers.errors import InvalidLog
from druthers.logs.table import Log
from druthers.policies import Policy
from druthers.simulation import take_steps
from druthers.types import Decision, Floats


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
    chunks = list(tape.chunks())
    rows: list[tuple[Any, ...]] = []
    for taken in take_steps(policy, tape, chunks):
        for one in taken:
            made = one.decision  # not kept whole: its reasons would fill the memory
            known = all_chances(policy, made), one.reward, np.nan if one.utility is None else one.utility
            rows.append((np.array(made.offer, dtype=np.int32), made.places[0], made.propensity, *known))
    offers, places, propensities, all_known, rewards, utilities = zip(*rows, strict=True)
    users, orders, lengths = (
        np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("users", "orders", "lengths")
    )
    chances = np.concatenate(all_known)
    picks = [chunk.picks for chunk in chunks if chunk.picks is not None]
    contexts = [chunk.contexts for chunk in chunks if chunk.contexts is not None]
    return Log(
        objectives=names,
        user_ids=tuple(range(len(tape.preferences))),
        arm_ids=tuple(range(n_arms)),
        policy_names=(label or policy.name,),
        rounds=np.repeat(np.arange(1, tape.horizon + 1), tape.users_per_round),
        times=None,
        users=users.astype(np.int32),
        offer_starts=np.cumsum([0, *map(len, offers)]),
        offers=np.concatenate(offers),
        ranking_starts=np.concatenate([[0], np.cumsum(lengths)]),
        rankings=orders[np.arange(n_objectives) < lengths[:, None]],
        places=np.array(places, dtype=np.int32),
        propensities=np.array(propensities),
        rewards=np.array(rewards),
        utilities=np.array(utilities),
        policies=np.zeros(len(rows), dtype=np.int32),
        chances=None if np.isnan(chances).all() else chances,
        picks=np.concatenate(picks).astype(np.int32) if picks else None,
        entries=tuple(map(str, range(contexts[0].shape[1]))) if contexts else (),
        contexts=np.concatenate(contexts) if contexts else None,
    )


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
