"""How fast sentences are read, how long loading takes, and what it costs in memory, each parser in its own process.

    python benchmarks/language.py                                      # the development sentences
    python benchmarks/language.py tests/data/sentences/blind/plain.json

Each sentence is read once: what was read before is remembered, so a second time would flatter.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SENTENCES = Path(__file__).parents[1] / "tests" / "data" / "sentences" / "development.json"
PARSERS = ("lexicon", "embedding", "default")


def megabytes() -> float:
    """Return the greatest memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)


def measure(name: str, path: Path) -> dict[str, float]:
    """Load one parser for each catalog in this process and read the sentences; times are of the processor."""
    started, before = time.process_time(), megabytes()
    from druthers.language import load_sentences, make_parser

    imported = time.process_time()
    sentences = load_sentences(path)
    parsers = {listed: make_parser(name, objectives=listed) for listed in {each.objectives for each in sentences}}
    next(iter(parsers.values())).warm_up()
    loaded = time.process_time()
    for parser in parsers.values():
        parser.warm_up()
        parser.read("my upstairs neighbour tapdances all evening")  # the first typing error builds an index
    times = []
    for sentence in sentences:
        at = time.process_time()
        parsers[sentence.objectives].read(sentence.query)
        times.append(1000 * (time.process_time() - at))
    return {
        "import s": imported - started,
        "load s": loaded - imported,
        "median ms": float(np.median(times)),
        "mean ms": float(np.mean(times)),
        "95 % ms": float(np.quantile(times, 0.95)),
        "most ms": float(np.max(times)),
        "MB": megabytes() - before,
    }


def main() -> None:
    """Print a table in Markdown; each row is measured in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path, nargs="?", default=SENTENCES, help="a file of sentences")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(arguments.only, arguments.sentences)))
        return
    rows = {}
    for name in PARSERS:
        command = [sys.executable, __file__, str(arguments.sentences), "--only", name]
        rows[name] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    columns = list(next(iter(rows.values())))
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, row in rows.items():
        print(f"| `{name}` | " + " | ".join(f"{row[column]:,.3g}" for column in columns) + " |")


if __name__ == "__main__":
    main()
