"""Mend typing errors, towards words that would mean something here, and never away from an English word.

Ours, and not a package for spelling: those mend to the commonest of all words, and here the only ones worth mending to
are the catalog's.
"""

from collections.abc import Iterable
from functools import cache, lru_cache

from druthers.language.data import read_data, read_words

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
