"""Fit the model that tells what a message is where no rule knows it, and measure it on messages it has not seen.

    python benchmarks/message_kinds.py --check  # each fifth of the messages by a model of the others
    python benchmarks/message_kinds.py --write  # write src/druthers/advisor/kinds.npz

The messages are benchmarks/utterances/kinds.tsv: a kind and a message on each line, written by hand.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from druthers.advisor.kinds import features
from druthers.language.models.minilm import load_minilm

HERE = Path(__file__).parent
MESSAGES = HERE / "utterances" / "kinds.tsv"
MODEL = HERE.parent / "src" / "druthers" / "advisor" / "kinds.npz"
OFTEN = 2  # how many messages a word must be in
RIDGE_MEANING, RIDGE_WORDS = 0.1, 0.5  # of .1 to 1 and .5 to 2 the best on messages of other authors

Floats = NDArray[np.float64]


def load() -> tuple[list[str], list[str]]:
    """Return kinds and messages."""
    lines = [line.split("\t", 1) for line in MESSAGES.read_text(encoding="utf-8").splitlines() if line]
    return [kind for kind, _ in lines], [text for _, text in lines]


def bag(texts: Sequence[str], known: Sequence[str]) -> Floats:
    """Return which features each text has."""
    places = {feature: place for place, feature in enumerate(known)}
    table = np.zeros((len(texts), len(known)))
    for row, text in enumerate(texts):
        table[row, [places[one] for one in set(features(text)) if one in places]] = 1.0
    return table


def fit(meaning: Floats, words: Floats, kinds: NDArray[np.int64], n_kinds: int) -> Floats:
    """Return the weights of a multinomial logistic regression with a ridge, one row for each feature and a constant."""
    data = np.hstack([meaning, words, np.ones((len(words), 1))])
    ridge = np.concatenate([np.full(meaning.shape[1], RIDGE_MEANING), np.full(words.shape[1], RIDGE_WORDS), [0.0]])
    target = np.eye(n_kinds)[kinds]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(data.shape[1], n_kinds)
        odds = data @ weights
        log_chances = odds - np.logaddexp.reduce(odds, axis=1, keepdims=True)
        slope = data.T @ (np.exp(log_chances) - target) + ridge[:, None] * weights
        return float(-(target * log_chances).sum() + 0.5 * (ridge[:, None] * weights**2).sum()), slope.ravel()

    start = np.zeros(data.shape[1] * n_kinds)
    found: Any = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    weights: Floats = found.x.reshape(data.shape[1], n_kinds)
    return weights


def main() -> None:
    """Fit, and measure or write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    labels, texts = load()
    kinds = sorted(set(labels))
    target = np.array([kinds.index(label) for label in labels])
    meaning = np.asarray(load_minilm().encode(texts), dtype=np.float64)
    counts = Counter(one for text in texts for one in set(features(text)))
    known = sorted(one for one, count in counts.items() if count >= OFTEN)
    words = bag(texts, known)
    if given.check:
        fold = np.random.default_rng(0).permutation(len(texts)) % 5
        right = np.zeros(len(texts), dtype=bool)
        for part in range(5):
            rest, here = fold != part, fold == part
            weights = fit(meaning[rest], words[rest], target[rest], len(kinds))
            data = np.hstack([meaning[here], words[here], np.ones((here.sum(), 1))])
            right[here] = (data @ weights).argmax(axis=1) == target[here]
        print(f"{right.mean():.3f} of {len(texts)} messages, {len(kinds)} kinds")
        for place, kind in enumerate(kinds):
            print(f"  {kind:12} {right[target == place].mean():.3f}")
    if given.write:
        weights = fit(meaning, words, target, len(kinds))
        width = meaning.shape[1]
        scale = np.abs(weights[width:-1]).max() / 127
        small = np.round(weights[width:-1] / scale).astype(np.int8)
        np.savez_compressed(
            MODEL,
            kinds=np.array("\n".join(kinds)),
            features=np.array("\n".join(known)),
            meaning=weights[:width].astype(np.float16),
            words=small,
            scale=np.float64(scale),
            constant=weights[-1],
        )
        print(f"wrote {MODEL.name}: {MODEL.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
