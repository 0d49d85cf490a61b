"""How good are the advisor's recommendations for somebody it has just met, and after some rounds of feedback.

People have hidden weights (Dirichlet) on where an item stands among all others in each objective; at their first visit
they say a sentence written from the weights, then they tell after each visit how good the item was. Printed is the
regret of a visit, mean over people: how far below the best item for this person, from the best to the worst there is.

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


def standings(catalog: Catalog) -> np.ndarray:
    """Return where each item stands in each objective, the share of the others that are worse."""
    columns = []
    for one in catalog.objectives:
        good = np.array([item.values[one.name] for item in catalog.items]) * (-1.0 if one.less_is_better else 1.0)
        worse = (good[:, None] > good[None]).sum(axis=1) + 0.5 * ((good[:, None] == good[None]).sum(axis=1) - 1)
        columns.append(worse / (len(good) - 1))
    return np.stack(columns, axis=1)


def sentence(names: list[str], weights: np.ndarray) -> str:
    """Return what somebody with these weights would say."""
    order = np.argsort(-weights)
    said = [names[k] for k in order[:3] if weights[k] > 0.12] or [names[order[0]]]
    return f"I want good {said[0]}" + "".join(f", then {name}" for name in said[1:]) + "."


def play(catalog: Catalog, people: int, seed: int) -> np.ndarray:
    """Return the mean regret of each visit."""
    rng = np.random.default_rng(seed)
    values, names = standings(catalog), [one.name for one in catalog.objectives]
    places = {item.id: row for row, item in enumerate(catalog.items)}
    regret = np.zeros((max(VISITS), people))
    with Advisor(catalog, parser="lexicon") as advisor:
        for person in range(people):
            weights = rng.dirichlet(np.full(len(names), 0.7))
            worth = values @ weights
            advisor.hear(f"p{person}", sentence(names, weights))
            for visit in range(max(VISITS)):
                made = advisor.recommend(f"p{person}")
                place = places[made.items[0].item]
                regret[visit, person] = (worth.max() - worth[place]) / (worth.max() - worth.min())
                felt = 2.0 * worth[place] - 1.0 + 0.15 * rng.standard_normal()
                advisor.feedback(made.id, utility=float(np.clip(felt, -1.0, 1.0)))
    return regret.mean(axis=1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--catalog", action="append")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=4)
    asked = parser.parse_args()
    print(f"{'visit':22}" + "".join(f"{visit:>8}" for visit in VISITS))
    for name in asked.catalog or ["hotels", "beers"]:
        runs = np.array([play(Catalog.load(name), asked.people, seed) for seed in range(asked.seeds)])
        mean, error = runs.mean(axis=0), runs.std(axis=0, ddof=1) / np.sqrt(asked.seeds)
        print(f"{name[-22:]:22}" + "".join(f"{mean[visit - 1]:8.3f}" for visit in VISITS))
        print(f"{'  standard error':22}" + "".join(f"{error[visit - 1]:8.3f}" for visit in VISITS))


if __name__ == "__main__":
    main()
