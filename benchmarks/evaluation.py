"""How fast a log of decisions is read, exported and judged, and how often the intervals of estimates hold the truth.

The log has the sizes of the paper's synthetic experiment: 20 users, 40 arms, 10 offered, 20 objectives. With
--coverage instead: logs of policies that learn while they are logged, and of one that does not, each judged on a
policy whose value is known exactly.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import druthers as dr
from druthers.environments import Synthetic, Tape
from druthers.errors import NoSupport
from druthers.evaluation import evaluate
from druthers.evaluation.following import LEARN, believe, follow
from druthers.logs import Log, read_log, record, to_obp, write_dsjson, write_log

SMALL = Synthetic(n_arms=6, n_objectives=3, n_users=4, offered=3)
ESTIMATORS = ("dr", "snips", "ips", "replay")

# What is logged: policy, exploration, rows.
LOGGED = (
    ("random", 0.0, 400),
    ("s-ucb", 0.3, 400),
    ("s-ucb", 0.1, 400),
    ("s-ucb", 0.1, 2_000),
    ("mo-pqucb", 0.3, 400),
    ("mo-pqucb", 0.1, 2_000),
    ("fisher-pqucb", 0.3, 400),
    ("fisher-pqucb", 0.1, 2_000),
)


def large_log(n_rows: int) -> Log:
    """Return a log of any length, whose rows are drawn by the ten thousand and then come again."""
    drawn = drawn_log(min(n_rows, 10_000))
    rows = np.arange(n_rows)
    return dataclasses.replace(drawn.select(rows % len(drawn)), rounds=rows)


def drawn_log(n_rows: int) -> Log:
    """Draw a log of an exploring policy, without playing: rewards and utilities are noise around a truth."""
    rng = np.random.default_rng(0)
    means, preferences = rng.uniform(0.0, 5.0, (40, 20)), rng.uniform(0.0, 5.0, (20, 20))
    users, rows = rng.integers(20, size=n_rows), np.arange(n_rows)
    offers = rng.random((n_rows, 40)).argpartition(10, axis=1)[:, :10]
    orders = rng.random((n_rows, 20)).argsort(axis=1)
    chances = np.full((n_rows, 10), 0.02)
    chances[rows, means.sum(axis=1)[offers].argmax(axis=1)] += 0.8
    places = (rng.random((n_rows, 1)) > chances.cumsum(axis=1)).sum(axis=1).clip(0, 9)
    rewards = means[offers[rows, places]] + rng.normal(0.0, 0.7, (n_rows, 20))
    return Log(
        objectives=tuple(f"objective {k}" for k in range(20)),
        user_ids=tuple(f"user {k}" for k in range(20)),
        arm_ids=tuple(f"arm {k}" for k in range(40)),
        policy_names=("drawn",),
        rounds=rows,
        times=None,
        users=users.astype(np.int32),
        offer_starts=np.arange(n_rows + 1) * 10,
        offers=offers.ravel().astype(np.int32),
        ranking_starts=np.arange(n_rows + 1) * 20,
        rankings=orders.ravel().astype(np.int16),
        places=places.astype(np.int32),
        propensities=chances[rows, places],
        rewards=rewards,
        utilities=np.einsum("nd,nd->n", preferences[users], rewards),
        policies=np.zeros(n_rows, dtype=np.int32),
        chances=chances.ravel(),
    )


def print_speed(n_rows: int) -> None:
    """Print rows per second of each step, and the peak memory of all."""
    print("compiling what the cache does not have")
    tiny = large_log(200)
    for name in ("mo-pqucb", "fisher-pqucb"):
        follow(dr.make_policy(name, n_objectives=20), tiny, LEARN)
    believe(dr.make_policy("fisher-pqucb", n_objectives=20), tiny, tiny.chances)
    record(dr.make_policy("mo-pqucb", n_objectives=20, exploration=0.1), Synthetic().tape(seed=0, horizon=100))
    log = large_log(n_rows)
    print(f"\n{log}; {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB\n")
    print(f"{'step':48s} {'seconds':>8s} {'rows/s':>12s} {'peak MB':>8s}")
    shown = np.tile([0.5] + [0.05] * 8 + [0.1], n_rows)
    tape = Synthetic().tape(seed=1, horizon=min(n_rows, 20_000))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        steps: list[tuple[str, int, Callable[[], Any]]] = [
            ("record mo-pqucb", tape.horizon, lambda: record(exploring(), tape)),
            ("write Parquet", n_rows, lambda: write_log(log, path)),
            ("read Parquet", n_rows, lambda: read_log(path)),
            ("export to Open Bandit Pipeline, without pi_b", n_rows, lambda: to_obp(log, chances=False)),
            ("export to dsjson", n_rows, lambda: write_dsjson(log, Path(folder) / "log.dsjson")),
            ("ips and snips of given chances", n_rows, lambda: evaluate(log, shown, estimators=["ips", "snips"])),
            ("dr, snips, ips, replay of given chances", n_rows, lambda: evaluate(log, shown)),
            ("dr, snips, ips, replay of mo-pqucb", n_rows, lambda: evaluate(log, "mo-pqucb")),
            ("replay of mo-pqucb", n_rows, lambda: evaluate(log, "mo-pqucb", estimators=["replay"])),
        ]
        for label, rows, step in steps:
            start = time.perf_counter()
            step()
            seconds = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{label:48s} {seconds:8.2f} {rows / seconds:12,.0f} {peak:8,.0f}", flush=True)


def exploring() -> dr.Policy:
    """Return a policy whose log can be used."""
    return dr.make_policy("mo-pqucb", n_objectives=20, exploration=0.1)


def wise_chances(log: Log, tape: Tape) -> np.ndarray:
    """Return chances that mostly follow the true preference: 0.9 for the best arm, 0.05 for each other."""
    utilities = np.sum(np.repeat(tape.preferences[log.users], 3, axis=0) * tape.means[log.offers], axis=1)
    best = utilities.reshape(-1, 3).argmax(axis=1)
    return np.where(np.arange(3) == best[:, None], 0.9, 0.05).ravel()


def wise_value(tape: Tape) -> np.ndarray:
    """Return what these chances are worth, over all users and offers: utility, then objectives."""
    values = []
    for user, offer in itertools.product(range(4), itertools.combinations(range(6), 3)):
        means = tape.means[list(offer)]
        utilities = means @ tape.preferences[user]
        chances = np.where(utilities == utilities.max(), 0.9, 0.05)
        values.append([chances @ utilities, *(chances @ means)])
    return np.mean(values, axis=0)


def print_coverage(n_logs: int) -> None:
    """Print how many of the 95 % intervals hold the truth: of utility, and of the three objectives together."""
    print(f"{n_logs} logs each; a share of 95 % has a standard error of {100 * (0.0475 / n_logs) ** 0.5:.1f}\n")
    print(f"{'logged':14s} {'explores':>8s} {'rows':>6s} {'estimator':>10s} {'effective':>10s} ", end="")
    print(f"{'utility':>8s} {'objectives':>10s} {'refused':>8s}")
    for name, exploration, n_rows in LOGGED:
        held = {key: np.zeros(4) for key in ESTIMATORS}
        used = {key: np.zeros(4) for key in ESTIMATORS}
        effective: dict[str, list[float]] = {key: [] for key in ESTIMATORS}
        for number in range(n_logs):
            tape = SMALL.tape(seed=(9, number), horizon=n_rows)
            log = record(dr.make_policy(name, n_objectives=3, seed=number, exploration=exploration), tape)
            try:
                found = evaluate(log, wise_chances(log, tape), seed=number).estimates
            except NoSupport:
                continue
            for k, truth in enumerate(wise_value(tape)):
                for key, estimate in found.get(log.outcomes[k], {}).items():
                    held[key][k] += estimate.value.low <= truth <= estimate.value.high
                    used[key][k] += 1
                    effective[key] += [estimate.effective] if k == 0 else []
        for key in ESTIMATORS:
            if not used[key].all():
                print(f"{name:14s} {exploration:8g} {n_rows:6,d} {key:>10s} {'':10s} {'':8s} {'':10s} {1:8.1%}")
                continue
            shares = held[key][0] / used[key][0], held[key][1:].sum() / used[key][1:].sum()
            print(
                f"{name:14s} {exploration:8g} {n_rows:6,d} {key:>10s} {np.mean(effective[key]):10.0f}"
                f" {shares[0]:8.1%} {shares[1]:10.1%} {1 - used[key][0] / n_logs:8.1%}",
                flush=True,
            )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**6, help="decisions of the large log (default 1,000,000)")
    parser.add_argument("--coverage", type=int, metavar="LOGS", help="measure coverage on so many logs instead")
    arguments = parser.parse_args()
    if arguments.coverage:
        print_coverage(arguments.coverage)
    else:
        print_speed(arguments.rows)


if __name__ == "__main__":
    main()
