"""How clauses are read in a hundred domains that nothing was taught with: names and a sentence are all that is known.

    python benchmarks/unseen.py [--names] [--parser default] [--every 1] [--verbose]

Utterances by five authors who had seen nothing of ours, each about one objective of its domain, or none: said plainly,
only implied, or set aside. Right is a reading of that objective alone, in its role, or of none. Look at the figures,
not at the sentences: what is learned from is unseen no more.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from druthers.language import Objective, Reading, make_parser

FOLDER = Path(__file__).parent / "utterances" / "unseen"


def outcome(reading: Reading, name: str | None, role: str) -> tuple[bool, bool]:
    """Return whether a reading is right, and whether it holds anything wrong."""
    wanted, dismissed = set(reading.names), set(reading.dismissed_names)
    right = {name} if name else set()
    there = (wanted, dismissed) == ((right, set()) if role == "wanted" else (set(), right))
    return there, bool((wanted | dismissed) - right or (name and name in (dismissed if role == "wanted" else wanted)))


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--names", action="store_true", help="objectives have no descriptions")
    arguments.add_argument("--parser", default="default", help="default, lexicon or embedding")
    arguments.add_argument("--every", type=int, default=1, help="read only each of so many domains")
    arguments.add_argument("--verbose", action="store_true", help="print what is not right")
    given = arguments.parse_args()
    outcomes: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    domains = [entry for file in sorted(FOLDER.glob("*.json")) for entry in json.loads(file.read_text("utf-8"))]
    for entry in domains[:: given.every]:
        told = entry["objectives"]
        objectives = [Objective(one["name"], "" if given.names else one["description"]) for one in told]
        parser = make_parser(given.parser, objectives=objectives)
        said = [
            (kind, one["name"], text)
            for one in told
            for kind in ("plain", "implied", "dismissed")
            for text in one[kind]
        ]
        said += [("plain", one["name"], text) for one in told for text in one["examples"]]
        said += [("nothing", None, text) for text in entry["nothing"]]
        for kind, name, text in said:
            reading = parser.read(text)
            found = outcome(reading, name, "dismissed" if kind == "dismissed" else "wanted")
            outcomes[kind].append(found)
            if given.verbose and not found[0]:
                print(
                    f"{entry['domain']}: {kind} {name}: {text!r}: {reading.names}, {reading.dismissed_names}",
                    flush=True,
                )
    print(f"{'':10}{'n':>7}{'right':>8}{'wrong':>8}{'silent':>8}")
    for kind in ("plain", "implied", "dismissed", "nothing"):
        n = len(outcomes[kind])
        right, wrong = (sum(column) / n for column in zip(*outcomes[kind], strict=True))
        print(f"{kind:10}{n:7}{right:8.3f}{wrong:8.3f}{1 - right - wrong:8.3f}")


if __name__ == "__main__":
    main()
