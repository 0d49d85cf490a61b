"""How much of what the template writer says is read back: clear sentences exactly, vague ones as nothing.

    python benchmarks/writing.py [--parser lexicon] [--sentences 60] [--typos 0.1]

`--sentences` is for each length of ranking, in each catalog.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import numpy as np

from druthers.language import Objective, domain_names, item_of, load_domain, make_parser, make_writer

NAMES = {
    "coffee, names only": ["acidity", "crema", "sweetness", "price"],
    "laptops, names only": ["battery", "weight", "price", "screen", "keyboard"],
    "jobs, names only": ["pay", "commute", "flexibility", "team"],
    "hotels, names only": [objective.name for objective in load_domain("hotels")],
}


def measure(
    objectives: Iterable[str | Objective], item: str | None, parser_name: str, n: int, typos: float
) -> tuple[list[tuple[bool, bool]], list[tuple[bool, bool]], list[bool]]:
    """Return exact and top-1 of sentences up to length four and above, and which vague ones were read as nothing."""
    objectives = list(objectives)
    parser = make_parser(parser_name, objectives=objectives)
    writer = make_writer(objectives=objectives, seed=1, item=item, typos=typos)
    random = np.random.default_rng(0)
    short: list[tuple[bool, bool]] = []
    long: list[tuple[bool, bool]] = []
    for length in range(1, len(objectives) + 1):
        for _ in range(n):
            ranking = tuple(random.permutation(len(objectives))[:length].tolist())
            read = parser.read(writer.write(ranking)).ranking
            (short if length <= 4 else long).append((read == ranking, read[:1] == ranking[:1]))
    silent = [parser.read(writer.write((), vague=True)).ranking == () for _ in range(n)]
    return short, long, silent


def main() -> None:
    """Print one row for each catalog, and the mean over all sentences."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--parser", default="default")
    arguments.add_argument("--sentences", type=int, default=60)
    arguments.add_argument("--typos", type=float, default=0.0)
    given = arguments.parse_args()
    print("| | exact, 1 to 4 | top-1, 1 to 4 | exact, 5 and more | vague read as nothing |\n|---|---|---|---|---|")
    total: tuple[list[tuple[bool, bool]], list[tuple[bool, bool]], list[bool]] = ([], [], [])
    for name in (*domain_names(), *NAMES):
        objectives: Iterable[str | Objective] = NAMES[name] if name in NAMES else load_domain(name)
        parts = measure(objectives, item_of(name), given.parser, given.sentences, given.typos)
        total = (total[0] + parts[0], total[1] + parts[1], total[2] + parts[2])
        print(row(name, *parts), flush=True)
    print(row("all", *total))


def row(name: str, short: list[tuple[bool, bool]], long: list[tuple[bool, bool]], silent: list[bool]) -> str:
    """Return a row of the table."""
    exact, top = np.mean(short, axis=0)
    more = f"{np.mean(long, axis=0)[0]:.2f}" if long else ""
    return f"| {name} | {exact:.2f} | {top:.2f} | {more} | {np.mean(silent):.2f} |"


if __name__ == "__main__":
    main()
