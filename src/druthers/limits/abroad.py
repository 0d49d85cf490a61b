"""Words of other languages in place of those of a catalog: in any form, in compounds, and in any order."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from druthers.glossary import LANGUAGES, meanings, phrases
from druthers.limits.quantities import Quantity
from druthers.limits.words import SMALL_WORDS, in_english, stems, words

Key = tuple[str, ...]
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
