"""Words that people set limits with, from `words.toml`, and plain forms of words."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from druthers.glossary import LANGUAGES, Wordings, called, in_words, meanings

_PLAIN = str.maketrans("áàâäãåéèêëíìîïóòôöõúùûüñçœ’", "aaaaaaeeeeiiiiooooouuuunco'")

# Words of names and descriptions that tell no attribute from another.
SMALL_WORDS = frozenset(
    {"the", "a", "an", "of", "for", "in", "to", "and", "or", "how", "it", "is", "per", "each", "with", "from"}
)


WORDINGS = Wordings("druthers.limits", "words.toml")
pattern, ways = WORDINGS.pattern, WORDINGS.ways


def table() -> dict[str, Any]:
    """Return all lists."""
    return WORDINGS.table


def first_of(names: Iterable[str], text: str) -> re.Match[str] | None:
    """Return the first of some lists, in their order, that a text holds a way of."""
    return next(filter(None, (ways(name).search(text) for name in names)), None)


def spans(template: str, text: str) -> list[tuple[int, int]]:
    """Return where a pattern is found."""
    return [match.span() for match in pattern(template).finditer(text)]


@cache
def words(name: str) -> frozenset[str]:
    """Return one list."""
    return frozenset(table()[name])


def hinted(measure: str, text: str) -> bool:
    """Tell whether a text speaks of what is measured so."""
    return pattern(WORDINGS.any_of("hints", measure)).search(text) is not None


@cache
def units() -> dict[str, tuple[str, float]]:
    """Return for each unit what it measures, and how many of the common one it is."""
    return {unit: (measure, size) for measure, sizes in table()["units"].items() for unit, size in sizes.items()}


@cache
def demonyms() -> dict[str, list[str]]:
    """Return for a country what comes from there is called, and the other way round."""
    named: dict[str, list[str]] = dict(table()["demonyms"])
    return {**named, **{word: [country, *words] for country, words in named.items() for word in words}}


@cache
def also_called() -> dict[str, list[tuple[str, ...]]]:
    """Return the stems of what a place or thing is called in other languages, by the stems of its English name."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for name, others in (*table()["called"].items(), *called().items()):
        if name not in words("common"):
            found.setdefault(" ".join(stems(name)), []).extend(map(_key, others))
    return found


@cache
def _key(text: str) -> tuple[str, ...]:
    """Return the stems of a text that is listed more than once."""
    return (stem(text),) if text.isascii() and text.isalpha() else tuple(stems(text))


@cache
def _meanings() -> dict[str, str]:
    """Return the English words for single words of other languages."""
    found: dict[str, str] = {}
    for english, others in called().items():
        for word in others:
            found[stem(word)] = f"{found.get(stem(word), '')} {english}".strip()
    return found


def in_english(text: str, language: str = "") -> str:
    """Return English words for those of a text in another language, or in whichever it is.

    Examples
    --------
    >>> in_english("lieferzeit hochstens 4 wochen")
    'delivery time delivery shipping'
    >>> in_english("die lieferzeiten hochstens 4 wochen", "de")
    'delivery delivery time shipping'
    """
    if language in LANGUAGES:
        plain = re.findall(r"[^\W\d_]+", fold(text).replace("ß", "ss"))
        return " ".join(one for word in plain for one in meanings(word, language))
    return " ".join(_meanings()[word] for word in stems(text) if word in _meanings())


@cache
def foreign() -> frozenset[tuple[str, ...]]:
    """Return the stems of words of other languages, which may be English words that mean something else."""
    others = {_key(word) for listed in called().values() for word in listed}
    return frozenset(others - {_key(word) for listed in table()["called"].values() for word in listed})


def fold(text: str) -> str:
    """Return a text in small plain letters, every letter where it was."""
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text).translate(_PLAIN)


def blanked(text: str, *spans: tuple[int, int]) -> str:
    """Return a text with blanks in place of some pieces, every other letter where it was."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def stem(word: str) -> str:
    """Return a word without the ending of a plural.

    Examples
    --------
    >>> stem("hostels"), stem("cities"), stem("bus"), stem("glass")
    ('hostel', 'city', 'bus', 'glass')
    """
    word = word.replace("ß", "ss")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def stems(text: str) -> list[str]:
    """Return the stems of all words of a text."""
    return [stem(word) for word in re.findall(r"[^\W_]+", fold(in_words(text)))]


def telling_stems(name: str) -> frozenset[str]:
    """Return the stems of a name without small words, which tell nothing of it: "walk to the beach"."""
    return frozenset(stems(name)) - SMALL_WORDS or frozenset(stems(name))


def alike(name: str, text: str) -> bool:
    """Tell whether a text speaks of what a column is called, or both of money.

    Examples
    --------
    >>> alike("price", "the price"), alike("nightly_rate", "money"), alike("city", "the price")
    (True, True, False)
    """
    return telling_stems(name).issubset(stems(text)) or (speaks_of_money(name) and speaks_of_money(text))


def speaks_of_money(text: str) -> bool:
    """Tell whether a text speaks of what something costs."""
    return hinted("money", fold(text)) or "money" in fold(text).split()
