"""How well sentences are read whose authors had seen nothing of ours: plain ones, idioms, and domains of their own.

    python benchmarks/blind.py

Keep it blind: look at the figures, not at the sentences. Once mistakes are looked at and mended, the sentences are
material to learn from like all others, and new authors are needed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from druthers.language import Objective, Parser, Reading, Sentence, evaluate, load_sentences, make_parser

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "sentences" / "blind"
TOLD = ("names only", "a sentence each", "and examples")


def objectives_of(sentence: Sentence, told: int) -> list[Objective]:
    """Return the objectives of a sentence's domain with as much as is told: names, descriptions, examples."""
    if not told:
        return [Objective(name) for name in sentence.objectives]
    domains = json.loads((FOLDER / "new_domains_objectives.json").read_text(encoding="utf-8"))
    table = {entry["name"]: entry for entry in domains[sentence.domain]}
    return [
        Objective(name, table[name]["description"], examples=tuple(table[name]["examples"]) if told > 1 else ())
        for name in sentence.objectives
    ]


def show(title: str, file: str, parser: str, told: int = 0) -> None:
    """Print a row of figures."""
    made: dict[tuple[str, ...], Parser] = {}

    def read(sentence: Sentence) -> Reading:
        if sentence.objectives not in made:
            made[sentence.objectives] = make_parser(parser, objectives=objectives_of(sentence, told))
        return made[sentence.objectives].read(sentence.query)

    scores = evaluate(load_sentences(FOLDER / file), read)[1]
    whole = scores["all"]
    injected = scores.get("tag injection")
    trace = "" if injected is None else f"{injected.exact:10.2f} of {injected.n}"
    figures = "".join(f"{value:8.2f}" for value in (whole.top1, whole.exact, whole.f1, whole.tau, whole.silence))
    print(f"{title:29}{parser:10}{whole.n:5}{figures}{trace}", flush=True)


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(
        f"{'':38}{'n':>5}" + "".join(f"{name:>8}" for name in ("top-1", "exact", "F1", "tau", "silence")) + "  injected"
    )
    for parser in ("default", "lexicon"):
        show("plain", "plain.json", parser)
        show("idiomatic", "idiomatic.json", parser)
        for told, what in enumerate(TOLD):
            show(f"new domains, {what}", "new_domains.json", parser, told)


if __name__ == "__main__":
    main()
