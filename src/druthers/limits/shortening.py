"""Texts of a catalog as people shorten them: "electric" for an electric bike, "frother" for a milk frother."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from druthers.limits.words import stems

Key = tuple[str, ...]
LEAST = 3  # letters of a word that is cut short


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
    """Return which text the last word of two, or two words of which the last is cut short, stand for.

    Examples
    --------
    >>> known = heads(["air conditioning", "milk frother", "sea view"], ["view"])
    >>> known[("frother",)], known[("air", "con")], ("view",) in known
    ('milk frother', 'air conditioning', False)
    """
    spelled = {tuple(stems(str(kind))): kind for kind in kinds}
    counts = _counts(spelled)
    found: dict[Key, Any] = {}
    for parts, kind in spelled.items():
        if len(parts) == 2 and counts[parts[1]] == 1:
            found |= {(parts[0], parts[1][:letters]): kind for letters in range(LEAST, len(parts[1]))}
            found |= {} if parts[1] in taken else {parts[1:]: kind}
    return {key: kind for key, kind in found.items() if key not in spelled}


def add(known: dict[Key, dict[str, Any]], more: Mapping[Key, Any], name: str) -> None:
    """Let texts stand for others under a name, where they stand for nothing there yet."""
    for key, kind in more.items():
        known.setdefault(key, {}).setdefault(name, kind)


def _counts(spelled: Iterable[Key]) -> Counter[str]:
    return Counter(part for parts in spelled for part in set(parts))
