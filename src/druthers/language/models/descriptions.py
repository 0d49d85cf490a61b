"""Descriptions as a few numbers: their words, in the directions that best tell apart what phrases are about.

The directions are Fisher's discriminants of the phrases that stand for concepts, praise, blame and names of each being
a class of their own, in the table of words; written by `druthers.language.linting`.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from druthers.language.data import read_arrays
from druthers.language.lexicon.concepts import all_terms
from druthers.language.models.minilm import fingerprint
from druthers.language.models.table import Table
from druthers.types import Floats

WIDTH = 24
# The scatter within classes is widened by this share of its mean, for there are fewer phrases than it would need.
_WIDENED = 0.1
# A column holds sentences if texts have so many words on average, and so few are said twice.
_WORDS, _DISTINCT = 4.0, 0.8
# Numbers are rounded to so many decimals, so that they are the same whatever multiplied the matrices.
_DECIMALS = 4
_WORD = re.compile("[a-z]+")


def is_prose(texts: Sequence[str]) -> bool:
    """Tell whether texts are sentences, and not words that items share.

    Examples
    --------
    >>> is_prose(["Quiet rooms by the lake.", "A bar that never closes."]), is_prose(["hotel", "hostel"])
    (True, False)
    """
    words = sum(len(text.split()) for text in texts)
    return bool(texts) and words >= _WORDS * len(texts) and len(set(texts)) >= _DISTINCT * len(texts)


def encode_descriptions(texts: Sequence[str]) -> Floats:
    """Return numbers (n, 24) that tell what texts speak of; NaN where no word is known."""
    vectors = Table().encode([" ".join(_WORD.findall(text.lower())) for text in texts])
    known = np.abs(vectors).max(axis=1, keepdims=True) > 0.0
    turned = vectors.astype(np.float64) @ read_arrays("directions.npz")["directions"]
    numbers: Floats = np.where(known, np.round(turned, _DECIMALS), np.nan)
    return numbers


def write_directions(path: Path) -> None:
    """Write the directions, the one that tells most first."""
    terms = [term for term in all_terms() if not term.doubtful]
    vectors = Table().encode([term.text for term in terms]).astype(np.float64)
    rows: dict[tuple[str, str], list[int]] = {}
    for row, term in enumerate(terms):
        rows.setdefault((term.concept, str(term.kind)), []).append(row)
    size = vectors.shape[1]
    within, between = np.zeros((2, size, size))
    for members in rows.values():
        mean = vectors[members].mean(axis=0)
        off, away = vectors[members] - mean, mean - vectors.mean(axis=0)
        within += off.T @ off
        between += len(members) * np.outer(away, away)
    within += _WIDENED * np.trace(within) / size * np.eye(size)
    root = np.linalg.inv(np.linalg.cholesky(within))
    _, axes = np.linalg.eigh(root @ between @ root.T)
    directions = (root.T @ axes)[:, : -WIDTH - 1 : -1]
    directions /= np.abs(directions).max(axis=0)
    np.savez_compressed(path, directions=directions.astype(np.float32), terms=np.array(_terms()))


def is_current() -> bool:
    """Tell whether the directions are those of the phrases and the table of words."""
    return str(read_arrays("directions.npz")["terms"]) == _terms()


def _terms() -> str:
    """Return a fingerprint of the phrases, and of the model behind the table."""
    return fingerprint(*(term.text for term in all_terms() if not term.doubtful))
