"""How good are the advisor's recommendations for somebody it has just met, and after some rounds of feedback.

People have hidden weights (Dirichlet) on where an item stands among all others in each objective; at their first visit
they say a sentence written from the weights, then they tell after each visit how good the item was. Printed is the
regret of a visit, mean over people: how far below the best item for this person, from the best to the worst there is.
"floor" is that of who knows the law of the weights and the sentence, and nothing else: no first pick can do better.

    python benchmarks/first_picks.py [--catalog hotels --catalog FILE.json] [--people 100]

It uses only what every version of the advisor has: a catalog that was written by `druthers catalog write` can be
played on two versions.
"""

from __future__ import annotations

import argparse

import numpy as np

from druthers.advisor import Advisor
from druthers.catalogs import Catalog

VISITS = (1, 2, 5, 20, 50)
CONCENTRATION = 0.7


def standings(catalog: Catalog) -> np.ndarray:
    """Return where each item stands in each objective, the share of the others that are worse."""
    columns = []
    for one in catalog.objectives:
        good = np.array([item.values[one.name] for item in catalog.items]) * (-1.0 if one.less_is_better else 1.0)
        worse = (good[:, None] > good[None]).sum(axis=1) + 0.5 * ((good[:, None] == good[None]).sum(axis=1) - 1)
        columns.append(worse / (len(good) - 1))
    return np.stack(columns, axis=1)


def named(weights: np.ndarray) -> tuple[int, ...]:
    """Return what somebody with these weights would name, in this order."""
    order = np.argsort(-weights)
    return tuple(int(k) for k in order[:3] if weights[k] > 0.12) or (int(order[0]),)


def sentence(names: list[str], weights: np.ndarray) -> str:
    """Return what somebody with these weights would say."""
    said = [names[k] for k in named(weights)]
    return f"I want good {said[0]}" + "".join(f", then {name}" for name in said[1:]) + "."


def play(catalog: Catalog, people: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean regret of each visit, and the weights of the people."""
    rng = np.random.default_rng(seed)
    values, names = standings(catalog), [one.name for one in catalog.objectives]
    places = {item.id: row for row, item in enumerate(catalog.items)}
    regret, wanted = np.zeros((max(VISITS), people)), np.zeros((people, len(names)))
    with Advisor(catalog, parser="lexicon") as advisor:
        for person in range(people):
            weights = rng.dirichlet(np.full(len(names), CONCENTRATION))
            wanted[person] = weights
            worth = values @ weights
            advisor.hear(f"p{person}", sentence(names, weights))
            for visit in range(max(VISITS)):
                made = advisor.recommend(f"p{person}")
                place = places[made.items[0].item]
                regret[visit, person] = (worth.max() - worth[place]) / (worth.max() - worth.min())
                felt = 2.0 * worth[place] - 1.0 + 0.15 * rng.standard_normal()
                advisor.feedback(made.id, utility=float(np.clip(felt, -1.0, 1.0)))
    return regret.mean(axis=1), wanted


def floor(catalog: Catalog, people: np.ndarray, draws: int = 100_000) -> np.ndarray:
    """Return the regret of a first pick for each of some people, for who knows the law of weights, and what is said.

    That is the item which is best on average for all who would say the same.
    """
    values = standings(catalog)
    weights = np.random.default_rng(1).dirichlet(np.full(values.shape[1], CONCENTRATION), draws)
    saying: dict[tuple[int, ...], list[int]] = {}
    for row, one in enumerate(weights):
        saying.setdefault(named(one), []).append(row)
    best = {said: regrets(weights[rows] @ values.T).mean(axis=0).argmin() for said, rows in saying.items()}
    places = [best[named(one)] for one in people]
    return regrets(people @ values.T)[np.arange(len(people)), places]


def regrets(worth: np.ndarray) -> np.ndarray:
    """Return the regret of each item (n, K), by what it is worth to each person."""
    best, worst = worth.max(axis=1, keepdims=True), worth.min(axis=1, keepdims=True)
    return (best - worth) / (best - worst)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--catalog", action="append")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=4)
    asked = parser.parse_args()
    print(f"{'visit':22}" + "".join(f"{visit:>8}" for visit in VISITS))
    for name in asked.catalog or ["hotels", "beers"]:
        played = [play(Catalog.load(name), asked.people, seed) for seed in range(asked.seeds)]
        runs = np.array([regret for regret, _ in played])
        mean, error = runs.mean(axis=0), runs.std(axis=0, ddof=1) / np.sqrt(asked.seeds)
        print(f"{name[-22:]:22}" + "".join(f"{mean[visit - 1]:8.3f}" for visit in VISITS))
        print(f"{'  standard error':22}" + "".join(f"{error[visit - 1]:8.3f}" for visit in VISITS))
        everybody = np.random.default_rng(2).dirichlet(np.full(played[0][1].shape[1], CONCENTRATION), 20_000)
        for whose, weights in (("these", np.concatenate([wanted for _, wanted in played])), ("all", everybody)):
            print(f"{'  floor of ' + whose:22}{floor(Catalog.load(name), weights).mean():8.4f}")


if __name__ == "__main__":
    main()
