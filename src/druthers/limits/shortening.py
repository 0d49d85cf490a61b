"""Texts of a catalog as people shorten them: "electric" for an electric bike, "frother" for a milk frother."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from druthers.limits.words import stems

Key = tuple[str, ...]
LEAST = 3  # letters of a word that is cut short
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
        (first, last[:letters]): kind for (first, last), kind in pairs.items() for letters in range(LEAST, len(last))
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
