"""The simulated beers as a catalog: 167 of them from breweries that nobody has visited."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

from druthers.catalogs.prose import Phrases, capitalized, describe, pick, shuffled, slug, standardized
from druthers.catalogs.standins import HIGHEST, LOWEST, SEED, make_stand_in, normal_scores

DESCRIPTION = (
    "Simulated: 167 invented beers of 24 invented breweries, with ratings drawn from summary facts about real reviews."
)

OBJECTIVES: dict[str, dict[str, Any]] = {
    "appearance": {
        "description": "How the beer looks in the glass.",
        "synonyms": ["look", "color", "head", "pour", "foam"],
        "examples": ["It should look beautiful in the glass.", "I love a thick head."],
    },
    "aroma": {
        "description": "How the beer smells.",
        "synonyms": ["smell", "nose", "scent", "fragrance", "bouquet"],
        "examples": ["I want to smell the hops.", "A fragrant beer, please."],
    },
    "palate": {
        "description": "How the beer feels in the mouth: body, carbonation, finish.",
        "synonyms": ["mouthfeel", "body", "texture", "smooth", "carbonation"],
        "examples": ["Something smooth and full.", "Not too fizzy."],
    },
    "taste": {
        "description": "How the beer tastes.",
        "synonyms": ["flavor", "flavour", "tasty", "delicious", "balance"],
        "examples": ["All I care about is flavor.", "It has to taste great."],
    },
}


class Family(NamedTuple):
    """Beers of one character: their first and second names."""

    first: tuple[str, ...]
    second: tuple[str, ...]


LIGHT = Family(
    ("Sunday", "Linen", "Barefoot", "Easy", "Little", "Harbor", "Quiet", "Hammock"),
    ("Regatta", "Picnic", "Window", "Ferry", "Tailor", "Postcard", "Bicycle", "Garden"),
)
HOPPY = Family(
    ("Loud", "Restless", "Golden", "Bitter", "Lightning", "Wild", "Green", "Brazen"),
    ("Compass", "Meadow", "Signal", "Parrot", "Ladder", "Telegram", "Orchard", "Trombone"),
)
DARK = Family(
    ("Midnight", "Velvet", "Charcoal", "Moonless", "Sable", "Coalfire", "Winter", "Blacksmith's"),
    ("Ledger", "Parade", "Lantern", "Cellar", "Raven", "Chapel", "Overcoat", "Sermon"),
)
ABBEY = Family(
    ("Thirsty", "Penitent", "Laughing", "Seventh", "Wandering", "Patient", "Crooked", "Saint's"),
    ("Abbot", "Bell", "Pear", "Pilgrim", "Choir", "Vow", "Feast", "Almanac"),
)

# From the least to the most highly rated, as such beers go: style, character, how many.
STYLES = (
    ("light lager", LIGHT, 8),
    ("pale lager", LIGHT, 9),
    ("cream ale", LIGHT, 6),
    ("amber ale", HOPPY, 10),
    ("wheat beer", LIGHT, 10),
    ("pilsner", LIGHT, 10),
    ("brown ale", DARK, 9),
    ("pale ale", HOPPY, 12),
    ("bock", DARK, 8),
    ("porter", DARK, 12),
    ("saison", ABBEY, 10),
    ("dubbel", ABBEY, 8),
    ("India pale ale", HOPPY, 18),
    ("tripel", ABBEY, 9),
    ("barley wine", DARK, 8),
    ("sour ale", ABBEY, 8),
    ("imperial stout", DARK, 12),
)
# How much chance there is in which style a beer of a given quality has, in standard deviations of quality.
STYLE_NOISE = 0.8

BREWERIES = (
    *("Marrowbeck", "Garrowmere", "Hollinfay", "Tarnwick", "Ninepenny Yard", "Thornwater", "Vandelorne", "Sint Odran"),
    *("Klosterau", "Fennick & Daughters", "Lowgatestone", "Emberlode", "Wrenmarsh", "Duskmill", "Palehaven"),
    *("Blackthwaite", "Quarrylight", "Redfennel", "Sparrowgate", "Twelvebells", "Mossop & Vine", "Orrinfell"),
    *("Caskandle", "Larkspindle"),
)

PHRASES = {
    "appearance": Phrases(
        ("a tall, lasting head", "a color that glows in the glass", "lace that clings to the last sip"),
        ("a head that is gone at once", "a dull look in the glass", "a thin, watery color"),
    ),
    "aroma": Phrases(
        ("a nose that fills the room", "layer upon layer of aroma", "a fragrance worth waiting over"),
        ("hardly any aroma", "a flat nose", "a faint smell of cardboard"),
    ),
    "palate": Phrases(
        ("a full, smooth body", "a silken mouthfeel", "just the right weight on the tongue"),
        ("a thin body", "a watery mouthfeel", "too much fizz"),
    ),
    "taste": Phrases(
        ("a deep, lasting taste", "flavors in perfect balance", "a finish that is remembered"),
        ("a taste that fades at once", "clumsy sweetness", "little flavor to speak of"),
    ),
}


def content() -> dict[str, Any]:
    """Return the catalog as a file would hold it."""
    ratings, _ = make_stand_in("beers")
    scores = standardized(ratings)
    rng, words = random.Random(SEED), random.Random(SEED)  # so that other words leave the names as they are
    styles = _styles(scores.mean(axis=1) + STYLE_NOISE * normal_scores(len(scores), rng))
    names = {family: iter(_names(family, rng)) for family in (LIGHT, HOPPY, DARK, ABBEY)}
    items = []
    for (style, family), row, standing in zip(styles, ratings.tolist(), scores.tolist(), strict=True):
        brewery = pick(BREWERIES, rng)
        name = f"{brewery} {next(names[family])}"
        judgment = describe(dict(zip(OBJECTIVES, standing, strict=True)), PHRASES, words)
        items.append(
            {
                "id": slug(name),
                "name": name,
                "description": f"{capitalized(style)} with {judgment}.",
                "values": dict(zip(OBJECTIVES, row, strict=True)),
                "details": {"brewery": brewery, "style": style},
            }
        )
    objectives = [{"name": name, **facts, "low": LOWEST, "high": HIGHEST} for name, facts in OBJECTIVES.items()]
    return {"name": "beers", "description": DESCRIPTION, "simulated": True, "objectives": objectives, "items": items}


def _styles(standing: np.ndarray[Any, Any]) -> list[tuple[str, Family]]:
    """Return style and family of each beer, the more highly rated styles for those that stand higher."""
    ladder = [(style, family) for style, family, count in STYLES for _ in range(count)]
    places = np.argsort(np.argsort(standing, kind="stable"), kind="stable")
    return [ladder[place] for place in places.tolist()]


def _names(family: Family, rng: random.Random) -> list[str]:
    return shuffled([f"{first} {second}" for first in family.first for second in family.second], rng)
