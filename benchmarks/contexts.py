"""Regret of who is told the contexts of visits over who is not, on the same tapes: where they matter, and where not.

"fisher-pqucb" plays the paper's synthetic world, "stated-ucb" one with rewards from 0 to 1 and six objectives. In two
ways visits differ, and in each a weight changes by so many standard deviations of weights over users (`--shift`).
Ratios are of means over runs, with a standard error by the delta method; "worst" is the largest ratio of a run.

python benchmarks/contexts.py [--policy stated-ucb] [--shift 0.5] [--contexts 2] [--runs 20] [--horizon T] [--users N]
"""

from __future__ import annotations

import argparse

import numpy as np

from druthers.environments import Synthetic
from druthers.policies import Policy, find_policy
from druthers.simulation import simulate
from druthers.types import Floats

WORLDS = {
    "fisher-pqucb": {"n_objectives": 20, "scale": 5.0},
    "stated-ucb": {"n_objectives": 6, "scale": 1.0, "reward_noise": 0.02, "preference_noise": 0.02},
}


def policies(name: str, n_objectives: int) -> list[Policy]:
    """Return a policy that is told contexts, and the same that is not."""
    told = find_policy(name)
    untold = type(told.__name__, (told,), {"learns_contexts": False})
    return [told(n_objectives=n_objectives), untold(n_objectives=n_objectives)]


def ratio_of(values: Floats, base: Floats) -> tuple[float, float]:
    """Return a ratio of means over paired runs and its standard error."""
    ratio = values.mean() / base.mean()
    left = values - ratio * base
    return float(ratio), float(np.sqrt(left @ left / max(len(base) - 1, 1) / len(base)) / base.mean())


def compare(name: str, shift: float, contexts: int, runs: int, horizon: int, users: int) -> None:
    """Print a line for each run, and the ratio over all."""
    world = WORLDS[name]
    scale = float(world["scale"])
    place = Synthetic(**world, n_users=users, contexts=contexts, shift=shift * scale / np.sqrt(12.0))  # type: ignore[arg-type]
    regrets = []
    for run in range(runs):
        tape = place.tape(seed=(183, run), horizon=horizon)
        stop = np.array([horizon])
        regrets.append([simulate(one, tape, stop).regret[-1] for one in policies(name, tape.means.shape[1])])
        print(f"run {run}: told {regrets[-1][0]:.1f}, not {regrets[-1][1]:.1f}", flush=True)
    told, untold = np.array(regrets).T
    ratio, error = ratio_of(told, untold)
    print(f"{name}, shift {shift:g}, {contexts} contexts, {users} users, {horizon} rounds, {runs} runs:", end=" ")
    print(f"told {told.mean():.1f}, not {untold.mean():.1f}, ratio {ratio:.3f} ± {error:.3f},", end=" ")
    print(f"worst {(told / untold).max():.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", choices=list(WORLDS), default="stated-ucb")
    parser.add_argument("--shift", type=float, default=0.5)
    parser.add_argument("--contexts", type=int, default=2)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=2000)
    parser.add_argument("--users", type=int, default=20)
    told = parser.parse_args()
    compare(told.policy, told.shift, told.contexts, told.runs, told.horizon, told.users)
