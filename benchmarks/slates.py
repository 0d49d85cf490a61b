"""What the best of three is worth to somebody new: slates chosen for it, beside the best three by score.

Tastes are drawn from what the advisor believes of anybody (a Dirichlet law of few draws), from a law with broader
tastes, and from what it believes after one or two wishes. Of each slate the utility of its best item counts, in rewards
from 0 to 1. The last column is what the two items that add most to the first one by score would gain, chosen with the
law of tastes known.

python benchmarks/slates.py [--people N] [--size K]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

import numpy as np

from druthers.advisor import Advisor
from druthers.advisor.wishes import PRIOR
from druthers.catalogs import Catalog, Item
from druthers.types import Floats, Objective

SEED = 5


def drawn(items: int, n_objectives: int, trade_off: float) -> Catalog:
    """Return items that nobody sells: what is better in one thing is worse in others, so far."""
    draw = np.random.default_rng(items + n_objectives)
    rows = draw.standard_normal((items, n_objectives))
    rows -= trade_off * rows.mean(axis=1, keepdims=True)
    names = [f"aspect {k}" for k in range(n_objectives)]
    objectives = [Objective(name, low=-9.0, high=9.0) for name in names]
    values = [dict(zip(names, row.clip(-9, 9).tolist(), strict=True)) for row in rows]
    return Catalog(
        f"drawn {items} x {n_objectives}", objectives, [Item(f"i{k}", values=one) for k, one in enumerate(values)]
    )


def catalogs() -> Iterator[Catalog]:
    """Yield what is chosen from."""
    yield from (Catalog.load(name) for name in ("hotels", "beers"))
    yield drawn(200, 4, 1.0)
    yield drawn(2_000, 6, 0.5)
    yield drawn(5_000, 8, 1.0)


def tastes(n_objectives: int, people: int, draws: float, said: list[int]) -> Floats:
    """Return weights of people of whom so much is believed, after what they said."""
    counts = np.full(n_objectives, draws / n_objectives)
    for place, objective in enumerate(said):
        counts[objective] += 0.45**place * len(said) / sum(0.45**k for k in range(len(said)))
    weights: Floats = np.random.default_rng(SEED).dirichlet(counts, people)
    return weights


def best_of(advisor: Advisor, slate: tuple[str, ...], weights: Floats) -> Floats:
    """Return what the best item of a slate is worth to each person."""
    rewards = np.nan_to_num(advisor.fold.policy.reward_means(slate), nan=0.35)
    return np.asarray((weights @ rewards.T).max(axis=1))


def known_law(advisor: Advisor, first: str, size: int, weights: Floats) -> float:
    """Return what the best is worth of the first item and those that add most to it for these very people."""
    arms = advisor.fold.policy.arms
    worth = np.nan_to_num(advisor.fold.policy.reward_means(arms), nan=0.35) @ weights.T
    best = worth[arms.index(first)]
    for _ in range(size - 1):
        best = np.maximum(best, worth[int(np.maximum(worth, best).mean(axis=1).argmax())])
    return float(best.mean())


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--people", type=int, default=20_000)
    arguments.add_argument("--size", type=int, default=3)
    given = arguments.parse_args()
    draw = random.Random(SEED)
    print(f"best of {given.size}, {given.people:,} people each; gain with a 95 % interval")
    for catalog in catalogs():
        advisor = Advisor(catalog, parser="lexicon")
        policy, size = advisor.fold.policy, catalog.n_objectives
        names = [one.name for one in catalog.objectives]
        cases: list[tuple[str, float, list[int]]] = [("nothing said", PRIOR, []), ("broader tastes", 2.0, [])]
        cases += [(f"said {k}", PRIOR, draw.sample(range(size), k)) for k in (1, 2)]
        for case, draws, said in cases:
            if said:
                advisor.hear(case, [names[k] for k in said])
            slates = (policy.choose(case, size=given.size).arms, policy.choose_slate(case, size=given.size).arms)
            weights = tastes(size, given.people, draws, said)
            top, best = (best_of(advisor, tuple(map(str, slate)), weights) for slate in slates)
            gain = best - top
            margin = 1.96 * gain.std() / np.sqrt(len(gain)) / top.mean()
            share = gain.mean() / top.mean()
            most = known_law(advisor, str(slates[0][0]), given.size, weights[:4_000]) / top[:4_000].mean() - 1.0
            print(
                f"  {catalog.name:16} {case:15} top {top.mean():.3f}  slate {best.mean():.3f}"
                f"  {100 * share:+6.1f} % ± {100 * margin:.1f}   law known {100 * most:+6.1f} %"
            )


if __name__ == "__main__":
    main()
