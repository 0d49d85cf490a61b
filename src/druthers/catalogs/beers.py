"""The simulated beers as a catalog: 167 of them from breweries that nobody has visited."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from druthers.catalogs.prose import make_content, pick, shuffled, standardized, words_of
from druthers.catalogs.standins import SEED, make_stand_in, normal_scores

# How much chance there is in which style a beer of a given quality has, in standard deviations of quality.
STYLE_NOISE = 0.8


def content() -> dict[str, Any]:
    """Return the catalog as a file would hold it; of two beers the one that stands higher has the nobler style."""
    words, rng = words_of("beers"), random.Random(SEED)
    ratings, _ = make_stand_in("beers")
    standing = standardized(ratings).mean(axis=1) + STYLE_NOISE * normal_scores(len(ratings), rng)
    ladder = [(style, family) for style, family, count in words["styles"] for _ in range(count)]
    places = np.argsort(np.argsort(standing, kind="stable"), kind="stable")
    names = {family: iter(_names(parts, rng)) for family, parts in words["families"].items()}
    items = []
    for style, family in (ladder[place] for place in places.tolist()):
        brewery = pick(words["breweries"], rng)
        items.append((f"{brewery} {next(names[family])}", {"brewery": brewery, "style": style}))
    return make_content("beers", items, ratings)


def _names(parts: Mapping[str, Sequence[str]], rng: random.Random) -> list[str]:
    return shuffled([f"{first} {second}" for first in parts["first"] for second in parts["second"]], rng)
