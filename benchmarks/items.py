"""Regret with features, with useless ones and without any, beside trying every item first; and the time of decisions.

Everything on the same tapes. "first" is Fisher-PQUCB as it is up to 256 arms: all that were never seen come first.
Ratios are of means over runs, with a standard error by the delta method; "worst" is the worst run over the mean.
"cover" is how often a 90 % interval of the mean reward of an item never seen holds the truth, at the end.
"foretold" has as features what a regression on all other items and their true values foretells of each: more than any
method can learn from the columns by a linear law. --columns prints how much that is.

python benchmarks/items.py [--items K] [--explained SHARE] [--runs N] [--horizon T] [--arriving] [--features P]
                           [--known C] [--curved C] [--offered N] [--catalog beers] [--only KINDS] [--speed]
                           [--served K] [--columns] [--keep FILE]

A run is the same whoever plays it, so --keep FILE notes each in a file and does not play those that are there: rows can
be broken off, carried on and lengthened.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item, item_features
from druthers.catalogs.standins import make_stand_in
from druthers.environments import Items
from druthers.policies.fisher import FisherPQUCB
from druthers.policies.rewards import SEEN
from druthers.simulation import simulate
from druthers.types import Floats, Objective

NINETY = 1.6449


RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10000.0)


def foretell(features: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return what features foretell of each value (n, D) by all other items, and the share of variance explained.

    Leave one out, with the ridge for each column of values that is best with hindsight; gaps count as average.
    """
    filled = np.where(np.isnan(features), np.nanmean(features, axis=0), features)
    filled = (filled - filled.mean(axis=0)) / np.where(filled.std(axis=0) > 0.0, filled.std(axis=0), 1.0)
    design = np.c_[np.ones(len(filled)), filled]
    alone = (values - values.mean(axis=0)) * len(values) / (len(values) - 1)
    best, share = np.zeros_like(values), np.full(values.shape[1], -np.inf)
    for ridge in RIDGES:
        prior = np.diag([0.0, *[ridge] * filled.shape[1]])
        hat = design @ np.linalg.solve(design.T @ design + prior, design.T)
        off = (values - hat @ values) / (1.0 - np.diag(hat))[:, None]
        explained = 1.0 - (off**2).sum(axis=0) / (alone**2).sum(axis=0)
        best = np.where(explained > share, values - off, best)
        share = np.maximum(share, explained)
    return best, share


