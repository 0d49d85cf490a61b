"""What one simulated round of each policy costs, tape included, beside a round of plain C of the same sizes.

At the sizes of the paper's three experiments, warm, from the first round on. The yardstick is `limit.c` compiled for
each size; only ratios within a run mean anything. With --memory also the peak memory of long, many-armed and
many-user games, each in a process of its own.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from steps import compile_yardstick, yardstick

import druthers as dr
from druthers.environments import Environment, Reviews, Synthetic
from druthers.simulation import simulate

ROBUST = ("mo-pqucb-gl", "mo-pqucb-gl-recipe", "mo-pqucb-mixture")
# A round of these costs at most so many rounds of plain C; of all others 3.
LIMITS = {"mo-pqucb": 1.5, "fisher-pqucb": 2.0, "fisher-pqucb with picks": 2.0, "fisher-pqucb-robust": 6.0}
# A name with this at its end is a policy whose users pick one of ten offered arms too, in every round.
PICKS = " with picks"
SIZES: dict[str, tuple[dict[str, int], Environment]] = {
    "synthetic": ({"D": 20, "K": 40, "A": 10, "N": 20}, Synthetic()),
    "hotels": ({"D": 6, "K": 62, "A": 62, "N": 10}, Reviews(data="tripadvisor")),
    "beers": ({"D": 4, "K": 167, "A": 167, "N": 14}, Reviews(data="beeradvocate")),
}
LARGE: dict[str, tuple[Synthetic, list[int]]] = {
    "a long game": (Synthetic(), [10**5, 10**6, 10**7]),
    "100,000 users": (Synthetic(n_users=100_000), [10**4, 10**5]),
    "10,000 arms, all offered": (Synthetic(n_arms=10_000, offered=None), [10**3, 10**4]),
    "100,000 users, 10,000 arms, 100 offered": (Synthetic(n_users=100_000, n_arms=10_000, offered=100), [10**4, 10**5]),
}


def make(name: str, n_objectives: int, horizon: int) -> dr.Policy:
    """Build a policy that knows its horizon; one name stands for MO-PQUCB with the mixture anchor."""
    if name == "mo-pqucb-mixture":
        return dr.MOPQUCB(n_objectives=n_objectives, horizon=horizon, anchor=dr.Mixture())
    knows = "horizon" in inspect.signature(dr.POLICIES[name]).parameters
    return dr.make_policy(name, n_objectives=n_objectives, **({"horizon": horizon} if knows else {}))


def round_cost(name: str, world: Environment, horizon: int, seed: int) -> float:
    """Return microseconds per round, tape included, looking only at the end."""
    if name.endswith(PICKS):
        world = type(world)(**{**world.params, "offered": 10, "feedback": "both"})
    start = time.perf_counter()
    tape = world.tape(seed=seed, horizon=horizon)
    simulate(make(name.removesuffix(PICKS), tape.means.shape[1], horizon), tape, np.array([horizon]))
    return (time.perf_counter() - start) / horizon * 1e6


def print_rounds(repeats: int, horizons: list[int], names: list[str]) -> bool:
    """Print the cost of a round of each policy at each size; return whether all keep their limit."""
    kept = True
    print(f"compiling {len(names)} policies where the cache has none")
    for name in names:
        round_cost(name, Synthetic(), 50, seed=0)
    for size, (sizes, world) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            binary = compile_yardstick(Path(folder), sizes)
            for horizon in horizons:
                base: list[float] = []
                costs: dict[str, list[float]] = {name: [] for name in names}
                for repeat in range(repeats):
                    for name in names:
                        costs[name].append(round_cost(name, world, horizon, seed=repeat))
                    if binary is not None:
                        base.append(yardstick(binary))
                unit = float(np.median(base)) if base else float("nan")
                print(f"\n{size}, {horizon:,} rounds; a round of limit.c: {unit:.2f} us (median of {repeats})\n")
                print(f"{'policy':24s} {'us per round':>12s} {'ratio':>7s} {'limit':>6s}")
                for name in names:
                    cost = float(np.median(costs[name]))
                    limit = LIMITS.get(name, 3.0)
                    over = name not in ROBUST and cost / unit > limit
                    kept = kept and not over
                    shown = "" if name in ROBUST else f"{limit:6.1f}"
                    print(f"{name:24s} {cost:12.2f} {cost / unit:7.2f} {shown}{'  over' if over else ''}")
    return kept


# Runs in a process of its own, so that the peak is its own; s-ucb is quick, mo-pqucb keeps most for a user.
MEASURE = """
import json, resource, sys, time
import numpy as np
from rounds import LARGE, make
from druthers.simulation import simulate
label, name, horizon = sys.argv[1], sys.argv[2], int(sys.argv[3])
world = LARGE[label][0]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
tape = world.tape(seed=1, horizon=horizon)
simulate(make(name, tape.means.shape[1], horizon), tape)
seconds = time.perf_counter() - start
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([before / 1024, after / 1024, seconds]))
"""


def print_memory(longest: int) -> None:
    """Print the peak memory of large games."""
    print(f"\n{'game':40s} {'policy':9s} {'rounds':>11s} {'peak MB':>8s} {'above start':>11s} {'seconds':>8s}")
    for label, (_, horizons) in LARGE.items():
        for name in ("s-ucb", "mo-pqucb"):
            for horizon in horizons:
                if horizon > longest:
                    continue
                command = [sys.executable, "-c", MEASURE, label, name, str(horizon)]
                printed = subprocess.run(
                    command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent
                ).stdout
                before, after, seconds = json.loads(printed)
                print(
                    f"{label:40s} {name:9s} {horizon:11,d} {after:8.0f} {after - before:11.0f} {seconds:8.1f}",
                    flush=True,
                )


def main() -> int:
    """Print the tables; exit with 1 where a policy is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="games of each policy, the median counts (default 5)")
    parser.add_argument("--horizons", type=int, nargs="+", default=[2_000, 20_000], help="rounds of a game")
    parser.add_argument(
        "--policies",
        nargs="+",
        default=[*dr.POLICIES, "mo-pqucb-mixture", f"fisher-pqucb{PICKS}"],
        help="which policies",
    )
    parser.add_argument("--memory", action="store_true", help="print memory instead of times")
    parser.add_argument("--longest", type=int, default=10**7, help="with --memory: leave out longer games")
    arguments = parser.parse_args()
    if arguments.memory:
        print_memory(arguments.longest)
        return 0
    return 0 if print_rounds(arguments.repeats, arguments.horizons, arguments.policies) else 1


if __name__ == "__main__":
    sys.exit(main())
