"""How like an objective each clause of a text is: measures that mean the same in every catalog."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from druthers.language.data import small_words
from druthers.language.lexicon.objectives import bind
from druthers.language.lexicon.words import Mention
from druthers.language.models.minilm import Encoder, Vectors, normalized
from druthers.language.models.phrases import NEUTRAL, Meanings, meanings
from druthers.language.models.table import Table
from druthers.language.text import Span, Token
from druthers.types import Objective

Floats = NDArray[np.float64]

# What is measured of each clause and objective. Those of LEADS are measured twice: as they are, and how far ahead of
# the best other objective.
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
# How sharply the concepts near a clause are told apart, and how much the best of some phrases counts beside the second
# best, so that one stray phrase does not decide alone. Both were set by hand, before the weights were fitted.
_SHARPNESS, _BEST = 20.0, 0.75
# Products are cut into blocks of so many multiplications: OpenBLAS works on small ones in the calling thread, and
# waking its others costs more than they gain here.
_SMALL_PRODUCT = 2**18
# A concept fits an objective surely if the objective bears one of the concept's first five names, by the step between
# names in lexicon/objectives.py.
_SURELY = 0.98


def said(tokens: Sequence[Token]) -> str:
    """Return what a clause says, without the words that only lead into it."""
    words = [token.text for token in tokens]
    first = next((n for n, word in enumerate(words) if word not in small_words("openers")), 0)
    return " ".join(words[first:])


class Measures:
    """Measure clauses against the objectives of one catalog.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    encoder
        What turns texts into vectors.
    """

    def __init__(self, objectives: Sequence[Objective], encoder: Encoder) -> None:
        self._encoder = encoder
        self._meanings: Meanings = meanings(encoder)
        self._bindings = bind(objectives)
        fits = [(bound.objective, bound.strength) for bound in self._bindings.values()]
        self._surely = np.array([any(n == m and fit > _SURELY for m, fit in fits) for n in range(len(objectives))])
        names = [(each.name, *each.synonyms) for each in objectives]
        abouts = [
            (each.description, f"{each.name}: {each.description}") * bool(each.description) for each in objectives
        ]
        likes = [each.examples for each in objectives]
        self._texts = [sum(parts, ()) for parts in zip(names, abouts, likes, strict=True)]
        self._names, self._abouts, self._likes, self._vectors = (
            [encoder.encode(texts) for texts in column] for column in (names, abouts, likes, self._texts)
        )
        self._table = Table()
        self._words = [self._table.encode(texts) for texts in self._texts]
        # How much is told of the objectives: names only, a sentence each, examples too.
        self.level = 2 if _most(likes) else 1 if _most(abouts) else 0

    def measure(self, tokens: Sequence[Token], spans: Sequence[Span], mentions: Sequence[Mention]) -> Floats:
        """Return clauses by objectives by MEASURES."""
        vectors = self._encoder.encode([said(tokens[start:end]) for start, end in spans])
        concepts = self._by_concept(vectors)
        columns = self._texts_alike(vectors, concepts)
        measured = [columns[name] for name in LEADS]
        measured += [_ahead(column) for column in measured]
        attitudes = self._encoder.attitudes(vectors).astype(np.float64)
        for column in (concepts[:, [self._meanings.concepts.index(NEUTRAL)]], attitudes[:, [0]], attitudes[:, [1]]):
            measured.append(np.broadcast_to(column, measured[0].shape))
        return np.stack([*measured, *self._mentioned(tokens, spans, mentions)], axis=-1)

    def _by_concept(self, vectors: Vectors) -> Floats:
        """Return how near each clause is to each concept: its two nearest phrases count."""
        starts = self._meanings.starts
        near = _products(vectors, self._meanings.vectors)
        first = np.maximum.reduceat(near, starts, axis=1)
        widths = np.diff([*starts, near.shape[1]])
        near[near == np.repeat(first, widths, axis=1)] = -1.0
        second = np.maximum.reduceat(near, starts, axis=1)
        result: Floats = _BEST * first + (1.0 - _BEST) * np.where(second < -0.99, first, second)
        return result

    def _texts_alike(self, vectors: Vectors, concepts: Floats) -> dict[str, Floats]:
        """Return how near clauses are to names, descriptions, examples and concepts, themselves and by their sense."""
        labels = self._meanings.concepts
        shares = np.exp(_SHARPNESS * (concepts - concepts.max(axis=1, keepdims=True)))
        shares[:, labels.index(NEUTRAL)] = 0.0
        senses = normalized((shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)) @ self._meanings.middles)
        columns: dict[str, Floats] = {}
        for prefix, rows in (("", vectors), ("sense ", senses)):
            name = np.stack([_products(rows, own).max(axis=1) for own in self._names], axis=1)
            about = _near(rows, self._abouts, name) if self.level else np.zeros_like(name)
            like = _near(rows, self._likes, about) if self.level == 2 else np.zeros_like(name)
            columns |= {f"{prefix}name": name, f"{prefix}about": about, f"{prefix}like": like}
        columns["concept"] = np.zeros_like(name)
        for concept, bound in self._bindings.items():
            if concept in labels:
                near = bound.strength * concepts[:, labels.index(concept)]
                columns["concept"][:, bound.objective] = np.maximum(columns["concept"][:, bound.objective], near)
        columns["best"] = np.max([columns[key] for key in ("name", "about", "like", "concept")], axis=0)
        return columns

    def _mentioned(self, tokens: Sequence[Token], spans: Sequence[Span], mentions: Sequence[Mention]) -> list[Floats]:
        """Return what the word lists found in each clause, and how well those words fit what is told of objectives."""
        named, known, weak, fits = np.zeros((4, len(spans), len(self._names)))
        for mention, fit in zip(mentions, self.word_fits(tokens, mentions), strict=True):
            for row, (start, end) in enumerate(spans):
                if start <= mention.first < end:
                    at = row, mention.objective
                    first = not (named[at] or known[at] or weak[at])
                    (named if mention.named else known if mention.stands_alone else weak)[at] = 1.0
                    fits[at] = fit if first else max(fit, fits[at])
        return [named, known, weak, fits, known * self._surely]

    def word_fits(self, tokens: Sequence[Token], mentions: Sequence[Mention]) -> list[float]:
        """Return how much nearer the words of each mention are to its own objective than to any other."""
        if not mentions:
            return []
        vectors = self._table.encode([" ".join(tokens[n].text for n in m.places) for m in mentions])
        near = np.stack([_products(vectors, each).max(axis=1) for each in self._words], axis=1)
        return [float(row[m.objective]) for row, m in zip(_ahead(near), mentions, strict=True)]

    def nearest(self, text: str, objective: int) -> str:
        """Return the phrase of an objective, or of one of its concepts, that is nearest to a text."""
        rows = self._meanings.rows_of({name for name, bound in self._bindings.items() if bound.objective == objective})
        vectors = np.concatenate([self._vectors[objective], self._meanings.vectors[rows]])
        texts = (*self._texts[objective], *(self._meanings.texts[row] for row in rows))
        return texts[int(_products(self._encoder.encode([text]), vectors).argmax())]

    def best_word(self, words: Sequence[str], objective: int) -> int:
        """Return which word of some is nearest to an objective."""
        return int(_products(self._table.encode(words), self._words[objective]).max(axis=1).argmax())


def _products(first: Vectors, second: Vectors) -> Floats:
    """Return all cosines, in blocks for which BLAS starts no threads."""
    block = max(1, _SMALL_PRODUCT // (first.size or 1))
    parts = [first @ second[at : at + block].T for at in range(0, len(second), block)]
    return np.concatenate(parts, axis=1).astype(np.float64)


def _near(rows: Vectors, texts: Sequence[Vectors], instead: Floats) -> Floats:
    """Return how near rows are to the texts of each objective, or another measure where it has none."""
    parts = [_two_best(_products(rows, own)) if len(own) else instead[:, n] for n, own in enumerate(texts)]
    return np.stack(parts, axis=1)


def _two_best(near: Floats) -> Floats:
    """Return the best of each row, with something of the second best."""
    if near.shape[1] == 1:
        return near[:, 0]
    two = np.partition(near, -2, axis=1)[:, -2:]
    return _BEST * two[:, 1] + (1.0 - _BEST) * two[:, 0]


def _ahead(values: Floats) -> Floats:
    """Return how far each objective is ahead of the best other one, or behind it."""
    if values.shape[1] < 2:
        return values
    ranked = np.sort(values, axis=1)
    ahead: Floats = values - np.where(values == ranked[:, -1:], ranked[:, -2:-1], ranked[:, -1:])
    return ahead


def _most(parts: Sequence[tuple[str, ...]]) -> bool:
    return 2 * sum(map(bool, parts)) >= len(parts)
