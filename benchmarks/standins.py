"""Do the policies stand in the same order on the simulated hotels and beers as on the data they stand in for?

Plays the paper's two review experiments on the stand-ins and puts the final regrets beside those on the authors'
arrays: recorded ones (standins.json), or measured now with --data. Prints rank correlations and which policies change
places. --seeds draws further stand-ins by the same laws, which shows that the order is not the luck of one draw.
--facts prints the moments of both, from which the laws in druthers/catalogs/standins.py are made, and plays nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from druthers.catalogs.standins import STANDS_FOR, make_stand_in
from druthers.environments.reviews import DATA_VARIABLE, read_folder
from druthers.experiments import load_experiment, mean_and_error, run_experiment

RECORDED = Path(__file__).with_name("standins.json")
Regrets = dict[str, np.ndarray]


class Verdict(NamedTuple):
    """How well two orders agree: Kendall's and Spearman's correlation, and the pairs that changed places."""

    kendall: float
    spearman: float
    swapped: list[tuple[str, str]]
    clear: list[tuple[str, str]]


def moments(ratings: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the laws of a stand-in are made from, as far as data show it: nothing that leads back to a row."""
    standard = (ratings - ratings.mean(axis=0)) / ratings.std(axis=0)
    quality = standard.mean(axis=1)
    unevenness = standard.std(axis=1)[np.argsort(-quality, kind="stable")]
    own = weights - weights.mean(axis=1, keepdims=True)
    return {
        "means": ratings.mean(axis=0),
        "spreads": ratings.std(axis=0),
        "halo": loadings(np.corrcoef(ratings.T)),
        "skewness of quality": np.atleast_1d(stats.skew(quality)),
        "unevenness, best to worst quarter": np.array([part.mean() for part in np.array_split(unevenness, 4)]),
        "mean weights": weights.mean(axis=0),
        "spreads of weights": weights.std(axis=0),
        "sum of weights": np.quantile(weights.sum(axis=1), (0.25, 0.5, 0.75)),
        "distance from equal weights": np.quantile(np.linalg.norm(own, axis=1), (0.25, 0.5, 0.75)),
    }


def loadings(correlation: np.ndarray) -> np.ndarray:
    """Return how each aspect goes with the one factor that explains the correlations best (principal axes)."""
    shared = np.full(len(correlation), 0.5)
    for _ in range(200):
        reduced = correlation - np.diag(1.0 - shared)
        values, vectors = np.linalg.eigh(reduced)
        shared = values[-1] * vectors[:, -1] ** 2
    return np.sqrt(shared)


def show_facts(name: str, data: Path) -> None:
    """Print the moments of the authors' arrays beside those of the stand-in."""
    ratings, weights = read_folder(data / name)
    real = moments(ratings.mean(axis=0) if ratings.ndim == 3 else ratings, weights)
    simulated = moments(*make_stand_in(STANDS_FOR[name]))
    print(f"\n| {name} | authors' arrays | stand-in |\n|---|---|---|")
    for fact in real:
        columns = (" ".join(f"{number:.2f}" for number in side[fact]) for side in (real, simulated))
        print(f"| {fact} | {' | '.join(columns)} |")


def play(name: str, folder: Path, runs: int, seed: int | None = None) -> Regrets:
    """Return the final regrets of every policy and run; `seed` for a stand-in of another draw."""
    experiment = dataclasses.replace(load_experiment(name), runs=runs)
    if seed is not None:
        folder.mkdir(parents=True, exist_ok=True)
        files = {"rewards": str(folder / "rewards.npy"), "preferences": str(folder / "preferences.npy")}
        for file, array in zip(files.values(), make_stand_in(STANDS_FOR[name], seed=seed), strict=True):
            np.save(file, array)
        experiment = dataclasses.replace(experiment, environment={"name": "reviews", **files})
    results = run_experiment(experiment, folder)
    return {label: results.final_regret(label) for label in results.labels}


