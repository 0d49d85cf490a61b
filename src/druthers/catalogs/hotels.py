"""The simulated hotels as a catalog: 62 of them in four cities that are on no map, none of them good at everything."""

from __future__ import annotations

import math
import random
from typing import Any, NamedTuple

import numpy as np

from druthers.catalogs.prose import Phrases, capitalized, describe, slug, standardized
from druthers.catalogs.standins import HIGHEST, LOWEST, SEED, normal_scores
from druthers.types import Floats

DESCRIPTION = (
    "Simulated: 62 invented hotels in four invented cities, each strong in some aspects and weak in others, as its"
    " money and its place allow."
)

# How each aspect goes with how dear a hotel is and with how central; the rest is a hotel's own.
DEAR = {"cleanliness": 0.3, "location": 0.0, "rooms": 0.6, "service": 0.4, "sleep quality": 0.1, "value": -0.8}
CENTRAL = {"cleanliness": 0.0, "location": 0.8, "rooms": -0.3, "service": 0.0, "sleep quality": -0.65, "value": -0.1}
# How each goes with how good a hotel is in everything: hardly, or one hotel would be the answer to every wish.
QUALITY = 0.1
MEAN, SPREAD = 3.75, 0.55
# Euros for a night in the middle of the market, and by how much the logarithm grows with either.
PRICE, PRICE_DEAR, PRICE_CENTRAL = 95, 0.45, 0.1
# What a hotel may have: how the chance of it goes with how dear and how central the hotel is.
AMENITIES = {"bar": (0.3, 0.8), "garden": (0.0, -0.8), "lift": (0.5, 0.5), "parking": (0.0, -1.0), "pool": (1.0, -0.3)}

OBJECTIVES: dict[str, dict[str, Any]] = {
    "cleanliness": {
        "description": "How clean the hotel is.",
        "synonyms": ["clean", "spotless", "hygiene", "tidy", "housekeeping"],
        "examples": ["I can't stand a dirty bathroom.", "Somewhere spotless, please."],
    },
    "location": {
        "description": "How well it is placed for what guests come to see or do.",
        "synonyms": ["central", "downtown", "close to everything", "neighborhood", "walkable"],
        "examples": ["We want to walk to the sights.", "Right in the middle of town."],
    },
    "rooms": {
        "description": "How spacious, comfortable and well kept the rooms are.",
        "synonyms": ["room", "spacious", "furniture", "comfortable room", "view"],
        "examples": ["I need space and a proper desk.", "A big room with a view would be lovely."],
    },
    "service": {
        "description": "How friendly and helpful the staff are.",
        "synonyms": ["staff", "friendly", "helpful", "reception", "front desk"],
        "examples": ["Friendly people make my stay.", "Someone at the desk who knows the town."],
    },
    "sleep quality": {
        "description": "How well guests sleep: quiet, good beds, dark rooms.",
        "synonyms": ["sleep", "quiet", "bed", "noise", "silence"],
        "examples": ["I'm a light sleeper.", "Just let me sleep."],
    },
    "value": {
        "description": "How much the stay gives for its price.",
        "synonyms": ["price", "cheap", "affordable", "budget", "value for money"],
        "examples": ["I don't want to spend much.", "It should be worth the money."],
    },
}

CITIES: dict[str, tuple[str, ...]] = {
    "Port Alder": (
        *("The Amberwick", "Hotel Corvane", "The Gull and Lantern", "Tidemarrow House", "Saltrow Inn", "The Marrenby"),
        *("Hotel Ostrelle", "Quaylight Rooms", "The Brindlemast", "Copperwharf Hotel", "Pension Velda"),
        *("The Seven Bollards", "Hotel Larkmoor", "Driftanchor Inn", "The Halverne", "Netmakers' House"),
    ),
    "Brennick": (
        *("The Quillford", "Hotel Brevanne", "The Inkwell and Owl", "Thornabbey House", "The Cloisterby"),
        *("Hotel Pellavin", "Candlemere Inn", "The Ashlow Bindery", "Hotel Marchavel", "Ravenspell Court"),
        *("The Gilt Lectern", "Wexholme Hotel", "Pension Adlerin", "The Paperlane", "Hotel Sorrenfield"),
        "Dovetower House",
    ),
    "Solmara": (
        *("Casa Belventa", "Hotel Mirasolle", "The Palmyard", "Villa Ondarosa", "Hotel Cavelinda"),
        *("The Coral Veranda", "Pensione Lurella", "Hotel Azurane", "Villa Tramontine", "The Sandglass Court"),
        *("Hotel Fiorvale", "Casa Limonelle", "The Blue Pergola", "Hotel Maristrand", "Villa Serapina"),
    ),
    "Kestrel Falls": (
        *("The Kestrelgate", "Pinewarden Lodge", "Hotel Tannmark", "Snowlark Inn", "Granitfell Hotel"),
        *("The Thawing Bear", "Hotel Firnwald", "Cascadine Lodge", "The Larchkeeper", "Hotel Bergolin"),
        *("Mossgate Inn", "The Waterstair", "Hotel Eisvogt", "Ridgelantern Lodge", "The Wintering"),
    ),
}

