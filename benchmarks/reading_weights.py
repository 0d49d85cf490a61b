"""Fit the weights and bars by which clauses are judged, from the sentences that may be learned from.

    python benchmarks/reading_weights.py --attitudes  # write the head of src/druthers/language/data/adapter.npz
    python benchmarks/reading_weights.py --check      # how well each domain is read by weights from all others
    python benchmarks/reading_weights.py --write      # write the weights into src/druthers/language/data/weights.json
    python benchmarks/reading_weights.py --bars       # how well texts are read by other bars, and what that costs

A text speaks of an objective as much as that clause of it does that speaks of it most: the weights are fitted by
logistic regression to the clauses that the weights themselves choose, a few times over. So that what speaks of
nothing in the catalog is left alone, each text is also measured without each objective that it speaks of. The head
that tells wanted, dismissed and neither apart is fitted to clauses that speak of one thing, with the utterances of
benchmarks/utterances.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from druthers.language import Objective, Parser, Sentence, domain_names, load_domain, load_sentences, make_parser
from druthers.language.data import read_data
from druthers.language.lexicon.concepts import Kind
from druthers.language.lexicon.words import Words
from druthers.language.models import judge as judging
from druthers.language.models.judge import Judge, unexplained
from druthers.language.models.measures import MEASURES, said
from druthers.language.models.minilm import load_minilm
from druthers.language.rules.cues import spoken_of
from druthers.language.text import Span, Token, clauses, open_tokens, sentences, tokenize

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
# What a text without one of its objectives counts, beside the same text with all of them.
LESS = 0.3


@dataclass
class Row:
    """What is measured of a sentence, which objectives it speaks of, and how much it counts."""

    sentence: Sentence
    measures: Any
    spoken: Any
    weight: float = 1.0


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


def shown_of(sentence: Sentence) -> tuple[list[Token], list[bool], list[Span]]:
    """Return the tokens of a sentence, closed ones as marks, which are open, and the clauses."""
    tokens = tokenize(sentence.query)
    open_, _ = open_tokens(tokens, sentences(tokens))
    shown = [t if flag else Token("|", t.start, t.end) for t, flag in zip(tokens, open_, strict=True)]
    return shown, open_, [span for span in clauses(shown, open_) if unexplained(shown, span, set())]


def one_thing() -> Iterator[tuple[str, int]]:
    """Yield clauses that speak of one thing, wanted (0) or dismissed (1), or in a text without a wish (2)."""
    for sentence in load(0)[0]:
        objectives = told(sentence, 0, {})
        shown, open_, spans = shown_of(sentence)
        standing = Judge(objectives)(shown, open_, Words(objectives)(shown, open_), spoken_of).mentions
        for start, end in spans:
            named = {sentence.objectives[m.objective] for m in standing if start <= m.first < end}
            empty = not sentence.gold and not sentence.low
            if len(named) == 1 and (named <= {*sentence.gold, *sentence.low} or empty):
                yield said(shown[start:end]), 2 if empty else int(named <= {*sentence.low})


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
    rows = [(text, kind, 1.0) for text, kind in one_thing()] + [(text, kind, 0.1) for text, kind in utterances()]
    texts, kinds, weights = (list(column) for column in zip(*rows, strict=True))
    x = load_minilm().encode(texts)
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


def measure(level: int, kind: str) -> list[Row]:
    """Measure all sentences of a level by the table, by the model, or by the model alone, without the word lists."""
    rows: list[Row] = []
    made: dict[Any, tuple[Judge, Words]] = {}
    listed, catalogs = load(level)
    for sentence in listed:
        spoken = {*sentence.gold, *sentence.low}
        shown, open_, spans = shown_of(sentence)
        for left_out in (None, *sorted(spoken)) if spans else ():
            names = tuple(name for name in sentence.objectives if name != left_out)
            key = sentence.domain, names
            if len(names) < 2:
                continue
            if key not in made:
                objectives = [each for each in told(sentence, level, catalogs) if each.name in names]
                made[key] = Judge(objectives), Words(objectives)
            judge, words = made[key]
            mentions = [] if kind == "model alone" else [m for m in words(shown, open_) if m.kind is not Kind.IDLE]
            measures = judge.measures("table" if kind == "table" else "model").measure(shown, spans, mentions)
            labels = np.array([name in spoken for name in names], dtype=float)
            rows.append(Row(sentence, measures, labels, 1.0 if left_out is None else LESS))
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
        counts = np.concatenate([np.full(len(row.spoken), row.weight) for row in rows])

        def loss(w: Any, x: Any = x, y: Any = y, counts: Any = counts) -> tuple[float, Any]:
            odds = x @ w[:-1] + w[-1]
            rest = counts * (1 / (1 + np.exp(-odds)) - y)
            total = (counts * (np.logaddexp(0, odds) - y * odds)).sum() + RIDGE * (w[:-1] ** 2).sum() / 2
            return float(total), np.append(x.T @ rest + RIDGE * w[:-1], rest.sum())

        weights = minimize(loss, weights, jac=True, method="L-BFGS-B").x
    return weights


def check(rows: Sequence[Row]) -> tuple[float, float, float]:
    """Return, by weights from other domains, the share of texts of which everything is found and nothing else.

    The second share is that of texts without a wish, the third that of texts which speak of something not listed.
    """
    shares: tuple[list[bool], ...] = ([], [], [])
    for domain in sorted({row.sentence.domain for row in rows if row.sentence.domain not in domain_names()}):
        weights = fit([row for row in rows if row.sentence.domain != domain])
        for row in (row for row in rows if row.sentence.domain == domain):
            found = (row.measures @ weights[:-1] + weights[-1]).max(axis=0) > 0
            right = bool((found == row.spoken).all())
            shares[2 if row.weight < 1.0 else 0].append(right)
            if row.weight == 1.0 and not row.spoken.any():
                shares[1].append(right)
    return tuple(float(np.mean(share)) for share in shares)  # type: ignore[return-value]


def read_by_bars() -> None:
    """Print how well all sentences are read by each bar moved alone, and to how many the model is shown."""
    watched = Watched()
    judging.load_minilm = lambda: watched  # type: ignore[assignment,return-value]
    bars = read_data("weights.json")["bars"]
    tried: list[tuple[str, Any, list[Any]]] = [
        ("ask", bars, [-4.0, -3.0, -2.5, -2.0, -1.5, -1.0]),
        ("lean", bars, [0.0, 0.7, 1.5, 3.0, 99.0]),
        ("model", bars["add"], [-1.0, -0.5, -0.25, 0.0, 0.25, 0.5]),
        ("table", bars["add"], [-0.5, 0.0, 0.5, 1.0, 99.0]),
        *((level, bars["keep"], [-9.0, -3.0, -1.5, -1.0, 0.0]) for level in range(3)),
    ]
    for name, place, values in tried:
        before = place[name]
        for value in values:
            place[name] = value
            print(f"{name!s:>8} {value:6.2f}  " + "  ".join(read_all(level) for level in range(3)), flush=True)
        place[name] = before


_parsers: dict[Any, Parser] = {}
_shown: list[str] = []


class Watched:
    """The model, with a memory of what it was shown."""

    name = "minilm"

    def __init__(self) -> None:
        self.attitudes = load_minilm().attitudes
        self._vector = cache(lambda text: load_minilm().encode([text])[0])

    def encode(self, texts: Sequence[str]) -> Any:
        """Return one vector for each text."""
        _shown.extend(texts)
        return np.array([self._vector(text) for text in texts]).reshape(-1, 384)


def read_all(level: int) -> str:
    """Return how well the sentences of a level are read, and the share for which the model is asked."""
    listed, catalogs = load(level)
    exact = asked = 0
    for sentence in listed:
        key = level, sentence.domain, sentence.objectives
        if key not in _parsers:
            _parsers[key] = make_parser("default", objectives=told(sentence, level, catalogs))
        before = len(_shown)
        exact += _parsers[key].read(sentence.query).names == sentence.gold
        asked += len(_shown) > before
    return f"exact {exact / len(listed):.4f} asked {asked / len(listed):.2f}"


def main() -> None:
    """Fit, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="read each new domain by weights from all others")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--attitudes", action="store_true", help="fit and write the head that tells attitudes apart")
    parser.add_argument("--bars", action="store_true", help="read all sentences by other bars")
    arguments = parser.parse_args()
    if arguments.attitudes:
        write_attitudes()
    elif arguments.bars:
        read_by_bars()
    else:
        fitted = dict(read_data("weights.json"))
        for kind in ("table", "model", "model alone"):
            for level in range(3):
                rows, name = measure(level, kind), f"{kind}, {level}"
                if arguments.check:
                    found, silence, absent = check(rows)
                    print(
                        f"{name}: right {found:.3f}, of silent {silence:.3f}, of what is not listed {absent:.3f}",
                        flush=True,
                    )
                fitted[name] = dict(zip((*MEASURES, "constant"), fit(rows).round(2).tolist(), strict=True))
        if arguments.write:
            WEIGHTS.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
