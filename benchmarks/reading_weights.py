"""Fit the weights by which `default` and `embedding` judge what a text speaks of, from the sentences for development.

    python benchmarks/reading_weights.py --attitudes  # write the head of src/druthers/language/data/adapter.npz
    python benchmarks/reading_weights.py --check      # how well each domain is read by weights from all others
    python benchmarks/reading_weights.py --write      # write src/druthers/language/data/weights.json

A text speaks of an objective as much as that piece of it does that speaks of it most: the weights are fitted by
logistic regression to the pieces that the weights themselves choose, a few times over. The head that tells wanted,
dismissed and neither apart is fitted to clauses that speak of one thing, with the utterances of benchmarks/utterances.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from druthers.language import Objective, Sentence, domain_names, load_domain, load_sentences
from druthers.language.asides import open_tokens
from druthers.language.clauses import Token, sentences, tokenize
from druthers.language.encoders import encode_all, load_encoder
from druthers.language.judging import Judge, alone_in
from druthers.language.likeness import MEASURES, said
from druthers.language.spotting import Words

ROOT = Path(__file__).parents[1]
SENTENCES = ROOT / "tests" / "data" / "sentences"
WEIGHTS = ROOT / "src" / "druthers" / "language" / "data" / "weights.json"
KNOWN = (
    "development.json",
    "strangers/plain.json",
    "strangers/plain2.json",
    "strangers/idiomatic.json",
    "strangers/idiomatic2.json",
    "strangers/mixed3.json",
)
NEW = (
    "domains/domains.json",
    "strangers/new_domains.json",
    "strangers/new_domains2.json",
    "strangers/new_domains3.json",
    "strangers/new_domains4.json",
)
RIDGE = 0.5


@dataclass
class Row:
    """What is measured of a sentence, and which objectives it speaks of."""

    sentence: Sentence
    measures: Any
    spoken: Any


def told(sentence: Sentence, level: int, catalogs: dict[str, dict[str, Any]]) -> list[Objective]:
    """Return a sentence's objectives by names only (0), with a description each (1), or with examples as well (2)."""
    entries = catalogs.get(sentence.domain, {})
    found = []
    for name in sentence.objectives:
        entry = entries.get(name, {})
        description = entry.get("description", "") if level > 0 else ""
        found.append(Objective(name, description, (), tuple(entry.get("examples", ())) if level > 1 else ()))
    return found


def load(level: int) -> tuple[list[Sentence], dict[str, dict[str, Any]]]:
    """Return the sentences that can be used at a level, and what is told of their objectives."""
    catalogs: dict[str, dict[str, Any]] = {
        name: {each.name: {"description": each.description} for each in load_domain(name)} for name in domain_names()
    }
    rows = []
    for file in NEW:
        rows += load_sentences(SENTENCES / file)
        listed = json.loads((SENTENCES / file.replace(".json", "_objectives.json")).read_text(encoding="utf-8"))
        catalogs |= {domain: {entry["name"]: entry for entry in entries} for domain, entries in listed.items()}
    for file in KNOWN if level < 2 else ():
        more = load_sentences(SENTENCES / file)
        rows += [s for s in more if level == 0 or set(s.objectives) <= set(catalogs.get(s.domain, {}))]
    return rows, catalogs


def shown_of(sentence: Sentence) -> tuple[list[Token], list[bool]]:
    """Return the tokens of a sentence, closed ones as marks, and which are open."""
    tokens = tokenize(sentence.query)
    open_, _ = open_tokens(tokens, sentences(tokens))
    return [t if flag else Token("|", t.start, t.end) for t, flag in zip(tokens, open_, strict=True)], open_


def clauses() -> Iterator[tuple[str, int]]:
    """Yield clauses that speak of one thing, wanted (0) or dismissed (1), or in a text without a wish (2)."""
    for sentence in load(0)[0]:
        objectives = told(sentence, 0, {})
        judge, words = Judge(objectives), Words(objectives)
        shown, open_ = shown_of(sentence)
        mentions = words(shown, open_)
        kept = judge(shown, open_, mentions)
        pieces, _, _ = judge.measured(shown, open_, [m for m in mentions if m.kind != "idle"])
        found = {alone_in(m, kept, pieces): m.objective for m in kept}
        for place, objective in found.items():
            name = sentence.objectives[objective]
            empty = not sentence.gold and not sentence.low
            if place is not None and (name in (*sentence.gold, *sentence.low) or empty):
                yield (
                    said(shown[slice(*pieces[place])]),
                    0 if name in sentence.gold else 1 if name in sentence.low else 2,
                )


def utterances() -> Iterator[tuple[str, int]]:
    """Yield the utterances that the adapter was trained on, with their attitudes."""
    kinds = {"plain": 0, "implied": 0, "examples": 0, "wanted": 0, "dismissed": 1, "nothing": 2, "neither": 2}
    for file in sorted((ROOT / "benchmarks" / "utterances").glob("*.json")):
        for entry in json.loads(file.read_text(encoding="utf-8")):
            for part in (entry, *entry.get("objectives", ())):
                for kind, attitude in kinds.items():
                    yield from ((" ".join(t.text for t in tokenize(text)), attitude) for text in part.get(kind, ()))


