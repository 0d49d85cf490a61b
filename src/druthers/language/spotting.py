"""Where a text speaks of which objective: the words of the lexicon, with typing errors mended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from druthers.language.clauses import Token
from druthers.language.concepts import GENERIC, WORTH, Binding, bind, inflections, lexicon, words_of
from druthers.language.spelling import Speller
from druthers.types import Objective

# A term may have so many words.
LONGEST = 6
# Doubtful words and words of descriptions need support from their surroundings.
DOUBTFUL = 0.4


@dataclass(frozen=True, slots=True)
class Mention:
    """A piece of text that speaks of an objective; first and last are places among the tokens."""

    objective: int
    first: int
    last: int
    kind: str
    worth: float
    why: str


@dataclass(frozen=True, slots=True)
class Sense:
    """What a term means in one catalog."""

    objective: int
    kind: str
    worth: float
    term: str


class Words:
    """Find mentions by the words of concepts, names, synonyms and descriptions.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self.bindings: dict[str, Binding] = bind(objectives)
        self.senses: dict[tuple[str, ...], Sense] = {}
        for words, terms in lexicon().items():
            for term in terms:
                bound = self.bindings.get(term.concept)
                if bound is not None:
                    worth = DOUBTFUL if term.doubtful else WORTH[term.kind] * bound.strength
                    self._add(words, Sense(bound.objective, term.kind, worth, term.text))
        for index, objective in enumerate(objectives):
            self._add_own(index, objective, objectives)
        self._speller = Speller({word for words in self.senses for word in words if len(word) > 3})

    def _add(self, words: tuple[str, ...], sense: Sense) -> None:
        known = self.senses.get(words)
        if known is None or sense.worth > known.worth + 1e-9:
            self.senses[words] = sense

    def _add_own(self, index: int, objective: Objective, objectives: Sequence[Objective]) -> None:
        """Add the words of an objective's own name, synonyms, description and examples."""
        for text in (objective.name, *objective.synonyms):
            words = words_of(text)
            if not words:
                continue
            self._add(words, Sense(index, "nouns", 1.2, text))
            told = [word for word in words if word not in GENERIC and len(word) > 2]
            for word in told if text == objective.name else words if len(words) == 1 else ():
                shared = sum(word in words_of(other.name) for other in objectives) > 1
                weak = self.senses.get((word,))
                if not shared and not (weak is not None and weak.kind == "weak"):
                    self._add((word,), Sense(index, "nouns", 1.1 if len(told) == 1 else 0.8, text))
                    for form in inflections(word):
                        if (form,) not in self.senses:
                            self._add((form,), Sense(index, "nouns", 0.9, text))
        told_by = [set(words_of(" ".join((other.description, *other.examples)))) for other in objectives]
        for word in told_by[index] - GENERIC:
            if len(word) > 3 and (word,) not in self.senses and sum(word in told for told in told_by) == 1:
                self._add((word,), Sense(index, "nouns", DOUBTFUL, word))

    def __call__(self, tokens: Sequence[Token], open_: Sequence[bool]) -> list[Mention]:
        """Return the mentions among those tokens that are open, longest terms first."""
        words = [self._speller.mend(token) if flag else token.text for token, flag in zip(tokens, open_, strict=True)]
        found: list[Mention] = []
        at = 0
        while at < len(words):
            step = 1
            if open_[at]:
                for size in range(min(LONGEST, len(words) - at), 0, -1):
                    sense = self.senses.get(tuple(words[at : at + size]))
                    if sense is not None and all(open_[at : at + size]):
                        found.append(Mention(sense.objective, at, at + size, sense.kind, sense.worth, sense.term))
                        step = size
                        break
            at += step
        return found
