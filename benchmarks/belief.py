"""How often 90 % intervals hold the truth where utilities come in other units than words.

    python benchmarks/belief.py                       all units, sizes, sources of evidence: some ten minutes
    python benchmarks/belief.py --quick               five objectives, fewer people: a minute
    python benchmarks/belief.py --population          the same with 30 people known before, and what they share
    python benchmarks/belief.py --weights sparse      weights that the prior does not expect; also --noise

People have weights of N(0, 1) in the units of the Plackett-Luce model (wide: of N(0, 9), sparse: 6 for every fourth
and 0 for the others), rank all objectives or three of them, feel utilities of noise 0.5 |reward|^2 and pick from
offers of five, n times each. Beside the share of weights that were held: the error relative to knowing the unit, both
with standard errors over crowds.
"""

from __future__ import annotations

import argparse
import itertools
import math
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

from druthers import Likelihood, make_policy
from druthers.policies.feedback import believe_user

UNITS = (1 / 3, 1.0, 1.5, 2.0, 3.0)
SOURCES = ("utilities", "choices", "both")
ARMS, OFFERED, BEFORE = 40, 5, 30
WEIGHTS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "wide": lambda rng, shape: 3.0 * rng.normal(size=shape),
    "sparse": lambda rng, shape: 6.0 * (rng.random(shape) < 0.25),
}


class Task(NamedTuple):
    """One crowd of a cell of the table."""

    name: str
    size: int
    length: int | None
    unit: float
    source: str
    people: int
    moments: tuple[int, ...]
    population: bool
    weights: str
    noise: float
    seed: int


def crowd(task: Task) -> list[tuple[float, float, float]]:
    """Return, for each moment, the share of weights held, and mean square errors without and with the unit."""
    name, size, length, unit, source, people, moments, population, law, noise, seed = task
    last = max(moments)
    rng = np.random.default_rng((size, SOURCES.index(source), round(100 * unit), seed))
    n_before = BEFORE if population else 0
    weights = WEIGHTS[law](rng, (n_before + people, size))
    rewards = rng.uniform(0.0, math.sqrt(12.0), (ARMS, size))
    setting = {"population": True} if population else {}
    policy = make_policy(name, n_objectives=size, **setting)
    knowing = make_policy("fisher-pqucb", n_objectives=size, unit=unit, anchor=Likelihood(ridge=0.5))
    for each in (policy, knowing):
        for arm in range(ARMS):
            each.give("catalog", arm, rewards[arm], np.full(size, 1e9))
    for person in range(n_before):
        for _ in range(max(last, 10) if population else last):
            live((policy,), person, weights[person], unit, rewards, source, length, noise, rng)
    results = []
    for t in range(1, last + 1):
        for person in range(n_before, n_before + people):
            live((policy, knowing), person, weights[person], unit, rewards, source, length, noise, rng)
        if t in moments:
            results.append(look(policy, knowing, range(n_before, n_before + people), unit * weights, unit))
    return results


def live(policies, person, weights, unit, rewards, source, length, noise, rng) -> None:  # type: ignore[no-untyped-def]
    """Let a person rank, feel and pick once, the same for all policies."""
    order = np.argsort(-(weights + rng.gumbel(size=len(weights))))[:length]
    arm, reward_noise = int(rng.integers(ARMS)), math.sqrt(noise) * rng.normal()
    utility = unit * (weights @ rewards[arm] + reward_noise * float(np.linalg.norm(rewards[arm])))
    offer = rng.choice(ARMS, OFFERED, replace=False)
    picked = int(offer[np.argmax(rewards[offer] @ weights + rng.gumbel(size=OFFERED))])
    for policy in policies:
        policy.hear(person, order)
        if source != "choices":
            policy.learn(person, arm, utility=utility)
        if source != "utilities":
            policy.learn_choice(person, picked, offer.tolist())


def look(policy, knowing, people, truths, unit) -> tuple[float, float, float]:  # type: ignore[no-untyped-def]
    """Return the share of weights held by intervals, and the mean square errors of both policies."""
    held, error, least = [], [], []
    size = truths.shape[1]
    for person in people:
        off = policy.preference(person).weights - truths[person]
        low, high = policy.interval(person)
        held.append((low <= truths[person]) & (truths[person] <= high))
        row = knowing._users.rows[person]
        knowing._state.users.unit[row] = unit
        estimate = believe_user(knowing._state, row).estimate
        error.append(off @ off / size)
        least.append(float((estimate - truths[person]) @ (estimate - truths[person])) / size)
    return float(np.mean(held)), float(np.mean(error)), float(np.mean(least))


def cell(results: list[list[tuple[float, float, float]]], moment: int) -> str:
    """Return a cell of the table: coverage in percent with its error, and the error relative to knowing the unit."""
    held, error, least = np.array([run[moment] for run in results]).T
    spread = 100 * held.std(ddof=1) / math.sqrt(len(held)) if len(held) > 1 else math.nan
    return f"{100 * held.mean():3.0f} ± {spread:1.0f} {math.sqrt(error.mean() / least.mean()):5.2f}"


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--population", action="store_true")
    parser.add_argument("--policy", default="fisher-pqucb")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 12, 20])
    parser.add_argument("--crowds", type=int, default=20)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--moments", type=int, nargs="+", default=[3, 10, 80, 320])
    parser.add_argument("--lengths", type=int, nargs="+", default=[0, 3], help="of rankings, 0 for whole ones")
    parser.add_argument("--sources", nargs="+", default=SOURCES)
    parser.add_argument("--units", type=float, nargs="+", default=UNITS)
    parser.add_argument("--weights", choices=WEIGHTS, default="normal")
    parser.add_argument("--noise", type=float, default=0.5)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if given.quick:
        given.sizes, given.crowds, given.people, given.moments = given.sizes[:1], 4, 10, [3, 10, 80]
    print(f"{given.policy}: % of weights held (90 % is right) ± s.e. of crowds, error relative to knowing the unit\n")
    heads = "".join(f"{f'n = {moment}':>15}" for moment in given.moments)
    print(f"{'D':>2} {'words':>6} {'with':>9} {'unit':>5}{heads}")
    with ProcessPoolExecutor(given.processes) as pool:
        for size, places, source in itertools.product(given.sizes, given.lengths, given.sources):
            for unit in given.units if source != "choices" else (1.0,):
                length = places or None
                cell_of = (given.policy, size, length, unit, source, given.people, tuple(given.moments))
                law = (given.population, given.weights, given.noise)
                tasks = [Task(*cell_of, *law, seed) for seed in range(given.crowds)]
                results = list(pool.map(crowd, tasks))
                cells = "".join(f"{cell(results, moment):>15}" for moment in range(len(given.moments)))
                print(f"{size:2d} {length or 'all':>6} {source:>9} {unit:5.2f}{cells}", flush=True)


if __name__ == "__main__":
    main()