def write_attitudes() -> None:
    """Fit the head and write it into the adapter."""
    rows = [(text, kind, 1.0) for text, kind in clauses()] + [(text, kind, 0.1) for text, kind in utterances()]
    texts, kinds, weights = (list(column) for column in zip(*rows, strict=True))
    x = encode_all(load_encoder("minilm"), texts)
    weight, right = np.array(weights)[:, None], np.eye(3)[kinds]

    def loss(flat: Any) -> tuple[float, Any]:
        w = flat.reshape(-1, 3)
        odds = x @ w[:-1] + w[-1]
        chances = odds - np.logaddexp.reduce(odds, axis=1, keepdims=True)
        rest = weight * (np.exp(chances) - right)
        total = -(weight * right * chances).sum() + 0.3 * (w[:-1] ** 2).sum() / 2
        return float(total), np.vstack([x.T @ rest + 0.3 * w[:-1], rest.sum(axis=0)]).ravel()

    w = minimize(loss, np.zeros(3 * (x.shape[1] + 1)), jac=True, method="L-BFGS-B").x.reshape(-1, 3)
    path = WEIGHTS.with_name("adapter.npz")
    with np.load(path) as old:
        parts = dict(old) | {"head": w[:-1].astype(np.float32), "constant": w[-1].astype(np.float32)}
    np.savez_compressed(path, **parts)
    print(
        f"fitted to {sum(each == 1.0 for each in weights)} clauses and {sum(each < 1.0 for each in weights)} utterances"
    )


def measure(level: int, words: bool, encoder: str) -> list[Row]:
    """Measure all sentences of a level by the models or the table, with the word lists or without."""
    rows, judges, catalogs_of = [], dict[Any, tuple[Judge, Words]](), load(level)
    for sentence in catalogs_of[0]:
        key = (sentence.domain, sentence.objectives)
        if key not in judges:
            objectives = told(sentence, level, catalogs_of[1])
            judges[key] = Judge(objectives, encoder=encoder), Words([Objective(each.name) for each in objectives])
        judge, lists = judges[key]
        shown, open_ = shown_of(sentence)
        mentions = [m for m in lists(shown, open_) if m.kind != "idle"] if words else []
        pieces, _, measures = judge.measured(shown, open_, mentions)
        if pieces:
            spoken = np.array([name in (*sentence.gold, *sentence.low) for name in sentence.objectives], dtype=float)
            rows.append(Row(sentence, measures, spoken))
    return rows


def fit(rows: Sequence[Row]) -> Any:
    """Return weights and, at the end, the constant."""
    weights = np.zeros(len(MEASURES) + 1)
    for name, start in (("best", 8.0), ("neutral", -8.0), ("best, ahead", 5.0)):
        weights[MEASURES.index(name)] = start
    for _ in range(6):
        chosen = [
            row.measures[(row.measures @ weights[:-1]).argmax(axis=0), np.arange(len(row.spoken))] for row in rows
        ]
        x, y = np.concatenate(chosen), np.concatenate([row.spoken for row in rows])

        def loss(w: Any, x: Any = x, y: Any = y) -> tuple[float, Any]:
            odds = x @ w[:-1] + w[-1]
            rest = 1 / (1 + np.exp(-odds)) - y
            total = (np.logaddexp(0, odds) - y * odds).sum() + RIDGE * (w[:-1] ** 2).sum() / 2
            return float(total), np.append(x.T @ rest + RIDGE * w[:-1], rest.sum())

        weights = minimize(loss, weights, jac=True).x
    return weights


def check(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the share of texts whose objectives are all found, by weights from other domains, and that of silence."""
    right, silent = [], []
    for domain in sorted({row.sentence.domain for row in rows if row.sentence.domain not in domain_names()}):
        weights = fit([row for row in rows if row.sentence.domain != domain])
        for row in (row for row in rows if row.sentence.domain == domain):
            found = (row.measures @ weights[:-1] + weights[-1]).max(axis=0) > 0
            right.append(bool((found == row.spoken).all()))
            if not row.spoken.any():
                silent.append(not found.any())
    return float(np.mean(right)), float(np.mean(silent))


def main() -> None:
    """Fit, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="read each new domain by weights from all others")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--attitudes", action="store_true", help="fit and write the head that tells attitudes apart")
    arguments = parser.parse_args()
    if arguments.attitudes:
        write_attitudes()
        return
    listed = {}
    for encoder, words in (("both", True), ("both", False), ("table", True)):
        for level in (0, 1, 2):
            kind = "table" if encoder == "table" else "models"
            rows, name = measure(level, words, encoder), f"{kind}, {'with' if words else 'without'} words, {level}"
            if arguments.check:
                print(f"{name}: all found in {check(rows)[0]:.2f} of texts, silence {check(rows)[1]:.2f}", flush=True)
            fitted = dict(zip((*MEASURES, "constant"), fit(rows).round(2).tolist(), strict=True))
            listed[name] = fitted
    if arguments.write:
        WEIGHTS.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
