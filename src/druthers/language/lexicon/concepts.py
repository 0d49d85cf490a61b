"""Everyday concepts and the words people use for them, in every form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from druthers.language.data import read_data, read_words, small_words, split
from druthers.language.text import tokenize


class Kind(StrEnum):
    """How words speak of a concept."""

    GOOD = "good"  # what is wanted of it: "quiet"
    BAD = "bad"  # what is complained about: "noisy"
    NOUN = "nouns"  # what it is called: "noise"
    SAYS = "says"  # what people say who want it, without naming it: "I wake up at every sound"
    WEAK = "weak"  # what counts only beside a judgment or a cue: "a nice room", not "a room for two"
    GIVES_UP = "gives_up"  # what people say who would do without it: "I wear earplugs anyway"
    FOREIGN = "foreign"  # what it is called in other languages, and by emoji
    MEANS = "means"  # no known word: a clause that means it, by the table of words or the sentence model
    IDLE = "idle"  # known words that speak of no objective: "operating system"


JUDGING = (Kind.GOOD, Kind.BAD)
_LISTED = (Kind.GOOD, Kind.BAD, Kind.SAYS, Kind.NOUN, Kind.WEAK)
_INFLECTED = (Kind.GOOD, Kind.BAD, Kind.NOUN, Kind.WEAK)


@dataclass(frozen=True, slots=True)
class Term:
    """One way to speak of a concept; a doubtful one, marked "?" in the lists, needs support from its surroundings."""

    words: tuple[str, ...]
    concept: str
    kind: Kind
    doubtful: bool = False

    @property
    def text(self) -> str:
        """The words in one string."""
        return " ".join(self.words)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as the parser sees them."""
    return tuple(token.text for token in tokenize(text) if token.is_word)


@cache
def all_terms() -> tuple[Term, ...]:
    """Return every term of every concept, in the order of the files."""
    terms: list[Term] = []
    for concept, lists in read_data("concepts.toml").items():
        for kind in _LISTED:
            terms.extend(_terms(concept, kind, lists.get(kind, "")))
    for concept, listed in read_data("concessions.toml").items():
        terms.extend(_terms(concept, Kind.GIVES_UP, str(listed)))
    for concept, listed in read_data("translations.toml").items():
        foreign = _terms(concept, Kind.FOREIGN, str(listed))
        terms.extend(term for term in foreign if len(term.words) > 1 or term.words[0] not in english())
    return tuple(terms)


def _terms(concept: str, kind: Kind, listed: str) -> Iterable[Term]:
    for text in split(listed):
        words = words_of(text.rstrip("?"))
        if not all(word.isdigit() for word in words):
            yield Term(words, concept, kind, text.endswith("?"))


@cache
def lexicon() -> dict[tuple[str, ...], tuple[Term, ...]]:
    """Return every form of every term: what may stand in a text, and the terms it can mean."""
    forms: dict[tuple[str, ...], list[Term]] = {}
    for term in all_terms():
        forms.setdefault(term.words, []).append(term)
    exact = set(forms)
    for term in all_terms():
        noun = term.kind in (Kind.NOUN, Kind.WEAK)
        others = [(*term.words[:-1], last) for last in inflections(term.words[-1], noun)]
        compared = [(degree, *term.words[1:]) for degree in degrees(term.words[0])]
        if term.words[1:2] in (("to",), ("for",)) or exact.intersection(compared):  # "easier to use", "quieter"
            others += compared
        graded = {(form,) for form in degrees(term.text)} if term.kind in JUDGING else set()
        for words in others if term.kind in _INFLECTED else ():
            if words not in exact or words in graded:  # "quickest", be it of the wait though it is said of journeys
                forms.setdefault(words, []).append(term)
    return {words: tuple(terms) for words, terms in forms.items()}


def adjectives(noun: str) -> list[str]:
    """Return the adjectives that belong to a noun, by its ending unless it follows no rule: words of English only.

    Examples
    --------
    >>> [adjectives(noun) for noun in ("complexity", "friendliness", "durability", "safety", "salt", "price")]
    [['complex'], ['friendly'], ['durable'], ['safe'], ['salty'], []]
    """
    table = read_data("small_words.toml")
    if noun in table["adjectives"]:
        return [table["adjectives"][noun]]
    for ending, others in table["endings_of_nouns"].items():
        if noun.endswith(ending) and len(noun) > len(ending) + 2:
            found = [noun.removesuffix(ending) + other for other in others]
            return [word for word in found if word in english()]
    others = ((f"{noun}y" if not noun.endswith(("e", "y")) else ""), f"{noun}ful")  # "salty", "careful"
    return [word for word in others if word in english()]


