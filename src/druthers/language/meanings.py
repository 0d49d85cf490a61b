"""What a clause means where no word of the lexicon stands in it: the nearest of many phrases, by a sentence model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from druthers.language.clauses import Token, sentences
from druthers.language.concepts import all_terms, bind
from druthers.language.encoders import Encoder, Vectors, load_encoder
from druthers.language.lists import read_data, small_words
from druthers.language.spotting import Mention
from druthers.types import Objective

# Phrases of each kind that stand for a concept.
_TAKEN = {"says": 1000, "good": 25, "bad": 25, "nouns": 12}
_NEUTRAL = ""
_JUDGED = ("nouns", "weak", "good", "bad")
_MARKS = frozenset(',;:()-|".!?><=/\n')
_TURNS = small_words("turns")
# Words that belong to cues rather than to what is wished for.
_LIGHT = small_words("light")
# So many clauses of a text are looked at, the last ones.
MOST = 6


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
    """Return a hash of the phrases, to see whether their vectors are up to date."""
    return hashlib.sha256("\n".join(phrases()[0]).encode()).hexdigest()[:16]


def write_vectors(path: Path) -> None:
    """Encode the phrases and write their vectors, as small integers, with their fingerprint."""
    encoder = load_encoder("both")
    vectors = np.concatenate([encoder.encode(phrases()[0][at : at + 64]) for at in range(0, len(phrases()[0]), 64)])
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    small = np.round(vectors / scale).astype(np.int8)
    np.savez_compressed(path, vectors=small, fingerprint=np.array(fingerprint()))


def stored_fingerprint() -> str:
    """Return the fingerprint of the phrases whose vectors are stored."""
    path = resources.files("druthers.language").joinpath("data", "meanings.npz")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        return str(data["fingerprint"])


@cache
def stored_vectors() -> Vectors:
    """Return the vectors of the phrases, of length one."""
    path = resources.files("druthers.language").joinpath("data", "meanings.npz")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        small = data["vectors"].astype(np.float32)
    result: Vectors = small / np.linalg.norm(small, axis=1, keepdims=True)
    return result


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


def _torn(tokens: Sequence[Token], open_: Sequence[bool], at: int) -> bool:
    """Tell whether a mention stands here: a clause that ends at one is only a part of what is said."""
    return 0 <= at < len(tokens) and not open_[at] and tokens[at].is_word


def core(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """Return a clause without the light words around it, so that cues can be seen beside it."""
    while start < end and (tokens[start].text in _LIGHT or not tokens[start].is_word):
        start += 1
    while end > start and (tokens[end - 1].text in _LIGHT or not tokens[end - 1].is_word):
        end -= 1
    return start, end


class Meanings:
    """Find mentions by what clauses mean; the model is loaded with the first clause that needs it.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    encoder
        The name of the sentence model.
    floor
        How near, as a cosine, the best objective must be.
    margin
        How much nearer than the neutral phrases it must be if nothing else was found in the text.
    caution
        The same margin beside other mentions: what people say around their wishes is mostly no wish.
    """

    def __init__(
        self,
        objectives: Sequence[Objective],
        *,
        encoder: str = "minilm",
        floor: float = 0.3,
        margin: float = 0.06,
        caution: float = 0.1,
    ) -> None:
        self.floor = floor
        self.margin = margin
        self.caution = caution
        self._name = encoder
        self._objectives = tuple(objectives)
        self._encoder: Encoder | None = None

    def _load(self) -> Encoder:
        """Load the model and place all phrases: those of bound concepts, of the objectives themselves, neutral ones."""
        if self._encoder is None:
            encoder = load_encoder(self._name)
            bindings = bind(self._objectives)
            own = [(index, text) for index, each in enumerate(self._objectives) for text in _own_texts(each)]
            texts, labels, kinds = phrases()
            bound = [(n, bindings[label]) for n, label in enumerate(labels) if label in bindings]
            neutral = [n for n, label in enumerate(labels) if label == _NEUTRAL]
            rows = [n for n, _ in bound] + neutral
            self._vectors = np.concatenate([encoder.encode([text for _, text in own]), stored_vectors()[rows]])
            self._places = np.array([i for i, _ in own] + [b.objective for _, b in bound] + [-1] * len(neutral))
            self._weights = np.array([1.0] * len(own) + [b.strength for _, b in bound] + [1.0] * len(neutral))
            self._texts = (*[text for _, text in own], *[texts[n] for n in rows])
            self._kinds = (*["says"] * len(own), *[kinds[n] for n in rows])
            self._encoder = encoder
        return self._encoder

    def near(self, texts: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return how near each text is to nothing (column 0) and to each objective, and the phrase it is nearest to."""
        encoder = self._load()
        # Without BLAS, whose threads would take a second core for a product this small.
        similarity = np.einsum("ij,kj->ik", encoder.encode(texts), self._vectors) * self._weights
        scores = np.zeros((len(texts), len(self._objectives) + 1))
        for place in range(-1, len(self._objectives)):
            part = similarity[:, self._places == place]
            two = np.partition(part, -2, axis=1)[:, -2:] if part.shape[1] > 1 else part
            scores[:, place + 1] = 0.5 * part.max(axis=1) + 0.5 * two.mean(axis=1)
        best = scores[:, 1:].argmax(axis=1)
        return scores, np.where(self._places[None, :] == best[:, None], similarity, -1.0).argmax(axis=1)

    def __call__(self, tokens: Sequence[Token], open_: Sequence[bool]) -> list[Mention]:
        """Return the mentions in clauses that are open, and in whole sentences whose clauses say nothing."""
        alone = all(flag or token.text == "|" for token, flag in zip(tokens, open_, strict=True))
        margin = self.margin if alone else self.caution
        pieces = clauses(tokens, open_)
        found = self._read(tokens, open_, pieces[-MOST:], margin)
        silent = [
            (start, end)
            for start, end in sentences(list(tokens))
            if all(open_[start:end]) and (start, end) not in pieces and not any(start <= m.first < end for m in found)
        ]
        return found + self._read(tokens, open_, silent[-MOST // 2 :], margin)

    def _read(
        self, tokens: Sequence[Token], open_: Sequence[bool], pieces: Sequence[tuple[int, int]], margin: float
    ) -> list[Mention]:
        """Return the mentions of some pieces of the text; torn ones and single words must be nearer to count."""
        cores: dict[str, tuple[int, int, float]] = {}
        for start, end in pieces:
            first, last = core(tokens, start, end)
            torn = _torn(tokens, open_, start - 1) or _torn(tokens, open_, end)
            if last > first:
                text = " ".join(token.text for token in tokens[start:end])
                cores.setdefault(text, (first, last, margin * (2.0 if torn or last - first < 2 else 1.0)))
        found: list[Mention] = []
        for text, row, phrase in zip(cores, *self.near(list(cores)), strict=True) if cores else ():
            first, last, least = cores[text]
            best = int(row[1:].argmax())
            ahead = row[best + 1] - row[0]
            if row[best + 1] >= self.floor and ahead >= least:
                next_ = np.delete(row[1:], best).max(initial=0.0)
                sure = float(np.clip(0.3 + 1.5 * min(ahead - least, row[best + 1] - next_), 0.3, 0.85))
                kind = "bad" if self._kinds[phrase] == "bad" else "means"
                found.append(Mention(best, first, last, kind, sure, f"like {self._texts[phrase]}"))
        return found

    def judge(self, tokens: Sequence[Token], mentions: list[Mention]) -> list[Mention]:
        """Look again at single words in longer clauses: a "desk" may be furniture, or the people behind it."""
        bounds = clauses(tokens, [True] * len(tokens))
        asked: dict[str, tuple[int, Mention]] = {}
        for place, mention in enumerate(mentions):
            start, end = next(span for span in bounds if span[0] <= mention.first < span[1])
            others = any(start <= other.first < end for other in mentions if other is not mention)
            single = mention.last - mention.first == 1 and mention.worth < 1.05
            if single and mention.kind in _JUDGED and end - start >= 5 and not others:
                asked.setdefault(" ".join(token.text for token in tokens[start:end]), (place, mention))
        if not asked:
            return mentions
        judged = list(mentions)
        texts = list(asked)[-MOST:]
        for text, row, phrase in zip(texts, *self.near(texts), strict=True):
            place, mention = asked[text]
            best = int(row[1:].argmax())
            if best != mention.objective and row[best + 1] - max(row[mention.objective + 1], row[0]) >= self.caution:
                why = f"like {self._texts[phrase]}"
                judged[place] = replace(mention, objective=best, kind="means", worth=0.5, why=why)
        return judged


def _own_texts(objective: Objective) -> list[str]:
    texts = [objective.name, *objective.synonyms, *objective.examples]
    if objective.description:
        texts += [objective.description, f"{objective.name}: {objective.description}"]
    return texts
