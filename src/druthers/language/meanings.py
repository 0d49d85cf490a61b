"""What a clause means where no word of the lexicon stands in it: the nearest of many phrases, by a sentence model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers.language.clauses import Token
from druthers.language.concepts import Binding, all_terms, bind, read_data
from druthers.language.encoders import Encoder, Vectors, load_encoder
from druthers.language.spotting import Mention
from druthers.types import Objective

# Phrases of each kind that stand for a concept.
_TAKEN = {"says": 1000, "good": 25, "bad": 25, "nouns": 12}
_NEUTRAL = ""
_SPLIT = frozenset(", ; : ( ) - \n | \"".split(" ")) | {"\n"}
_TURNS = frozenset("but because although though while whereas however since unless provided if".split())
_WEAK_START = frozenset("and so or then also plus".split())


@cache
def phrases() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the phrases that stand for concepts, and the concept of each; neutral ones have none."""
    texts, labels, counts = [], [], dict[tuple[str, str], int]()
    for term in all_terms():
        key = (term.concept, term.kind)
        if term.kind in _TAKEN and not term.doubtful and counts.get(key, 0) < _TAKEN[term.kind]:
            counts[key] = counts.get(key, 0) + 1
            texts.append(term.text)
            labels.append(term.concept)
    neutral: Any = read_data("neutral.toml")["phrases"]
    return (*texts, *neutral), (*labels, *[_NEUTRAL] * len(neutral))


def fingerprint() -> str:
    """Return a hash of the phrases, to see whether their vectors are up to date."""
    return hashlib.sha256("\n".join(phrases()[0]).encode()).hexdigest()[:16]


def write_vectors(path: Path) -> None:
    """Encode the phrases and write their vectors, as small integers, with their fingerprint."""
    encoder = load_encoder("minilm")
    vectors = np.concatenate([encoder.encode(phrases()[0][at : at + 64]) for at in range(0, len(phrases()[0]), 64)])
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    small = np.round(vectors / scale).astype(np.int8)
    np.savez_compressed(path, vectors=small, fingerprint=np.array(fingerprint()))


@cache
def stored_vectors() -> Vectors:
    """Return the vectors of the phrases, of length one."""
    path = resources.files("druthers.language").joinpath("data", "meanings.npz")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        small = data["vectors"].astype(np.float32)
    result: Vectors = small / np.linalg.norm(small, axis=1, keepdims=True)
    return result


def clauses(tokens: Sequence[Token], open_: Sequence[bool]) -> list[tuple[int, int]]:
    """Return where clauses start and end: at marks, at turns ("but"), and at "and" between longer parts."""
    spans, start = [], 0
    for index in range(len(tokens) + 1):
        text = tokens[index].text if index < len(tokens) else "."
        ends = text in _SPLIT or text in ".!?;" or (index < len(tokens) and not open_[index])
        turns = text in _TURNS or (text in ("and", "so") and index - start >= 3)
        if ends or turns:
            if index > start:
                spans.append((start, index))
            start = index + 1 if ends else index
    return spans


class Meanings:
    """Find mentions by what clauses mean.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    encoder
        The sentence model.
    floor
        How near, as a cosine, the best objective must be.
    margin
        How much nearer than the neutral phrases and than the next objective.
    """

    def __init__(
        self, objectives: Sequence[Objective], encoder: Encoder, *, floor: float = 0.42, margin: float = 0.03
    ) -> None:
        self.floor = floor
        self.margin = margin
        self._encoder = encoder
        self._bindings: dict[str, Binding] = bind(objectives)
        own = [(index, text) for index, objective in enumerate(objectives) for text in _own_texts(objective)]
        texts, labels = phrases()
        vectors = stored_vectors()
        places = [self._bindings[label].objective if label in self._bindings else -1 for label in labels]
        weights = [self._bindings[label].strength if label in self._bindings else 1.0 for label in labels]
        self._vectors = np.concatenate([encoder.encode([text for _, text in own]), vectors])
        self._places = np.array([index for index, _ in own] + places)
        self._weights = np.array([1.0] * len(own) + weights, dtype=np.float32)
        self._texts = (*[text for _, text in own], *texts)
        self._n = len(objectives)

    def near(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return how near each text is to nothing in particular (column 0) and to each objective, and the nearest phrase."""
        similarity = (self._encoder.encode(texts) @ self._vectors.T) * self._weights
        scores = np.empty((len(texts), self._n + 1), dtype=np.float32)
        for place in range(-1, self._n):
            part = similarity[:, self._places == place]
            if part.shape[1] == 0:
                scores[:, place + 1] = 0.0
                continue
            two = np.partition(part, -2, axis=1)[:, -2:] if part.shape[1] > 1 else part
            scores[:, place + 1] = 0.7 * part.max(axis=1) + 0.3 * two.mean(axis=1)
        nearest = np.where(self._places[None, :] == (scores[:, 1:].argmax(axis=1))[:, None], similarity, -1.0)
        return scores, nearest.argmax(axis=1)

    def __call__(self, tokens: Sequence[Token], open_: Sequence[bool]) -> list[Mention]:
        """Return the mentions in clauses that are wholly open."""
        spans = [span for span in clauses(tokens, [True] * len(tokens)) if all(open_[span[0] : span[1]])]
        texts = {" ".join(token.text for token in tokens[start:end]): (start, end) for start, end in reversed(spans)}
        texts = {text: span for text, span in texts.items() if any(token.is_word for token in tokens[span[0] : span[1]])}
        if not texts:
            return []
        asked = list(texts)[:12]
        scores, nearest = self.near(asked)
        found = []
        for text, row, phrase in zip(asked, scores, nearest, strict=True):
            best = int(row[1:].argmax())
            rest = float(np.delete(row, best + 1).max())
            if row[best + 1] >= self.floor and row[best + 1] - rest >= self.margin:
                start, end = texts[text]
                sure = float(min(0.9, 0.4 + 2.0 * (row[best + 1] - rest)))
                found.append(Mention(best, start, end, "means", sure, f"like: {self._texts[phrase]}"))
        return found


def _own_texts(objective: Objective) -> list[str]:
    texts = [objective.name, *objective.synonyms, *objective.examples]
    if objective.description:
        texts += [objective.description, f"{objective.name}: {objective.description}"]
    return texts
