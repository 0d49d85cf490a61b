"""Texts of a catalog as people misspell them: a letter too many, one missing, two exchanged, or another at the end."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from druthers.glossary import LANGUAGES, meanings, phrases
from druthers.limits.quantities import Quantity
from druthers.limits.words import SMALL_WORDS, in_english, stems, words

LEAST = 6  # letters: of shorter words too many are one letter apart


class Vocabulary(NamedTuple):
    """What words mean by themselves, whatever a catalog has."""

    words: Collection[str] = ()  # those that are no misspelling of others; without them none is taken for one
    wishes: Collection[str] = ()  # those that may be said of what is wished for: a friendly staff is no "pet friendly"
    language: Callable[[str], str] = lambda text: "en"  # what a text is in; in English "rot" is no color
    leans_english: Callable[[str], bool] = lambda text: True  # not where a text is too short to tell


NO_WORDS = Vocabulary()


class Spelling:
    """Finds the word of a catalog that one was meant to be.

    Parameters
    ----------
    known
        The words of the catalog.
    right
        Words that are no misspelling of others, however near: a hotel is no hostel.

    Examples
    --------
    >>> spelling = Spelling(["automatic", "vienna", "hostel"], right=["hotel"])
    >>> [spelling.mended(word) for word in ("automatik", "viena", "vienna", "hotel")]
    ['automatic', 'vienna', 'vienna', 'hotel']
    """

    def __init__(self, known: Iterable[str], right: Collection[str]) -> None:
        self._right = right
        self._known = {word for word in known if len(word) >= LEAST}
        self._near: dict[str, set[str]] = {}
        for word in self._known:
            for form in _forms(word):
                self._near.setdefault(form, set()).add(word)

    def mended(self, word: str) -> str:
        """Return the one word that was meant, or the word as it stands."""
        if not self._right or len(word) < LEAST - 1 or word in self._known or word in self._right:
            return word
        near = {
            one
            for form in _forms(word)
            for one in self._near.get(form, ())
            if one[0] == word[0] and _is_slip(word, one)
        }
        return near.pop() if len(near) == 1 else word


def _forms(word: str) -> set[str]:
    """Return a word, and what is left of it without any one letter."""
    return {word} | {word[:place] + word[place + 1 :] for place in range(1, len(word))}


def _is_slip(said: str, meant: str) -> bool:
    if len(said) != len(meant):
        return abs(len(said) - len(meant)) == 1
    apart = [place for place, pair in enumerate(zip(said, meant, strict=True)) if pair[0] != pair[1]]
    swapped = len(apart) == 2 and sorted(said[n] for n in apart) == sorted(meant[n] for n in apart)
    return apart == [len(said) - 1] or (swapped and apart[1] - apart[0] == 1)


Key = tuple[str, ...]
LEAST_CUT = 3  # letters of a word that is cut short
AFTER = r"\s+ones?\b|\s*(?:$|[.,;!?)]|(?:and|or|but|please|only|instead)\b)"
QUALIFIED = r"(?<!\w)(?!(?:an?|the|with|without|no|not|any|some|and|or|have|has|need|its|own|plus|also)\s)[^\W_]+\s$"


def firsts(kinds: Iterable[Any], taken: Collection[str], things: Collection[str]) -> dict[Key, Any]:
    """Return which text the first word of two stands for: one that no other text has, before what all are.

    Examples
    --------
    >>> firsts(["electric bike", "cargo bike", "road bike"], [], ["bike"])[("cargo",)]
    'cargo bike'
    """
    spelled = {tuple(stems(str(kind))): kind for kind in kinds if "-" not in str(kind)}
    counts = _counts(spelled)
    return {
        parts[:1]: kind
        for parts, kind in spelled.items()
        if len(parts) == 2 and parts[1] in things and counts[parts[0]] == 1 and parts[0] not in taken
    }


def heads(kinds: Iterable[Any], taken: Collection[str]) -> dict[Key, Any]:
    """Return which text the last word of two stands for: one that no other text has.

    Examples
    --------
    >>> known = heads(["milk frother", "sea view"], ["view"])
    >>> known[("frother",)], ("view",) in known
    ('milk frother', False)
    """
    spelled, pairs = _pairs(kinds)
    return {parts[1:]: kind for parts, kind in pairs.items() if parts[1] not in taken and parts[1:] not in spelled}


def cut_short(kinds: Iterable[Any]) -> dict[Key, Any]:
    """Return which text two words stand for of which the last is cut short.

    Examples
    --------
    >>> cut_short(["air conditioning", "milk frother"])[("air", "con")]
    'air conditioning'
    """
    spelled, pairs = _pairs(kinds)
    short = {
        (first, last[:letters]): kind
        for (first, last), kind in pairs.items()
        for letters in range(LEAST_CUT, len(last))
    }
    return {key: kind for key, kind in short.items() if key not in spelled}


def stands_alone(after: str, before: str = "") -> bool:
    """Tell whether what stands before and after a shortened text makes nothing else of it, as "golf" does of "club".

    Examples
    --------
    >>> stands_alone(" please", "with a "), stands_alone(" staff"), stands_alone("", "a golf ")
    (True, False, False)
    """
    return re.match(AFTER, after) is not None and re.search(QUALIFIED, before) is None


def add(known: dict[Key, dict[str, Any]], more: Mapping[Key, Any], name: str) -> None:
    """Let texts stand for others under a name, where they stand for nothing there yet."""
    for key, kind in more.items():
        known.setdefault(key, {}).setdefault(name, kind)


def _pairs(kinds: Iterable[Any]) -> tuple[dict[Key, Any], dict[Key, Any]]:
    """Return texts by their words, and those of two words of which no other text has the last."""
    spelled = {tuple(stems(str(kind))): kind for kind in kinds}
    counts = _counts(spelled)
    return spelled, {parts: kind for parts, kind in spelled.items() if len(parts) == 2 and counts[parts[1]] == 1}


def _counts(spelled: Iterable[Key]) -> Counter[str]:
    return Counter(part for parts in spelled for part in set(parts))


Spot = tuple[int, int, str]  # start and end of a word, and its stem
LONGEST = 5  # words of a phrase
APART = 2  # small words between two that belong together: "liste d'attente"
# Of a name nothing is told by what it only fits with: "good with cats", "suitable for children".
IDLE = SMALL_WORDS | {"suited", "available", "option", "yes", "no"}


class Abroad:
    """Finds what a catalog has in texts of other languages.

    Parameters
    ----------
    flags, others
        What it has, by the stems of English words: what is there or not, and texts.
    """

    def __init__(self, flags: Iterable[Key], others: Iterable[Key]) -> None:
        self._known: dict[Key, Key] = {key: key for key in (*others, *flags)}
        self._several: dict[str, list[tuple[frozenset[str], Key]]] = {}
        for key in flags:
            core = tuple(word for word in key if word not in words("flag_verbs") | words("fitting") | IDLE)
            if core:
                self._known.setdefault(core, key)
        for told, key in list(self._known.items()):
            telling = frozenset(told) - IDLE
            for word in telling if len(telling) > 1 else ():
                self._several.setdefault(word, []).append((telling, key))

    def read(self, folded: str, spots: Sequence[Spot], language: str) -> list[Spot]:
        """Return words with those of the catalog in place of what they mean; all others stay."""
        if language not in LANGUAGES:
            return list(spots)
        units = _units([(start, end, folded[start:end]) for start, end, _ in spots], language)
        found: list[Spot] = []
        place = 0
        while place < len(units):
            taken, key = self._longest(units[place:])
            here = units[place : place + max(taken, 1)]
            if key:
                found += [(spots[here[0][0]][0], spots[here[-1][1] - 1][1], word) for word in key]
            else:
                found += [spots[at] for first, last, _ in here for at in range(first, last)]
            place += len(here)
        return found

    def _longest(self, units: Sequence[tuple[int, int, list[Key]]]) -> tuple[int, Key]:
        """Return how many of the first units mean something the catalog has, and what; 0 for none."""
        if not units[0][2]:
            return 0, ()
        said: set[str] = set()
        best: tuple[int, Key] = (0, ())
        small = 0
        for count, (_, _, meant) in enumerate(units[: LONGEST + 1], 1):
            small = 0 if meant else small + 1
            if small > APART:
                break
            fresh = {word for one in meant for word in one} - said
            here = [pair for word in fresh for pair in self._several.get(word, ())] if meant else []
            first = {word for one in units[0][2] for word in one}
            whole = (key for telling, key in here if telling <= said | fresh and telling & first)
            best = next(((count, key) for key in whole), best)
            said |= fresh
        single = next((self._known[one] for one in units[0][2] if one in self._known), ())
        return best if best[0] > 1 or not single else (1, single)


def _units(said: Sequence[Spot], language: str) -> list[tuple[int, int, list[Key]]]:
    """Return the pieces of a text, from which word to before which, and what each means."""
    found: list[tuple[int, int, list[Key]]] = []
    place, listed = 0, phrases(language)
    while place < len(said):
        sizes = range(min(LONGEST, len(said) - place), 1, -1)
        size = next((n for n in sizes if tuple(word for *_, word in said[place : place + n]) in listed), 1)
        piece = tuple(word for *_, word in said[place : place + size])
        english: Collection[str] = listed[piece] if size > 1 else meanings(piece[0].replace("ß", "ss"), language)
        found.append((place, place + size, [tuple(stems(one)) for one in english]))
        place += size
    return found


def counted_abroad(folded: str, quantity: Quantity, language: str) -> Quantity:
    """Return a number with what is counted, in English too: "300 Seiten" are pages."""
    if quantity.unit is not None or language not in LANGUAGES:
        return quantity
    counted = stems(in_english(" ".join(quantity.units), language))
    after = re.match(r"\s*[^\W\d_]+", folded[quantity.end :]) if counted else None
    return replace(quantity, units=(*quantity.units, *counted), end=quantity.end + (after.end() if after else 0))
