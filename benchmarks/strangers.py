"""What strangers gain by what others want: regret of the advisor's first recommendation, with and without a population.

    python benchmarks/strangers.py [--runs 20] [--people 100]

People's weights follow a Dirichlet law; each says once what matters most, drawn by the weights. Then strangers of the
same law, who have said nothing, get one hotel each. A utility is <weights, 2 reward - 1>, so from -1 to 1.
"""

from __future__ import annotations

import argparse

import numpy as np

from druthers.advisor import Advisor
from druthers.catalogs import Catalog

STRANGERS = 200
LAWS = {"in common": (8.0, 1.0), "two groups": (20.0, 1.0), "nothing in common": (1.0, 1.0)}


def draw(rng: np.random.Generator, law: str, size: int, count: int) -> np.ndarray:
    """Return weights (count, D): around one objective more than others, around two opposite ones, or around none."""
    high, low = LAWS[law]
    alpha = np.full((count, size), low)
    liked = np.zeros(count, dtype=int) if law == "in common" else np.arange(count) % 2
    alpha[np.arange(count), liked] = high
    return np.array([rng.dirichlet(row) for row in alpha])


def play(law: str, people: int, seed: int, population: bool) -> float:
    """Return the mean regret of strangers."""
    rng = np.random.default_rng(seed)
    hotels = Catalog.load("hotels")
    with Advisor(hotels, parser="lexicon", policy_settings={"seed": 0}, population=population) as advisor:
        names = np.array(advisor.objectives)
        for number, weights in enumerate(draw(rng, law, len(names), people)):
            advisor.hear(f"user-{number}", [str(rng.choice(names, p=weights))])
        rewards = 2.0 * np.nan_to_num(advisor.fold.policy.reward_means(hotels.ids), nan=0.5) - 1.0
        place = hotels.ids.index(advisor.recommend("a stranger").items[0].item)
        utilities = draw(rng, law, len(names), STRANGERS) @ rewards.T
        return float((utilities.max(axis=1) - utilities[:, place]).mean())


def main() -> None:
    """Print a row for each law."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--people", type=int, default=100)
    given = options.parse_args()
    for law in LAWS:
        apart, together = (
            np.array([play(law, given.people, seed, used) for seed in range(given.runs)]) for used in (False, True)
        )
        ratio, off = together.mean() / apart.mean(), together - apart * together.mean() / apart.mean()
        error = off.std(ddof=1) / np.sqrt(len(off)) / apart.mean()
        print(f"{law:18} alone {apart.mean():.3f}  with others {together.mean():.3f}  ratio {ratio:.2f} ± {error:.2f}")


if __name__ == "__main__":
    main()
