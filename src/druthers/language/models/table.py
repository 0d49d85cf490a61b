"""A table of words and their meanings, distilled from the sentence model: less good than it, and far faster."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from druthers.language.data import read_arrays
from druthers.language.models.minilm import Encoder, Vectors, as_small, fingerprint, normalized, vocabulary

# So many main directions are kept; they hold 0.77 of the variance of the model's vectors of all the words.
_WIDTH = 96
# The word of this place counts half; BERT's vocabulary has the commonest first. Set by hand.
_COMMON = 500


@cache
def _words() -> tuple[str, ...]:
    return tuple(word for word in vocabulary() if word.isascii() and word.isalpha() and len(word) > 1)


@cache
def _weighed() -> tuple[dict[str, int], Vectors]:
    """Return the rows of words, and their vectors: the commonest count next to nothing, rare ones one."""
    places = np.array([vocabulary()[word] - vocabulary()["the"] for word in _words()], dtype=np.float32)
    vectors = normalized(read_arrays("words.npz")["vectors"]) * (places / (places + _COMMON))[:, None]
    return {word: row for row, word in enumerate(_words())}, vectors.astype(np.float32)


def write_table(path: Path, encoder: Encoder) -> None:
    """Write what a model makes of every single word, around the mean and in its main directions, as small integers."""
    vectors = encoder.encode(_words())
    around = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(around.T @ around)
    turned = around @ directions[:, : -_WIDTH - 1 : -1]
    _weighed.cache_clear()
    read_arrays.cache_clear()  # of what is replaced
    np.savez_compressed(path, vectors=as_small(turned), taught=np.array(fingerprint()))


def is_current() -> bool:
    """Tell whether the table was made by the model as it is taught today."""
    return str(read_arrays("words.npz")["taught"]) == fingerprint()


class Table:
    """The mean of a text's words, of which rare ones count more; no model, and no word beside another changes it."""

    name = "table"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, zero where no word is known."""
        rows, vectors = _weighed()
        result = np.zeros((len(texts), _WIDTH), dtype=np.float32)
        for place, text in enumerate(texts):
            known = [rows[word] for word in text.lower().split() if word in rows]
            result[place] = vectors[known].sum(axis=0)
        return normalized(result)

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return even chances: single words tell no attitude."""
        return np.full((len(vectors), 3), -np.log(3), dtype=np.float32)
