"""Where a text speaks of which objective: the words of the lexicon, with typing errors mended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from druthers.language.clauses import Token
from druthers.language.concepts import (
    GENERIC,
    WORTH,
    Binding,
    bind,
    inflections,
    lexicon,
    split,
    words_of,
)
from druthers.language.lists import read_data, small_words
from druthers.language.spelling import Speller
from druthers.types import Objective

# A term may have so many words.
LONGEST = 6
# Doubtful words need support from their surroundings.
DOUBTFUL = 0.4


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens from first to before last that speak of an objective, or of none: -1.

    `leaning` is the log odds that the clause around it dismisses what it speaks of, where a model was asked.
    """

    objective: int
    first: int
    last: int
    kind: str
    worth: float
    why: str
    concept: str = ""
    leaning: float = 0.0


def idle(first: int, last: int) -> Mention:
    """Return a mention of nothing: words that were understood, but speak of no objective."""
    return Mention(-1, first, last, "idle", 0.0, "")


@dataclass(frozen=True, slots=True)
class Sense:
    """What a term means in one catalog."""

    objective: int
    kind: str
    worth: float
    term: str
    concept: str = ""


# Words of one sense that describe a noun of another: "thick lacing" is about looks, "a fruity nose" about smell.
_SENSES = small_words("senses")
_LINKS = small_words("links")
_THINGS = small_words("things")
_PRAISES = small_words("praises")
_SIZES = small_words("sizes")


class Words:
    """Find mentions by the words of concepts, names and synonyms.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self.bindings: dict[str, Binding] = bind(objectives)
        self.senses: dict[tuple[str, ...], Sense] = {}
        self.concessions: dict[tuple[str, ...], Sense] = {}
        for words, terms in lexicon().items():
            for term in terms:
                bound = self.bindings.get(term.concept)
                if bound is not None:
                    worth = DOUBTFUL if term.doubtful else WORTH[term.kind] * bound.strength
                    sense = Sense(bound.objective, term.kind, worth, term.text, term.concept)
                    self._add(self.concessions if term.kind == "gives_up" else self.senses, words, sense)
        self._own: set[tuple[str, ...]] = set()
        for index, objective in enumerate(objectives):
            self._add_own(index, objective, objectives)
        self.idle = {words_of(phrase) for phrase in split(read_data("idle.toml")["phrases"])} - set(self._own)
        self._speller = Speller({word for words in self.senses for word in words if len(word) > 3})

    @staticmethod
    def _add(table: dict[tuple[str, ...], Sense], words: tuple[str, ...], sense: Sense) -> None:
        known = table.get(words)
        if known is None or sense.worth > known.worth + 1e-9:
            table[words] = sense

    def _add_own(self, index: int, objective: Objective, objectives: Sequence[Objective]) -> None:
        """Add the words of an objective's own name and synonyms."""
        for text in (objective.name, *objective.synonyms):
            words = words_of(text)
            if not words:
                continue
            self._own.add(words)
            self._add(self.senses, words, Sense(index, "nouns", 1.2, text, self._concept_of(index)))
            told = [word for word in words if word not in GENERIC and len(word) > 2]
            for word in told if text == objective.name else words if len(words) == 1 else ():
                shared = sum(word in words_of(other.name) for other in objectives) > 1
                weak = self.senses.get((word,))
                if not shared and not (weak is not None and weak.kind == "weak"):
                    self._add(self.senses, (word,), Sense(index, "nouns", 1.1 if len(told) == 1 else 0.8, text))
                    for form in inflections(word, noun=True):
                        if (form,) not in self.senses:
                            self._add(self.senses, (form,), Sense(index, "nouns", 0.9, text))

    def _concept_of(self, index: int) -> str:
        """Return the concept that fits an objective best."""
        own = {name: bound.strength for name, bound in self.bindings.items() if bound.objective == index}
        return max(own, key=own.__getitem__, default="")

    def __call__(self, tokens: Sequence[Token], open_: Sequence[bool]) -> list[Mention]:
        """Return the mentions among those tokens that are open, longest terms first."""
        words = [self._speller.mend(token) if flag else token.text for token, flag in zip(tokens, open_, strict=True)]
        found: list[Mention] = []
        at = 0
        while at < len(words):
            at += self._spot(words, open_, at, found) if open_[at] else 1
        return _carried(words, found)

    def _spot(self, words: Sequence[str], open_: Sequence[bool], at: int, found: list[Mention]) -> int:
        """Add the mentions that start here; return how many words they take."""
        for size in range(min(LONGEST, len(words) - at), 0, -1):
            key = tuple(words[at : at + size])
            senses = [table[key] for table in (self.senses, self.concessions) if key in table]
            if key in self.idle and not senses:
                found.append(idle(at, at + size))
                return size
            if senses and all(open_[at : at + size]):
                both = senses if senses[0].objective != senses[-1].objective else senses[-1:]
                found.extend(Mention(s.objective, at, at + size, s.kind, s.worth, s.term, s.concept) for s in both)
                return size
        return 1


def _carried(words: Sequence[str], found: list[Mention]) -> list[Mention]:
    """Leave out words that only describe a noun of another sense: before it, after "is", or after "of" and "like"."""
    kept: list[Mention] = []
    carrier, reach = None, -1
    for index, mention in enumerate(found):
        before, after = found[index - 1] if index else None, found[index + 1] if index + 1 < len(found) else None
        if mention.kind == "weak" and before is not None and before.last == mention.first:
            kept.append(idle(mention.first, mention.last))
            continue
        if after is not None and after.first == mention.last and _praise_of_another(mention, after):
            kept.append(idle(mention.first, mention.last))
            continue
        if before is not None and before.last == mention.first and _thing_of_another(before, mention):
            kept.append(idle(mention.first, mention.last))
            continue
        described = mention.kind in ("good", "bad") and mention.concept in _SENSES
        if described and after is not None and after.first == mention.last and _other_noun(mention, after):
            kept.append(idle(mention.first, mention.last))
            continue
        linked = carrier is not None and all(word in _LINKS for word in words[reach : mention.first])
        if described and linked and carrier is not None and mention.first > carrier.last:
            reach = mention.last
            if mention.objective != carrier.objective:
                kept.append(idle(mention.first, mention.last))
                continue
        elif mention.kind == "nouns" and mention.concept in _SENSES:
            carrier, reach = mention, mention.last
        kept.append(mention)
    return kept


def _thing_of_another(adjective: Mention, noun: Mention) -> bool:
    """Tell whether a noun only carries the wish before it: "clean bathroom"."""
    carries = noun.kind == "nouns" and noun.concept in _THINGS and adjective.concept not in _PRAISES
    return carries and adjective.kind in ("good", "bad") and noun.objective != adjective.objective


def _praise_of_another(adjective: Mention, noun: Mention) -> bool:
    """Tell whether an adjective only praises the noun after it: "comfortable mattress"."""
    praises = adjective.kind in ("good", "bad") and (adjective.concept in _PRAISES or adjective.why in _SIZES)
    return praises and noun.kind == "nouns" and noun.objective != adjective.objective


def _other_noun(mention: Mention, noun: Mention) -> bool:
    return noun.kind == "nouns" and noun.concept in _SENSES and noun.objective != mention.objective
