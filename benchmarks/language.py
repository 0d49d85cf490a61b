"""How fast sentences are read, how long loading takes, and what it costs in memory, each parser in its own process.

`--encoders` compares the sentence models as the only way to read: MiniLM, the multilingual Universal Sentence Encoder,
and both side by side, as the parsers use them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SENTENCES = Path(__file__).parents[1] / "tests" / "data" / "sentences" / "development.json"
PARSERS = ("lexicon", "embedding", "default")


def megabytes() -> float:
    """Return the greatest memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)


def measure(name: str) -> dict[str, float]:
    """Load one parser in this process and read the sentences; times are of the processor."""
    started, before = time.process_time(), megabytes()
    from druthers.language import load_sentences, make_parser

    imported = time.process_time()
    sentences = [sentence for sentence in load_sentences(SENTENCES) if sentence.domain == "hotels"]
    parser = make_parser(name, objectives=sentences[0].objectives)
    parser.read("my upstairs neighbor tap-dances all evening")
    loaded = time.process_time()
    times = []
    for sentence in sentences * 3:
        at = time.process_time()
        parser.read(sentence.query)
        times.append(1000 * (time.process_time() - at))
    return {
        "import s": imported - started,
        "load s": loaded - imported,
        "mean ms": float(np.mean(times)),
        "95 % ms": float(np.quantile(times, 0.95)),
        "most ms": float(np.max(times)),
        "sentences/s": 1000 / float(np.mean(times)),
        "MB": megabytes() - before,
    }


def compare(name: str) -> dict[str, float]:
    """Read the development sentences by one sentence model alone; return time, memory and how well it reads."""
    from druthers.language import encoders, evaluate, load_sentences, make_parser

    before, started = megabytes(), time.process_time()
    encoder = encoders.load_encoder(name)
    encoder.encode(["hello"])
    loaded, memory = time.process_time(), megabytes() - before
    parsers: dict[Any, Any] = {}

    def read(sentence: Any) -> Any:
        if sentence.objectives not in parsers:
            parsers[sentence.objectives] = make_parser("embedding", objectives=sentence.objectives, encoder=name)
        return parsers[sentence.objectives].read(sentence.query)

    sentences = load_sentences(SENTENCES)
    scores = evaluate(sentences, read)[1]
    at = time.process_time()
    for sentence in sentences[:60]:
        encoder.encode([sentence.query])
    each = 1000 * (time.process_time() - at) / 60
    return {
        "load s": loaded - started,
        "ms a sentence": each,
        "MB": memory,
        "exact": scores["all"].exact,
        "top1": scores["all"].top1,
        "idiomatic exact": scores["tag idiom"].exact,
        "other languages exact": scores["tag other_lang"].exact,
    }


def main() -> None:
    """Print a table in Markdown; each row is measured in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoders", action="store_true", help="compare sentence models instead of parsers")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    work, names = (compare, ("minilm", "use", "both")) if arguments.encoders else (measure, PARSERS)
    if arguments.only:
        print(json.dumps(work(arguments.only)))
        return
    rows = {}
    for name in names:
        command = [sys.executable, __file__, "--only", name, *(["--encoders"] if arguments.encoders else [])]
        rows[name] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    columns = list(next(iter(rows.values())))
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, row in rows.items():
        print(f"| `{name}` | " + " | ".join(f"{row[column]:,.3g}" for column in columns) + " |")


if __name__ == "__main__":
    main()
