"""What it costs to take the noise of rewards for independent where it is correlated between objectives.

    python benchmarks/correlated.py          20 runs of fisher-pqucb on each world, without correlation and with 0.6

The variance of each objective stays the same; that of a utility does not, so part of the cost would be there for any
policy: the last figure is that of independent noise which is as large in the utility of the average user.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from druthers import make_policy
from druthers.environments import Chunk, Environment, Reviews, Synthetic, Tape
from druthers.simulation import simulate

WORLDS: dict[str, tuple[type[Environment], dict[str, Any]]] = {
    "synthetic": (Synthetic, {}),
    "hotels": (Reviews, {"data": "hotels"}),
    "beers": (Reviews, {"data": "beers"}),
}
HORIZON = 5_000
FIRST_SEED = 1_000


def correlated(world: type[Environment], correlation: float) -> type[Environment]:
    """Return the same world with the noises of all objectives correlated alike."""

    class Correlated(world):  # type: ignore[misc, valid-type]
        def draw_chunk(self, rng: np.random.Generator, tape: Tape, rounds: int) -> Chunk:
            chunk: Chunk = super().draw_chunk(rng, tape, rounds)
            size = chunk.reward_noise.shape[1]
            root = np.linalg.cholesky((1.0 - correlation) * np.eye(size) + correlation)
            return chunk._replace(reward_noise=np.ascontiguousarray(chunk.reward_noise @ root.T))

    return Correlated


def enlarged(world: type[Environment], correlation: float) -> type[Environment]:
    """Return the same world with independent noise as large in utility as that noise is."""

    class Enlarged(world):  # type: ignore[misc, valid-type]
        def draw_chunk(self, rng: np.random.Generator, tape: Tape, rounds: int) -> Chunk:
            chunk: Chunk = super().draw_chunk(rng, tape, rounds)
            squares = np.sum(tape.preferences**2, axis=1)
            both = np.sum(tape.preferences, axis=1) ** 2 - squares
            times = np.sqrt(np.mean(1.0 + correlation * both / squares))
            return chunk._replace(reward_noise=times * chunk.reward_noise)

    return Enlarged


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--correlation", type=float, default=0.6)
    given = parser.parse_args()
    for name, (world, settings) in WORLDS.items():
        for words, noisy, correlation in (
            ("independent", correlated, 0.0),
            (f"correlation {given.correlation}", correlated, given.correlation),
            ("independent, as large", enlarged, given.correlation),
        ):
            regrets = []
            for seed in range(FIRST_SEED, FIRST_SEED + given.runs):
                tape = noisy(world, correlation)(**settings).tape(seed=seed, horizon=HORIZON)
                policy = make_policy("fisher-pqucb", n_objectives=tape.means.shape[1])
                regrets.append(simulate(policy, tape, np.array([HORIZON])).regret[-1])
            error = np.std(regrets, ddof=1) / np.sqrt(given.runs)
            print(f"{name:10s} {words:22s} {np.mean(regrets):9,.1f} ± {error:6,.1f}", flush=True)


if __name__ == "__main__":
    main()