def compare(real: Regrets, simulated: Regrets) -> Verdict:
    """Compare the orders; a swap is clear where both differences lie beyond their 95 % intervals (Welch's t)."""
    order = sorted(real, key=lambda label: real[label].mean())
    means = [[regrets[label].mean() for label in order] for regrets in (real, simulated)]
    swapped = [
        (first, second)
        for place, first in enumerate(order)
        for second in order[place + 1 :]
        if simulated[first].mean() > simulated[second].mean()
    ]
    clear = [pair for pair in swapped if all(apart(regrets, *pair) for regrets in (real, simulated))]
    return Verdict(stats.kendalltau(*means).statistic, stats.spearmanr(*means).statistic, swapped, clear)


def apart(regrets: Regrets, first: str, second: str) -> bool:
    """Tell whether two policies differ by more than chance."""
    return bool(stats.ttest_ind(regrets[first], regrets[second], equal_var=False).pvalue < 0.05)


def show(name: str, real: Regrets, simulated: Regrets) -> None:
    """Print both columns in the order of the real one, as a table in Markdown."""
    print(f"\n| {name} | authors' arrays | stand-in |\n|---|---|---|")
    for label in sorted(real, key=lambda label: real[label].mean()):
        print(f"| `{label}` | {shown(real[label])} | {shown(simulated[label])} |")
    print(f"\n{told(compare(real, simulated))}")


def shown(runs: np.ndarray) -> str:
    """Return mean and standard error."""
    mean, error = mean_and_error(runs)
    return f"{mean:,.0f} ± {error:,.0f}"


def told(verdict: Verdict) -> str:
    """Return a verdict in words."""
    pairs = "; ".join(
        f"{first} and {second}{'' if (first, second) in verdict.clear else ' (too close to call)'}"
        for first, second in verdict.swapped
    )
    return f"Kendall {verdict.kendall:.2f}, Spearman {verdict.spearman:.2f}; swapped: {pairs or 'none'}."


def main() -> int:
    """Print the tables; exit with 1 where a pair of policies clearly changed places."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the authors' arrays: measure them now")
    parser.add_argument("--record", action="store_true", help="with --data: keep what was measured in standins.json")
    parser.add_argument("--facts", action="store_true", help="with --data: print the moments of both and leave")
    parser.add_argument("--runs", type=int, default=20, help="runs of each policy (20)")
    parser.add_argument("--seeds", type=int, default=0, help="further stand-ins by the same laws")
    parser.add_argument("--out", type=Path, default=Path("results/standins"), help="where results are kept")
    arguments = parser.parse_args()
    if arguments.facts:
        if arguments.data is None:
            parser.error("--facts needs --data, the folder with the authors' arrays")
        for name in STANDS_FOR:
            show_facts(name, arguments.data)
        return 0
    recorded = json.loads(RECORDED.read_text())
    well = True
    for name in STANDS_FOR:
        os.environ.pop(DATA_VARIABLE, None)
        simulated = play(name, arguments.out / name, arguments.runs)
        if arguments.data is not None:
            os.environ[DATA_VARIABLE] = str(arguments.data.resolve())
            measured = play(name, arguments.out / f"{name}-real", arguments.runs)
            recorded[name] = {label: np.round(runs, 1).tolist() for label, runs in measured.items()}
        real = {label: np.array(runs) for label, runs in recorded[name].items()}
        show(name, real, simulated)
        well = well and not compare(real, simulated).clear
        for seed in range(1, arguments.seeds + 1):
            other = play(name, arguments.out / f"{name}-{seed}", arguments.runs, seed)
            print(f"Seed {seed}: {told(compare(real, other))}")
    if arguments.record and arguments.data is not None:
        lines = json.dumps(recorded, indent=1).replace("\n   ", " ").replace("[ ", "[").replace("\n  ]", "]")
        RECORDED.write_text(lines + "\n")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
