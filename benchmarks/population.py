"""What a population is worth to whoever is new: regret over the first 1, 5 and 20 rounds, with it and without.

    python benchmarks/population.py [--crowds N] [--size D]

A hundred people play 20 rounds each before; then come ten newcomers. *alike*: weights are N(m, 0.5^2) around means of
deviation 1.5 that people share; *nothing in common*: N(0, 1.5^2); *opposite*: one half of people wants what the other
half does not. Each round a person ranks three objectives, is offered ten of 40 arms and feels a utility. Rewards are
known from before. Ratios of mean regret with standard errors over crowds, paired.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from druthers import make_policy

ARMS, OFFERED, LENGTH, NOISE, ROUNDS = 40, 10, 3, 0.5, 20
READ = (1, 5, 20)
WORLDS = ("alike", "nothing in common", "opposite")


def draw_people(world: str, n_people: int, size: int, rng: Any) -> Any:
    """Return the weights (n, D) of people in random order."""
    common = 1.5 * rng.normal(size=size)
    own = rng.normal(size=(n_people, size))
    if world == "alike":
        return common + 0.5 * own
    if world == "opposite":
        return np.where(rng.random(n_people) < 0.5, 1.0, -1.0)[:, None] * common + 0.5 * own
    return 1.5 * own


def play(task: tuple[str, int, int, int, int]) -> np.ndarray:
    """Return mean regret of newcomers over their first rounds (2, 3): without a population and with one."""
    world, size, before, newcomers, seed = task
    results = []
    for population in (False, True):
        rng = np.random.default_rng((WORLDS.index(world), size, seed))
        weights = draw_people(world, before + newcomers, size, rng)
        means = rng.uniform(0.0, 2.0, (ARMS, size))
        policy = make_policy("fisher-pqucb", n_objectives=size, population=population)
        for arm in range(ARMS):
            policy.give("catalog", arm, means[arm], np.full(size, 1e6))
        regret = np.zeros((before + newcomers, ROUNDS))
        for person in range(before + newcomers):
            for t in range(ROUNDS):
                order = np.argsort(-(weights[person] + rng.gumbel(size=size)))[:LENGTH]
                offer, noise = rng.choice(ARMS, OFFERED, replace=False), rng.normal(size=size)
                if t > 0:  # who is new has not said anything yet
                    policy.hear(person, order)
                arm: Any = policy.choose(person, offer.tolist()).arm
                utilities = means @ weights[person]
                regret[person, t] = utilities[offer].max() - utilities[arm]
                policy.learn(person, arm, utility=float((weights[person] + math.sqrt(NOISE) * noise) @ means[arm]))
        results.append([regret[before:, :rounds].sum(axis=1).mean() for rounds in READ])
    return np.array(results)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crowds", type=int, default=20)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--before", type=int, default=100)
    parser.add_argument("--newcomers", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    print(f"regret with a population relative to without, first {READ} rounds of a newcomer, D = {given.size}")
    with ProcessPoolExecutor(given.processes) as pool:
        for world in WORLDS:
            tasks = [(world, given.size, given.before, given.newcomers, seed) for seed in range(given.crowds)]
            without, with_one = np.array(list(pool.map(play, tasks))).transpose(1, 0, 2)
            ratios = with_one.mean(axis=0) / without.mean(axis=0)
            off = (with_one - ratios * without) / without.mean(axis=0)
            errors = off.std(axis=0, ddof=1) / math.sqrt(given.crowds)
            cells = "   ".join(f"{ratio:.2f} ± {error:.2f}" for ratio, error in zip(ratios, errors, strict=True))
            print(f"{world:18s} {cells}", flush=True)


if __name__ == "__main__":
    main()
