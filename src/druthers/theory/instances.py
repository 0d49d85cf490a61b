"""Claims on instances made for them: Theorem 1's twins, arms that used to starve, and the hardest gaps."""

import math
from typing import Any

import numpy as np

from druthers.environments import Reviews
from druthers.policies import make_policy
from druthers.simulation import simulate
from druthers.theory.claims import Chart, Finding, Game, Line, all_of, at_least, at_most, exponents, interval, resampled
from druthers.theory.games import HARDEST, STARVING, band, marks, mean_exponent, our_bound, regrets_of
from druthers.types import Floats

# Theorem 1's instance: rankings cannot tell one preference from the other, and each has its own best arm.
ARMS = [[0.0, 1.0], [0.7, 0.7]]
TWINS = [[0.1, 0.3], [0.4, 0.6]]
# Arms of equal sums: no shift changes the best one.
EQUAL = [[0.2, 0.8], [0.7, 0.3]]
GUARANTEE = (("guarantee", True),)


def twin_runs(arms: list[list[float]], weight: float | None, horizon: int, runs: int) -> tuple[Floats, Floats]:
    """Return the regret of both twins together (runs, marks), and the worse twin's share of what can be lost late."""
    rounds = marks(horizon)
    curves, shares = np.zeros((runs, len(rounds))), np.zeros(runs)
    for run in range(runs):
        for number, twin in enumerate(TWINS):
            world = Reviews(rewards=arms, preferences=[twin], reward_noise=0.0, preference_noise=0.01)
            policy = make_policy("mo-pqucb", n_objectives=2, horizon=horizon, feedback_weight=weight)
            regret = simulate(policy, world.tape(seed=(22, run, number), horizon=horizon), rounds).regret
            curves[run] += regret
            half = float(np.interp(horizon / 2, rounds, regret))
            lost = (regret[-1] - half) / (horizon / 2 * np.ptp(np.array(arms) @ twin))
            shares[run] = max(shares[run], lost)
    return curves, shares


def check_queries_alone(fast: bool) -> Finding:
    """Theorem 1, corrected: Rankings alone cost linear regret where a shift changes the best arm; utilities repair it.

    The theorem says that for some preference it is linear.
    """
    horizon, runs = (10_000, 4) if fast else (100_000, 8)
    rounds = marks(horizon)
    alone, repaired, equal = (
        twin_runs(arms, weight, horizon, runs) for arms, weight in ((ARMS, 1e-9), (ARMS, None), (EQUAL, 1e-9))
    )
    linear = interval(exponents(rounds.astype(float), alone[0]))
    grown = interval(exponents(rounds.astype(float), repaired[0]))
    late, none = interval(alone[1]), interval(equal[1])
    named = (("rankings alone", alone), ("MO-PQUCB", repaired), ("rankings alone, equal sums", equal))
    return Finding(
        ran=f"arms (0, 1) and (0.7, 0.7), preferences (0.1, 0.3) and (0.4, 0.6), T = {horizon:,},"
        f" {runs} runs; and two arms of equal sums, where no shift changes the best arm",
        figure=(
            f"rankings alone: the worse arm in {late.mean:.0%} of the second half for one of both, exponent over the"
            f" last decade {linear}; MO-PQUCB exponent {grown}; equal sums: the worse arm in {none.mean:.0%}"
        ),
        test="intervals: the exponent of rankings alone above 0.95, MO-PQUCB's below 0.95, and the worse arm in less"
        " than 10 % where sums are equal: the theorem needs a shift that changes the best arm",
        verdict=all_of([at_least(linear, 0.95), at_most(grown, 0.95), at_most(none, 0.1)]),
        values={"alone": linear._asdict(), "mo-pqucb": grown._asdict(), "equal": none._asdict()},
        chart=Chart(
            "round",
            "regret of both preferences",
            [Line(label, rounds, np.maximum(curves.mean(axis=0), 1e-3)) for label, (curves, _) in named],
        ),
    )


def starving_games(fast: bool) -> list[Game]:
    """Return the games on instances where arms used to starve; the default first, then with the guarantee."""
    horizon, many, some, few = (20_000, 6, 3, 3) if fast else (1_000_000, 24, 5, 4)
    # Where nothing is said the default differs most from run to run, and with the guarantee runs hardly differ.
    of_default = [
        Game("fisher-pqucb", (), world, horizon, many if world == "fixed, silent" else some) for world in STARVING
    ]
    return of_default + [Game("fisher-pqucb", GUARANTEE, world, horizon, few) for world in STARVING]


