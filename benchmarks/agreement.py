"""Our final regrets beside those of the authors' own code, as a table in Markdown.

`authors.json` holds the final regret of each run of the authors' published code, measured once, on its own draws. Two
policies agree where the difference of the means lies within its joint 95 % interval (Welch's t). Reads the folders
that `druthers reproduce` writes; the review experiments mean something only with the authors' arrays (--data).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy import stats

from druthers.experiments import Results, mean_and_error

AUTHORS = json.loads(Path(__file__).with_name("authors.json").read_text())
# ConUCB differs on purpose: theirs is told the true means, ours estimates them.
ON_PURPOSE = {"conucb"}


def agreement(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """Return the difference of the means and the half-width of its 95 % interval."""
    interval = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    return float(ours.mean() - theirs.mean()), float((interval.high - interval.low) / 2)


def main() -> int:
    """Print the tables; exit with 1 where a policy disagrees or stands in another place."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("results/paper"), help="what reproduce wrote")
    arguments = parser.parse_args()
    well = True
    for name, authors in AUTHORS.items():
        results = Results.load(arguments.folder / name)
        print(f"\n**{results.experiment.title}**" + (f" ({results.data})" if results.data else "") + "\n")
        print("| | druthers | authors' code | difference, 95 % | |")
        print("|---|---|---|---|---|")
        order = []
        for label in sorted(results.labels, key=lambda label: results.final_regret(label).mean()):
            ours = results.final_regret(label)
            line = f"| `{label}` | {shown(ours)} |"
            if label not in authors:
                print(f"{line} | | |")
                continue
            theirs = np.array(authors[label])
            difference, reach = agreement(ours, theirs)
            agrees = abs(difference) <= reach
            verdict = "on purpose" if label in ON_PURPOSE else "agrees" if agrees else "differs"
            well = well and verdict != "differs"
            print(f"{line} {shown(theirs)} | {difference:+,.0f} ± {reach:,.0f} | {verdict} |")
            order.append(label)
        well = same_order([label for label in order if label not in ON_PURPOSE], results, authors) and well
    return 0 if well else 1


def same_order(labels: list[str], results: Results, authors: dict[str, list[float]]) -> bool:
    """Tell, and print, whether the policies stand in the authors' order, pairs too close to call apart."""
    swapped = []
    for place, first in enumerate(labels):
        for second in labels[place + 1 :]:
            behind, ahead = np.array(authors[first]), np.array(authors[second])
            if behind.mean() <= ahead.mean():
                continue
            close = agreement(behind, ahead)[0] <= agreement(behind, ahead)[1]
            swapped.append(f"{first} and {second}" + (" (too close to call in theirs)" if close else ""))
    print(f"\nOrder: {'as theirs' if not swapped else 'as theirs but for ' + '; '.join(swapped)}.")
    return all("too close" in pair for pair in swapped)


def shown(runs: np.ndarray) -> str:
    """Return mean and standard error."""
    mean, error = mean_and_error(runs)
    return f"{mean:,.0f} ± {error:,.0f}"


if __name__ == "__main__":
    sys.exit(main())