class Shelf(Items):
    """The items of a catalog that comes along, in random order, half of them there at the start; its own details."""

    name = "shelf"

    def __init__(self, *, catalog: str) -> None:
        self.catalog = catalog
        shop = Catalog.load(catalog)
        _, self._weights = make_stand_in(catalog)
        self._means = np.array([[item.values[one.name] for one in shop.objectives] for item in shop.items])
        self._features = item_features(shop.items).table
        size = len(shop.items)
        super().__init__(n_items=size, start=size // 2, every=250, arriving=size // 20)

    def _draw(self, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        order = rng.permutation(self.n_items)
        return self._means[order], self._weights, self._features[order]


def play(environment: Items, seed: tuple[int, ...], horizon: int, kind: str) -> tuple[float, float]:
    """Return the regret of a run, and how often intervals of items never seen hold the truth."""
    tape = environment.tape(seed=seed, horizon=horizon)
    if kind == "useless" and tape.features is not None:
        tape.features = np.random.default_rng((*seed, 1)).permutation(tape.features)
    elif kind == "foretold" and tape.features is not None:
        tape.features = foretell(tape.features, tape.means)[0]
    elif kind != "told":
        tape.features = None
    policy = FisherPQUCB(n_objectives=tape.means.shape[1])
    if kind == "first":
        policy._begin_model(0)
        policy._state.model.counts[SEEN] = np.inf  # more than there are: never fitted
    regret = float(simulate(policy, tape, np.array([horizon])).regret[-1])
    arms, held = policy._state.arms, []
    if policy.n_features:
        rows = np.array([policy._arms.rows[arm] for arm in range(len(tape.means))])
        never = np.flatnonzero(~arms.pulls[rows].any(axis=1))
        for arm in never[:500].tolist():
            believed = policy.predict(arm)
            held.append(np.abs(believed.mean - tape.means[arm]) < NINETY * believed.deviation)
    return regret, float(np.mean(held)) if held else np.nan


class Kept:
    """Runs that were played before, by all that they depend on, in a file of JSON lines; without a file, none."""

    def __init__(self, path: Path | None, environment: Items, horizon: int, seed: int) -> None:
        self.path = path
        self.place = {"name": environment.name, **environment.params, "horizon": horizon, "seed": seed}
        lines = path.read_text().splitlines() if path and path.exists() else []
        rows = [row for row in map(json.loads, lines) if row["place"] == json.loads(json.dumps(self.place))]
        self.runs = {(row["run"], row["kind"]): (row["regret"], row["cover"]) for row in rows}

    def play(self, environment: Items, run: int, kind: str) -> tuple[float, float]:
        """Return regret and cover of a run, played now if it is new."""
        if (run, kind) not in self.runs:
            played = play(environment, (self.place["seed"], run), self.place["horizon"], kind)
            self.runs[run, kind] = played
            row = {"place": self.place, "run": run, "kind": kind, "regret": played[0], "cover": played[1]}
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
        return self.runs[run, kind]


def compare(environment: Items, runs: int, kinds: list[str], kept: Kept) -> None:
    """Print a row for each kind."""
    table: dict[str, list[float]] = {kind: [] for kind in kinds}
    cover: dict[str, list[float]] = {kind: [] for kind in kinds}
    for run in range(runs):
        for kind in kinds:
            regret, held = kept.play(environment, run, kind)
            table[kind].append(regret)
            cover[kind].append(held)
        print(json.dumps({kind: round(values[-1]) for kind, values in table.items()}), flush=True)
    base = np.array(table[kinds[0]])
    print(f"{'':10}{'regret':>16}{'of ' + kinds[0]:>16}{'worst':>8}{'cover':>8}")
    for kind in kinds:
        values = np.array(table[kind])
        ratio, error = ratio_of(values, base)
        seen = np.array(cover[kind])[~np.isnan(cover[kind])]  # runs that left some items unseen
        spread = values.std(ddof=1) / np.sqrt(runs) if runs > 1 else np.nan
        print(
            f"{kind:10}{values.mean():9.0f} ± {spread:4.0f}{ratio:9.3f} ± {error:.3f}"
            f"{values.max() / values.mean():8.2f}{seen.mean() if len(seen) else np.nan:8.3f}"
        )


def show_columns(catalog: str) -> None:
    """Print how much of each objective, and of what items are worth to each user, the columns of a catalog foretell."""
    shop, (_, weights) = Catalog.load(catalog), make_stand_in(catalog)
    values = np.array([[item.values[one.name] for one in shop.objectives] for item in shop.items])
    features = item_features(shop.items).table
    for one, share in zip(shop.objectives, foretell(features, values)[1], strict=True):
        print(f"{one.name:16}{share:6.2f}")
    shares = foretell(features, values @ weights.T)[1]
    print(f"{'utility':16}{np.median(shares):6.2f}   ({shares.min():.2f} to {shares.max():.2f} over users)")


def ratio_of(values: Floats, base: Floats) -> tuple[float, float]:
    """Return a ratio of means over paired runs and its standard error."""
    ratio = values.mean() / base.mean()
    left = values - ratio * base
    return float(ratio), float(np.sqrt(left @ left / max(len(base) - 1, 1) / len(base)) / base.mean())


def speed(n_features: int) -> None:
    """Print milliseconds of processor time for a decision and for feedback, and megabytes."""
    for n_items in (1_000, 10_000, 100_000):
        draw = np.random.default_rng(n_items)
        features = draw.standard_normal((n_items, n_features))
        means = 3.5 + 0.2 * features @ draw.standard_normal((n_features, 6)) + 0.2 * draw.standard_normal((n_items, 6))
        policy = FisherPQUCB(n_objectives=6)
        policy.add_arms(range(n_items), features)
        times: dict[str, list[float]] = {"choose": [], "learn": []}
        for t in range(400):
            before = time.process_time()
            arm: Any = policy.choose("ada").arm
            between = time.process_time()
            reward = means[arm] + 0.7 * draw.standard_normal(6)
            policy.learn("ada", arm, reward, float(reward.sum()))
            if t >= 200:
                times["choose"].append(between - before)
                times["learn"].append(time.process_time() - between)
        size = sum(array.nbytes for part in (policy._state.arms, policy._state.model or ()) for array in part)
        told = {name: (1e3 * np.median(values), 1e3 * np.max(values)) for name, values in times.items()}
        print(
            f"{n_items:7} items, {n_features} features:"
            f" choose {told['choose'][0]:.2f} ms (most {told['choose'][1]:.2f}),"
            f" learn {told['learn'][0]:.3f} ms (most {told['learn'][1]:.1f}), {size / 1e6:.0f} MB",
            flush=True,
        )


def many_items(n_items: int, n_features: int) -> Catalog:
    """Return a catalog of items with six objectives, three in ten values unknown, and columns that tell of them."""
    draw = np.random.default_rng(n_items)
    features = draw.standard_normal((n_items, n_features)).round(3)
    means = 3.5 + 0.2 * features @ draw.standard_normal((n_features, 6)) + 0.2 * draw.standard_normal((n_items, 6))
    means = means.clip(1.0, 5.0).round(2)
    known = draw.random((n_items, 6)) < 0.7
    items = [
        Item(
            f"i{k:06}",
            values={f"o{d}": float(means[k, d]) for d in range(6) if known[k, d]},
            details={f"f{j}": float(told) for j, told in enumerate(features[k])},
        )
        for k in range(n_items)
    ]
    return Catalog("many", [Objective(f"o{d}", low=1, high=5) for d in range(6)], items)


def served(n_items: int, n_features: int) -> None:
    """Print milliseconds of processor time for a slate of three and for feedback in the advisor, as the service has."""
    draw, catalog = np.random.default_rng(n_items), many_items(n_items, n_features)
    start = time.process_time()
    advisor = Advisor(catalog, parser="lexicon")
    folded = time.process_time() - start
    times: dict[str, list[float]] = {"choose": [], "learn": []}
    for t in range(60):
        before = time.process_time()
        made = advisor.recommend("ada", size=3)
        between = time.process_time()
        advisor.feedback(made.id, utility=float(draw.uniform(-1, 1)))
        times["choose"].append(1e3 * (between - before))
        times["learn"].append(1e3 * (time.process_time() - between))
        if t == 19:
            times = {name: [max(values)] for name, values in times.items()}
    print(
        f"{n_items:7} items, {n_features} columns, served: folded in {folded:.1f} s,"
        f" a slate of three {np.median(times['choose'][1:]):.2f} ms (most {max(times['choose']):.1f}),"
        f" feedback {np.median(times['learn'][1:]):.2f} ms (most {max(times['learn']):.1f})",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--explained", type=float, default=0.8)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=181)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--known", type=float, default=1.0)
    parser.add_argument("--curved", type=float, default=0.0)
    parser.add_argument("--offered", type=int)
    parser.add_argument("--arriving", action="store_true")
    parser.add_argument("--catalog", choices=["beers", "hotels"], help="its items, arriving, with its own details")
    parser.add_argument("--only", default="first,none,told,useless")
    parser.add_argument("--columns", action="store_true", help="what the columns of the catalog foretell, no runs")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--served", type=int, help="so many items in the advisor, and the time of its decisions")
    parser.add_argument("--keep", type=Path, help="note runs in this file, and do not play again those that are in it")
    told = parser.parse_args()
    if told.speed:
        speed(told.features)
    elif told.served:
        served(told.served, told.features)
    elif told.columns:
        show_columns(told.catalog or "hotels")
    else:
        place = Items(
            n_items=told.items,
            explained=told.explained,
            n_features=told.features,
            known=told.known,
            curved=told.curved,
            offered=told.offered,
            start=told.items // 2 if told.arriving else None,
            arriving=told.items // 20,
        )
        if told.catalog:
            place = Shelf(catalog=told.catalog)
        compare(place, told.runs, told.only.split(","), Kept(told.keep, place, told.horizon, told.seed))