def check_starving(fast: bool) -> Finding:
    """Our default: No arm is given up for good: regret grows no faster than T⁰·⁶, without any query too."""
    games = starving_games(fast)
    horizon = games[0].horizon
    start = horizon / 100.0
    told: dict[str, dict[str, Any]] = {"default": {}, "guarantee": {}}
    for game in games:
        mode = "guarantee" if game.options else "default"
        decades = ((start, math.sqrt(start * horizon)), (math.sqrt(start * horizon), float(horizon)))
        told[mode][game.world] = [mean_exponent(game, *decade) for decade in decades]
    worst = {
        mode: max((each for row in rows.values() for each in row), key=lambda each: each.high)
        for mode, rows in told.items()
    }
    lines = []
    for default, sure in zip(games[: len(STARVING)], games[len(STARVING) :], strict=True):
        bound = Line(f"{sure.world}, guarantee", marks(horizon), regrets_of(sure).mean(axis=0), dashed=True)
        lines += [band(default.world, default), bound]
    silent = games[0]
    regrets, rounds = regrets_of(silent), marks(horizon)
    early = int(np.argmin(np.abs(rounds - horizon / 10)))
    stuck = int(np.sum(regrets[:, -1] - regrets[:, early] > 0.9 * 0.3 * (rounds[-1] - rounds[early])))
    return Finding(
        ran=f"two arms, fixed rewards (1, 0), (0, 1) or noisy ones (2, 2), (2.5, 2.5), with a query each round"
        f" (asked) and with none (silent), T = {horizon:,}, {games[1].runs} runs of the default, {silent.runs} with"
        f" fixed rewards and no queries, and {games[-1].runs} with the guarantee",
        figure=f"largest exponent of the mean over a decade from T = {start:,.0f} on: default {worst['default']},"
        f" guarantee {worst['guarantee']}; {stuck} of these {silent.runs} stay on the worse arm",
        test="intervals over runs of all exponents, two decades of four instances in both modes, at most 0.6",
        verdict=all_of(at_most(each, 0.6) for rows in told.values() for row in rows.values() for each in row),
        values={
            "exponents": {
                mode: {world: [each._asdict() for each in row] for world, row in rows.items()}
                for mode, rows in told.items()
            },
            "stuck": stuck,
        },
        chart=Chart("round", "regret", lines),
    )


def hardest_games(fast: bool) -> list[Game]:
    """Return games at the hardest gap of several horizons: with the guarantee, and without, which no verdict needs."""
    sizes = ((1_000, 20), (10_000, 8)) if fast else ((1_000, 100), (10_000, 60), (100_000, 30), (1_000_000, 8))
    guaranteed = [Game("fisher-pqucb", GUARANTEE, HARDEST, *size) for size in sizes]
    return guaranteed + [Game("fisher-pqucb", (), HARDEST, *size) for size in sizes if size[0] < 1_000_000]


def check_hardest(fast: bool) -> Finding:
    """Our theorem: At the hardest gap of each horizon its regret grows like √T.

    That gap is sqrt(s^2 K/T), which no policy can see in time.
    """
    of_guarantee, of_default = ([game for game in hardest_games(fast) if bool(game.options) == sure] for sure in (1, 0))
    horizons = np.array([float(game.horizon) for game in of_guarantee])

    def rise(*ends: Floats) -> float:
        means = [max(float(each.mean()), 1e-9) for each in ends]
        return float(np.polyfit(np.log(horizons[: len(means)]), np.log(means), 1)[0])

    ends, other_ends = ([regrets_of(game)[:, -1] for game in games] for games in (of_guarantee, of_default))
    guaranteed, default = resampled(rise, *ends), resampled(rise, *other_ends)
    told = np.array([_hardest_bound(horizon) for horizon in horizons])
    limit = np.polyfit(np.log(horizons), np.log(np.sqrt(horizons * np.log(horizons))), 1)[0]
    means, other_means = (np.array([interval(each) for each in each_ends]).T for each_ends in (ends, other_ends))
    return Finding(
        ran=f"two arms with a gap of √(2/T), T = {horizons[0]:,.0f} to {horizons[-1]:,.0f}, each horizon a game of its"
        f" own; the default to {of_default[-1].horizon:,}",
        figure=f"exponent of regret at the end: guarantee {guaranteed}, default {default}; of √(T ln T) {limit:.3f}",
        test="the guarantee's interval below the exponent of √(T ln T) here, and every mean below the bound",
        verdict=all_of([at_most(guaranteed, limit), *map(at_most, map(interval, ends), told)]),
        values={"guarantee": guaranteed._asdict(), "default": default._asdict(), "limit": limit},
        chart=Chart(
            "horizon T",
            "regret at the end",
            [
                Line("guarantee", horizons, *means),
                Line("our bound", horizons, told, dashed=True),
                Line("default", horizons[: len(of_default)], *other_means),
            ],
        ),
    )


def _hardest_bound(horizon: float) -> float:
    """Return our bound at the hardest gap: two arms and objectives, rewards about (1, 1), a full ranking each round."""
    norms, variances = (math.sqrt(2.0) + 3.0, math.sqrt(2.0)), (2.0 * 1.25 * 0.5, 0.125)
    return our_bound(horizon, 2, 2, norms, variances).total
