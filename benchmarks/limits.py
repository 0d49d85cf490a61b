"""What limits cost: decisions over many items with and without them, side by side, and what a changed catalog costs.

python benchmarks/limits.py [--items N] [--rounds N]
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.types import Objective

OBJECTIVES = ("price", "quiet", "cleanliness", "breakfast", "view")
CITIES = ("Vienna", "Prague", "Graz", "Linz", "Brno", "Krems", "Wels", "Steyr")
WHERE = {"city": "Vienna", "kind": ["hotel", "hostel"], "price": {"max": 120}}
SENTENCE = "quiet and cheap, in Vienna, under 120 euros, with a pool"


def make_catalog(items: int) -> Catalog:
    """Return hotels that nobody has built."""
    draw = random.Random(1)
    objectives = [Objective(name, less_is_better=name == "price", low=0.0, high=500.0) for name in OBJECTIVES]
    return Catalog(
        name="hotels",
        objectives=objectives,
        items=[
            Item(
                f"h{row}",
                f"House {row}",
                values={name: round(draw.uniform(5.0, 400.0), 1) for name in OBJECTIVES},
                details={
                    "city": draw.choice(CITIES),
                    "kind": draw.choice(["hotel", "hostel", "inn"]),
                    "pool": draw.random() < 0.3,
                },
            )
            for row in range(items)
        ],
    )


def milliseconds(work: Callable[[], Any]) -> float:
    """Return how long something takes."""
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--items", type=int, default=100_000)
    arguments.add_argument("--rounds", type=int, default=30)
    given = arguments.parse_args()
    advisor = Advisor(make_catalog(given.items))
    advisor.hear("ada", "quiet and cheap")
    print(f"{given.items:,} items; milliseconds")
    first = milliseconds(lambda: advisor.recommend("ada", size=3, where=WHERE))
    print(f"  first decision with limits   {first:9.2f}")
    free, limited = [], []
    for _ in range(given.rounds):
        free.append(milliseconds(lambda: advisor.recommend("ada", size=3)))
        limited.append(milliseconds(lambda: advisor.recommend("ada", size=3, where=WHERE)))
    print(f"  decision without limits      {statistics.median(free):9.2f}")
    print(f"  decision with three limits   {statistics.median(limited):9.2f}")
    first = milliseconds(lambda: advisor.hear("ada", SENTENCE))
    again = [milliseconds(lambda: advisor.hear("ada", SENTENCE)) for _ in range(given.rounds)]
    print(f"  limits read in a sentence    {statistics.median(again):9.2f}   the first time {first:.2f}")
    advisor.put_item(Item("new", "New House", values={"price": 50.0}, details={"city": "Vienna"}))
    print(f"  decision after a new item    {milliseconds(lambda: advisor.recommend('ada', size=3, where=WHERE)):9.2f}")


if __name__ == "__main__":
    main()
