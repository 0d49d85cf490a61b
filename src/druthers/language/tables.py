"""A table of words and their meanings, distilled from the sentence model, for where no model is installed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from druthers.language.encoders import (
    Encoder,
    Vectors,
    as_small,
    encode_all,
    even_chances,
    normalized,
    taught,
    vocabulary_words,
    word_rank,
)

_WIDTH = 96
# The word of this place among the commonest counts half.
_COMMON = 500


@cache
def _stored() -> tuple[dict[str, int], Vectors]:
    with resources.files("druthers.language").joinpath("data", "words.npz").open("rb") as file:
        small = np.load(file, allow_pickle=False)["vectors"]
    return {word: place for place, word in enumerate(vocabulary_words())}, normalized(small)


def write_table(path: Path, encoder: Encoder) -> None:
    """Write what a model makes of every single word, around the mean and in its main directions, as small integers."""
    vectors = encode_all(encoder, vocabulary_words())
    around = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(around.T @ around)
    turned = around @ directions[:, : -_WIDTH - 1 : -1]
    np.savez_compressed(path, vectors=as_small(turned), taught=np.array(_fingerprint()))


def is_current() -> bool:
    """Tell whether the table was made by the model as it is taught today."""
    with resources.files("druthers.language").joinpath("data", "words.npz").open("rb") as file:
        return str(np.load(file, allow_pickle=False)["taught"]) == _fingerprint()


def _fingerprint() -> str:
    return hashlib.sha256(taught()).hexdigest()[:16]


def _weight(word: str) -> float:
    """Return how much a word counts: the commonest next to nothing, rare ones one."""
    place = word_rank(word) - word_rank("the")
    return place / (place + _COMMON)


class Table:
    """The mean of a text's words, of which rare ones count more; no model, and no word beside another changes it."""

    name = "table"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, zero where no word is known."""
        places, vectors = _stored()
        result = np.zeros((len(texts), _WIDTH), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.replace("_", " ").lower().split():
                if word in places:
                    result[row] += vectors[places[word]] * _weight(word)
        return normalized(result)

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return even chances: single words tell no attitude."""
        return even_chances(vectors)
