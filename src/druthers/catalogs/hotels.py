"""The simulated hotels as a catalog: 62 of them in four cities that are on no map."""

from __future__ import annotations

import random
from typing import Any

from druthers.catalogs.prose import Phrases, capitalized, describe, slug, standardized
from druthers.catalogs.standins import HIGHEST, LOWEST, SEED, make_stand_in

DESCRIPTION = (
    "Simulated: 62 invented hotels in four invented cities, with ratings drawn from summary facts about real reviews."
)

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


def content() -> dict[str, Any]:
    """Return the catalog as a file would hold it."""
    ratings, _ = make_stand_in("hotels")
    scores = standardized(ratings)
    words = random.Random(SEED)
    places = [(city, name) for city, names in CITIES.items() for name in names]
    items = []
    for (city, name), row, standing in zip(places, ratings.tolist(), scores.tolist(), strict=True):
        judgment = describe(dict(zip(OBJECTIVES, standing, strict=True)), PHRASES, words)
        items.append(
            {
                "id": slug(name),
                "name": name,
                "description": capitalized(judgment.format(city=city)) + ".",
                "values": dict(zip(OBJECTIVES, row, strict=True)),
                "details": {"city": city},
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
