"""What clauses mean that words leave unexplained: the table of words is asked first, then the sentence model.

A weighed sum of measures gives the log odds that a clause speaks of an objective. Weights and bars are in
data/weights.json, with what they were fitted to; benchmarks/reading_weights.py fits them.
"""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from druthers.language.data import read_data, small_words
from druthers.language.lexicon.concepts import Kind
from druthers.language.lexicon.words import Mention
from druthers.language.models.measures import MEASURES, Floats, Measures, said
from druthers.language.models.minilm import Encoder, load_minilm
from druthers.language.models.table import Table
from druthers.language.text import Span, Token, clauses, core
from druthers.types import Objective

# Tells whether a cue speaks of a mention beside others.
SpokenOf = Callable[[Sequence[Token], Sequence[Mention], Mention], bool]
# So many words of a text are shown to the sentence model, in whole clauses, those that promise most: about 40 ms.
MOST_WORDS = 40
# Log odds from which on a wish is supposed to be for something, where it is known to be a wish.
SUPPOSED = -2.7


@cache
def weights(name: str) -> Floats:
    """Return the weight of each measure, and at the end the constant."""
    listed = read_data("weights.json")[name]
    return np.array([*(listed[measure] for measure in MEASURES), listed["constant"]])


def bar(name: str) -> Any:
    """Return a bar: log odds from which on something counts."""
    return read_data("weights.json")["bars"][name]


class Judged(NamedTuple):
    """Which mentions stand, with those found by meaning, and a note if something kept the model from being asked."""

    mentions: list[Mention]
    note: str = ""


class Judge:
    """Decide which mentions of words are meant, and find what is meant without a known word.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    words
        Whether words are known and the table is asked first; else the model is asked about every clause.
    model
        Whether the sentence model is asked at all.
    background
        Whether the model is loaded beside, with the first text that needs it, while words alone answer; else that
        text waits for it.
    """

    def __init__(
        self, objectives: Sequence[Objective], *, words: bool = True, model: bool = True, background: bool = False
    ) -> None:
        self._objectives = tuple(objectives)
        self._words, self._model, self._background = words, model, background
        self._making, self._starting = threading.Lock(), threading.Lock()
        self._measures: dict[str, Measures] = {}
        self._loader: threading.Thread | None = None
        self._problem = ""

    def warm_up(self) -> None:
        """Load what the first text may have to wait for; a model that is loaded beside waits until a text needs it."""
        if self._words:
            self.measures("table")
        if self._model and not self._background:
            self.measures("model")

    def measures(self, name: str) -> Measures:
        """Return the measures by the table or by the model, made once."""
        if name not in self._measures:
            with self._making:
                if name not in self._measures:
                    encoder = Table() if name == "table" else load_minilm()
                    self._measures[name] = Measures(self._objectives, encoder)
        return self._measures[name]

    def _loaded(self) -> Measures | None:
        """Return the measures by the model, or None while it is being loaded beside, which the first to ask starts."""
        if "model" in self._measures or not self._background:
            return self.measures("model")
        with self._starting:  # never held while something is loaded, so nobody waits here
            if self._loader is None:
                self._loader = threading.Thread(target=self._load_beside, name="druthers-model")
                self._loader.start()
        return None

    def encoder(self) -> Encoder | None:
        """Return the sentence model; None where there is none, or while it is being loaded beside."""
        return load_minilm() if self._model and self._loaded() is not None else None

    def _load_beside(self) -> None:
        try:
            self.measures("model")
        except Exception as problem:  # whatever it is, every reading that would have needed the model tells it
            self._problem = f"the sentence model cannot be loaded: {problem}"

    def __call__(
        self, tokens: Sequence[Token], open_: Sequence[bool], found: Sequence[Mention], spoken_of: SpokenOf
    ) -> Judged:
        """Return the mentions that stand, and those found by meaning."""
        mentions = [mention for mention in found if mention.kind is not Kind.IDLE]
        explained = {n for m in found if m.kind is Kind.IDLE or m.stands_alone for n in m.places}
        spans = [span for span in clauses(tokens, open_) if unexplained(tokens, span, explained)]
        if not spans:
            return Judged(mentions)
        verdict, note = None, ""
        if self._words:
            verdict = _Verdict(self.measures("table"), "table", tokens, spans, mentions)
        if self._model:
            asked = spans if verdict is None else verdict.unsure(spoken_of)
            model = self._loaded() if asked else None
            if model is not None:
                kind = "model" if self._words else "model alone"
                verdict = _Verdict(model, kind, tokens, _shortened(asked), mentions)
            elif asked:
                how = "read by words alone" if self._words else "not read"
                note = f"{how}: {self._problem or 'the sentence model is still being loaded'}"
        idle = {n for m in found if m.kind is Kind.IDLE for n in m.places}
        return Judged(mentions if verdict is None else verdict.mentions(idle, spoken_of), note)

    def likeliest(self, tokens: Sequence[Token]) -> Mention | None:
        """Return what a text is likeliest to speak of that is known to speak of something; None if unclear."""
        spans = [span for span in clauses(tokens, [token.text != "|" for token in tokens]) if span[0] < span[1]]
        model = self._loaded() if self._model and spans else None
        return None if model is None else _Verdict(model, "model", tokens, _shortened(spans), ()).likeliest()


