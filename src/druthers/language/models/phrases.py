"""Phrases that stand for concepts, and their vectors."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers.language.data import read_arrays, read_data
from druthers.language.lexicon.concepts import Kind, all_terms
from druthers.language.models.minilm import Encoder, MiniLM, Vectors, as_small, fingerprint, normalized

# So many phrases of each kind stand for a concept, the first ones of the lists.
_TAKEN = {Kind.SAYS: 1000, Kind.GOOD: 25, Kind.BAD: 25, Kind.NOUN: 12}
# The label of phrases that stand for none.
NEUTRAL = ""


@cache
def phrases() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the phrases that stand for concepts, and the concept of each; neutral ones have none."""
    rows: list[tuple[str, str]] = []
    counts: dict[tuple[str, Kind], int] = {}
    for term in all_terms():
        key = (term.concept, term.kind)
        if not term.doubtful and counts.get(key, 0) < _TAKEN.get(term.kind, 0):
            counts[key] = counts.get(key, 0) + 1
            rows.append((term.text, term.concept))
    for concept, sentences in read_data("utterances.toml").items():
        rows += [(text.lower(), concept) for text in sentences]
    rows += [(text, NEUTRAL) for text in read_data("neutral.toml")["phrases"]]
    texts, labels = zip(*rows, strict=True)
    return texts, labels


def write_vectors(path: Path, encoder: MiniLM) -> None:
    """Encode the phrases and write their vectors, as small integers, with their fingerprint."""
    vectors = encoder.encode(phrases()[0])
    _sorted.pop(encoder.name, None)
    read_arrays.cache_clear()  # of what is replaced
    np.savez_compressed(path, vectors=as_small(vectors), fingerprint=np.array(fingerprint(*phrases()[0])))


def is_current() -> bool:
    """Tell whether the stored vectors are those of the phrases, by the model as it is taught today."""
    return str(read_arrays("meanings.npz")["fingerprint"]) == fingerprint(*phrases()[0])


class Meanings(NamedTuple):
    """All phrases, sorted by concept."""

    vectors: Vectors  # of the phrases
    texts: tuple[str, ...]  # the phrases
    concepts: tuple[str, ...]  # what they stand for, each once; the first is neutral
    starts: NDArray[np.int64]  # where each concept starts
    middles: Vectors  # the middle of each concept

    def rows_of(self, concepts: set[str]) -> list[int]:
        """Return the rows that stand for some concepts."""
        ends = [*self.starts[1:], len(self.texts)]
        spans = zip(self.concepts, self.starts, ends, strict=True)
        return [row for concept, start, end in spans if concept in concepts for row in range(start, end)]


_sorted: dict[str, Meanings] = {}


def meanings(encoder: Encoder) -> Meanings:
    """Return the phrases with their vectors: the stored ones of the model, those of the table made anew."""
    if encoder.name not in _sorted:
        texts, labels = phrases()
        vectors = (
            normalized(read_arrays("meanings.npz")["vectors"]) if encoder.name == "minilm" else encoder.encode(texts)
        )
        order = np.argsort(np.array(labels), kind="stable")
        concepts, starts = np.unique(np.array(labels)[order], return_index=True)
        vectors = np.ascontiguousarray(vectors[order])
        middles = normalized(np.add.reduceat(vectors, starts, axis=0))
        ordered = tuple(texts[row] for row in order)
        _sorted[encoder.name] = Meanings(vectors, ordered, tuple(map(str, concepts)), starts, middles)
    return _sorted[encoder.name]
