"""What a text speaks of, judged by words and meaning together: a weighed sum of measures decides what is meant."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources

import numpy as np

from druthers.language.clauses import Token, sentences
from druthers.language.cues import found, grouped, numbered
from druthers.language.encoders import Vectors, load_encoder
from druthers.language.likeness import MEASURES, Floats, Likeness, told_words
from druthers.language.meanings import clauses, core
from druthers.language.spotting import DOUBTFUL, Mention
from druthers.types import Objective

# The bar for known words to stand, by how much is told of the objectives: names only, a sentence each, examples too.
KEEP = (-9.0, -1.5, -1.0)
# The bar for meanings to be found, with the table of words and with a sentence model.
ADD = {"table": 0.0, "models": -0.25}
# So many clauses and sentences of a text are looked at, the last ones.
MOST = 10


@cache
def weights(name: str) -> Floats:
    """Return the weight of each measure, and at the end the constant."""
    text = resources.files("druthers.language").joinpath("data", "weights.json").read_text(encoding="utf-8")
    listed = json.loads(text)[name]
    return np.array([*(listed[measure] for measure in MEASURES), listed["constant"]])


class Judge:
    """Decide which mentions of words are meant, and find what is meant without a known word.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    words
        Whether the word lists were asked before.
    encoder
        The name of the sentence model or models, or of the table of words; loaded with the first text.
    keep
        How likely, as log odds, an objective must be for a known word to stand; by default the more is told of the
        objectives, the more.
    add
        How likely it must be to be found without one.
    """

    def __init__(
        self,
        objectives: Sequence[Objective],
        *,
        words: bool = True,
        encoder: str = "both",
        keep: float | None = None,
        add: float | None = None,
    ) -> None:
        self.keep = keep
        self.add = add
        self._words = words
        self._objectives = tuple(objectives)
        self._encoder = encoder
        self._likeness: Likeness | None = None
        self._lock = threading.Lock()

    @property
    def likeness(self) -> Likeness:
        """The measures; the model is loaded here."""
        if self._likeness is None:
            with self._lock:
                if self._likeness is None:
                    self._likeness = Likeness(self._objectives, load_encoder(self._encoder))
        return self._likeness

    def measured(
        self, tokens: Sequence[Token], open_: Sequence[bool], mentions: Sequence[Mention]
    ) -> tuple[list[tuple[int, int]], Vectors, Floats]:
        """Return the pieces of a text, their vectors, and what is measured of them."""
        pieces = [span for span in clauses(tokens, open_) if _says(tokens, span)][-MOST:]
        wholes = [span for span in sentences(list(tokens)) if all(open_[span[0] : span[1]]) and _says(tokens, span)]
        pieces += [span for span in wholes[-MOST // 2 :] if span not in pieces]
        if not pieces:
            return [], np.zeros((0, 1), np.float32), np.zeros((0, len(self._objectives), len(MEASURES)))
        vectors = self.likeness.encode(tokens, pieces)
        return pieces, vectors, self.likeness.measure(tokens, pieces, vectors, mentions)

    def __call__(self, tokens: Sequence[Token], open_: Sequence[bool], mentions: list[Mention]) -> list[Mention]:
        """Return the mentions that stand, and those found by meaning."""
        understood = {index for m in mentions if m.kind == "idle" for index in range(m.first, m.last)}
        mentions = [m for m in mentions if m.kind != "idle"]
        pieces, vectors, measures = self.measured(tokens, open_, mentions)
        if not pieces:
            return mentions
        kind = "table" if self._encoder == "table" else "models"
        own = weights(f"{kind}, {'with' if self._words else 'without'} words, {self.likeness.level}")
        odds = measures @ own[:-1] + own[-1]
        keep = KEEP[self.likeness.level] if self.keep is None else self.keep
        add = ADD[kind] if self.add is None else self.add
        kept = [m for m in mentions if m.worth > 1.05 or _odds_of(m, pieces, odds) > keep]
        said = {m.objective for m in kept if m.kind != "weak" and m.worth > DOUBTFUL}
        for objective in np.argsort(-odds.max(axis=0)):
            if odds[:, objective].max() > add and objective not in said:
                new = self._mention(tokens, pieces, vectors, odds[:, objective], kept, int(objective), add, understood)
                if new is not None:
                    kept = [m for m in kept if m.objective != objective or m.last <= new.first or m.first >= new.last]
                    kept.append(new)
        leanings = measures[:, 0, MEASURES.index("dismisses")] - measures[:, 0, MEASURES.index("wants")]
        places = [alone_in(m, kept, pieces) for m in kept]
        return [m if n is None else replace(m, leaning=float(leanings[n])) for m, n in zip(kept, places, strict=True)]

    def _mention(
        self,
        tokens: Sequence[Token],
        pieces: Sequence[tuple[int, int]],
        vectors: Vectors,
        odds: Floats,
        mentions: Sequence[Mention],
        objective: int,
        add: float,
        understood: set[int],
    ) -> Mention | None:
        """Return the mention of an objective that was found by meaning, first of all where a cue speaks of it.

        None if all words of the clause are understood as something else.
        """
        sure = float(np.clip(1 / (1 + np.exp(-odds.max())), 0.45, 0.85))
        best = _place(pieces, odds)
        near = self.likeness.nearest(vectors[pieces.index(best)], objective)
        taken = {index for m in mentions for index in range(m.first, m.last)} | understood
        others = [span for n, span in enumerate(pieces) if odds[n] > add and span != best]
        wholes = [span for span in others if span[0] <= best[0] and best[1] <= span[1]]
        for span in (best, *(span for span in others if span not in wholes)):
            whole = Mention(objective, *core(tokens, *span), "means", sure, f"like {near}")
            for narrow in self._narrower(tokens, whole, taken):
                if _spoken_of(tokens, mentions, narrow):
                    return narrow
        whole = Mention(objective, *core(tokens, *best), "means", sure, f"like {near}")
        words = self._narrower(tokens, whole, taken)
        if taken.isdisjoint(range(whole.first, whole.last)):
            return whole
        return words[0] if words else None

    def _narrower(self, tokens: Sequence[Token], whole: Mention, taken: set[int]) -> list[Mention]:
        """Return the nearest word of a clause, and the same with the words that lead up to it."""
        free = [n for n in range(whole.first, whole.last) if n not in taken and tokens[n].is_word]
        told = [n for n in free if told_words([tokens[n].text])] or free
        if not told:
            return []
        at = first = told[self.likeness.best_word([tokens[n].text for n in told], whole.objective)]
        while first - 1 in told:
            first -= 1
        word = replace(whole, first=at, last=at + 1)
        return [word] if first == at else [word, replace(word, first=first)]


def _place(pieces: Sequence[tuple[int, int]], odds: Floats) -> tuple[int, int]:
    """Return the clause that speaks most of an objective; of a sentence, that one of its clauses that does."""
    start, end = pieces[int(odds.argmax())]
    inside = [n for n, span in enumerate(pieces) if start <= span[0] and span[1] <= end and span != (start, end)]
    return pieces[max(inside, key=odds.__getitem__)] if inside else (start, end)


def _spoken_of(tokens: Sequence[Token], mentions: Sequence[Mention], new: Mention) -> bool:
    """Tell whether a cue speaks of a mention beside others."""
    start, end = next(span for span in sentences(list(tokens)) if span[0] <= new.first < span[1])
    inside = [m for m in mentions if start <= m.first < end and (m.last <= new.first or new.last <= m.first)]
    groups = grouped(tokens, sorted([*inside, new], key=lambda m: m.first))
    place = next(n for n, group in enumerate(groups) if new in group.mentions)
    return any(place in (match.x, match.y) for match in found(numbered(tokens, start, end, groups)))


def _says(tokens: Sequence[Token], span: tuple[int, int]) -> bool:
    """Tell whether more than light words and numbers stand in a piece."""
    first, last = core(tokens, *span)
    return any(token.is_word and not token.text.isdigit() for token in tokens[first:last])


def _odds_of(mention: Mention, pieces: Sequence[tuple[int, int]], odds: Floats) -> float:
    """Return how likely a mention is meant; where no piece holds it, nothing is known against it."""
    found_ = [odds[n, mention.objective] for n, (start, end) in enumerate(pieces) if start <= mention.first < end]
    return float(max(found_, default=0.0))


def alone_in(mention: Mention, mentions: Sequence[Mention], pieces: Sequence[tuple[int, int]]) -> int | None:
    """Return the smallest piece around a mention, if it speaks of nothing else."""
    around = [(end - start, n) for n, (start, end) in enumerate(pieces) if start <= mention.first < end]
    if not around:
        return None
    start, end = pieces[min(around)[1]]
    alone = all(m.objective == mention.objective for m in mentions if start <= m.first < end)
    return min(around)[1] if alone else None
