"""All policies on settings drawn at random: who is best where nobody tuned anything, and how honest are the intervals?

    python benchmarks/settings.py                     25 settings, 20 runs each, all policies with their defaults
    python benchmarks/settings.py --coverage          how often 90 % intervals of weights hold the truth

A setting draws the numbers of arms, objectives, users and rounds, the offer, both noises, the scale and the shape of
weights and means, how often users speak and how much they say.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from druthers import POLICIES, make_policy
from druthers.environments import Reviews
from druthers.simulation import play_tape, simulate

# Nobody's choice: knows the truth; several times slower than all others together.
LEFT_OUT = ("oracle", "mo-pqucb-gl")
OURS = "fisher-pqucb"


def draw_setting(seed: int, number: int) -> tuple[str, dict[str, Any], int]:
    """Return a setting in words, the arguments of its environment, and its horizon."""
    rng = np.random.default_rng((seed, number))
    arms, objectives = int(rng.integers(5, 121)), int(rng.integers(2, 25))
    users, horizon = (
        int(math.exp(rng.uniform(0, math.log(50)))),
        int(math.exp(rng.uniform(math.log(500), math.log(4000)))),
    )
    offered = None if rng.random() < 0.5 else int(rng.integers(3, min(20, arms) + 1))
    reward_noise, preference_noise = np.exp(rng.uniform(math.log(0.05), math.log(2.0), 2))
    scale, spread = math.exp(rng.uniform(0.0, math.log(8.0))), math.exp(rng.uniform(math.log(0.3), math.log(5.0)))
    shape = ("uniform", "dirichlet", "normal", "both signs")[rng.integers(4)]
    halo = float(rng.uniform(0.0, 0.8)) if rng.random() < 0.5 else None
    if halo is None:
        rewards = rng.uniform(0.0, spread, (arms, objectives))
    else:
        common, own = rng.standard_normal((arms, 1)), rng.standard_normal((arms, objectives))
        rewards = spread * (2.5 + 0.6 * (math.sqrt(halo) * common + math.sqrt(1.0 - halo) * own))
    weights = {
        "uniform": lambda: rng.uniform(0.0, scale, (users, objectives)),
        "dirichlet": lambda: 2.0 * scale * rng.dirichlet(np.ones(objectives), users),
        "normal": lambda: 0.5 * scale * rng.standard_normal((users, objectives)),
        "both signs": lambda: rng.uniform(-0.5 * scale, scale, (users, objectives)),
    }[shape]()
    length = (None, "random", int(rng.integers(1, objectives + 1)))[rng.integers(3)]
    query_rate = float(rng.uniform(0.1, 1.0))
    words = (
        f"K {arms:3d}, D {objectives:2d}, N {users:2d}, offered {offered or 'all'}, noise {reward_noise:.2f} and"
        f" {preference_noise:.2f}, {shape} weights up to {scale:.1f}, means up to {spread:.1f},"
        f" length {length or 'all'}, queries {query_rate:.0%}, T {horizon}"
    )
    arguments = {
        "rewards": rewards,
        "preferences": weights,
        "offered": offered,
        "reward_noise": float(reward_noise),
        "preference_noise": float(preference_noise),
        "length": length,
        "query_rate": query_rate,
    }
    return words, arguments, horizon


def play(task: tuple[int, int, int, str]) -> float:
    """Return the final regret of a policy on a run of a setting."""
    seed, number, run, name = task
    _, arguments, horizon = draw_setting(seed, number)
    tape = Reviews(**arguments).tape(seed=(seed, number, run), horizon=horizon)
    policy = make_policy(name, n_objectives=tape.means.shape[1], seed=run)
    return float(simulate(policy, tape, np.array([horizon])).regret[-1])


def cover(task: tuple[int, int, int, str]) -> tuple[int, int]:
    """Return how many weights the intervals held, of how many, at five moments of a run."""
    seed, number, run, name = task
    _, arguments, horizon = draw_setting(seed, number)
    tape = Reviews(**arguments).tape(seed=(seed, number, run), horizon=horizon)
    policy = make_policy(name, n_objectives=tape.means.shape[1], seed=run)
    held = total = 0
    for _ in play_tape(policy, tape, np.unique([30, 100, 300, horizon // 2, horizon])):
        for user, truth in enumerate(tape.preferences):
            if policy._state.users.feedbacks[policy._users.rows[user]] > 0:
                low, high = policy.interval(user)
                inside = (low <= truth) & (truth <= high)
                held, total = held + int(inside.sum()), total + len(inside)
    return held, total


def compare(pool: ProcessPoolExecutor, seed: int, settings: int, runs: int) -> None:
    """Play all policies on all settings and print who is best."""
    names = [name for name in POLICIES if name not in LEFT_OUT]
    ratios: dict[str, list[float]] = {name: [] for name in names}
    good = dict.fromkeys(names, 0)
    for number in range(settings):
        tasks = [(seed, number, run, name) for name in names for run in range(runs)]
        regrets = np.array(list(pool.map(play, tasks, chunksize=runs))).reshape(len(names), runs)
        means = dict(zip(names, regrets.mean(axis=1), strict=True))
        errors = dict(zip(names, regrets.std(axis=1, ddof=1) / math.sqrt(runs), strict=True))
        best = min(means, key=means.__getitem__)
        for name in names:
            ratios[name].append(means[name] / means[OURS])
            # One standard error of the lowest: of the paired difference to it.
            apart = regrets[names.index(name)] - regrets[names.index(best)]
            good[name] += bool(apart.mean() <= apart.std(ddof=1) / math.sqrt(runs))
        words, _, _ = draw_setting(seed, number)
        mark = " " if best == OURS else "*"
        print(
            f"{number:2d}{mark} {OURS} {means[OURS]:9,.1f} ± {errors[OURS]:6,.1f}   best {best:20s} {means[best]:9,.1f}"
            f"   {words}",
            flush=True,
        )
    print(f"\n{'policy':22s} {'ratio':>7s} {'best or within one standard error':>34s} {'worst ratio':>12s}")
    for name in sorted(names, key=lambda name: float(np.mean(np.log(ratios[name])))):
        mean, worst = math.exp(np.mean(np.log(ratios[name]))), max(ratios[name])
        print(f"{name:22s} {mean:7.2f} {good[name]:26d} of {settings:2d} {worst:12.1f}")


def intervals(pool: ProcessPoolExecutor, seed: int, settings: int, runs: int, names: list[str]) -> None:
    """Print how often the 90 % intervals of policies hold the truth, setting by setting."""
    for name in names:
        shares = []
        for number in range(settings):
            counts = np.array(list(pool.map(cover, [(seed, number, run, name) for run in range(runs)])))
            held, total = counts.sum(axis=0)
            shares.append(held / total)
            print(f"{name:20s} {number:2d} {shares[-1]:6.1%}   {draw_setting(seed, number)[0]}", flush=True)
        inside = sum(0.85 <= share <= 0.95 for share in shares)
        print(
            f"{name}: mean {np.mean(shares):.1%}, lowest {min(shares):.1%}, highest {max(shares):.1%};"
            f" {inside} of {settings} between 85 and 95 %\n"
        )


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=25)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--policies", nargs="+", default=[OURS, f"{OURS}-robust"], help="whose intervals")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.processes) as pool:
        if given.coverage:
            intervals(pool, given.seed, given.settings, given.runs, given.policies)
        else:
            compare(pool, given.seed, given.settings, given.runs)


if __name__ == "__main__":
    main()
