"""Everyday concepts and their words, and which objective each concept belongs to in a given catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from druthers.language.clauses import tokenize
from druthers.language.lists import read_data, small_words
from druthers.language.spelling import english
from druthers.types import Objective

# How much a hit of each kind is worth before context.
WORTH = {"good": 1.0, "bad": 1.0, "gives_up": 1.0, "says": 0.9, "nouns": 0.9, "foreign": 0.9, "weak": 0.45}
_INFLECTED = ("good", "bad", "nouns", "weak")
# Words that say nothing about which objective is meant.
GENERIC = small_words("generic")
_NO_FORM = small_words("no_form")


@dataclass(frozen=True, slots=True)
class Term:
    """One way to speak of a concept."""

    words: tuple[str, ...]
    concept: str
    kind: str
    doubtful: bool = False

    @property
    def text(self) -> str:
        """The words in one string."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a concept goes in a catalog, and how well it fits there."""

    objective: int
    strength: float


def split(terms: str) -> list[str]:
    """Return the terms of a list with commas."""
    return [term for term in (part.strip() for part in terms.split(",")) if term]


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as the parser sees them."""
    return tuple(token.text for token in tokenize(text) if token.is_word)


@cache
def all_terms() -> tuple[Term, ...]:
    """Return every term of every concept, in the order of the files."""
    terms: list[Term] = []
    for concept, lists in read_data("concepts.toml").items():
        for kind in ("good", "bad", "says", "nouns", "weak"):
            terms.extend(_terms(concept, kind, lists.get(kind, "")))
    for concept, listed in read_data("concessions.toml").items():
        terms.extend(_terms(concept, "gives_up", str(listed)))
    for concept, listed in read_data("translations.toml").items():
        foreign = _terms(concept, "foreign", str(listed))
        terms.extend(term for term in foreign if len(term.words) > 1 or term.words[0] not in english())
    return tuple(terms)


def _terms(concept: str, kind: str, listed: str) -> Iterable[Term]:
    for text in split(listed):
        doubtful = text.endswith("?")
        words = words_of(text.rstrip("?"))
        if not all(word.isdigit() for word in words):
            yield Term(words, concept, kind, doubtful)


@cache
def lexicon() -> dict[tuple[str, ...], tuple[Term, ...]]:
    """Return every form of every term: what may stand in a text, and the terms it can mean."""
    forms: dict[tuple[str, ...], list[Term]] = {}
    for term in all_terms():
        forms.setdefault(term.words, []).append(term)
    exact = set(forms)
    for term in all_terms():
        for last in inflections(term.words[-1], term.kind in ("nouns", "weak")) if term.kind in _INFLECTED else ():
            words = (*term.words[:-1], last)
            if words not in exact:
                forms.setdefault(words, []).append(term)
    return {words: tuple(terms) for words, terms in forms.items()}


def inflections(word: str, noun: bool = False) -> list[str]:
    """Return plural, comparative, superlative, adverb and verb forms of a word; some of them are no words at all.

    A noun has only a plural.

    Examples
    --------
    >>> inflections("noisy")[:4]
    ['noisies', 'noisier', 'noisiest', 'noisily']
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return []
    if noun:
        plural = word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"
        return [word + "es" if word.endswith(("s", "x", "z", "ch", "sh")) else plural]
    if word.endswith("y") and word[-2] not in "aeiou":
        base = word[:-1]
        found = [base + ending for ending in ("ies", "ier", "iest", "ily", "iness", "ied")] + [word + "ing"]
    elif word.endswith("e"):
        base = word[:-1]
        found = [word + ending for ending in ("s", "r", "st", "d", "ness", "ly")] + [base + "ing", base + "y"]
    else:
        plural = "es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s"
        stems = [word] + ([word + word[-1]] if re.search(r"[^aeiou][aeiou][bdglmnprt]$", word) else [])
        found = [word + plural, word + "ly", word + "ness"]
        found += [stem + ending for stem in stems for ending in ("er", "est", "ed", "ing")]
    return [form for form in found if form not in _NO_FORM]


def stem(word: str) -> str:
    """Return a word without the ending of its plural, to compare names."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text."""
    return tuple(stem(word) for word in words_of(text))


def bind(objectives: Sequence[Objective]) -> dict[str, Binding]:
    """Return which objective each concept speaks of, by names and synonyms first, then by the words of descriptions.

    Examples
    --------
    >>> bind([Objective("sleep quality"), Objective("value")])["noise"]
    Binding(objective=0, strength=0.97)
    """
    names = [[stems(text) for text in (objective.name, *objective.synonyms)] for objective in objectives]
    described = [_concepts_in(objective.description) for objective in objectives]
    bound = {}
    for concept, lists in read_data("concepts.toml").items():
        known = [stems(name) for name in split(lists["names"])]
        fits = [
            max(*(_fit(known, name) for name in own), 0.55 * about.get(concept, 0.0))
            for own, about in zip(names, described, strict=True)
        ]
        best = max(range(len(fits)), key=fits.__getitem__, default=None)
        if best is not None and fits[best] > 0.0:
            bound[concept] = Binding(best, round(fits[best], 2))
    return bound


def _fit(known: list[tuple[str, ...]], name: tuple[str, ...]) -> float:
    """Return how well an objective's name fits the names of a concept; earlier names fit better."""
    fits = [0.0]
    told = {word for word in name if word not in GENERIC}
    for place, words in enumerate(known):
        worth = 1.0 - 0.004 * place
        if words == name:
            fits.append(worth)
        elif told and len(set(words) & told) == len(set(words) - GENERIC) > 0:
            fits.append(0.85 * worth)
    return max(fits)


def _concepts_in(description: str) -> dict[str, float]:
    """Return the concepts whose words a description uses, each with its share of them."""
    counts: dict[str, float] = {}
    table = lexicon()
    words = words_of(description)
    for size in (3, 2, 1):
        for at in range(len(words) - size + 1):
            for term in table.get(words[at : at + size], ()):
                if term.kind in ("good", "bad", "nouns") and not term.doubtful:
                    counts[term.concept] = counts.get(term.concept, 0.0) + 1.0
    total = max(counts.values(), default=1.0)
    return {concept: count / total for concept, count in counts.items()}
