"""Fit the model that tells what a message is, and measure it on messages it has not seen.

    python benchmarks/message_kinds.py --check  # each fifth of the messages by a model of the others
    python benchmarks/message_kinds.py --write  # write src/druthers/advisor/kinds.npz

The messages are benchmarks/utterances/kinds.tsv, a kind and a message on each line, written by hand, and frames.toml:
frames of messages that are filled by the words of twenty domains, since what a message is does not depend on what it is
about. Whole frames are left out where messages not seen are asked for. Two models are fitted: one with the sentence
model's vector, one without it.
"""

from __future__ import annotations

import argparse
import random
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from druthers.advisor.kinds import alike, features
from druthers.language.models.minilm import fingerprint, load_minilm

HERE = Path(__file__).parent
MESSAGES = HERE / "utterances" / "kinds.tsv"
FRAMES = HERE / "utterances" / "frames.toml"
MODEL = HERE.parent / "src" / "druthers" / "advisor" / "kinds.npz"
OFTEN = 2  # how many messages a word must be in
RIDGE_MEANING, RIDGE_WORDS = 0.1, 1.0  # of .1 to 1 and .5 to 2 the best on messages of other authors
FILLED = 3  # times that each frame is filled

Floats = NDArray[np.float64]


def load() -> tuple[list[str], list[str], list[int]]:
    """Return kinds, messages with items alike, and a number that messages of the same frame share."""
    lines = [line.split("\t", 1) for line in MESSAGES.read_text(encoding="utf-8").splitlines() if line]
    found = dict.fromkeys((kind, alike(text), place) for place, (kind, text) in enumerate(lines))
    table = tomllib.loads(FRAMES.read_text(encoding="utf-8"))
    rng = random.Random(3)
    frames = [(kind, frame) for kind, listed in table["frames"].items() for frame in listed]
    for place, (kind, frame) in enumerate(frames, start=len(lines)):
        found |= {(kind, alike(fill(frame, table, rng)), place): None for _ in range(FILLED)}
    kinds, texts, places = zip(*found, strict=True)
    return list(kinds), list(texts), list(places)


def fill(frame: str, table: dict[str, Any], rng: random.Random) -> str:
    """Return a frame with the words of one of the domains."""
    domain = rng.choice(table["domains"])
    words = {name: rng.choice(listed) for name, listed in domain.items() if isinstance(listed, list)}
    words |= {name: listed for name, listed in domain.items() if isinstance(listed, str)}
    for name in ("asp", "adj", "val", "place"):
        words[name], words[f"{name}b"] = rng.sample(domain[name], 2)
    number = rng.choice(table["numbers"])
    words |= {"n": number, "m": 2 * number, "who": rng.choice(table["who"]), "kind": rng.choice(table["kinds"])}
    one, other = rng.choice(table["pairs"]) if "{b}" in frame else (rng.choice(table["items"]), "")
    return frame.format(**words, a=one.format(**words), b=other)


def bag(texts: Sequence[str], known: Sequence[str]) -> Any:
    """Return which features each text has, as a sparse matrix."""
    places = {feature: place for place, feature in enumerate(known)}
    found = [(row, places[one]) for row, text in enumerate(texts) for one in sorted(set(features(text)) & set(places))]
    rows, columns = zip(*found, strict=True)
    return sparse.csr_array((np.ones(len(found)), (rows, columns)), shape=(len(texts), len(known)))


def joined(meaning: Floats, words: Any) -> Any:
    """Return vectors, features and a constant side by side."""
    return sparse.csr_array(sparse.hstack([meaning, words, np.ones((len(meaning), 1))]))


def fit(meaning: Floats, words: Any, kinds: NDArray[np.int64], n_kinds: int, strength: float = RIDGE_MEANING) -> Floats:
    """Return the weights of a multinomial logistic regression with a ridge, one row for each feature and a constant."""
    data = joined(meaning, words)
    ridge = np.concatenate([np.full(meaning.shape[1], strength), np.full(words.shape[1], RIDGE_WORDS), [0.0]])
    target = np.eye(n_kinds)[kinds]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(data.shape[1], n_kinds)
        odds = data @ weights
        log_chances = odds - np.logaddexp.reduce(odds, axis=1, keepdims=True)
        slope = data.T @ (np.exp(log_chances) - target) + ridge[:, None] * weights
        return float(-(target * log_chances).sum() + 0.5 * (ridge[:, None] * weights**2).sum()), slope.ravel()

    start = np.zeros(data.shape[1] * n_kinds)
    found: Any = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 80})
    weights: Floats = found.x.reshape(data.shape[1], n_kinds)
    return weights


def fingerprint_of(kinds: Sequence[str], texts: Sequence[str]) -> str:
    """Return a fingerprint of all that the models are fitted to: messages as they are seen, and the sentence model."""
    return fingerprint(*(f"{kind} {' '.join(features(text))}" for kind, text in zip(kinds, texts, strict=True)))


def check(data: Floats, words: Any, target: NDArray[np.int64], frames: Sequence[int], kinds: Sequence[str]) -> None:
    """Print how many messages are told by a model of the others, in fifths."""
    fold = np.random.default_rng(0).permutation(max(frames) + 1)[frames] % 5
    right = np.zeros(len(target), dtype=bool)
    for part in range(5):
        rest, here = fold != part, fold == part
        weights = fit(data[rest], words[rest], target[rest], len(kinds))
        right[here] = (joined(data[here], words[here]) @ weights).argmax(axis=1) == target[here]
    print(f"{right.mean():.3f} of {len(target)} messages, {len(kinds)} kinds")
    for place, kind in enumerate(kinds):
        print(f"  {kind:14} {right[target == place].mean():.3f}")


def small(weights: Floats) -> tuple[NDArray[np.int8], np.float64]:
    """Return weights as small integers, and what they are to be multiplied by."""
    scale = np.abs(weights).max() / 127
    return np.round(weights / scale).astype(np.int8), np.float64(scale)


def main() -> None:
    """Fit, and measure or write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    labels, texts, frames = load()
    kinds = sorted(set(labels))
    target = np.array([kinds.index(label) for label in labels])
    meaning = np.asarray(load_minilm().encode(texts), dtype=np.float64)
    counts = Counter(one for text in texts for one in set(features(text)))
    known = sorted(one for one, count in counts.items() if count >= OFTEN)
    words = bag(texts, known)
    nothing = np.zeros((len(texts), 0))
    if given.check:
        for data in (meaning, nothing):
            check(data, words, target, frames, kinds)
    if given.write:
        weights, alone = (fit(data, words, target, len(kinds)) for data in (meaning, nothing))
        width = meaning.shape[1]
        (near, scale), (near_alone, scale_alone) = small(weights[width:-1]), small(alone[:-1])
        arrays = {
            "kinds": np.array("\n".join(kinds)),
            "features": np.array("\n".join(known)),
            "fingerprint": np.array(fingerprint_of(labels, texts)),
            "meaning": weights[:width].astype(np.float16),
            "words": near,
            "scale": scale,
            "constant": weights[-1],
            "words alone": near_alone,
            "scale alone": scale_alone,
            "constant alone": alone[-1],
        }
        np.savez_compressed(MODEL, **arrays)
        print(f"wrote {MODEL.name}: {MODEL.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
