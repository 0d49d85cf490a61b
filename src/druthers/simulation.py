"""One compiled episode for every policy: the same kernels as single steps, on a tape."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import bound, kernel
from druthers.environments import Chunk, Tape
from druthers.environments.base import expected_utility, felt_utility
from druthers.policies import Policy
from druthers.policies.steps import (
    answer_policy,
    ask_policy,
    hear_policy,
    learn_choice_policy,
    learn_policy,
    score_policy,
)
from druthers.types import Decision, Floats, Integers

# Preference errors are averaged over at most so many users, so that measuring costs little however many there are.
MEASURED_USERS = 100

# A policy's noise is drawn in blocks of about so many numbers, which stay in the processor's cache.
NOISE_BLOCK = 1 << 16


class Played(NamedTuple):
    """Some rounds as they were played, one row for each interaction: the arm chosen and the regret of that choice."""

    arms: Integers
    regret: Floats


class Run(NamedTuple):
    """What came of a policy on a tape, read after some of its rounds."""

    rounds: Integers  # counted from 1, after which the others were read
    regret: Floats  # cumulative
    error: Floats  # distance of estimated and true preference, averaged over users; NaN where none is learned
    gram_error: Floats  # the same in the norm of the policy's own matrix V, as in the paper's appendix
    pulls: Integers  # how often each arm was chosen, the arm that is best on average over the users first


def spread_rounds(horizon: int, points: int = 75) -> Integers:
    """Return rounds at which to read a curve: `points` evenly spread, and a third as many evenly in the logarithm.

    The last round is always among them: what is told of a whole run is read there.
    """
    points = min(points, horizon)
    even, early = np.linspace(1, horizon, points), np.geomspace(1, horizon, 1 + points // 3)
    return np.unique(np.concatenate([even, early, [horizon]]).round().astype(np.int64))


class Game(NamedTuple):
    """What stays the same over a run: rules, rows and the truth.

    All of a round of `batch` interactions choose before any of them learns. Where all arms are offered, `best_of_all`
    keeps each user's best utility once it is known; NaN before.
    """

    batch: int
    exploration: float
    tells_utility: bool
    arm_rows: Integers
    user_rows: Integers
    means: Floats
    preferences: Floats
    best_of_all: Floats


class Drawn(NamedTuple):
    """Some rounds as chance drew them, by row: those of a `Chunk` and the policy's own noise and coins."""

    users: Integers
    offers: Integers
    orders: NDArray[np.int16]
    lengths: Integers
    reward_noise: Floats
    preference_noise: Floats
    noise: Floats
    coins: Floats


def simulate(policy: Policy, tape: Tape, rounds: Integers | None = None) -> Run:
    """Let a fresh policy play a whole tape, compiled; it ends in the state that single steps would lead to.

    Parameters
    ----------
    policy
        One that has not played yet.
    tape
        What it plays on.
    rounds
        After which rounds to look, rising; about a hundred by default.

    Examples
    --------
    >>> from druthers import make_policy
    >>> from druthers.environments import Synthetic
    >>> tape = Synthetic().tape(seed=1, horizon=50)
    >>> simulate(make_policy("s-ucb", n_objectives=20), tape).regret.shape
    (50,)
    """
    stops = spread_rounds(tape.horizon) if rounds is None else np.asarray(rounds, dtype=np.int64)
    total = 0.0
    curve: list[float] = []
    pulls = np.zeros(len(tape.means), dtype=np.int64)
    errors = np.full((2, len(stops)), np.nan)
    measured = tape.preferences[:MEASURED_USERS]
    for reached, played in play_tape(policy, tape, stops):
        total += float(played.regret.sum())
        pulls += np.bincount(played.arms, minlength=len(pulls))
        if len(curve) < len(stops) and reached == stops[len(curve)]:
            errors[:, len(curve)] = policy._distances(measured)
            curve.append(total)
    best_first = np.argsort(-(tape.means @ tape.preferences.mean(axis=0)), kind="stable")
    return Run(stops, np.array(curve), errors[0], errors[1], pulls[best_first])


