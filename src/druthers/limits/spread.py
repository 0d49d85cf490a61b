"""Flags whose words stand apart in a sentence: "safe for pets", "the battery must be removable", "one I can hang"."""

import re
from collections.abc import Iterator, Mapping

from druthers.limits.shortening import Key
from druthers.limits.words import pattern, stem, words

_BETWEEN = 6  # words between the first and the last of a name
_PIECES = re.compile(r"[^.,;:!?]+")


def find_spread(folded: str, flags: Mapping[Key, str]) -> Iterator[tuple[str, int, int]]:
    """Yield names of flags of which all words stand in a clause, in any order, and nothing else of weight between.

    Examples
    --------
    >>> flags = {("pet", "safe"): "pet_safe", ("evening", "lesson"): "evening_lessons", ("folding",): "folding"}
    >>> [name for name, _, _ in find_spread("it has to be safe for pets, lessons have to be in the evening", flags)]
    ['pet_safe', 'evening_lessons']
    >>> [name for name, _, _ in find_spread("safe in a house with many pets, one i can fold", flags)]
    ['folding']
    """
    for piece in _PIECES.finditer(folded):
        spots = [(*match.span(), match.group()) for match in re.finditer(r"[^\W_]+(?:'[a-z]+)?", piece.group())]
        stems = [stem(word) for _, _, word in spots]
        spoken = {*stems}
        for key, name in flags.items():
            if len(key) > 1 and len({*key}) == len(key) and spoken.issuperset(key):
                places = [stems.index(part) for part in key]
                first, last = min(places), max(places)
                apart = [place for place in range(first, last + 1) if place not in places]
                if apart and len(apart) <= _BETWEEN and all(_is_light(spots[place][2]) for place in apart):
                    yield name, piece.start() + spots[first][0], piece.start() + spots[last][1]
        for match in pattern(r"\b<able> ([a-z]{4,})\b").finditer(piece.group()):
            done = match.group().rsplit(" ", 1)[1]
            forms = (stem(f"{done.removesuffix('e')}ing"), f"{done}able")
            for name in {flags[form,] for form in forms if (form,) in flags}:
                yield name, piece.start() + match.start(), piece.start() + match.end()


def _is_light(word: str) -> bool:
    return word in words("passing") and word not in ("not", "or", "and")
