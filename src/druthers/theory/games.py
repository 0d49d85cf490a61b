"""Worlds in which regret is measured, and games that are played once, whoever asks for them."""

import math
from typing import Any, TypeAlias

import numpy as np

from druthers import bounds
from druthers.environments import Environment, Reviews, Synthetic
from druthers.policies import make_policy
from druthers.simulation import simulate
from druthers.theory.claims import Game, Interval, Line, mean_line, resampled
from druthers.types import Floats, Integers

# The world of the analysis: rewards between 0 and 1 or nearly so, weights that sum to one; four users, ten arms.
BOUNDED: dict[str, Any] = {
    "n_arms": 10,
    "n_objectives": 5,
    "n_users": 4,
    "offered": 10,
    "scale": 1.0,
    "preference_law": "dirichlet",
    "reward_noise": 0.02,
    "preference_noise": 0.02,
}
# Two arms of one objective each, rewards without noise: only trying an arm, or words, tell what it is worth.
FIXED: dict[str, Any] = {"rewards": [[1.0, 0.0], [0.0, 1.0]], "preferences": [[1.0, 1.3]], "reward_noise": 0.0}
# Two arms that differ in rewards alone, and noisily.
NOISY: dict[str, Any] = {"rewards": [[2.0, 2.0], [2.5, 2.5]], "preferences": [[1.0, 1.0]], "preference_noise": 0.05}
# Where a bonus of one standard deviation gave up an arm for good, now and then.
STARVING: dict[str, dict[str, Any]] = {
    "fixed, silent": {**FIXED, "query_rate": 0.0},
    "fixed, asked": FIXED,
    "noisy, silent": {**NOISY, "query_rate": 0.0},
    "noisy, asked": NOISY,
}
# As hard as an instance can be at a horizon: two arms too close to be told apart before its end.
HARDEST = "hardest"

_played: dict[Game, Floats] = {}


def make_world(name: str, horizon: int) -> Environment:
    """Return a world by its name; the hardest one depends on the horizon."""
    if name in STARVING:
        return Reviews(**STARVING[name])
    if name == HARDEST:
        gap = math.sqrt(2.0 / horizon)  # sqrt(s^2 K/T), s^2 = 1 the variance of a utility: what T/K tries just show
        return Reviews(rewards=[[1.0, 1.0], [1.0 + gap, 1.0]], preferences=[[1.0, 1.0]], preference_noise=0.05)
    return Synthetic(**BOUNDED, corruption=0.2 if name == "corrupted" else 0.0)


Pair: TypeAlias = tuple[float, float]


def our_bound(
    horizon: float,
    size: int,
    arms: int,
    norms: Pair,
    variances: Pair,
    length: int = 0,
    rate: float = 1.0,
    share: float = 0.5,
) -> bounds.RegretBound:
    """Return the bound of our theorem for one user, by norms of reward and preference, variances of reward and utility.

    The user ranks so many objectives, all by default, in a share of the rounds.
    """
    told = np.linalg.eigvalsh(bounds.ranking_information(np.zeros(size), length or size))
    given: dict[str, Any] = {"n_objectives": size, "n_arms": arms, "mean_length": float(length or size)}
    given |= {"query_information": rate * float(told[1]) if size > 1 else 1.0, "level_share": share}
    given |= {"reward_norm": norms[0], "preference_norm": norms[1]}
    return bounds.guaranteed_regret(horizon, reward_variance=variances[0], variance=variances[1], **given)


def marks(horizon: int) -> Integers:
    """Return rounds at which regret is read: six in each decade, evenly in the logarithm, powers of ten among them."""
    steps = round(6 * math.log10(horizon / 100.0))
    return np.unique(np.geomspace(100, horizon, steps + 1).round().astype(np.int64))


def play(game: Game, run: int) -> Floats:
    """Return the regret of one run of a game at its marks."""
    tape = make_world(game.world, game.horizon).tape(seed=(20, run), horizon=game.horizon)
    policy = make_policy(game.policy, n_objectives=tape.means.shape[1], seed=run, **dict(game.options))
    return simulate(policy, tape, marks(game.horizon)).regret


def keep(game: Game, regrets: Floats) -> None:
    """Keep the regret (runs, marks) of a game that was played elsewhere."""
    _played[game] = regrets


def regrets_of(game: Game) -> Floats:
    """Return the regret (runs, marks) of a game; asked for again, it is not played again."""
    if game not in _played:
        keep(game, np.array([play(game, run) for run in range(game.runs)]))
    return _played[game]


def band(label: str, game: Game) -> Line:
    """Return the mean regret of a game as a line with its interval."""
    return mean_line(label, marks(game.horizon), regrets_of(game), 0.1)


def mean_exponent(game: Game, first: float, last: float) -> Interval:
    """Return the a of T^a by which the mean regret grows between two rounds, with its interval over runs."""
    rounds = marks(game.horizon)
    ends = [int(np.argmin(np.abs(np.log(rounds / each)))) for each in (first, last)]

    def grown(regrets: Floats) -> float:
        before, after = (max(float(regrets[:, end].mean()), 1e-9) for end in ends)
        return math.log(after / before) / math.log(rounds[ends[1]] / rounds[ends[0]])

    return resampled(grown, regrets_of(game))
