"""How like an objective each piece of a text is: measures that mean the same in every catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from druthers.language.clauses import Token
from druthers.language.concepts import GENERIC, bind, words_of
from druthers.language.encoders import Encoder, Vectors, load_encoder, normalized
from druthers.language.lists import small_words
from druthers.language.meanings import phrase_vectors, phrases
from druthers.language.spotting import DOUBTFUL, Mention
from druthers.types import Objective

Floats = NDArray[np.float64]

# What is measured of each piece and objective. Those of LEADS are measured twice: as they are, and how far ahead of the
# best other objective.
LEADS = ("name", "about", "like", "concept", "sense name", "sense about", "sense like", "best")
MEASURES = (
    *LEADS,
    *(f"{name}, ahead" for name in LEADS),
    "neutral",
    "wants",
    "dismisses",
    "named",
    "known",
    "weak",
    "word fits",
    "surely known",
)
# How sharply the concepts near a piece are told apart.
_SHARPNESS = 20.0
_PLAIN = small_words("light") | small_words("cue") | small_words("beside") | GENERIC
_OPENERS = small_words("openers")
_BLOCK = 128


@cache
def _groups(encoder: str) -> tuple[Vectors, NDArray[np.int64], tuple[str, ...], Vectors]:
    """Return all phrases sorted by concept, where each concept starts, the concepts, and the middle of each."""
    labels = np.array(phrases()[1])
    order = np.argsort(labels, kind="stable")
    concepts, starts = np.unique(labels[order], return_index=True)
    vectors = np.ascontiguousarray(phrase_vectors(encoder)[order])
    middles = np.add.reduceat(vectors, starts, axis=0)
    return vectors, starts, tuple(map(str, concepts)), normalized(middles)


def _products(first: Vectors, second: Vectors) -> Floats:
    """Return all cosines, in blocks so small that BLAS starts no threads for them."""
    if not len(second):
        return np.zeros((len(first), 0))
    parts = [first @ second[at : at + _BLOCK].T for at in range(0, len(second), _BLOCK)]
    return np.concatenate(parts, axis=1).astype(np.float64)


def _two_best(near: Floats) -> Floats:
    """Return the best of each row, a quarter of it from the second best: one stray phrase must not decide alone."""
    if near.shape[1] == 1:
        return near[:, 0]
    two = np.partition(near, -2, axis=1)[:, -2:]
    return 0.75 * two[:, 1] + 0.25 * two[:, 0]


def told_words(texts: Sequence[str]) -> list[str]:
    """Return the words of some texts that tell something."""
    words = dict.fromkeys(word for text in texts for word in words_of(text))
    return [word for word in words if len(word) > 2 and word not in _PLAIN and not word.isdigit()]


def _ahead(values: Floats) -> Floats:
    """Return how far each objective is ahead of the best other one, or behind it."""
    if values.shape[1] < 2:
        return values
    ranked = np.sort(values, axis=1)
    best, second = ranked[:, -1:], ranked[:, -2:-1]
    ahead: Floats = values - np.where(values == best, second, best)
    return ahead


class Likeness:
    """Measure pieces of text against the objectives of one catalog.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    encoder
        The sentence model.
    """

    def __init__(self, objectives: Sequence[Objective], encoder: Encoder) -> None:
        self._encoder = encoder
        objectives = [replace(each, name=each.name.replace("_", " ")) for each in objectives]
        bare = [Objective(each.name, "", each.synonyms) for each in objectives]
        self._bindings = bind(bare)
        best = [
            max((b.strength for b in self._bindings.values() if b.objective == n), default=0.0)
            for n in range(len(bare))
        ]
        self._sure = np.array([strength > 0.98 for strength in best])
        self._names = [encoder.encode([each.name, *each.synonyms]) for each in objectives]
        self._abouts = [
            encoder.encode([each.description, f"{each.name}: {each.description}"]) if each.description else None
            for each in objectives
        ]
        self._likes = [encoder.encode(each.examples) if each.examples else None for each in objectives]
        self._texts = [
            np.concatenate([part for part in parts if part is not None])
            for parts in zip(self._names, self._abouts, self._likes, strict=True)
        ]
        self._told = [
            [
                e.name,
                *e.synonyms,
                *([e.description, f"{e.name}: {e.description}"] if e.description else []),
                *e.examples,
            ]
            for e in objectives
        ]
        self._table = load_encoder("table")
        self._words = [self._table.encode(texts) for texts in self._told]
        self._goes_to = {concept: bound.objective for concept, bound in self._bindings.items()}
        self.level = 2 * (_most(self._likes)) or int(_most(self._abouts))

    def encode(self, tokens: Sequence[Token], pieces: Sequence[tuple[int, int]]) -> Vectors:
        """Return a vector for each piece of a text."""
        texts = [said(tokens[start:end]) for start, end in pieces]
        new = list(dict.fromkeys(texts))
        vectors = self._encoder.encode(new)
        return vectors[[new.index(text) for text in texts]]

    def measure(
        self,
        tokens: Sequence[Token],
        pieces: Sequence[tuple[int, int]],
        vectors: Vectors,
        mentions: Sequence[Mention],
    ) -> Floats:
        """Return pieces by objectives by MEASURES."""
        concepts = _by_concept(vectors, self._encoder.name)
        columns = self._texts_alike(vectors, concepts)
        measured = [columns[name] for name in LEADS]
        measured += [_ahead(column) for column in measured]
        neutral = concepts[:, [_groups(self._encoder.name)[2].index("")]]
        attitudes = self._encoder.attitudes(vectors).astype(np.float64)
        for column in (neutral, attitudes[:, [0]], attitudes[:, [1]]):
            measured.append(np.broadcast_to(column, measured[0].shape))
        return np.stack([*measured, *self._mentioned(tokens, pieces, mentions)], axis=-1)

    def _texts_alike(self, vectors: Vectors, concepts: Floats) -> dict[str, Floats]:
        """Return how near pieces are to names, descriptions, examples and concepts, themselves and by their sense."""
        _, _, labels, middles = _groups(self._encoder.name)
        shares = np.exp(_SHARPNESS * (concepts - concepts.max(axis=1, keepdims=True)))
        shares[:, labels.index("")] = 0.0
        senses = (shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)) @ middles
        senses = (senses / np.maximum(np.linalg.norm(senses, axis=1, keepdims=True), 1e-9)).astype(np.float32)
        columns: dict[str, Floats] = {}
        for prefix, rows in (("", vectors), ("sense ", senses)):
            name = np.stack([_products(rows, own).max(axis=1) for own in self._names], axis=1)
            about = self._near(rows, self._abouts, name) if self.level else np.zeros_like(name)
            like = self._near(rows, self._likes, about) if self.level == 2 else np.zeros_like(name)
            columns |= {f"{prefix}name": name, f"{prefix}about": about, f"{prefix}like": like}
        columns["concept"] = np.zeros_like(name)
        for concept, bound in self._bindings.items():
            if concept in labels:
                near = bound.strength * concepts[:, labels.index(concept)]
                columns["concept"][:, bound.objective] = np.maximum(columns["concept"][:, bound.objective], near)
        columns["best"] = np.max([columns[key] for key in ("name", "about", "like", "concept")], axis=0)
        return columns

    @staticmethod
    def _near(rows: Vectors, texts: Sequence[Vectors | None], instead: Floats) -> Floats:
        """Return how near rows are to the texts of each objective, or another measure where it has none."""
        parts = [
            instead[:, place] if own is None else _two_best(_products(rows, own)) for place, own in enumerate(texts)
        ]
        return np.stack(parts, axis=1)

    def _mentioned(
        self, tokens: Sequence[Token], pieces: Sequence[tuple[int, int]], mentions: Sequence[Mention]
    ) -> list[Floats]:
        """Return what the word lists found in each piece, and how well those words fit what is told of objectives."""
        found = np.zeros((5, len(pieces), len(self._names)))
        fits = self.word_fits(tokens, mentions)
        for row, (start, end) in enumerate(pieces):
            for mention, fit in zip(mentions, fits, strict=True):
                if start <= mention.first < end:
                    weak = mention.kind == "weak" or mention.worth <= DOUBTFUL
                    at = (row, mention.objective)
                    first = not found[(slice(0, 3), *at)].any()
                    found[(0 if mention.worth > 1.05 else 2 if weak else 1, *at)] = 1.0
                    found[(3, *at)] = fit if first else max(fit, found[(3, *at)])
        found[4] = found[1] * self._sure
        return list(found)

    def word_fits(self, tokens: Sequence[Token], mentions: Sequence[Mention]) -> list[float]:
        """Return how much nearer the words of each mention are to its own objective than to any other."""
        if not mentions:
            return []
        vectors = self._table.encode([" ".join(token.text for token in tokens[m.first : m.last]) for m in mentions])
        near = np.stack([_products(vectors, each).max(axis=1) for each in self._words], axis=1)
        return [float(row[m.objective]) for row, m in zip(_ahead(near), mentions, strict=True)]

    def nearest(self, vector: Vectors, objective: int) -> str:
        """Return the phrase of an objective, or of one of its concepts, that is nearest to a piece."""
        own, texts = self._told[objective], phrases()[0]
        rows = [n for n, label in enumerate(phrases()[1]) if self._goes_to.get(label) == objective]
        near = np.concatenate(
            [
                _products(vector[None], self._texts[objective])[0],
                _products(vector[None], phrase_vectors(self._encoder.name)[rows])[0],
            ]
        )
        return [*own, *(texts[n] for n in rows)][int(near.argmax())]

    def best_word(self, words: Sequence[str], objective: int) -> int:
        """Return which word of some is nearest to an objective."""
        return int(_products(self._table.encode(words), self._words[objective]).max(axis=1).argmax())


def said(tokens: Sequence[Token]) -> str:
    """Return what a piece says, without the words that only lead into it."""
    words = [token.text for token in tokens]
    first = next((n for n, word in enumerate(words) if word not in _OPENERS), 0)
    return " ".join(words[first:])


def _most(parts: Sequence[Vectors | None]) -> bool:
    return 2 * sum(part is not None for part in parts) >= len(parts)


def _by_concept(vectors: Vectors, encoder: str) -> Floats:
    """Return how near each piece is to each concept, and to neutral phrases: its two nearest phrases count."""
    rows, starts, _, _ = _groups(encoder)
    near = _products(vectors, rows)
    first = np.maximum.reduceat(near, starts, axis=1)
    widths = np.diff([*starts, near.shape[1]])
    near[near == np.repeat(first, widths, axis=1)] = -1.0
    second = np.maximum.reduceat(near, starts, axis=1)
    result: Floats = 0.75 * first + 0.25 * np.where(second < -0.99, first, second)
    return result