def easy_to(noun: str) -> list[tuple[str, ...]]:
    """Return how else it is said that something has a noun that ends in -ability.

    Examples
    --------
    >>> easy_to("trainability")[0], easy_to("usability")[2], easy_to("price")
    (('easy', 'to', 'train'), ('easiest', 'to', 'use'), [])
    """
    root = noun.removesuffix("ability")
    verb = next((one for one in (root, f"{root}e") if one != noun and len(one) > 2 and one in english()), "")
    return [(easy, "to", verb) for easy in ("easy", "easier", "easiest") if verb]


def degrees(word: str) -> list[str]:
    """Return comparative and superlative of an adjective; none of what has no superlative in English.

    Examples
    --------
    >>> degrees("easy"), degrees("room")
    (['easier', 'easiest'], [])
    """
    found = [form for form in inflections(word) if form.endswith(("er", "est")) and form in english()]
    return found if any(form.endswith("est") for form in found) else []


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
    hissing = word.endswith(("s", "x", "z", "ch", "sh"))
    fading = word.endswith("y") and word[-2] not in "aeiou"
    if noun:
        return [word + "es" if hissing else word[:-1] + "ies" if fading else word + "s"]
    if fading:
        base = word[:-1]
        found = [base + ending for ending in ("ies", "ier", "iest", "ily", "iness", "ied")] + [word + "ing"]
    elif word.endswith("e"):
        base = word[:-1]
        found = [word + ending for ending in ("s", "r", "st", "d", "ness", "ly")] + [base + "ing", base + "y"]
    else:
        stems = [word] + ([word + word[-1]] if re.search(r"[^aeiou][aeiou][bdglmnprt]$", word) else [])
        found = [word + ("es" if hissing else "s"), word + "ly", word + "ness"]
        found += [stem + ending for stem in stems for ending in ("er", "est", "ed", "ing")]
    return [form for form in found if form not in small_words("no_form")]


# Words from this length on may be two letters off, and longer ones than this may differ in every place.
_LONG = 6


@cache
def english() -> frozenset[str]:
    """Return the English words that are never taken for a typing error."""
    return frozenset(read_words("words.txt.gz"))


def distance(first: str, second: str, limit: int) -> int:
    """Return how many letters differ (insert, delete, replace, swap neighbors), or limit + 1 if more.

    Examples
    --------
    >>> distance("clening", "cleaning", 2), distance("recieve", "receive", 2)
    (1, 1)
    """
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        before, old, row = row, before, [i]
        for j, b in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, old[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


class Speller:
    """Mend a word that is no English word to the nearest of the known ones.

    Parameters
    ----------
    known
        The words worth mending to.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._index: dict[str, list[str]] = {}
        self._mended = lru_cache(maxsize=4096)(self._nearest)

    def mend(self, word: str) -> str:
        """Return the word that was meant, or the word as it stands."""
        meant: str | None = read_data("misspellings.toml")["words"].get(word)
        if meant is not None:
            return meant
        if len(word) < 3 or word in self._known or not word.isascii() or not word.isalpha() or word in english():
            return word
        return self._mended(word)

    def _nearest(self, word: str) -> str:
        # Whole before it is shared: another thread must never see a part of it.
        index = self._index = self._index or _indexed(self._known & english())
        limit = 1 if len(word) < _LONG else 2
        best, least = word, limit + 1
        near = {known for key in _shortened(word) for known in index.get(key, ())}
        if not near and len(word) > _LONG:
            near = {known for known in index.get(word[0], ()) if abs(len(known) - len(word)) <= limit}
        for known in sorted(near):
            away = distance(word, known, limit) + (word[0] != known[0])
            if away < least:
                best, least = known, away
        return best


def _indexed(words: Iterable[str]) -> dict[str, list[str]]:
    """Return words by their first letter, and by what is left of them without any one letter."""
    index: dict[str, list[str]] = {}
    for word in words:
        for key in (word[0], *_shortened(word)):
            index.setdefault(key, []).append(word)
    return index


def _shortened(word: str) -> set[str]:
    """Return the word and what is left of it without any one letter."""
    return {word} | {word[:i] + word[i + 1 :] for i in range(len(word))}
