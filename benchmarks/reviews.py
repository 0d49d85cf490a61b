"""How fast raw reviews become a data folder, and in how much memory: generated files of the real sizes.

Each build runs in a process of its own. "busy" is its processor time in seconds, "/ read" the same as a multiple of
what reading the same bytes and cutting them into whole records takes. Exits with 1 where a build needs more than 1 GB.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from druthers.data.reviews.reading import Source
from druthers.data.reviews.samples import write_beers, write_hotels

LIMIT = 1_000  # MB
BEERS, HOTELS = 1_600_000, 878_561

BUILD = """
import json, resource, sys, time
from druthers.data import Columns, build_beeradvocate, build_table, build_tripadvisor
kind, raw, out = sys.argv[1:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start, used = time.perf_counter(), time.process_time()
if kind == "table":
    built = build_table(raw, out, Columns("user", "item", "overall", ("a", "b", "c")))
elif kind == "hotels":
    built = build_tripadvisor(raw, out)
else:
    built = build_beeradvocate(raw, out)
seconds, busy = time.perf_counter() - start, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, busy, before / 1024, peak / 1024, built.steps[0].reviews, sum(built.damaged.values()),
    list(built.estimates.rewards.shape), list(built.estimates.preferences.shape)]))
"""


def write_table(path: Path, rows: int) -> None:
    """Write a CSV file of ratings."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user", "item", "a", "b", "c", "overall"])
        for n in range(rows):
            user, item = n * 7_919 % 20_011, n * 104_729 % 5_003
            ratings = (1 + n % 5, 1 + (n // 3 + item) % 5, 1 + (n // 7 + user) % 5)
            writer.writerow([f"u{user}", f"i{item}", *ratings, round(sum(ratings) / 3)])


def yardstick(raw: Path, separator: bytes) -> float:
    """Return the processor seconds that reading takes alone."""
    paths = sorted(raw.iterdir()) if raw.is_dir() else [raw]
    start = time.process_time()
    for _ in Source(paths).blocks(separator):
        pass
    return time.process_time() - start


def measure(name: str, kind: str, write: Callable[[Path], None], raw: Path, separator: bytes, folder: Path) -> bool:
    """Write, build, print a line; return whether memory kept its limit."""
    write(raw)
    size = sum(path.stat().st_size for path in ([raw] if raw.is_file() else raw.iterdir())) / 1e6
    base = yardstick(raw, separator)
    command = [sys.executable, "-c", BUILD, kind, str(raw), str(folder / "out" / kind)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, busy, before, peak, reviews, damaged, rewards, preferences = json.loads(printed)
    print(
        f"{name:16s} {reviews:10,} {damaged:8,} {size:7,.0f} {seconds:8.1f} {busy:6.1f} {reviews / busy:10,.0f} "
        f"{busy / base:7.1f} {before:7.0f} {peak:7.0f}   {tuple(rewards)}, {tuple(preferences)}"
    )
    return bool(peak <= LIMIT)


def main() -> int:
    """Print a line for each format; exit with 1 where one is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="share of the real sizes (default 1)")
    arguments = parser.parse_args()
    beers, hotels = (max(1, round(arguments.share * size)) for size in (BEERS, HOTELS))
    print(
        f"{'':16s} {'reviews':>10s} {'damaged':>8s} {'MB':>7s} {'seconds':>8s} {'busy':>6s} {'per busy s':>10s} "
        f"{'/ read':>7s} {'MB then':>7s} {'MB peak':>7s}   made"
    )
    kept = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, kind, raw, separator, write in (
            ("beers", "beers", "beers.txt", b"\n\n", lambda path: write_beers(path, n_reviews=beers)),
            ("beers, gzip", "beers", "beers.txt.gz", b"\n\n", lambda path: write_beers(path, n_reviews=beers)),
            ("hotels", "hotels", "hotels", b"\n", lambda path: write_hotels(path, n_reviews=hotels, n_users=500_000)),
            ("table, CSV", "table", "table.csv", b"\n", lambda path: write_table(path, beers)),
        ):
            kept &= measure(label, kind, write, folder / raw, separator, folder)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
