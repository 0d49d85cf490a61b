"""Phrases that stand for concepts, with their vectors, and the clauses of a text that are compared with them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from druthers.language.clauses import Token
from druthers.language.concepts import all_terms
from druthers.language.encoders import Vectors, as_small, encode_all, load_encoder, normalized, taught
from druthers.language.lists import read_data, small_words

# Phrases of each kind that stand for a concept.
_TAKEN = {"says": 1000, "good": 25, "bad": 25, "nouns": 12}
_NEUTRAL = ""
_MARKS = frozenset(',;:()-|".!?><=/\n')
_TURNS = small_words("turns")
# Words that belong to cues rather than to what is wished for.
_LIGHT = small_words("light")


@cache
def phrases() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the phrases that stand for concepts, the concept of each (neutral ones have none), and its kind."""
    texts, labels, kinds, counts = [], [], [], dict[tuple[str, str], int]()
    for term in all_terms():
        key = (term.concept, term.kind)
        if term.kind in _TAKEN and not term.doubtful and counts.get(key, 0) < _TAKEN[term.kind]:
            counts[key] = counts.get(key, 0) + 1
            texts.append(term.text)
            labels.append(term.concept)
            kinds.append(term.kind)
    for concept, sentences_ in read_data("utterances.toml").items():
        texts += [text.lower() for text in sentences_]
        labels += [concept] * len(sentences_)
        kinds += ["says"] * len(sentences_)
    neutral = read_data("neutral.toml")["phrases"]
    return (*texts, *neutral), (*labels, *[_NEUTRAL] * len(neutral)), (*kinds, *["says"] * len(neutral))


def fingerprint() -> str:
    """Return a hash of the phrases and of what the model was taught, to see whether their vectors are up to date."""
    return hashlib.sha256("\n".join(phrases()[0]).encode() + taught()).hexdigest()[:16]


def write_vectors(path: Path) -> None:
    """Encode the phrases and write their vectors, as small integers, with their fingerprint."""
    vectors = encode_all(load_encoder("both"), phrases()[0])
    np.savez_compressed(path, vectors=as_small(vectors), fingerprint=np.array(fingerprint()))


def stored_fingerprint() -> str:
    """Return the fingerprint of the phrases whose vectors are stored."""
    path = resources.files("druthers.language").joinpath("data", "meanings.npz")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        return str(data["fingerprint"])


@cache
def phrase_vectors(encoder: str) -> Vectors:
    """Return the vectors of the phrases, of length one: the stored ones of both models, those of others made anew."""
    if encoder != "both":
        return encode_all(load_encoder(encoder), phrases()[0])
    path = resources.files("druthers.language").joinpath("data", "meanings.npz")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        return normalized(data["vectors"])


def clauses(tokens: Sequence[Token], open_: Sequence[bool]) -> list[tuple[int, int]]:
    """Return where clauses start and end: at marks, at turns ("but", "than", "and"), and at what is not open."""
    spans, start = [], 0
    for index in range(len(tokens) + 1):
        ends = index == len(tokens) or not open_[index] or tokens[index].text in _MARKS
        if ends or tokens[index].text in _TURNS:
            if index > start:
                spans.append((start, index))
            start = index + 1 if ends else index
    return spans


def core(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """Return a clause without the light words around it, so that cues can be seen beside it."""
    while start < end and (tokens[start].text in _LIGHT or not tokens[start].is_word):
        start += 1
    while end > start and (tokens[end - 1].text in _LIGHT or not tokens[end - 1].is_word):
        end -= 1
    return start, end
