"""What a text speaks of, judged by words and meaning together: a weighed sum of measures decides what is meant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources

import numpy as np

from druthers.language.clauses import Token, sentences
from druthers.language.cues import found, grouped, numbered
from druthers.language.encoders import load_encoder
from druthers.language.likeness import MEASURES, Floats, Likeness, told_words
from druthers.language.meanings import clauses, core
from druthers.language.spotting import DOUBTFUL, Mention
from druthers.types import Objective

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
        The name of the sentence model, which is loaded with the first text.
    keep
        How likely, as log odds, an objective must be for a known word to stand.
    add
        How likely it must be to be found without one.
    """

    def __init__(
        self,
        objectives: Sequence[Objective],
        *,
        words: bool = True,
        encoder: str = "minilm",
        keep: float = -2.0,
        add: float = 0.0,
    ) -> None:
        self.keep = keep
        self.add = add
        self._words = words
        self._objectives = tuple(objectives)
        self._encoder = encoder
        self._likeness: Likeness | None = None

    @property
    def likeness(self) -> Likeness:
        """The measures; the model is loaded here."""
        if self._likeness is None:
            self._likeness = Likeness(self._objectives, load_encoder(self._encoder))
        return self._likeness

    def measured(
        self, tokens: Sequence[Token], open_: Sequence[bool], mentions: Sequence[Mention]
    ) -> tuple[list[tuple[int, int]], Floats]:
        """Return the pieces of a text, and what is measured of them."""
        pieces = [span for span in clauses(tokens, open_) if _says(tokens, span)][-MOST:]
        wholes = [span for span in sentences(list(tokens)) if all(open_[span[0] : span[1]]) and _says(tokens, span)]
        pieces += [span for span in wholes[-MOST // 2 :] if span not in pieces]
        if not pieces:
            return [], np.zeros((0, len(self._objectives), len(MEASURES)))
        return pieces, self.likeness.measure(tokens, pieces, mentions)

    def __call__(self, tokens: Sequence[Token], open_: Sequence[bool], mentions: list[Mention]) -> list[Mention]:
        """Return the mentions that stand, and those found by meaning."""
        pieces, measures = self.measured(tokens, open_, mentions)
        if not pieces:
            return mentions
        own = weights(f"{'words' if self._words else 'alone'} {self.likeness.level}")
        odds = measures @ own[:-1] + own[-1]
        kept = [m for m in mentions if m.worth > 1.05 or _odds_of(m, pieces, odds) > self.keep]
        said = {m.objective for m in kept if m.kind != "weak" and m.worth > DOUBTFUL}
        for objective in np.argsort(-odds.max(axis=0)):
            best = float(odds[:, objective].max())
            if best > self.add and objective not in said:
                span = _place(pieces, odds[:, objective])
                kept = [m for m in kept if m.objective != objective or m.last <= span[0] or m.first >= span[1]]
                kept.append(self._mention(tokens, kept, span, int(objective), best))
        return kept

    def _mention(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], span: tuple[int, int], objective: int, odds: float
    ) -> Mention:
        """Return a mention: the whole clause, or its nearest word if a cue speaks of that word or others are there."""
        near = self.likeness.nearest(" ".join(token.text for token in tokens[slice(*span)]), objective)
        first, last = core(tokens, *span)
        sure = float(np.clip(1 / (1 + np.exp(-odds)), 0.45, 0.85))
        whole = Mention(objective, first, last, "means", sure, f"like {near}")
        taken = {index for m in mentions for index in range(m.first, m.last)}
        free = [n for n in range(first, last) if n not in taken and tokens[n].is_word]
        told = [n for n in free if told_words([tokens[n].text])] or free
        if not told:
            return whole
        at = told[self.likeness.best_word([tokens[n].text for n in told], objective)]
        word = replace(whole, first=at, last=at + 1)
        start, end = next(s for s in sentences(list(tokens)) if s[0] <= at < s[1])
        others = sorted([*(m for m in mentions if start <= m.first < end), word], key=lambda m: m.first)
        groups = grouped(tokens, others)
        place = next(n for n, group in enumerate(groups) if word in group.mentions)
        spoken = any(place in (match.x, match.y) for match in found(numbered(tokens, start, end, groups)))
        return word if spoken or taken & set(range(first, last)) else whole


def _place(pieces: Sequence[tuple[int, int]], odds: Floats) -> tuple[int, int]:
    """Return the clause that speaks most of an objective; of a sentence, that one of its clauses that does."""
    start, end = pieces[int(odds.argmax())]
    inside = [n for n, span in enumerate(pieces) if start <= span[0] and span[1] <= end and span != (start, end)]
    return pieces[max(inside, key=odds.__getitem__)] if inside else (start, end)


def _says(tokens: Sequence[Token], span: tuple[int, int]) -> bool:
    """Tell whether more than light words stand in a piece."""
    first, last = core(tokens, *span)
    return last > first


def _odds_of(mention: Mention, pieces: Sequence[tuple[int, int]], odds: Floats) -> float:
    """Return how likely a mention is meant; where no piece holds it, nothing is known against it."""
    found_ = [odds[n, mention.objective] for n, (start, end) in enumerate(pieces) if start <= mention.first < end]
    return float(max(found_, default=0.0))
