"""The simulated hotels as a catalog: 62 of them in four cities that are on no map, none of them good at everything."""

import math
import random
from typing import Any, NamedTuple

import numpy as np

from druthers.catalogs.prose import make_content, words_of
from druthers.catalogs.standins import HIGHEST, LOWEST, SEED, normal_scores
from druthers.types import Floats

# How each aspect goes with how good a hotel is in everything: hardly, or one hotel would be the answer to every wish.
QUALITY = 0.1
MEAN, SPREAD = 3.75, 0.55
# Euros for a night in the middle of the market, and by how much the logarithm grows with how dear and how central.
PRICE, PRICE_DEAR, PRICE_CENTRAL = 95, 0.45, 0.1


class Market(NamedTuple):
    """What was drawn: ratings (K, D), euros for a night, and what each hotel has."""

    ratings: Floats
    prices: list[int]
    amenities: list[list[str]]


def draw(seed: int = SEED) -> Market:
    """Return 62 hotels whose strengths have their price: what one is better in than others, it pays for elsewhere.

    Another seed gives other hotels by the same laws.
    """
    words, rng = words_of("hotels"), random.Random(seed)
    aspects = words["objectives"].values()
    n = sum(map(len, words["cities"].values()))
    dear, central, quality = (normal_scores(n, rng) for _ in range(3))
    by_dear, by_central = (np.array([aspect[tie] for aspect in aspects]) for tie in ("dear", "central"))
    own = np.stack([normal_scores(n, rng) for _ in aspects], axis=1)
    own *= np.sqrt(1.0 - by_dear**2 - by_central**2)
    strengths = by_dear * dear[:, None] + by_central * central[:, None] + own
    strengths -= strengths.mean(axis=1, keepdims=True)
    strengths /= strengths.std(axis=0)
    standard = QUALITY * quality[:, None] + math.sqrt(1.0 - QUALITY**2) * strengths
    ratings: Floats = np.clip(MEAN + SPREAD * standard, LOWEST, HIGHEST).round(2)
    prices = PRICE * np.exp(PRICE_DEAR * dear + PRICE_CENTRAL * central)
    kinds = zip(dear.tolist(), central.tolist(), strict=True)
    amenities = [[name for name, ties in words["amenities"].items() if _has(ties, *kind, rng)] for kind in kinds]
    return Market(ratings, [5 * round(price / 5) for price in prices.tolist()], amenities)


def _has(ties: tuple[float, float], dear: float, central: float, rng: random.Random) -> bool:
    """Draw by a logistic law whether a hotel has something."""
    return rng.random() < 1.0 / (1.0 + math.exp(0.5 - 1.7 * (ties[0] * dear + ties[1] * central)))


def content() -> dict[str, Any]:
    """Return the catalog as a file would hold it."""
    market = draw()
    places = [(city, name) for city, names in words_of("hotels")["cities"].items() for name in names]
    items = [
        (name, {"city": city, "price": price, "amenities": has})
        for (city, name), price, has in zip(places, market.prices, market.amenities, strict=True)
    ]
    return make_content("hotels", items, market.ratings)
