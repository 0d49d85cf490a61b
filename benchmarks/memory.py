"""Memory of the service per user and per item, in kilobytes: `python benchmarks/memory.py`."""

from __future__ import annotations

import argparse
from pathlib import Path

from druthers.advisor import Advisor, events
from druthers.catalogs import Item


def resident() -> float:
    """Return the memory of this process, in kilobytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4.096


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=32_000)
    parser.add_argument("--items", type=int, default=50_000)
    asked = parser.parse_args()
    advisor = Advisor("hotels", parser="lexicon")
    advisor.warm_up()
    fold = advisor.fold
    before = resident()
    for k in range(asked.items):
        values = {"value": 1 + k % 5, "rooms": 3.5}
        event = events.item(Item(f"item-{k}", f"Item {k}", "A sentence about it.", values, {"city": "Ghent"}))
        fold.apply(event._replace(position=fold.position + 1))
    print(f"{(resident() - before) / asked.items:8.2f} kB per item, over {asked.items:,}")
    before = resident()
    for k in range(asked.users):
        event = events.make(events.QUERY, {"ranking": ["value", "rooms"]}, user=f"user-{k}")
        fold.apply(event._replace(position=fold.position + 1))
    print(f"{(resident() - before) / asked.users:8.2f} kB per user, over {asked.users:,} who said something once")
    kept = fold.export(["user-5"])[0]
    print(f"{len(kept.body) / 1e3:8.2f} kB of arrays per user; they grow by doubling, so up to twice that is reserved")


if __name__ == "__main__":
    main()