PHRASES = {
    "cleanliness": Phrases(
        ("not a speck of dust anywhere", "gleaming bathrooms", "housekeeping that misses nothing"),
        ("dust in the corners", "stains on the carpets", "bathrooms that could be cleaner"),
    ),
    "location": Phrases(
        ("the heart of {city} at the doorstep", "the old town around the corner", "all of {city} within a short walk"),
        ("a long ride to anything in {city}", "a plot out by the ring road", "little to see within walking distance"),
    ),
    "rooms": Phrases(
        ("large, bright rooms", "rooms with a view worth having", "handsome rooms with space to unpack"),
        ("cramped rooms", "worn furniture", "small rooms in need of paint"),
    ),
    "service": Phrases(
        ("a desk that remembers your name", "staff who help before you ask", "warm, quick service"),
        ("a front desk in no hurry", "staff who are hard to find", "indifferent service"),
    ),
    "sleep quality": Phrases(
        ("deep, quiet nights", "beds you do not want to leave", "walls that keep the street out"),
        ("thin walls", "beds past their best", "nights broken by traffic"),
    ),
    "value": Phrases(
        ("more than you pay for", "a bill that pleases", "prices that feel like a favor"),
        ("a bill that feels too high", "prices above what you get", "extras that add up quickly"),
    ),
}


class Market(NamedTuple):
    """What was drawn: ratings (K, D), euros for a night, and what each hotel has."""

    ratings: Floats
    prices: list[int]
    amenities: list[list[str]]


def draw(seed: int = SEED) -> Market:
    """Return 62 hotels whose strengths have their price: what one is better in than others, it pays for elsewhere.

    Another seed gives other hotels by the same laws.
    """
    rng = random.Random(seed)
    n = sum(map(len, CITIES.values()))
    dear, central, quality = (normal_scores(n, rng) for _ in range(3))
    by_dear, by_central = (np.array([ties[aspect] for aspect in OBJECTIVES]) for ties in (DEAR, CENTRAL))
    own = np.stack([normal_scores(n, rng) for _ in OBJECTIVES], axis=1)
    own *= np.sqrt(1.0 - by_dear**2 - by_central**2)
    strengths = by_dear * dear[:, None] + by_central * central[:, None] + own
    strengths -= strengths.mean(axis=1, keepdims=True)
    strengths /= strengths.std(axis=0)
    standard = QUALITY * quality[:, None] + math.sqrt(1.0 - QUALITY**2) * strengths
    ratings: Floats = np.clip(MEAN + SPREAD * standard, LOWEST, HIGHEST).round(2)
    prices = PRICE * np.exp(PRICE_DEAR * dear + PRICE_CENTRAL * central)
    kinds = zip(dear.tolist(), central.tolist(), strict=True)
    amenities = [[name for name, ties in AMENITIES.items() if _has(ties, *kind, rng)] for kind in kinds]
    return Market(ratings, [5 * round(price / 5) for price in prices.tolist()], amenities)


def _has(ties: tuple[float, float], dear: float, central: float, rng: random.Random) -> bool:
    """Draw by a logistic law whether a hotel has something."""
    return rng.random() < 1.0 / (1.0 + math.exp(0.5 - 1.7 * (ties[0] * dear + ties[1] * central)))


def content() -> dict[str, Any]:
    """Return the catalog as a file would hold it."""
    market = draw()
    ratings, scores = market.ratings, standardized(market.ratings)
    words = random.Random(SEED)
    places = [(city, name) for city, names in CITIES.items() for name in names]
    items = []
    for place, row, standing, price, has in zip(places, ratings.tolist(), scores.tolist(), *market[1:], strict=True):
        city, name = place
        judgment = describe(dict(zip(OBJECTIVES, standing, strict=True)), PHRASES, words)
        items.append(
            {
                "id": slug(name),
                "name": name,
                "description": capitalized(judgment.format(city=city)) + ".",
                "values": dict(zip(OBJECTIVES, row, strict=True)),
                "details": {"city": city, "price": price, "amenities": has},
            }
        )
    objectives = [{"name": name, **facts, "low": LOWEST, "high": HIGHEST} for name, facts in OBJECTIVES.items()]
    return {
        "name": "hotels",
        "description": DESCRIPTION,
        "simulated": True,
        "objectives": objectives,
        "items": items,
    }