class _Verdict:
    """What the measures of some clauses say about all objectives."""

    def __init__(
        self,
        measures: Measures,
        kind: str,
        tokens: Sequence[Token],
        spans: Sequence[Span],
        mentions: Sequence[Mention],
    ) -> None:
        measured = measures.measure(tokens, spans, mentions)
        own = weights(f"{kind}, {measures.level}")
        self._measures, self._tokens, self._spans, self._mentions = measures, tokens, spans, mentions
        self._keep, self._add = bar("keep")[measures.level], bar("add")[kind]
        self.odds: Floats = measured @ own[:-1] + own[-1]
        self._leanings = measured[:, 0, MEASURES.index("dismisses")] - measured[:, 0, MEASURES.index("wants")]

    def unsure(self, spoken_of: SpokenOf) -> list[Span]:
        """Return the clauses that may speak of something that no word names, likeliest first, or give something up.

        Only what is complained about may be given up without a cue: "I shall survive some dust"; and what is only
        named beside words that allow it: "a manual is fine". What is praised or named otherwise was, in the sentences
        that may be learned from, read no better with the model.
        """
        said_ = {mention.objective for mention in self._mentions if mention.stands_alone}
        unsaid = [n for n in range(self.odds.shape[1]) if n not in said_]
        best = self.odds[:, unsaid].max(axis=1, initial=-np.inf)
        spans = [(float(odds), span) for odds, span in zip(best, self._spans, strict=True) if odds > bar("ask")]
        for span in self._spans:
            inside = [m for m in self._mentions if _holds(span, m) and m.stands_alone]
            complains = inside and all(m.kind is Kind.BAD for m in inside)
            allows = inside and any(token.text in small_words("allowing") for token in self._tokens[slice(*span)])
            if allows or (complains and not any(spoken_of(self._tokens, self._mentions, m) for m in inside)):
                spans.append((bar("ask"), span))
        return list(dict.fromkeys(span for _, span in sorted(spans, reverse=True)))

    def mentions(self, idle: set[int], spoken_of: SpokenOf) -> list[Mention]:
        """Return the mentions that stand, and those found by meaning."""
        kept = [m for m in self._mentions if m.named or self._odds_of(m) > self._keep]
        known = {m.objective for m in kept if m.stands_alone}
        for objective in map(int, np.argsort(-self.odds.max(axis=0))):
            if self.odds[:, objective].max() > self._add and objective not in known:
                word = next((m for m in kept if m.is_described and m.objective == objective), None)  # "I want to laugh"
                named = None if word is None else replace(word, kind=Kind.NOUN, worth=self._sureness(objective))
                new = named or self._found(objective, kept, idle, spoken_of)
                if new is not None:
                    kept = [m for m in kept if m.objective != objective or m.last <= new.first or m.first >= new.last]
                    kept.append(new)
        return [replace(m, leaning=self._leaning(m, kept)) for m in kept]

    def likeliest(self) -> Mention | None:
        """Return the likeliest objective, if it is likely enough of what is known to be a wish."""
        row, objective = np.unravel_index(int(self.odds.argmax()), self.odds.shape)
        odds, span = float(self.odds[row, objective]), self._spans[int(row)]
        if odds < SUPPOSED:
            return None
        near = self._measures.nearest(said(self._tokens[slice(*span)]), int(objective))
        sure = 1.0 / (1.0 + math.exp(-odds))
        first, last = core(self._tokens, *span)
        place = (first, last) if first < last else span  # "not too long" is all small words
        return Mention(int(objective), *place, Kind.MEANS, sure, f"like {near}")

    def _sureness(self, objective: int) -> float:
        """Return how likely it is that some clause speaks of an objective."""
        return float(1.0 / (1.0 + np.exp(-self.odds[:, objective].max())))

    def _odds_of(self, mention: Mention) -> float:
        """Return how likely a mention is meant; where no clause was asked that holds it, nothing is against it."""
        own = self.odds[:, mention.objective]
        return max(
            (float(odds) for odds, span in zip(own, self._spans, strict=True) if _holds(span, mention)), default=0.0
        )

    def _leaning(self, mention: Mention, mentions: Sequence[Mention]) -> float:
        """Return how much the clause of a mention sounds like giving up, if it speaks of nothing else."""
        for leaning, span in zip(self._leanings, self._spans, strict=True):
            if _holds(span, mention):
                alone = all(m.objective == mention.objective for m in mentions if _holds(span, m))
                joined = self._tokens[span[0]].text == "and" and any(m.last == span[0] for m in mentions)
                return float(leaning) if alone and not joined else 0.0
        return 0.0

    def _found(
        self, objective: int, mentions: Sequence[Mention], idle: set[int], spoken_of: SpokenOf
    ) -> Mention | None:
        """Return the mention of an objective that was found by meaning, first of all where a cue speaks of it.

        None if all words of the clause are understood as something else.
        """
        odds = self.odds[:, objective]
        spans = [self._spans[n] for n in np.argsort(-odds) if odds[n] > self._add]
        near = self._measures.nearest(said(self._tokens[slice(*spans[0])]), objective)
        sure = self._sureness(objective)
        taken = {n for m in mentions for n in m.places} | idle
        wholes = [Mention(objective, *core(self._tokens, *span), Kind.MEANS, sure, f"like {near}") for span in spans]
        for whole in wholes:
            for narrow in self._narrower(whole, taken):
                if spoken_of(self._tokens, mentions, narrow):
                    return narrow
        if taken.isdisjoint(wholes[0].places):
            return wholes[0]
        return next(iter(self._narrower(wholes[0], taken)), None)

    def _narrower(self, whole: Mention, taken: set[int]) -> list[Mention]:
        """Return the nearest word of a clause, and the same with the words that lead up to it."""
        free = [n for n in whole.places if n not in taken and self._tokens[n].is_word]
        telling = [n for n in free if is_telling(self._tokens[n].text)]
        if not telling:
            return []
        best = self._measures.best_word([self._tokens[n].text for n in telling], whole.objective)
        at = first = telling[best]
        while first - 1 in telling:
            first -= 1
        word = replace(whole, first=at, last=at + 1)
        return [word] if first == at else [word, replace(word, first=first)]


def is_telling(word: str) -> bool:
    """Tell whether a word may name something, rather than hold a sentence together."""
    plain = any(word in small_words(part) for part in ("light", "cue", "beside", "generic"))
    return len(word) > 2 and not plain and not word.isdigit() and word[:1].isalnum()


def unexplained(tokens: Sequence[Token], span: Span, explained: set[int]) -> list[int]:
    """Return the words of a clause that tell something and are not explained."""
    return [n for n in range(*span) if n not in explained and is_telling(tokens[n].text)]


def _holds(span: Span, mention: Mention) -> bool:
    return span[0] <= mention.first < span[1]


def _shortened(spans: Sequence[Span]) -> list[Span]:
    """Return the first of some clauses, up to so many words; the first one anyway."""
    kept: list[Span] = []
    words = 0
    for start, end in spans:
        words += end - start
        if kept and words > MOST_WORDS:
            break
        kept.append((start, end))
    return kept
