"""Texts of a catalog as people misspell them: a letter too many, one missing, two exchanged, or another at the end."""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

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
