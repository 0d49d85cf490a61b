"""What it costs that utilities come in other units than rankings, and nobody tells.

    python benchmarks/units.py                 20 runs of fisher-pqucb on synthetic users, 60 on hotels and beers
    python benchmarks/units.py --population    where people share what they know of the unit

Utilities times u, for a policy whose usual unit is 1, make the same game as utilities as they are for one whose usual
unit is 1/u: so regret is in the units of rankings.
"""

from __future__ import annotations

import argparse

import numpy as np

from druthers import make_policy
from druthers.environments import Environment, Reviews, Synthetic
from druthers.simulation import simulate

WORLDS: dict[str, tuple[Environment, int]] = {
    "synthetic": (Synthetic(), 1),
    "hotels": (Reviews(data="hotels"), 3),
    "beers": (Reviews(data="beers"), 3),
}
HORIZON = 5_000
FIRST_SEED = 1_000


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="three times as many on hotels and beers")
    parser.add_argument("--units", type=float, nargs="+", default=[1.0, 10.0, 3.0, 0.1])
    parser.add_argument("--policy", default="fisher-pqucb")
    parser.add_argument("--population", action="store_true", help="learn the unit from all people together")
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    given = parser.parse_args()
    settings = {"population": True} if given.population else {}
    for name in given.worlds:
        world, times = WORLDS[name]
        for unit in given.units:
            regrets = []
            for seed in range(FIRST_SEED, FIRST_SEED + times * given.runs):
                tape = world.tape(seed=seed, horizon=HORIZON)
                policy = make_policy(given.policy, n_objectives=tape.means.shape[1], unit=1.0 / unit, **settings)
                regrets.append(simulate(policy, tape, np.array([HORIZON])).regret[-1])
            error = np.std(regrets, ddof=1) / np.sqrt(len(regrets))
            print(f"{name:10s} utilities times {unit:4.1f}: {np.mean(regrets):9,.1f} ± {error:6,.1f}", flush=True)


if __name__ == "__main__":
    main()