def play_tape(policy: Policy, tape: Tape, stops: Integers) -> Iterator[tuple[int, Played]]:
    """Let a fresh policy play a tape, pausing after the rounds in `stops`; yield each round reached and the play."""
    if tape.shifts is not None:
        yield from _play_visits(policy, tape, stops)
        return
    n_arms, n_users = len(tape.means), len(tape.preferences)
    policy.add_arms(range(n_arms), tape.features if policy.learns_features else None)
    policy.add_users(range(n_users))
    arm_rows = np.array([policy._arms.rows[arm] for arm in range(n_arms)], dtype=np.int64)
    user_rows = np.array([policy._users.rows[user] for user in range(n_users)], dtype=np.int64)
    batch, rates = tape.users_per_round, (float(policy.exploration), tape.tells_utility)
    game = Game(batch, *rates, arm_rows, user_rows, tape.means, tape.preferences, np.full(n_users, np.nan))
    start, compiled = 0, None
    for chunk in tape.chunks():
        rows = len(chunk.users)
        end = start + rows // batch
        width = (chunk.offers.shape[1] or n_arms) * policy.noise_per_arm
        most = batch * max(1, NOISE_BLOCK // (batch * max(width, 1)))
        coins = policy._coins.random((rows, 2)) if policy.exploration else np.ones((rows, 2))
        lengths = chunk.lengths if policy.hears else np.zeros_like(chunk.lengths)
        by_row: Any = (chunk.users, chunk.offers, chunk.orders, lengths, chunk.reward_noise, chunk.preference_noise)
        played = Played(np.empty(rows, dtype=np.int64), np.empty(rows))
        pauses = [*stops[np.searchsorted(stops, start, "right") : np.searchsorted(stops, end, "left")].tolist(), end]
        first = 0
        for pause in pauses:
            last = (pause - start) * batch
            for begin in range(first, last, most):
                part = slice(begin, min(begin + most, last))
                noise = policy._noise.standard_normal((part.stop - begin, width))
                picks = chunk.picks[part] if chunk.picks is not None and policy.learns_choices else None
                drawn = Drawn._make([*(array[part] for array in by_row), noise, coins[part]])
                arguments = (policy._state, game, drawn, picks, Played(played.arms[part], played.regret[part]))
                compiled = compiled or bound(play, *arguments)
                compiled(*arguments)
            yield pause, Played(played.arms[first:last], played.regret[first:last])
            first = last
        start = end


def play_by_steps(policy: Policy, tape: Tape) -> Played:
    """Do the same through `hear`, `ask`, `choose`, `learn` and `learn_choice`: slow, and what `play_tape` means."""
    return _joined([_played(tape, taken) for taken in take_steps(policy, tape, tape.chunks())])


def _play_visits(policy: Policy, tape: Tape, stops: Integers) -> Iterator[tuple[int, Played]]:
    """Play a tape whose visits have contexts, by single steps: what users feel in contexts has no rows of its own."""
    pauses, rounds = {*stops.tolist(), tape.horizon}, []
    for number, taken in enumerate(take_steps(policy, tape, tape.chunks()), 1):
        rounds.append(_played(tape, taken))
        if number in pauses:
            yield number, _joined(rounds)
            rounds = []


class Taken(NamedTuple):
    """An interaction by single steps: its row in a chunk, what the user wanted then, the decision and its outcome."""

    row: int
    wanted: Floats
    decision: Decision
    reward: Floats
    utility: float | None  # None where users do not tell it


def take_steps(policy: Policy, tape: Tape, chunks: Iterable[Chunk]) -> Iterator[list[Taken]]:
    """Play the chunks of a tape step by step; yield each round once all of it is learned."""
    everything = range(len(tape.means))
    policy.add_arms(everything, tape.features if policy.learns_features else None)
    policy.add_users(range(len(tape.preferences)))
    for chunk in chunks:
        users, wanted = chunk.users.tolist(), tape.wanted(chunk)
        for first in range(0, len(users), tape.users_per_round):
            taken: list[Taken] = []
            for t in range(first, first + tape.users_per_round):
                policy.hear(users[t], chunk.orders[t, : chunk.lengths[t]])
                question = policy.ask(users[t])
                if question is not None:
                    policy.answer(users[t], question, likes(tape.preferences[users[t]], question.objective))
                with policy.in_context(_context_of(policy, chunk, t)):
                    decision = policy.choose(users[t], chunk.offers[t].tolist() or everything)
                arm: Any = decision.arm
                reward = tape.means[arm] + chunk.reward_noise[t]
                felt = felt_utility(wanted[t], chunk.preference_noise[t], reward) if tape.tells_utility else None
                taken.append(Taken(t, wanted[t], decision, reward, felt))
            for t, _, decision, reward, felt in taken:
                with policy.in_context(_context_of(policy, chunk, t)):
                    policy.learn(users[t], decision.arm, reward, felt)
                    if chunk.picks is not None and policy.learns_choices:
                        policy.learn_choice(users[t], decision.offer[chunk.picks[t]], decision.offer)
            yield taken


def _played(tape: Tape, taken: Sequence[Taken]) -> Played:
    """Return the arms and the regret of a round."""
    regret = []
    for one in taken:
        offer: Any = one.decision.offer
        utilities = [expected_utility(one.wanted, tape.means[arm]) for arm in offer]
        regret.append(max(utilities) - utilities[one.decision.places[0]])
    return Played(np.array([one.decision.arm for one in taken]), np.array(regret))


def _joined(rounds: Sequence[Played]) -> Played:
    return Played(*(np.concatenate(parts) for parts in zip(*rounds, strict=True)))


def _context_of(policy: Policy, chunk: Chunk, row: int) -> dict[str, float] | None:
    """Return the context of a visit for a policy, its entries by number; None where there is none to tell it."""
    if chunk.contexts is None or not policy.learns_contexts:
        return None
    return {str(k): told for k, told in enumerate(chunk.contexts[row].tolist())}


@kernel
def likes(preference: Floats, objective: int) -> float:
    """Return a user's answer to "do you care about this?": 1 if its weight is above the mean of the user's weights."""
    mean = 0.0
    for k in range(preference.shape[0]):
        mean += preference[k]
    return 1.0 if preference[objective] * preference.shape[0] > mean else 0.0


@kernel
def play(state: Any, game: Game, drawn: Drawn, picks: Integers | None, played: Played) -> None:
    """Play some rounds: write the arm chosen and its regret for each interaction, leave `state` as single steps would.

    Where `picks` is None, nothing of choices is compiled: so they are an argument of their own.
    """
    batch, exploration, tells_utility, arm_rows, user_rows, means, preferences, best_of_all = game
    users, offers, orders, lengths, reward_noise, preference_noise, noise, coins = drawn
    arms, regret = played
    n_offered = offers.shape[1] if offers.shape[1] > 0 else arm_rows.shape[0]
    order = np.empty(means.shape[1], dtype=np.int64)
    rows = np.empty(n_offered, dtype=np.int64)
    reasons = np.empty((4, n_offered))
    reward = np.empty(means.shape[1])
    for t in range(users.shape[0]):
        user = users[t]
        row = user_rows[user]
        present(orders[t], offers[t], arm_rows, order, rows)
        if lengths[t] > 0:
            hear_policy(state, row, order[: lengths[t]])
        asked = ask_policy(state, row)
        if asked >= 0:
            answer_policy(state, row, asked, likes(preferences[user], asked))
        score_policy(state, row, rows, noise[t], reasons)
        arms[t] = pick(reasons[3], coins[t], exploration, offers[t])
        regret[t] = lost_utility(arms[t], offers[t], preferences[user], means, best_of_all, user)
        if (t + 1) % batch == 0:
            for s in range(t + 1 - batch, t + 1):
                other = users[s]
                utility = reap(preferences[other], preference_noise[s], means[arms[s]], reward_noise[s], reward)
                told = utility if tells_utility else np.nan
                learn_policy(state, user_rows[other], arm_rows[arms[s]], reward, told)
                if picks is not None:
                    present(orders[s], offers[s], arm_rows, order, rows)
                    learn_choice_policy(state, user_rows[other], rows, picks[s])


# What does not depend on the class of the state is apart from `play`, so that it is compiled once for all policies.
@kernel
def present(order: NDArray[np.int16], offer: Integers, arm_rows: Integers, out: Integers, rows: Integers) -> None:
    """Write a ranking as whole numbers into `out` and the rows of the offered arms, all where none is listed."""
    for place in range(order.shape[0]):
        out[place] = order[place]
    for j in range(rows.shape[0]):
        rows[j] = arm_rows[offer[j] if offer.shape[0] > 0 else j]


@kernel
def pick(scores: Floats, coins: Floats, exploration: float, offer: Integers) -> int:
    """Return the offered arm with the highest score, or now and then one of a random rank."""
    place = 0
    if coins[0] < exploration:  # of equal scores the earlier one has the better rank
        place = best_first(scores)[int(coins[1] * scores.shape[0])]
    else:
        for j in range(1, scores.shape[0]):
            if scores[j] > scores[place]:
                place = j
    return int(offer[place]) if offer.shape[0] > 0 else place


@kernel
def best_first(scores: Floats) -> Integers:
    """Return the places of scores, the highest first, of equal ones the earlier.

    Merged in pairs, from below: what Numba makes of NumPy's sorting takes two seconds to compile, in every process.
    """
    size = scores.shape[0]
    order, merged = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for j in range(size):
        order[j] = j
    width = 1
    while width < size:
        for begin in range(0, size, 2 * width):
            left, right = begin, begin + width
            middle, end = min(right, size), min(right + width, size)
            for place in range(begin, end):
                if left < middle and (right >= end or scores[order[left]] >= scores[order[right]]):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@kernel
def lost_utility(arm: int, offer: Integers, preference: Floats, means: Floats, best_of_all: Floats, user: int) -> float:
    """Return the regret of an arm; `best_of_all` keeps each user's best utility where all arms are offered."""
    everything = offer.shape[0] == 0
    best = best_of_all[user] if everything else np.nan
    if np.isnan(best):
        best = -np.inf
        for j in range(means.shape[0] if everything else offer.shape[0]):
            best = max(best, expected_utility(preference, means[j if everything else offer[j]]))
        best_of_all[user] = best
    return best - expected_utility(preference, means[arm])


@kernel
def reap(preference: Floats, preference_noise: Floats, mean: Floats, reward_noise: Floats, out: Floats) -> float:
    """Write the reward of an arm and return the utility that the user felt."""
    for k in range(out.shape[0]):
        out[k] = mean[k] + reward_noise[k]
    return felt_utility(preference, preference_noise, out)
