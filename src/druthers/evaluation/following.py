"""Policies that follow a log: what they would choose, what they come to know, where they agree with it; compiled."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from druthers._jit import bound, kernel
from druthers._matrices import copy_vector
from druthers.logs import Log
from druthers.logs.table import NOT_TOLD
from druthers.policies import Policy
from druthers.policies.rows import arrays
from druthers.policies.steps import hear_policy, learn_choice_policy, learn_policy, score_policy
from druthers.simulation import best_first, pick
from druthers.types import Floats, Integers

# What is kept of users as plain bits, by row, so that it can be copied whatever it means.
Memory: TypeAlias = tuple[NDArray[np.uint64] | NDArray[np.uint8], ...]

# What a policy does with the feedback in the log.
IGNORE, LEARN, REPLAY = 0, 1, 2

# Noise is drawn for about so many rows at a time.
BLOCK = 4_096


class Followed(NamedTuple):
    """What a policy did along a log: the chance of each offered arm (NaN if unknown), and where it chose the same."""

    chances: Floats
    same: NDArray[np.bool_]


class Believed(NamedTuple):
    """What a policy expected before each row, utility first and then each objective (n, 1 + D).

    `expected` is the mean over the choices of the policy that is evaluated, `predicted` what the logged choice
    would bring.
    """

    expected: Floats
    predicted: Floats


class Block(NamedTuple):
    """Some whole rounds of a log, by rows of the policy, with its noise for them."""

    users: Integers
    first_of_round: NDArray[np.bool_]
    starts: Integers
    offers: Integers
    said_starts: Integers
    said: Integers
    places: NDArray[np.int32]
    rewards: Floats
    utilities: Floats
    noise: Floats


def follow(policy: Policy, log: Log, feedback: int) -> Followed:
    """Let a policy hear every ranking of a log, and say what it would choose; questions it would ask stay unasked.

    Feedback it may IGNORE; LEARN from in every row; or REPLAY: learn where the policy chooses the logged arm itself,
    and leave out all other rows, what was heard in them included.
    """
    followed = Followed(np.empty(len(log.offers)), np.zeros(len(log), dtype=bool))
    _follow(policy, log, feedback, followed, Believed(*np.zeros((2, 0, 1))))
    return followed


def believe(policy: Policy, log: Log, chances: Floats) -> Believed:
    """Let a policy that estimates utilities learn every row of a log, and say before each what it expects of choices.

    `chances` are how likely the policy that is evaluated chooses each offered arm, laid out like `log.offers`.
    """
    believed = Believed(*np.zeros((2, len(log), 1 + len(log.objectives))))
    _follow(policy, log, LEARN, Followed(chances, np.zeros(len(log), dtype=bool)), believed)
    return believed


def _follow(policy: Policy, log: Log, feedback: int, followed: Followed, believed: Believed) -> None:
    """Follow a log block by block, and write what was done along it; or, where there is room for it, what was believed.

    It is never None, so that both are the same machine code: to compile it twice takes as long as all of a short game.
    """
    tells = not len(believed.expected)
    memory = _user_memory(policy, log)
    saved = np.empty(sum(part.shape[1] for part in memory), dtype=memory[0].dtype)
    compiled = None
    for rows, block, picks in _blocks(policy, log):
        shape = rows.stop - rows.start, 2
        coins = policy._coins.random(shape) if policy.exploration and tells else np.ones(shape)
        chances = followed.chances[log.offer_starts[rows.start] : log.offer_starts[rows.stop]]
        known = (policy._state, (feedback, float(policy.exploration)), (memory, saved))
        part = Believed(believed.expected[rows], believed.predicted[rows])
        arguments = (*known, block, picks, coins, Followed(chances, followed.same[rows]), part)
        compiled = compiled or bound(follow_rows, *arguments)
        compiled(*arguments)


def _user_memory(policy: Policy, log: Log) -> Memory:
    """Make users and arms known and return the bits of what is kept of users: one array after the other, by row."""
    policy.add_arms(log.arm_ids)
    policy.add_users(log.user_ids)
    memory = [array.reshape(len(array), -1) for _, array in arrays(policy._state.users) if array.size]
    whole = all(array.shape[1] * array.itemsize % 8 == 0 for array in memory)
    return tuple(array.view(np.uint64 if whole else np.uint8) for array in memory)


def _blocks(policy: Policy, log: Log) -> Iterator[tuple[slice, Block, Integers | None]]:
    """Cut a log into blocks of whole rounds, each with what was picked in it, None where that does not matter."""
    users = np.array([policy._users.rows[user] for user in log.user_ids], dtype=np.int64)[log.users]
    arms = np.array([policy._arms.rows[arm] for arm in log.arm_ids], dtype=np.int64)
    first_of_round = np.concatenate([[True], log.rounds[1:] != log.rounds[:-1]])
    begins = np.flatnonzero(first_of_round)
    picks = None if log.picks is None or not policy.learns_choices else log.picks.astype(np.int64)
    edges = [*np.unique(begins[np.searchsorted(begins, np.arange(0, begins[-1] + 1, BLOCK))]).tolist(), len(log)]
    for start, stop in itertools.pairwise(edges):
        rows = slice(start, stop)
        offers = slice(*log.offer_starts[[start, stop]].tolist())
        said = slice(*log.ranking_starts[[start, stop]].tolist())
        said_starts = log.ranking_starts[start : stop + 1] - said.start
        yield (
            rows,
            Block(
                users[rows],
                first_of_round[rows],
                log.offer_starts[start : stop + 1] - offers.start,
                arms[log.offers[offers]],
                said_starts if policy.hears else np.zeros_like(said_starts),
                log.rankings[said].astype(np.int64),
                log.places[rows],
                np.ascontiguousarray(log.rewards[rows]),
                np.ascontiguousarray(log.utilities[rows]),
                policy._noise.standard_normal((offers.stop - offers.start) * policy.noise_per_arm),
            ),
            None if picks is None else picks[rows],
        )


@kernel
def follow_rows(
    state: Any,
    rules: tuple[int, float],
    kept: tuple[Memory, NDArray[Any]],
    block: Block,
    picks: Integers | None,
    coins: Floats,
    followed: Followed,
    believed: Believed,
) -> None:
    """Follow some rounds; writes the chance of each offered arm and whether the own choice is the logged one.

    Or else, where `believed` has rows, by chances that are given, what is expected of the choices before each is known.
    """
    users, first_of_round, starts, offers, said_starts, said, places, rewards, utilities, noise = block
    feedback, exploration = rules
    memory, saved = kept
    chances, same = followed
    all_arms = np.empty(0, dtype=np.int64)
    per_arm = noise.shape[0] // offers.shape[0]
    reasons = np.empty((4, 0))
    begin = 0
    for t in range(users.shape[0]):
        a, b = starts[t], starts[t + 1]
        heard = said_starts[t + 1] > said_starts[t]
        if heard:
            if feedback == REPLAY:
                copy_memory(memory, users[t], saved, False)
            hear_policy(state, users[t], said[said_starts[t] : said_starts[t + 1]])
        if b - a != reasons.shape[1]:
            reasons = np.empty((4, b - a))
        n_best = score_policy(state, users[t], offers[a:b], noise[a * per_arm : b * per_arm], reasons)
        if believed.expected.shape[0] == 0:
            share_chances(reasons[3], n_best, exploration, chances[a:b])
            same[t] = pick(reasons[3], coins[t], exploration, all_arms) == places[t]
        else:
            expected, predicted = believed.expected[t], believed.predicted[t]
            foresee(state.arms.means, reasons[0], offers[a:b], chances[a:b], places[t], expected, predicted)
        if heard and feedback == REPLAY and not same[t]:
            copy_memory(memory, users[t], saved, True)
        if t + 1 == users.shape[0] or first_of_round[t + 1]:
            for s in range(begin, t + 1):
                if feedback == IGNORE or (feedback == REPLAY and not same[s]):
                    continue
                if told(rewards[s], utilities[s]):
                    learn_policy(state, users[s], offers[starts[s] + places[s]], rewards[s], utilities[s])
                if picks is not None and picks[s] > NOT_TOLD:
                    learn_choice_policy(state, users[s], offers[starts[s] : starts[s + 1]], picks[s])
            begin = t + 1


# Kernels below call no generic one: machine code read from the cache finds only those that it calls itself.
@kernel
def foresee(
    means: Floats, utilities: Floats, offer: Integers, chances: Floats, place: int, expected: Floats, predicted: Floats
) -> None:
    """Add what is expected of a choice by these chances, utility first, and write what the logged one would bring."""
    for j in range(offer.shape[0]):
        expected[0] += chances[j] * utilities[j]
        for k in range(means.shape[1]):
            expected[1 + k] += chances[j] * means[offer[j], k]
    predicted[0] = utilities[place]
    for k in range(means.shape[1]):
        predicted[1 + k] = means[offer[place], k]


@kernel
def told(reward: Floats, utility: float) -> bool:
    """Tell whether anything is known of what came of a decision."""
    known = not np.isnan(utility)
    for k in range(reward.shape[0]):
        known = known or not np.isnan(reward[k])
    return known


@kernel
def share_chances(scores: Floats, n_best: int, exploration: float, chances: Floats) -> None:
    """Write the chance of each arm where the choice is uniform among the n best, and now and then among all."""
    size = scores.shape[0]
    if n_best == 0:
        chances[:] = np.nan
        return
    chances[:] = exploration / size
    if n_best == 1:
        best = 0
        for j in range(1, size):
            if scores[j] > scores[best]:
                best = j
        chances[best] += 1.0 - exploration
    else:
        order = best_first(scores)
        for j in range(n_best):
            chances[order[j]] += (1.0 - exploration) / n_best


@kernel
def copy_memory(memory: Memory, row: int, saved: NDArray[Any], back: bool) -> None:
    """Save what is kept of a user, or bring it back: what was said since is then undone."""
    place = 0
    for k in range(len(memory)):
        size = memory[k].shape[1]
        if back:
            copy_vector(saved[place : place + size], memory[k][row])
        else:
            copy_vector(memory[k][row], saved[place : place + size])
        place += size
